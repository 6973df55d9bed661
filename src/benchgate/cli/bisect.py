"""`benchgate bisect`: the commit that made a benchmark slower or faster."""

from __future__ import annotations

import math
import shlex
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import click
from rich.text import Text

from benchgate.cli import options as o
from benchgate.cli.builds import kept_builds
from benchgate.cli.last_result import last_result_path, prepare_last_result
from benchgate.cli.world import configuration, console, real_effects, repository
from benchgate.errors import Interrupted
from benchgate.escape import plain_line
from benchgate.git.commits import SHORT
from benchgate.git.repository import FULL_SHA
from benchgate.model.notes import change, sides
from benchgate.report import estimates, row_notes, words
from benchgate.report.causes import sentences
from benchgate.report.headline import bare
from benchgate.report.progress import Progress
from benchgate.report.terminal import print_text
from benchgate.session.bisecting import BisectRequest, Teller, bisect
from benchgate.session.checking import check
from benchgate.stats.bisection import SURE
from benchgate.units import counted, format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rich.console import Console

    from benchgate.config import Config
    from benchgate.git.commits import RangeCommit
    from benchgate.model.policy import Options
    from benchgate.model.result import Result
    from benchgate.model.row import Row
    from benchgate.model.verdict import Verdict
    from benchgate.report.progress import RoundState
    from benchgate.session.checking import CheckRequest
    from benchgate.session.trials import BisectResult, BisectStep

_MOST: Final = 0.75


@click.command("bisect")
@click.argument("benchmark")
@click.option("--good", required=True, metavar="REF", help="A commit before the change.")
@click.option(
    "--bad",
    default="HEAD",
    show_default=True,
    metavar="REF",
    help="A later commit, which has the change.",
)
@click.option(
    "--first-parent/--no-first-parent",
    default=True,
    help="Leave out the commits of merged branches, or search these too; default: leave out.",
)
@o.options(o.BUDGET, o.UNTIL_DECIDED, o.EXPLAIN, o.CONFIG, o.NO_CACHE, o.QUIET)
@o.overriding
def command(
    benchmark: str,
    good: str,
    bad: str,
    first_parent: bool,
    config_file: Path | None,
    rebuild: bool,
    quiet: bool,
    overrides: Options,
) -> int:
    """Find the commit that made a benchmark slower or faster.

    benchgate compares commits between the two with the later one, measured in turn, until one
    commit is the first with the change. It leaves out commits that do not build. Then it compares
    that commit with its parent, and says where to look. Benchmarks and configuration are those of
    your working tree, so a new benchmark can be searched for in old commits.

    BENCHMARK is an id, as `benchgate list` shows it.

    If a search is interrupted, the same command goes on; with --no-cache, it starts again.

    \b
    Examples:
      benchgate bisect parse/large --good v1.2
      benchgate bisect parse/large --good v1.2 --bad v1.3

    Exit code 0: found, 4: it may be one of several commits.
    """
    began_s = time.monotonic()
    effects = real_effects(quiet=quiet)
    git = repository(effects.cwd, ())
    config = configuration(effects.cwd, git, config_file).with_overrides(overrides)
    last = prepare_last_result(git.root, effects.environ, effects.progress.message)
    state = last_result_path(git.root, effects.environ).with_name("bisect.json") if last else None
    if rebuild and state:
        state.unlink(missing_ok=True)
    teller = _StepLines(_short(good), _short(bad), console(stderr=True), quiet=quiet)

    def compare(request: CheckRequest, config: Config) -> tuple[Verdict, Result]:
        own = real_effects(quiet=quiet, builds=kept_builds(reads=not rebuild))
        try:
            return check(request, config, git, replace(own, progress=_Brief(own.progress)))
        finally:
            own.progress.close()

    request = BisectRequest(benchmark, good, bad, first_parent, state, last)
    try:
        found = bisect(request, config, git, compare, teller)
    except (KeyboardInterrupt, Interrupted):
        again = "Run the same command again, and it goes on." if state else ""
        raise Interrupted("interrupted", hint=again) from None
    _render(found, request, console(), took_s=time.monotonic() - began_s)
    for hint in _next_steps(found, request):
        effects.progress.hint(hint)
    return 0 if len(found.commits) == 1 and found.row else 4


def _short(name: str) -> str:
    return name[:SHORT] if FULL_SHA.fullmatch(name) else name


class _Brief(Progress):
    """Shows of a check only what it is doing."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def preparing(self, what: str) -> None:
        if self._progress.is_live:
            self._progress.preparing(what)

    def round_started(self, state: RoundState) -> None:
        if self._progress.is_live:
            self._progress.round_started(state)

    def measuring(self, benchmark: str) -> None:
        if self._progress.is_live:
            self._progress.measuring(benchmark)

    def measured(self, benchmark: str) -> None:
        if self._progress.is_live:
            self._progress.measured(benchmark)


class _StepLines(Teller):
    """Prints a line about each step."""

    def __init__(self, good: str, bad: str, console: Console, *, quiet: bool) -> None:
        self._good, self._bad = good, bad
        self._console = console
        self._quiet = quiet

    def _print(self, text: str | Text) -> None:
        if not self._quiet:
            print_text(self._console, text)

    def begins(self, commits: int, steps: int, resumed: int) -> None:
        of = f"{self._good} to {self._bad}: {counted(commits, 'commit')}"
        self._print(f"{of}, about {counted(steps, 'step')}" if steps else of)
        if resumed:
            kept = f"{counted(resumed, 'check')} of it {'was' if resumed == 1 else 'were'}"
            self._print(f"this search was interrupted: {kept} kept (--no-cache starts again)")

    def differs(self, whole: Row) -> None:
        size = f"{row_notes.unsigned(whole.ratio or 1.0)} {words.outcome(whole)}"
        self._print(f"{words.name(whole)} is {size} at {self._bad} than at {self._good}")

    def stepped(self, step: BisectStep) -> None:
        trial, sure = step.trial, max(step.changed, 1 - step.changed)
        like = self._bad if step.changed > 0.5 else self._good
        if trial.why_not:
            said, style = f"skipped: {trial.why_not}", "yellow"
        elif step.is_between:
            said, style = f"between the two, nearer to {like}", "yellow"
        else:
            likely = "" if sure >= 0.99 else f" ({sure:.0%} sure)"
            said, style = f"like {like}{likely}", "red" if like == self._bad else "green"
        commit = step.commit
        self._print(
            Text.assemble(
                f"step {step.number} of about {step.about}  {commit.short}  ",
                (plain_line(said, 100), style),
                f"  {plain_line(commit.subject, 60)}",
            )
        )

    def confirming(self, commit: RangeCommit, before: str) -> None:
        self._print(f"comparing {commit.short} with {_before(commit, before)}")


def _render(
    found: BisectResult, request: BisectRequest, console: Console, *, took_s: float
) -> None:
    """Print the commit, what it changed, and where to look."""
    name, word = words.name(found.whole), words.outcome(found.whole)
    if len(found.commits) > 1:
        title = f"{name} got {word} with one of {len(found.commits)} commits"
    else:
        title = f"{name} got {word} with {found.commits[0].short}"
    print_text(console, Text(title, "bold"))
    for commit in found.commits:
        about = f"{commit.date}, {plain_line(commit.author)}: {plain_line(commit.subject)}"
        print_text(console, f"{commit.short}  {about}", indent=2)
        if why := found.untried.get(commit.sha):
            print_text(console, f"could not be measured: {plain_line(why)}", indent=11)
    console.print()
    if found.row:
        ends = f" ({estimates.interval(found.row)})" if estimates.interval(found.row) else ""
        values = words.from_to(*sides(found.row))
        before = _before(found.commits[-1], found.commits[0].parents[0])
        print_text(console, f"{change(found.row)}{ends}: {values}, against {before}", indent=2)
        for sentence in sentences(found.row) if found.row.explanation else ():
            print_text(console, f"where to look: {bare(sentence)}", indent=2)
    else:
        print_text(console, "a comparison with the commit before does not show it", indent=2)
    for line in _about(found, request, took_s):
        print_text(console, line, indent=2)
    for warning in found.warnings:
        print_text(console, Text.assemble(("warning: ", "yellow"), plain_line(warning)), indent=2)


def _before(commit: RangeCommit, before: str) -> str:
    return "its parent" if before in commit.parents else before[:SHORT]


def _about(found: BisectResult, request: BisectRequest, took_s: float) -> Iterator[str]:
    """How sure it is, what else changed, and what it took."""
    if _is_partial(found):
        ends = f"from {_short(request.good)} to {_short(request.bad)}"
        yield f"other commits changed it too: {ends} it is {change(found.whole)}"
    sure = f"{found.probability:.1%} sure; " if found.probability < SURE else ""
    checks = counted(found.checks, "check")
    commits = counted(found.searched, "commit")
    yield f"{sure}{checks} of {commits}, {format_duration(took_s)}"


def _is_partial(found: BisectResult) -> bool:
    """Whether the commit is only a part of what changed the benchmark."""
    whole, part = found.whole.ratio or 1.0, (found.row and found.row.ratio) or 0.0
    return bool(part) and abs(math.log(part)) < _MOST * abs(math.log(whole))


def _next_steps(found: BisectResult, request: BisectRequest) -> Iterator[str]:
    """Say which commands show more."""
    if len(found.commits) == 1:
        yield f"the commit: git show {found.commits[0].short}"
    if found.row:
        yield "the evidence as a page: benchgate report"
    commit, name = found.commits[0], shlex.quote(request.benchmark)
    if _is_partial(found):
        later, bad = found.commits[-1].short, shlex.quote(_short(request.bad))
        yield f"the other changes: benchgate bisect {name} --good {later} --bad {bad}"
    if len(commit.parents) > 1 and request.first_parent and len(found.commits) == 1:
        yield (
            f"the commit of the merged branch: benchgate bisect {name} "
            f"--good {commit.parents[0][:SHORT]} --bad {commit.short} --no-first-parent"
        )
