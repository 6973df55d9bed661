"""Options that several commands share."""

from __future__ import annotations

from functools import partial, wraps
from pathlib import Path
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import click

from benchgate.errors import UsageError
from benchgate.model.document import MOST_MIB, TOOL_FILE_MIB
from benchgate.model.policy import OVERRIDES, Options
from benchgate.session.choice import parse_shard
from benchgate.session.result_file import DEFAULT_SUITE
from benchgate.units import parse_duration_s

if TYPE_CHECKING:
    from collections.abc import Callable


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
    """A text; a variable may hold several, one per line, which may contain spaces."""

    envvar_list_splitter = "\n"

    def split_envvar_value(self, rv: str) -> list[str]:
        """Split the variable into lines, without the empty ones."""
        return [line.strip() for line in rv.splitlines() if line.strip()]


V = TypeVar("V")
F = TypeVar("F", bound="Callable[..., Any]")
_Option: TypeAlias = "Callable[[Any], Any]"

_VALUES = get_type_hints(Options)


def _override(name: str, **more: Any) -> _Option:  # noqa: ANN401 - as of click.option
    """Make the command-line option that overrides keys of the configuration.

    Args:
        more: how it differs from its definition, for one command.
    """
    one = OVERRIDES[name]
    said: dict[str, Any] = {"metavar": one.metavar or None, "help": one.help, **more}
    if _VALUES[name] is bool:
        return click.option(one.flag, is_flag=True, **said)
    if get_origin(_VALUES[name]) is tuple:
        return click.option(one.flag, type=_Lines(), multiple=True, **said)
    (kind,) = set(get_args(_VALUES[name])) - {NoneType}
    if kind is bool:
        return click.option(f"{one.flag}/--no-{one.flag[2:]}", default=None, **said)
    return click.option(one.flag, type=kind, **said)


def reading(function: Callable[..., int]) -> Callable[..., int]:
    """Pass the options about files of other tools to a command as one function, `read`."""

    @wraps(function)
    def gathered(**values: Any) -> int:  # noqa: ANN401 - those of the command line
        from benchgate.baselines.any_file import read_any  # noqa: PLC0415 - formats load slowly

        given = {name: values.pop(name) for name in ("format_name", "max_mib", "ok_exit_codes")}
        return function(**values, read=partial(read_any, **given))

    return gathered


def overriding(function: Callable[..., int]) -> Callable[..., int]:
    """Pass all options that override the configuration to a command as one value, `overrides`."""

    @wraps(function)
    def gathered(**values: Any) -> int:  # noqa: ANN401 - those of the command line
        given = {name: values.pop(name) for name in OVERRIDES.keys() & values.keys()}
        return function(**values, overrides=Options(**given))

    return gathered


def as_one(kind: Callable[..., V]) -> Callable[[Callable[[V], int]], Callable[..., int]]:
    """Pass all values of the command line to a command as one, whose fields have their names."""

    def decorate(function: Callable[[V], int]) -> Callable[..., int]:
        @wraps(function)
        def gathered(**values: Any) -> int:  # noqa: ANN401 - those of the command line
            return function(kind(**values))

        return gathered

    return decorate


FILE = click.Path(path_type=Path, dir_okay=False)
# Some tools write a folder.
RESULT = click.Path(path_type=Path)
OF_TOOLS = (
    click.option(
        "--format",
        "format_name",
        metavar="NAME",
        help="Format of other tools' files, if benchgate does not recognize it.",
    ),
    click.option(
        "--max-mib",
        type=click.IntRange(1, MOST_MIB),
        default=TOOL_FILE_MIB,
        show_default=True,
        metavar="N",
        help="Size limit of each file of another tool; JSON takes five times as much memory.",
    ),
    click.option(
        "--ok-exit-code",
        "ok_exit_codes",
        type=click.IntRange(0, 255),
        multiple=True,
        metavar="N",
        help="Exit code of a command of hyperfine that is no failure; may be repeated.",
    ),
)

CONFIG = click.option(
    "--config",
    "config_file",
    type=FILE,
    metavar="FILE",
    help="Configuration file to use instead of the one that benchgate finds.",
)
AGAINST = _override("against")
BASELINE = _override("baseline", callback=_outside_of_ci)
BASELINE_IN_CI = _override(
    "baseline", help="auto, git, git:REF, or artifact (only results of earlier runs)."
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
BUDGET = _override("budget")
MEASURING = (BUDGET, *map(_override, ("rounds", "seed", "counter")))
LANES = _override("lanes")
EXPLAIN = _override("explain")
UNTIL_DECIDED = _override("until_decided")
DECIDING = tuple(map(_override, ("margin", "alpha", "rule", "fail_on")))


def report_option(flag: str, what: str) -> _Option:
    """The option that writes a report to a file, which may be standard output."""
    return click.option(
        flag,
        f"{flag.removeprefix('--')}_file",
        type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
        metavar="FILE",
        help=f"Write {what}; - is standard output.",
    )


VERDICT_FILES: Final = {
    "json": "the verdict as JSON",
    "markdown": "the verdict as Markdown",
    "junit": "the verdict as JUnit XML",
    "csv": "the rows of the verdict as CSV",
    "html": "the report as a page of HTML",
}
"""The files that a verdict can be written to: `cli/outputs.py` says how."""

REPORTS = tuple(report_option(f"--{name}", what) for name, what in VERDICT_FILES.items())


def reporting(function: Callable[..., int]) -> Callable[..., int]:
    """Pass the files of `REPORTS` that are wanted to a command as one value, `reports`, by name."""

    @wraps(function)
    def gathered(**values: Any) -> int:  # noqa: ANN401 - those of the command line
        files = {name: values.pop(f"{name}_file") for name in VERDICT_FILES}
        wanted = {name: path for name, path in files.items() if path is not None}
        return function(**values, reports=wanted)

    return gathered


OUTPUT = click.option(
    "-o",
    "--output",
    "output",
    type=FILE,
    metavar="FILE",
    help="Write the full result to FILE; compressed if its name ends in .gz.",
)
NO_CACHE = click.option(
    "--no-cache", "rebuild", is_flag=True, help="Build again, even if there is an earlier build."
)
ALL = click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also measure what runs the same code on both sides.",
)
INTROSPECT = click.option(
    "--introspect",
    is_flag=True,
    help="Ask what scenarios load for its version and settings, and keep them in the result.",
)
TIMING = click.option(
    "--timing", is_flag=True, help="Print on standard error how long each phase took."
)
QUIET = click.option("-q", "--quiet", is_flag=True, help="Show no progress, only the result.")
VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Show every row and its test.")


_SECTIONS: Final = {
    "What to compare": (
        "--against --baseline --base --head --benchmarks --format --max-mib --ok-exit-code"
        " --suite --merge --run --artifact --continue"
    ),
    "What to measure": (
        "--filter --tag --all --budget --rounds --until-decided --lanes --shard --counter --seed"
        " --introspect --no-cache"
    ),
    "How to judge": "--margin --fail-on --alpha --rule --config",
    "What to write": (
        "--output --html --markdown --json --junit --csv --comment --check --detail --verbose"
        " --quiet --timing"
    ),
}
"""The options of commands with many of them, as `--help` shows them; others come last."""


class SectionedCommand(click.Command):
    """A command whose help has its options in sections, the everyday ones first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by what they are about."""
        left = {
            max(param.opts, key=len): record
            for param in self.get_params(ctx)
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx))
        }
        for title, flags in _SECTIONS.items():
            if records := [left.pop(flag) for flag in flags.split() if flag in left]:
                with formatter.section(title):
                    formatter.write_dl(records)
        with formatter.section("Other options"):
            formatter.write_dl(list(left.values()))


def options(*groups: _Option | tuple[_Option, ...]) -> Callable[[F], F]:
    """Add options, single ones or tuples of them, in the order given."""

    def add(function: F) -> F:
        flat = [o for group in groups for o in (group if isinstance(group, tuple) else (group,))]
        for option in reversed(flat):
            function = option(function)
        return function

    return add
