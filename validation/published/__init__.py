"""Compares the statistics with printed tables and examples."""

from __future__ import annotations

from validation.published import comparing, moments, ranks
from validation.published.case import COLUMNS
from validation.section import Section

SECTIONS = (
    Section(
        "Agreement with print",
        "Tables and worked examples, compared to every printed digit.",
        COLUMNS,
        moments.ROWS + ranks.ROWS + comparing.ROWS,
    ),
)
