"""How often each interval contains the truth."""

from __future__ import annotations

from validation.coverage import bootstrap, launches, mean, quantile, shift, t
from validation.rates import COLUMNS
from validation.section import Section

SECTIONS = (
    Section(
        "Intervals of one sample or one benchmark",
        "How often the interval contains the true value.",
        COLUMNS,
        mean.ROWS + quantile.ROWS,
    ),
    Section(
        "Bootstrap intervals",
        f"With {bootstrap.RESAMPLES:,} resamples, and {launches.RESAMPLES} of launches. benchgate\n"
        "draws 1,000 to 10,000. The difference costs less than one percent of coverage.",
        COLUMNS,
        bootstrap.ROWS + launches.ROWS,
    ),
    Section(
        "Intervals of a change",
        "The head is slower by a known ratio. Intervals by ranks change in steps: if there are\n"
        "too few values for 95 %, they contain the truth more often than promised, never less.",
        COLUMNS,
        shift.ROWS + t.ROWS,
    ),
)
