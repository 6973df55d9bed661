"""`benchgate bisect`: find the commit that made a benchmark slower or faster.

Each commit that is tried is the base of a check, and the last commit is its head, with the
benchmarks of the working tree on both sides. So a commit with the change measures like the head,
and one without it differs from the head as the good commit does. The check decides about half of
that difference.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Self, TypeAlias

import numpy as np
from pydantic import TypeAdapter, ValidationError

from benchgate import __version__
from benchgate.baselines.own_benchmarks import BENCHMARKS_OF_HEAD
from benchgate.errors import BaselineError, MeasureError, UsageError, did_you_mean
from benchgate.files import read_bytes, write_atomic
from benchgate.git.commits import SHORT, RangeCommit, commits_between
from benchgate.git.repository import known_names
from benchgate.json_object import JsonObject, Text
from benchgate.measure.arm import ArmName
from benchgate.measure.trees import content_digest, two_arms
from benchgate.model.policy import MOVED, Outcome
from benchgate.model.row import Row
from benchgate.model.row_order import worst_first
from benchgate.model.run import BenchmarkFiles
from benchgate.session.benchmark_sets import UNABLE
from benchgate.session.checking import CheckRequest
from benchgate.session.choice import Choice
from benchgate.session.measuring import NOTHING_RUNS_ON_BASE
from benchgate.session.trials import BisectResult, BisectStep, Levels, Trial
from benchgate.stats.bisection import Bisection
from benchgate.units import format_change

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class BisectRequest:
    """What the user asked for.

    Attributes:
        benchmark: its id.
        good, bad: names of commits.
        first_parent: whether only the commits of the branch itself are searched, not those of
            branches that were merged into it.
        state: the file that holds what an interrupted search measured; None to keep nothing.
        output: the file for the result of the last check.
    """

    benchmark: str
    good: str
    bad: str = "HEAD"
    first_parent: bool = True
    state: Path | None = None
    output: Path | None = None


class Teller:
    """Is told what a search does; this class ignores it."""

    def begins(self, commits: int, steps: int, resumed: int) -> None:
        """So many commits are searched, in about so many steps; so many checks were kept."""

    def differs(self, whole: Row) -> None:
        """The head differs from the good commit."""

    def stepped(self, step: BisectStep) -> None:
        """A commit was measured, or could not be."""

    def confirming(self, commit: RangeCommit, before: str) -> None:
        """A commit is about to be compared with an earlier one, in most cases its parent."""


Check: TypeAlias = "Callable[[CheckRequest, Config], tuple[Verdict, Result]]"

_MOST_TRIALS = 3
_MOST_MERGED = 5000
_MOST_CONFIRMED = 3


def bisect(
    request: BisectRequest, config: Config, git: Git, check: Check, teller: Teller
) -> BisectResult:
    """Search between a commit and a later one for the commit that a benchmark's change came with.

    Args:
        check: `benchgate check`, with its side effects.

    Raises:
        UsageError: there is nothing to search, or the benchmark does not differ.
        BaselineError: the good commit cannot be measured.
    """
    commits = _range(request, git)
    good = git.rev_parse(request.good) or ""
    with with_benchmarks_of_today(git, commits[-1].sha, config) as tree:
        searched = {"tool": __version__, "good": good, "commits": [one.sha for one in commits]}
        searched |= {"benchmark": request.benchmark, "head": content_digest(tree.root)}
        searched |= {"build": repr(config.build), "benchmarks": repr(config.benchmarks)}
        digest = hashlib.sha256(json.dumps(searched).encode()).hexdigest()
        memory = _Memory.at(request.state, digest)
        search = _Search(request, config, git, tree, check, teller, commits, memory)
        search.begin(good)
        search.narrow()
        found = search.confirmed()
        while found is None:
            search.narrow()
            found = search.confirmed()
    memory.forget()
    return found


def _range(request: BisectRequest, git: Git) -> tuple[RangeCommit, ...]:
    """The commits to search, parents first."""
    if "*" in request.benchmark or "?" in request.benchmark:
        raise UsageError(
            f"{request.benchmark} is a glob: bisect searches for the change of one benchmark",
            hint="`benchgate list` shows the ids.",
        )
    good, bad = (
        git.rev_parse(name) or _unknown(git, flag, name)
        for flag, name in (("--good", request.good), ("--bad", request.bad))
    )
    if good == bad:
        raise UsageError(f"{request.good} and {request.bad} are the same commit, {good[:SHORT]}")
    base = git.merge_base(good, bad)
    if base == bad:
        raise UsageError(
            f"{request.good} comes after {request.bad}",
            hint=f"Swap them: --good {request.bad} --bad {request.good}",
        )
    if base != good:
        hint = f"Use the commit where they parted: --good {base[:SHORT]}" if base else ""
        raise UsageError(f"{request.good} is not an ancestor of {request.bad}", hint=hint)
    found = commits_between(git, good, bad, first_parent=request.first_parent)
    if len(found) > _MOST_MERGED and not request.first_parent:
        raise UsageError(
            f"there are {len(found):,} commits between {request.good} and {request.bad}, and at "
            f"most {_MOST_MERGED:,} can be searched with those of merged branches",
            hint="Leave out --no-first-parent to find the merge first.",
        )
    return found


def _unknown(git: Git, flag: str, name: str) -> str:
    raise UsageError(
        f"{flag} {name!r}: there is no such commit, branch or tag in this repository"
        + did_you_mean(name, known_names(git)),
        hint="git fetch --unshallow --tags" if git.is_shallow() else "",
    )


@dataclass(frozen=True, slots=True)
class _KeptSearch(JsonObject):
    """The file of a search that is not finished."""

    digest: Text
    whole: Row
    trials: Mapping[Text, Sequence[Trial]]


_KEPT: Final = TypeAdapter(_KeptSearch)


@dataclass(slots=True)
class _Memory:
    """What a search has measured, kept in a file for the case that it is interrupted.

    Attributes:
        whole: the row of the good commit against the head.
        trials: by the hash of the commit.
    """

    path: Path | None
    digest: str
    whole: Row | None = None
    trials: dict[str, list[Trial]] = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path | None, digest: str) -> Self:
        """Read what the same search has measured before; it is lost if that cannot be read."""
        memory = cls(path, digest)
        with suppress(UsageError, ValidationError):
            if path is not None and path.exists():
                kept = _KEPT.validate_json(read_bytes(path))
                if kept.digest == digest:
                    memory.whole = kept.whole
                    memory.trials = {sha: [*trials] for sha, trials in kept.trials.items()}
        return memory

    @property
    def count(self) -> int:
        """How many checks are in it."""
        return bool(self.whole) + sum(map(len, self.trials.values()))

    def save(self) -> None:
        if self.path is not None and self.whole is not None:
            kept = _KeptSearch(self.digest, self.whole, self.trials)
            write_atomic(self.path, _KEPT.dump_json(kept, context=str))

    def forget(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)


@dataclass(slots=True)
class _Search:
    """A search.

    Args:
        git: the user's checkout.
        tree: the head of all checks.
    """

    request: BisectRequest
    config: Config
    git: Git
    tree: Git
    check: Check
    teller: Teller
    commits: Sequence[RangeCommit]
    memory: _Memory
    untried: dict[str, str] = field(default_factory=dict)
    _checks: int = 0
    _number: int = 0
    _confirmed: int = 0
    _tries: dict[int, int] = field(default_factory=dict)
    _levels: Levels = field(init=False)
    _chances: Bisection = field(init=False)

    def __post_init__(self) -> None:
        places = {one.sha: index for index, one in enumerate(self.commits)}
        most = 1 if self.request.first_parent else None
        self._chances = Bisection(
            [[places[sha] for sha in one.parents[:most] if sha in places] for one in self.commits]
        )

    @property
    def steps(self) -> int:
        """About how many steps a search among all commits takes."""
        return math.ceil(math.log2(len(self.commits))) if len(self.commits) > 1 else 0

    def begin(self, good: str) -> None:
        """Measure the good commit against the head.

        Raises:
            UsageError: they do not differ.
        """
        self.teller.begins(len(self.commits), self.steps, self.memory.count)
        if self.memory.whole is None:
            self.memory.whole = self._differing(good)
            self.memory.save()
        self._checks += 1
        self._levels = Levels(self._whole.log_ratio)
        self.teller.differs(self.memory.whole)

    def _differing(self, good: str) -> Row:
        config = _against(self.config, good, explain=False)
        verdict, _ = self.check(self._wanted(self.tree), config)
        rows = [row for row in worst_first(verdict.rows) if row.decides and row.ratio]
        moved = [row for row in rows if row.outcome in MOVED]
        if moved:
            return next((row for row in moved if row.is_typical), moved[0])
        request = self.request
        between = f"between {request.good} and {request.bad}"
        if not rows:
            why = next((note for row in verdict.rows for note in row.notes), "")
            raise BaselineError(f"{request.benchmark} cannot be compared {between}", details=why)
        row = rows[0]
        changed = format_change(row.ratio or 1.0)
        if row.outcome is Outcome.UNCHANGED:
            raise UsageError(f"{request.benchmark} does not differ {between}: {changed}")
        raise UsageError(
            f"nothing is sure about {request.benchmark} {between}: {changed}",
            hint="Measure longer: --until-decided",
        )

    def _wanted(self, head: Git) -> CheckRequest:
        return CheckRequest(
            Choice((self.request.benchmark,)), must_save=False, benchmarks="head", head=head
        )

    def narrow(self) -> None:
        """Measure commits until one is surely the one, or no measurement tells more."""
        levels = self._levels
        while (index := self._chances.next(self._left_out)) is not None:
            commit = self.commits[index]
            self._number += 1
            about = self._number + self._expected() - 1
            tries = self._tries[index] = self._tries.get(index, 0) + 1
            known = self.memory.trials.setdefault(commit.sha, [])
            if len(known) < tries:
                known.append(self._tried(commit, abs(levels.half)))
                self.memory.save()
            self._checks += 1
            trial = known[tries - 1]
            changed, is_between = 0.5, False
            if trial.why_not:
                self.untried[commit.sha] = trial.why_not
            else:
                changed, is_between = levels.learn(trial)
                self._chances.learn(index, changed)
            self.teller.stepped(BisectStep(self._number, about, commit, trial, changed, is_between))

    def _expected(self) -> int:
        """About how many steps there are still to come, at least one."""
        likely = self._chances.probabilities
        left = likely[likely > 0]
        return max(1, math.ceil(-float((left * np.log2(left)).sum())))

    @property
    def _left_out(self) -> list[int]:
        return [
            index
            for index, one in enumerate(self.commits)
            if one.sha in self.untried or self._tries.get(index, 0) >= _MOST_TRIALS
        ]

    @property
    def _row(self) -> Row:
        if self.memory.whole is None:
            raise ValueError("the search has not begun")
        return self.memory.whole

    @property
    def _whole(self) -> Trial:
        return Trial.of(self._row)

    def _tried(self, commit: RangeCommit, half: float) -> Trial:
        """Measure a commit against the head, until it is clear whether it differs by more."""
        config = _against(self.config, commit.sha, explain=False, margin=math.expm1(half))
        try:
            verdict, _ = self.check(self._wanted(self.tree), config)
        except BaselineError as error:
            details = error.details if NOTHING_RUNS_ON_BASE in error.message else ""
            said = details.removeprefix(f"{UNABLE}: ") or error.message
            return Trial(why_not=said.partition("\n")[0])
        row = self._same_row(verdict)
        if row is None:
            return Trial(why_not=_why_not(verdict))
        return Trial.of(row)

    def _same_row(self, verdict: Verdict) -> Row | None:
        key = self._row.metric, self._row.statistic
        rows = [row for row in verdict.rows if (row.metric, row.statistic) == key and row.ratio]
        return rows[0] if rows and rows[0].launches[0] > 1 else None

    def confirmed(self) -> BisectResult | None:
        """Compare the commit with its parent; None if it is not the one after all."""
        suspects = sorted(self._chances.suspects())
        first, last = self.commits[suspects[0]], self.commits[suspects[-1]]
        row: Row | None = None
        warnings: tuple[str, ...] = ()
        if first.parents and (len(suspects) == 1 or self.request.first_parent):
            before = first.parents[0]
            self.teller.confirming(last, before)
            row, warnings = self._compared(before, last)
            self._checks += 1
        is_same = row is not None and row.outcome in MOVED and self._is_alike(row)
        self._confirmed += 1
        if row is not None and not is_same and len(suspects) == 1:
            self._chances.clear(suspects[0])
            if self._confirmed < _MOST_CONFIRMED:
                return None
        return BisectResult(
            tuple(self.commits[index] for index in suspects),
            float(self._chances.probabilities[suspects].sum()),
            self._row,
            row if is_same else None,
            self.untried,
            len(self.commits),
            self._checks,
            warnings,
        )

    def _is_alike(self, row: Row) -> bool:
        """Whether a row changed in the direction of the whole."""
        return math.log(row.ratio or 1.0) * self._whole.log_ratio > 0

    def _compared(self, before: str, commit: RangeCommit) -> tuple[Row | None, tuple[str, ...]]:
        config = _against(self.config, before, explain=self.config.measure.explain)
        with with_benchmarks_of_today(self.git, commit.sha, self.config) as tree:
            wanted = replace(self._wanted(tree), output=self.request.output)
            try:
                verdict, _ = self.check(wanted, config)
            except (BaselineError, MeasureError):  # one of them does not build
                return None, ()
        warnings = (one for one in verdict.warnings if one != BENCHMARKS_OF_HEAD)
        return self._same_row(verdict), tuple(warnings)


def _why_not(verdict: Verdict) -> str:
    """Why a commit has no row of the benchmark."""
    for row in verdict.rows:
        if said := next(filter(None, (row.error, *row.notes)), None):
            return said.partition("\n")[0]
    return "the benchmark does not run there"


def _against(config: Config, sha: str, *, explain: bool, margin: float | None = None) -> Config:
    """Compare with a commit.

    Args:
        margin: if given, whether it is exceeded is all that is decided, of any statistic.
    """
    baseline = config.baseline.model_copy(update={"source": "git", "against": sha})
    measure = config.measure.model_copy(update={"explain": explain})
    config = replace(config, baseline=baseline, measure=measure, waivers=(), limits=())
    if margin is None:
        return config
    gate = config.gate.model_copy(update={"margin": margin, "tail_margin": margin})
    none = dict.fromkeys(("margin", "tail_margin"))
    rules = tuple(rule.model_copy(update=none) for rule in config.rules)
    return replace(config, gate=gate, rules=rules)


@contextmanager
def with_benchmarks_of_today(git: Git, sha: str, config: Config) -> Iterator[Git]:
    """Check out a commit with the benchmarks of the working tree."""
    with two_arms(git, sha, dict.fromkeys(ArmName, config)) as trees:
        trees.ground.lay(BenchmarkFiles.HEAD)
        yield replace(git, root=trees.arms[ArmName.BASE].root, outputs=())
