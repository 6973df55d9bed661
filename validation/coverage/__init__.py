"""How often each interval holds the truth."""

from __future__ import annotations

from validation.coverage import bootstrap, launches, mean, quantile, shift, t
from validation.rates import COLUMNS
from validation.section import Section

SECTIONS = (
    Section(
        "Intervals of one sample or one benchmark",
        "How often the interval holds the true value.",
        COLUMNS,
        mean.ROWS + quantile.ROWS,
    ),
    Section(
        "Bootstrap intervals",
        f"With {bootstrap.RESAMPLES:,} resamples, and {launches.RESAMPLES} of launches, where\n"
        "benchgate draws 1,000 to 10,000: that costs less than one percent of coverage.",
        COLUMNS,
        bootstrap.ROWS + launches.ROWS,
    ),
    Section(
        "Intervals of a change",
        "Of a head that is slower by a known ratio. The ranks' intervals take steps: where few\n"
        "values allow no 95 %, they hold the truth more often than promised, never less.",
        COLUMNS,
        shift.ROWS + t.ROWS,
    ),
)
