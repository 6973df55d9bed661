"""Compares the statistics with SciPy and with their definitions."""

from __future__ import annotations

from validation.agreement import comparing, describe, planning, ranks, resampling, shift
from validation.agreement.case import COLUMNS
from validation.section import Section

SECTIONS = (
    Section(
        "Agreement with other computations",
        "Each statistic and another way to compute it, on many small data sets: SciPy if it has\n"
        "the statistic, otherwise the definition, step by step. Tied data are whole numbers with\n"
        "many repeats. The largest difference is relative, and rounded up; 0 means equal to the\n"
        "last bit. A difference above the limit fails the check.",
        COLUMNS,
        describe.ROWS + shift.ROWS + ranks.ROWS + comparing.ROWS + resampling.ROWS + planning.ROWS,
    ),
)
