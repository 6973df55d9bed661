"""One benchmark for each workload."""

import workloads


def bench_parse_json():
    workloads.parse_json()


def bench_sort():
    workloads.sort()


def bench_match():
    workloads.match()


def bench_fill_dict():
    workloads.fill_dict()


def bench_hash_blocks():
    workloads.hash_blocks()


def bench_query():
    workloads.query()


def bench_format_lines():
    workloads.format_lines()


def bench_sum_floats():
    workloads.sum_floats()


def bench_count_words():
    workloads.count_words()


def bench_add_points():
    workloads.add_points()
