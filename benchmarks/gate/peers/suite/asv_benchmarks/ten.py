"""The ten workloads, for asv."""

import workloads


def time_parse_json() -> None:
    workloads.parse_json()


def time_sort() -> None:
    workloads.sort()


def time_match() -> None:
    workloads.match()


def time_fill_dict() -> None:
    workloads.fill_dict()


def time_hash_blocks() -> None:
    workloads.hash_blocks()


def time_query() -> None:
    workloads.query()


def time_format_lines() -> None:
    workloads.format_lines()


def time_sum_floats() -> None:
    workloads.sum_floats()


def time_count_words() -> None:
    workloads.count_words()


def time_add_points() -> None:
    workloads.add_points()
