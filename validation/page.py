"""Makes the page: computes its sections in parallel and writes them as Markdown."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

from validation import agreement, alarms, coverage, published, rates, strength
from validation.section import BrokenError, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

MADE = (
    "<!-- Made by `python -m validation`: change the scripts in validation/, not this page. -->\n\n"
)

INTRODUCTION = f"""\
{MADE}# Is the arithmetic right?

benchgate fails builds on the basis of statistics. Each of them was checked against SciPy or a
printed table, and against simulated data whose truth is known.
[The tables](validation-tables.md) show every single check.

`.venv/bin/python -m validation` computes all of it in about a minute, from fixed seeds, and writes
both pages. The tests check them on every change.

A simulation counts how often an interval contained the truth, or how often a test raised an alarm
although nothing had changed, and gives 95 % bounds of that rate (Clopper and Pearson). With so many
rows, a few such bounds miss the truth by chance, so each row is judged by its 99.99 % bounds:

- **holds**: the bounds agree with what is promised ("with fewer errors": they are better);
- **a little short**: certainly more errors than promised, but at most half as many again;
- **not to be trusted here**: more than that. The row says why, and what to use.

The rows that are not to be trusted are there on purpose. Most of them have one of these reasons:

- Samples of one launch resemble each other, so a test over pooled samples finds changes that are
  not there. Let each launch give one value.
- A few values do not show how far off the next may be. Take more, or an interval on logs.
- Twenty tests that each keep 5 % do not keep 5 % together. Correct for that, as Holm does.
- A threshold is not a test. It does not know how much the values vary.

The checks, and how they came out:
"""

TABLES = f"""\
{MADE}# The tables of the validation

[Is the arithmetic right?](validation.md) says what they show, and what the verdicts mean.
"Expected" is the true rate if theory gives it, or a published figure. The simulations draw:

| data | what it is |
|---|---|
| normal | independent values, standard deviation 10 % of the mean |
| skewed | lognormal with sigma 1: one value in forty is over seven times the median |
| heavy tails | Student's t with 3 degrees of freedom |
| autocorrelated | each value keeps half of the deviation of the one before: AR(1), 0.5 |
| launch-structured | what processes look like: each launch has a level of its own, spread by 2 %, \
and its samples spread by 3 % about it |
"""

SECTIONS: tuple[Section, ...] = (
    *agreement.SECTIONS,
    *published.SECTIONS,
    *coverage.SECTIONS,
    *alarms.SECTIONS,
    Section(
        "Power",
        "How often an existing change is found. What is promised is the power.",
        rates.COLUMNS,
        strength.ROWS,
    ),
)


def make(processes: int) -> tuple[str, str]:
    """Compute every row; write the page, and the one with all tables.

    Raises:
        BrokenError: with every row that does not have the result that it must have.
    """
    places = [(s, r) for s, section in enumerate(SECTIONS) for r in range(len(section.rows))]
    # NumPy may have threads, and a process that has threads must not fork.
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        results = dict(zip(places, pool.map(_work_out, places), strict=True))
    broken = [result for result in results.values() if isinstance(result, str)]
    if broken:
        raise BrokenError("\n".join(broken))
    tables, counts = [TABLES], []
    for s, section in enumerate(SECTIONS):
        rows = [results[s, r] for r in range(len(section.rows))]
        counts.append(_counted(section, rows))
        table = _table(section.columns, rows)
        tables.append(f"## {section.title}\n\n{section.text}\n\n{table}")
    columns = ("checks", "rows", "agree, or hold", "a little short", "not to be trusted there")
    return f"{INTRODUCTION}\n{_table(columns, counts)}", "\n".join(tables)


def _counted(section: Section, rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """Say how the rows of a section came out; those that do not agree at all are broken."""
    anchor = section.title.lower().replace(" ", "-")
    short, failing = (
        sum(row[-1].startswith(verdict) for row in rows)
        for verdict in (rates.Verdict.SHORT, rates.Verdict.FAILS)
    )
    counts = (len(rows), len(rows) - short - failing, short, failing)
    return (f"[{section.title}](validation-tables.md#{anchor})", *map(str, counts))


def _work_out(place: tuple[int, int]) -> Sequence[str]:
    """Give the cells of a row, or as one text what is wrong with it."""
    section, row = place
    try:
        return tuple(SECTIONS[section].rows[row].cells())
    except BrokenError as error:
        return str(error)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
