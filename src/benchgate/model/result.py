"""One result file: both arms, the stored runs compared before, and the shards that it joins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Final, Self, TypeAlias

from pydantic import FailFast, Field, model_validator

from benchgate.errors import UsageError
from benchgate.json_object import JsonObject, Name, NotNegative, Positive, Text, misplaced
from benchgate.model.document import Format
from benchgate.model.environment import in_common
from benchgate.model.policy import Policy
from benchgate.model.run import CANARY_IDS, CHANGED_FILES_ID, Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Phase(StrEnum):
    """What a session does; each value is what reports call it.

    `START_WORKERS` is a part of the rounds, done in several lanes at the same time: start a pair of
    processes, and import a file in both. All others come one after the other.
    """

    START = "start benchgate"
    CHECK_OUT = "check out"
    BUILD = "build"
    FIND = "find benchmarks"
    FIRST_ROUND = "first round"
    LATER_ROUNDS = "later rounds"
    COUNT = "count instructions"
    DECIDE = "decide"
    EXPLAIN = "explain"
    SAVE = "save the result"
    REPORT = "report"
    START_WORKERS = "start workers"


OF_THE_BUDGET: Final = frozenset(
    {Phase.FIRST_ROUND, Phase.LATER_ROUNDS, Phase.COUNT, Phase.DECIDE, Phase.SAVE}
)
"""The phases that the budget limits."""


@dataclass(frozen=True, slots=True)
class PhaseTime(JsonObject):
    """How long a phase took.

    Attributes:
        times: how often it was done.
        seconds: wall time of all of them together.
    """

    phase: Phase
    times: Positive
    seconds: NotNegative


MAX_SHARDS = 1000
"""Most shards of a suite: each gets a share of alpha, which must stay above zero."""

MOST_STORED: Final = 100
EXAMPLES: Final = 3
MOST_REASONS: Final = 20


@dataclass(frozen=True, slots=True)
class Shard(JsonObject):
    """One shard of a suite that is measured in several jobs.

    Attributes:
        number: from 1.
        count: how many there are.
        dealt: all ids of the suite, including those that other shards measure.
    """

    number: Positive
    count: Annotated[int, Field(ge=1, le=MAX_SHARDS)]
    dealt: Annotated[tuple[Name, ...], FailFast()] = ()

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Self:
        if self.number > self.count:
            raise misplaced(f"there is no shard {self.number} of {self.count}", "number")
        return self


@dataclass(frozen=True, slots=True)
class SkippedResult(JsonObject):
    """A stored result that was not used.

    Attributes:
        what: its file, or its artifact and the run that left it.
        reason: in plain words, to follow "because".
    """

    what: Text
    reason: Text


def by_reason(skipped: Iterable[SkippedResult]) -> tuple[SkippedResult, ...]:
    """One entry per result, or one per reason if more than `EXAMPLES` results share it.

    If there are many reasons, the last ones are only counted.
    """
    found: dict[str, list[str]] = {}
    for one in skipped:
        found.setdefault(one.reason, []).append(one.what)
    shown: list[SkippedResult] = []
    for reason, names in found.items():
        if len(names) > EXAMPLES:
            examples = ", ".join(names[:EXAMPLES])
            shown.append(
                SkippedResult(f"{len(names)} results", f"{reason}; for example {examples}")
            )
        else:
            shown += [SkippedResult(name, reason) for name in names]
    rest = len(shown) - MOST_REASONS
    if rest <= 0:
        return tuple(shown)
    return (
        *shown[:MOST_REASONS],
        SkippedResult(f"{rest} more", "for other reasons"),
    )


@dataclass(frozen=True, slots=True, eq=False)
class StoredRun(JsonObject):
    """An earlier run with which the head was compared.

    Attributes:
        name: what messages call it.
        why: why it serves as the base, in words.
    """

    name: Text
    why: Text
    run: Run


MOST_RECENT: Final = 20
"""Most earlier runs of which a row has the values."""


@dataclass(frozen=True, slots=True)
class Course(JsonObject):
    """What earlier runs measured for a row; decides nothing.

    Attributes:
        values: see `Row.recent`.
    """

    benchmark: Name
    metric: Text
    statistic: Text
    values: Annotated[tuple[float, ...], Field(max_length=MOST_RECENT)]


@dataclass(frozen=True, slots=True, eq=False)
class Screening(JsonObject):
    """A head that was measured alone, and the stored runs that it was compared with.

    Attributes:
        head: the run of it alone; None if stored runs could not have decided anything.
        earlier: in order of preference; empty if the head was not compared with any.
        skipped: stored results that could not be used.
        warnings: what a reader of the verdict must know about the stored runs.
        is_first: whether there is nothing to compare with yet, and that is not an error.
        recent: what stored runs of this machine measured, if the head was not compared with them.
    """

    head: Run | None
    earlier: Annotated[tuple[StoredRun, ...], FailFast(), Field(max_length=MOST_STORED)]
    skipped: tuple[SkippedResult, ...] = ()
    warnings: tuple[Text, ...] = ()
    is_first: bool = False
    recent: Annotated[tuple[Course, ...], FailFast()] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Result(JsonObject):
    """A result file of benchgate: one run, and the run of the base measured in turn with it.

    Attributes:
        tool: name and version of the program that measured.
        head: the run of the head.
        base: the run of the base; None if the two were not measured in turn.
        duration_s: wall time of building and measuring.
        warnings: about the measurement as a whole.
        shard: which part of the suite this is; None if it is the whole suite.
        shards: the results that were joined, ordered by number: `head` and `base` then hold what
            all of them measured, except for the canary that each had. A file holds the first of
            them, with the others in its `shards`.
        screening: what the comparison with stored runs decided first; `base` is then None if that
            decided everything, or else both arms hold what it did not decide.
        policy: the settings that judged it, so that the decision can be repeated elsewhere.
        phases: where the time went until the result was saved; empty if shards were joined.
    """

    schema: Annotated[int, Field(ge=1, le=1)] = field(default=1, kw_only=True)
    tool: Text = field(default="benchgate", kw_only=True)
    head: Run
    base: Run | None = None
    duration_s: NotNegative = 0.0
    warnings: tuple[Text, ...] = ()
    shard: Shard | None = None
    shards: Annotated[tuple[Result, ...], FailFast()] = ()
    screening: Screening | None = None
    policy: Policy | None = None
    phases: Annotated[tuple[PhaseTime, ...], Field(max_length=len(Phase))] = ()


RESULT: Final = Format("result file", Result, hallmark="tool")


_NAMED = 10
_ONCE = "Give the result of each shard of one suite, and each of them once."
_ANEW = "All shards must measure the same suite and the same commits in the same way: rerun them"
_UNCHECKED = "some measured files are not committed, so the shards may have measured different code"


@dataclass(frozen=True, slots=True, eq=False)
class _NamedResult:
    """A result, with its name in messages."""

    name: str
    result: Result
    shard: Shard


_Parts: TypeAlias = "Sequence[_NamedResult]"


def join(named: Iterable[tuple[str, Result]]) -> Result:
    """Join the shards of one suite; rounds and machines of each stay as they were.

    Args:
        named: at least one result, each with its name in messages.

    Raises:
        UsageError: one is not a shard, or they are not all the shards of one suite, or two of them
            measured the same benchmark.
    """
    parts = sorted((_part(*each) for each in named), key=lambda part: part.shard.number)
    _require_all_once(parts)
    _require_alike(parts)
    _require_all_measured_once(parts)
    return parts[0].result if len(parts) == 1 else _joined(parts)


def ids_of(result: Result) -> list[str]:
    """The ids of both arms, each once, without benchgate's own and those of new versions."""
    runs = [result.head, *([result.base] if result.base else [])]
    ids = dict.fromkeys(b.id for run in runs for b in run.of_project)
    return [id_ for id_ in ids if id_ != CHANGED_FILES_ID]


def _part(name: str, result: Result) -> _NamedResult:
    if result.shards:
        raise UsageError(f"{name} was joined from {len(result.shards)} shards already", hint=_ONCE)
    if result.shard is None:
        raise UsageError(
            f"{name} is not the result of a shard: it holds a whole suite",
            hint="Only results of --shard can be joined. Use `benchgate compare` to compare "
            "results of different suites or times.",
        )
    return _NamedResult(name, result, result.shard)


def _require_all_once(parts: _Parts) -> None:
    first, count = parts[0], parts[0].shard.count
    for part in parts:
        if part.shard.count != count:
            raise UsageError(
                f"{first.name} is one of {count} shards, and {part.name} one of {part.shard.count}",
                hint=_ONCE,
            )
    for one, other in pairwise(parts):
        if one.shard.number == other.shard.number:
            raise UsageError(
                f"{one.name} and {other.name} are both shard {one.shard.number} of {count}",
                hint=_ONCE,
            )
    there = {part.shard.number for part in parts}
    if missing := [number for number in range(1, count + 1) if number not in there]:
        raise UsageError(
            f"{first.name} is one of {count} shards, and there is no result of {_listed(missing)}",
            hint="Every shard must be measured. If the job of one failed, run that job again.",
        )


def _require_alike(parts: _Parts) -> None:
    first = parts[0]
    expected = _traits(first.result)
    for part in parts[1:]:
        for trait, value in _traits(part.result).items():
            if value != expected[trait]:
                raise UsageError(
                    f"{first.name} and {part.name} differ in {trait}: {expected[trait]} and "
                    f"{value}",
                    hint=f"{_ANEW}.",
                )


def _traits(result: Result) -> Mapping[str, str]:
    """What the shards of one suite must have in common, in words."""
    head, base = result.head, result.base
    return {
        "the suite": repr(head.suite),
        "the commit": repr(head.source.sha),
        "the base": repr(base.source.sha) if base else "none",
        "the rounds of the screen": str(head.screen_rounds),
        "the benchmark files that decide": head.files.value,
        "until_decided": str(head.until_decided).lower(),
    }


def _require_all_measured_once(parts: _Parts) -> None:
    first = parts[0]
    dealt = set(first.shard.dealt)
    measured: dict[str, _NamedResult] = {}
    for part in parts:
        if unlike := dealt ^ set(part.shard.dealt):
            id_ = min(unlike)
            knows = first if id_ in dealt else part
            raise UsageError(
                f"{first.name} and {part.name} are not shards of the same suite: only {knows.name} "
                f"has {id_!r}",
                hint=f"{_ANEW}, and with the same --filter and --tag.",
            )
        for id_ in ids_of(part.result):
            other = measured.setdefault(id_, part)
            if other is not part:
                raise UsageError(
                    f"{other.name} and {part.name} both measured {id_!r}", hint=f"{_ANEW}."
                )
    if lost := sorted(dealt - measured.keys()):
        raise UsageError(f"no shard measured {lost[0]!r}", hint=f"{_ANEW}.")


def _joined(parts: _Parts) -> Result:
    first = parts[0]
    bases = [part.result.base for part in parts if part.result.base]
    place = {id_: index for index, id_ in enumerate(first.shard.dealt)}
    return Result(
        head=_joined_run([part.result.head for part in parts], place),
        base=_joined_run(bases, place) if bases else None,
        duration_s=sum(part.result.duration_s for part in parts),
        warnings=(*_doubts(parts), *_warnings(parts)),
        tool=first.result.tool,
        shards=tuple(part.result for part in parts),
    )


def _joined_run(runs: Sequence[Run], place: Mapping[str, int]) -> Run:
    """Put the benchmarks of all shards into the order in which the suite has them."""
    measured = (b for run in runs for b in run.benchmarks if b.id not in CANARY_IDS)
    benchmarks = {b.id: b for b in measured}.values()  # changed files may be noted in many shards
    earliest = min(runs, key=lambda run: datetime.fromisoformat(run.started))
    return replace(
        runs[0],
        source=replace(runs[0].source, dirty=any(run.source.dirty for run in runs)),
        started=earliest.started,
        environment=in_common([run.environment for run in runs]),
        benchmarks=tuple(sorted(benchmarks, key=lambda b: place.get(b.id, len(place)))),
        complete=all(map(attrgetter("complete"), runs)),
        is_mixed=any(runs[0].differences(run) for run in runs),
    )


def _doubts(parts: _Parts) -> list[str]:
    """What a reader of the joined result must know about the shards."""
    heads = [part.result.head for part in parts]
    is_unchecked = any(head.source.dirty or head.source.sha is None for head in heads)
    doubts = [_UNCHECKED] if is_unchecked else []
    if unlike := dict.fromkeys(d for head in heads for d in heads[0].differences(head)):
        doubts.append(f"the shards were measured on machines that differ: {'; '.join(unlike)}")
    if broken := [part.shard.number for part in parts if not part.result.head.complete]:
        doubts.append(f"{_listed(broken)}: interrupted before the last round")
    return doubts


def _warnings(parts: _Parts) -> list[str]:
    """Warnings of each shard under its name; those that all shards have, once."""
    said: dict[str, list[int]] = {}
    for part in parts:
        for warning in dict.fromkeys(part.result.warnings):
            said.setdefault(warning, []).append(part.shard.number)
    return [
        warning if len(numbers) == len(parts) else f"{_listed(numbers)}: {warning}"
        for warning, numbers in said.items()
    ]


def _listed(numbers: Sequence[int]) -> str:
    """Name shards: "shard 2", "shards 2, 3 and 5"."""
    if len(numbers) == 1:
        return f"shard {numbers[0]}"
    named = [str(number) for number in numbers[:_NAMED]]
    last = named.pop() if len(numbers) <= _NAMED else f"{len(numbers) - _NAMED} more"
    return f"shards {', '.join(named)} and {last}"
