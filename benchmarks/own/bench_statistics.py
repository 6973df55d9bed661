"""The functions that judge rows, on as many rows at once as a suite has."""

import numpy as np

from benchgate.stats.mann_whitney import mann_whitney, two_sample_shift
from benchgate.stats.signed_rank import signed_rank

ROWS = np.random.default_rng(1).normal(size=(200, 12))
OTHERS = np.random.default_rng(2).normal(size=(200, 12))


def bench_signed_rank():
    signed_rank(ROWS)


def bench_mann_whitney():
    mann_whitney(ROWS, OTHERS)


def bench_shift():
    two_sample_shift(ROWS, OTHERS, 0.95)
