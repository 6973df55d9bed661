"""Takes from an untrusted result only numbers, names known from elsewhere, and claims that hold."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Final

from benchgate.gate.other_files import is_new, of_base
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import COUNTERS, OWN
from benchgate.model.result import Result, Shard
from benchgate.model.run import (
    CANARY_IDS,
    CHANGED_FILES_ID,
    BenchmarkFiles,
    BenchmarkResult,
    Run,
    Series,
    Source,
    Status,
    Tier,
)
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


LEFT_OUT: Final = "the default branch measures it, but this run did not measure it on the base"
"""The note on a benchmark that the run should have measured, but did not."""

NOT_KNOWN_NEW: Final = "nobody but this run says that the base does not have it"
"""The note on a benchmark that only the head has, as only this run says."""

ONLY_SAID: Final = "this run says that it crashes on the base, but nobody else has seen that"
"""The note on a benchmark whose failure on the base would excuse it."""

_MOST_CORES = 10_000
_FAILED = "it crashed in the pull request's own run, whose log says why"
_FILES_CHANGED = "files changed while they were measured: the run's log names them"
_LABEL = r"[A-Za-z_][A-Za-z0-9_]{0,39}=[A-Za-z0-9_.+-]{1,40}"
_PARAMETERS = re.compile(rf"\[(?=.{{1,120}}\]){_LABEL}(?:,{_LABEL})*\]")


@dataclass(frozen=True, slots=True)
class KnownBenchmarks:
    """The benchmarks of the base, known from its files and the default branch's own runs.

    Attributes:
        ids: full ids.
        functions: ids without parameters (`group/name`) of the functions that its files define.
        expected: ids that must have been measured.
        broken: ids that failed in the default branch's own run.
        are_all: False if the default branch's own run cannot be read.
    """

    ids: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    expected: frozenset[str] = frozenset()
    broken: frozenset[str] = frozenset()
    are_all: bool = True

    def knows(self, id_: str) -> bool:
        """Whether a benchmark's id may be shown.

        The parameters of a function may be new: short names and values without spaces. The fork
        chooses these words, as it chooses the numbers.
        """
        if id_ in self.ids or id_ in CANARY_IDS or id_ == CHANGED_FILES_ID:
            return True
        function = function_of(id_)
        parameters = id_.removeprefix(function)
        return function in self.functions and (
            not parameters or _PARAMETERS.fullmatch(parameters) is not None
        )


def function_of(id_: str) -> str:
    """An id without its parameters."""
    return id_.partition("[")[0]


@dataclass(frozen=True, slots=True)
class SanitizedResult:
    """The part of a result that may be judged and shown.

    Attributes:
        names: for each id in the untrusted file, the name that is used instead.
        warnings: what a reader of the verdict must know about it.
    """

    result: Result
    names: Mapping[str, str]
    warnings: tuple[str, ...]


def cleaned(result: Result, known: KnownBenchmarks, head: Source, base: Source) -> SanitizedResult:
    """Rebuild a result of both arms from numbers and known names.

    A benchmark that should have been measured on the base, but was not, is added without a number:
    its row then says that it is missing or cannot be compared, and not that it is new. A benchmark
    that fails on the base, as only this result says, counts as one that was not measured. One that
    the default branch measures is neither new nor can it have changed together with the code.

    Args:
        result: one that has a base.
        head: the commit that the run measured, according to GitHub.
        base: the commit that the head was compared with, already checked.
    """
    parts = (result, *result.shards)
    heads = [one for part in parts for one in _measured(part.head)]
    bases = [one for part in parts if part.base for one in _measured(part.base)]
    names = _names((one.id for one in (*heads, *bases)), known)
    left_out = sorted(known.expected - {one.id for one in bases})
    new = names.keys() - known.expected if known.are_all else set()
    every = [_result(part, names, new, head, base) for part in parts]
    only_said = {id_ for one in every for id_ in _only_said(one.base, known.broken)}
    rebuilt, *shards = (_without_claims(one, known.broken) for one in every)
    on_base = {one.id for one in bases if not is_new(one, result.head.files)}
    doubted = [] if known.are_all else sorted({one.id for one in heads} - on_base - {*left_out})
    for ids, why in ((left_out, LEFT_OUT), ([names[id_] for id_ in doubted], NOT_KNOWN_NEW)):
        if ids:
            rebuilt = _with_unmeasured(rebuilt, ids, why)
            shards[:1] = [_with_unmeasured(one, ids, why) for one in shards[:1]]
    unnamed = sum(new != old for old, new in names.items())
    same = sum(one.status is Status.SAME_CODE for one in bases)
    warnings = _warnings(unnamed, len(left_out), len(only_said), len(doubted), same)
    return SanitizedResult(replace(rebuilt, shards=tuple(shards)), names, warnings)


def _names(ids: Iterable[str], known: KnownBenchmarks) -> dict[str, str]:
    """Name each benchmark by its id if the id is known, or else by a number."""
    free = (name for n in count(1) if (name := f"unnamed benchmark {n}") not in known.ids)
    return {id_: id_ if known.knows(id_) else next(free) for id_ in dict.fromkeys(ids)}


def _warnings(
    unnamed: int, left_out: int, only_said: int, doubted: int, same_code: int
) -> tuple[str, ...]:
    said = []
    if unnamed:
        them = "its name" if unnamed == 1 else "their names"
        said.append(
            f"the base does not know {counted(unnamed, 'benchmark')} of this run: the fork could "
            f"have written anything into {them}, so a number is shown instead"
        )
    if left_out:
        said.append(
            f"this run did not measure {counted(left_out, 'benchmark')} on the base that the "
            "default branch measures"
        )
    if only_said:
        fail = "fails" if only_said == 1 else "fail"
        said.append(
            f"this run says that {counted(only_said, 'benchmark')} {fail} on the base: the fork "
            "could have written that, so it counts as not measured"
        )
    if doubted:
        are = "is" if doubted == 1 else "are"
        said.append(
            f"this run says that {counted(doubted, 'benchmark')} {are} new: the default branch's "
            "newest result cannot be read, so benchgate does not believe that"
        )
    if same_code:
        run = "runs" if same_code == 1 else "run"
        said.append(
            f"only this run says that {counted(same_code, 'benchmark')} {run} no code that "
            "changed: the fork could have written that"
        )
    return tuple(said)


def _measured(run: Run) -> list[BenchmarkResult]:
    """What was measured, without new versions: these are only shown."""
    return [one for one in run.benchmarks if one.new_version_of is None]


def _result(
    result: Result, names: Mapping[str, str], new: Collection[str], head: Source, base: Source
) -> Result:
    return Result(
        head=_run(result.head, names, new, head),
        base=_run(result.base, names, new, base) if result.base else None,
        duration_s=result.duration_s,
        shard=_shard(result.shard, names) if result.shard else None,
    )


def _shard(shard: Shard, names: Mapping[str, str]) -> Shard:
    return Shard(shard.number, shard.count, tuple(names[x] for x in shard.dealt if x in names))


def _run(run: Run, names: Mapping[str, str], new: Collection[str], source: Source) -> Run:
    """Rebuild a run.

    Args:
        new: ids that the default branch does not measure.
    """
    cores = run.environment.cpu_count
    return Run(
        source=source,
        started=run.started,  # checked to be a time, so it holds no other text
        environment=Environment(cpu_count=cores if cores <= _MOST_CORES else 0),
        benchmarks=tuple(
            _benchmark(one, names[one.id], is_new=one.id in new and is_new(one, run.files))
            for one in _measured(run)
        ),
        seed=run.seed,
        complete=run.complete,
        screen_rounds=run.screen_rounds,
        until_decided=run.until_decided,
        is_mixed=run.is_mixed,
    )


def _benchmark(one: BenchmarkResult, name: str, *, is_new: bool) -> BenchmarkResult:
    series = (_series(each) for each in one.series)
    return BenchmarkResult(
        id=name,
        # It is only compared with that of the other arm, and never shown.
        workload=hashlib.sha256(one.workload.encode("utf-8", "surrogatepass")).hexdigest(),
        tier=one.tier,
        series=tuple(each for each in series if each is not None),
        status=one.status,
        error=_error(name) if one.status is Status.FAILED else None,
        of_all=one.of_all,
        round_s=one.round_s,
        files=BenchmarkFiles.HEAD if is_new else BenchmarkFiles.OWN,
    )


def _error(name: str) -> str:
    return _FILES_CHANGED if name == CHANGED_FILES_ID else _FAILED


def _series(series: Series) -> Series | None:
    """Keep only the metrics that benchgate itself measures: their names and units are its own."""
    metric = OWN.get(series.metric.name)
    if metric is None or metric != series.metric:
        return None
    launches = (
        Launch(one.round, one.order, samples=one.samples, warmup=one.warmup)
        for one in series.launches
    )
    counter = series.counter if series.counter in COUNTERS else ""
    return Series(metric, series.loops, tuple(launches), counter)


def _only_said(base: Run | None, broken: Collection[str]) -> set[str]:
    """The benchmarks that fail on the base as nobody else says; their ids are already known."""
    known = of_base(base, base.files) if base else ()
    failed = (one for one in known if one.status is Status.FAILED)
    never_ran = (one.id for one in failed if not one.series and not one.of_all)
    return {id_ for id_ in never_ran if id_ not in broken}


def _without_claims(result: Result, broken: Collection[str]) -> Result:
    """Take failures on the base as no failures, but as benchmarks that were not measured."""
    claimed = _only_said(result.base, broken)
    if result.base is None or not claimed:
        return result
    others = tuple(one for one in result.base.benchmarks if one.id not in claimed)
    result = replace(result, base=replace(result.base, benchmarks=others))
    return _with_unmeasured(result, sorted(claimed), ONLY_SAID)


def _with_unmeasured(result: Result, left_out: Iterable[str], why: str) -> Result:
    """Add benchmarks to the base, each as if it did the same work as the head's."""
    if result.base is None:
        return result
    work = {one.id: one.workload for one in result.head.benchmarks}
    empty = (
        BenchmarkResult(id_, work.get(id_, ""), Tier.INTERLEAVED, notes=(why,)) for id_ in left_out
    )
    base = replace(result.base, benchmarks=(*result.base.benchmarks, *empty))
    return replace(result, base=base)
