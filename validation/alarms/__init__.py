"""How often each test raises an alarm although nothing changed."""

from __future__ import annotations

from validation.alarms import changes, errors_of_method, families, few_rounds, ranks, t
from validation.rates import COLUMNS
from validation.section import Section

SECTIONS = (
    Section(
        "False alarms of single tests",
        "Nothing changed. How often does the test at 5 % say otherwise?",
        COLUMNS,
        ranks.ROWS + t.ROWS + changes.ROWS,
    ),
    Section(
        "False alarms of whole suites",
        "How often something is reported although it did not change.",
        COLUMNS,
        families.ROWS + few_rounds.ROWS,
    ),
    Section(
        "Errors of method",
        "Common ways to compare, on two arms of the same code. They promise nothing themselves;\n"
        "this page compares them with the 5 % that any test keeps.",
        COLUMNS,
        errors_of_method.ROWS,
    ),
)
