"""One benchmark for each workload."""

import workloads


def bench_copy_json():
    workloads.copy_json()


def bench_make_classes():
    workloads.make_classes()


def bench_count_words():
    workloads.count_words()
