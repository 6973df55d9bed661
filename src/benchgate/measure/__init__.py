"""Measures benchmarks: one engine per kind of benchmark, and the trees of one or two arms."""
