"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar

import click

from benchgate.app.records import DEFAULT_SUITE
from benchgate.app.sharding import parse_shard
from benchgate.errors import UsageError
from benchgate.units import parse_duration_s

if TYPE_CHECKING:
    from collections.abc import Callable


class Overrides(TypedDict, total=False):
    """Options that stand for keys of the configuration; see Config.with_overrides."""

    budget: str | None
    rounds: int | None
    until_decided: bool
    seed: int | None
    margin: str | None
    alpha: float | None
    rule: str | None
    fail_on: tuple[str, ...]


def _outside_of_ci(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> str | None:
    """Refuse a baseline that only a job on GitHub can reach."""
    if value == "artifact":
        raise UsageError(
            "--baseline artifact: only `benchgate ci` in a job on GitHub can read these results",
            hint="Measure the base here (--baseline git), or name files: --baseline dir:PATH",
        )
    return value


def _seconds(_context: click.Context, parameter: click.Parameter, value: str) -> float:
    try:
        return parse_duration_s(value)
    except ValueError as error:
        raise UsageError(f"{parameter.opts[0]}: {error}") from None


class _Lines(click.types.StringParamType):
    """Text; of several that one variable gives, each has a line of its own, spaces and all."""

    envvar_list_splitter = "\n"

    def split_envvar_value(self, rv: str) -> list[str]:
        """Give the lines; empty ones stand for nothing."""
        return [line.strip() for line in rv.splitlines() if line.strip()]


F = TypeVar("F", bound="Callable[..., Any]")
_Option: TypeAlias = "Callable[[Any], Any]"

_FILE = click.Path(path_type=Path, dir_okay=False)

CONFIG = click.option(
    "--config",
    "config_file",
    type=_FILE,
    metavar="FILE",
    help="Configuration file to use instead of the one that benchgate finds.",
)
BASELINE = click.option(
    "--baseline",
    metavar="SPEC",
    callback=_outside_of_ci,
    help="auto, git:REF, or results of earlier runs: dir:PATH, file:PATH.",
)
BASELINE_IN_CI = click.option(
    "--baseline",
    metavar="SPEC",
    help="auto, git, git:REF, or artifact for results of earlier runs alone.",
)
GITHUB_TIMEOUT = click.option(
    "--github-timeout",
    metavar="TIME",
    default="90s",
    show_default=True,
    callback=_seconds,
    help="Time limit per GitHub operation; after it, the job continues without that.",
)
SUITE = click.option(
    "--suite",
    metavar="NAME",
    default=DEFAULT_SUITE,
    show_default=True,
    help="Name of the suite, if a repository has several: each has its own baselines and comment.",
)
FILTER = click.option(
    "--filter",
    "globs",
    type=_Lines(),
    multiple=True,
    metavar="GLOB",
    help="Only benchmarks whose id matches the glob; may be repeated.",
)
CHOICE = (
    FILTER,
    click.option(
        "--tag",
        "tags",
        type=_Lines(),
        multiple=True,
        metavar="TAG",
        help="Only benchmarks with this tag.",
    ),
)
SHARD = click.option(
    "--shard",
    metavar="I/N",
    callback=lambda _context, _parameter, text: parse_shard(text) if text is not None else None,
    help="Only part I of N of the suite; `benchgate merge` joins the parts.",
)
MEASURING = (
    click.option("--budget", metavar="TIME", help="Time for measuring, such as 90s or 10m."),
    click.option("--rounds", type=int, metavar="N", help="Measure exactly N rounds of everything."),
    click.option("--seed", type=int, metavar="N", help="Repeat the random choices of a run."),
)
UNTIL_DECIDED = click.option(
    "--until-decided",
    is_flag=True,
    help="Go on until every row is decided or out of reach; --budget may bound it.",
)
DECIDING = (
    click.option("--margin", metavar="PERCENT", help="Smallest change that matters, such as 3%."),
    click.option("--alpha", type=float, metavar="P", help="False-alarm rate of the whole suite."),
    click.option(
        "--rule", metavar="RULE", help="launch (default), or classical: the textbook rule."
    ),
    click.option(
        "--fail-on",
        type=_Lines(),
        multiple=True,
        metavar="OUTCOME",
        help="Outcome that fails: regressed, failed, missing, inconclusive, incomparable; may be "
        "repeated.",
    ),
)
REPORTS = (
    click.option(
        "--json",
        "json_file",
        type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
        metavar="FILE",
        help="Write the verdict as JSON; with -, only that goes to standard output.",
    ),
    click.option(
        "--markdown",
        "markdown_file",
        type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
        metavar="FILE",
        help="Write the verdict as Markdown; with -, only that goes to standard output.",
    ),
)
OUTPUT = click.option(
    "--output",
    "output",
    type=_FILE,
    metavar="FILE",
    help="Write the full result to FILE; compressed if its name ends in .gz.",
)
QUIET = click.option("-q", "--quiet", is_flag=True, help="Show no progress, only the result.")
VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Show every row and its test.")


def options(*groups: _Option | tuple[_Option, ...]) -> Callable[[F], F]:
    """Add options, single ones or tuples of them, in the order given."""

    def add(function: F) -> F:
        flat = [o for group in groups for o in (group if isinstance(group, tuple) else (group,))]
        for option in reversed(flat):
            function = option(function)
        return function

    return add
