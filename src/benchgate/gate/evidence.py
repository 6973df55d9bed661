"""The evidence of a row: one value for each launch, and what is different under load."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.config.resolved import LEAST_TAIL_SAMPLES
from benchgate.model.load import Loop
from benchgate.model.run import (
    DECIDE_UNDER_LOAD,
    ERROR_RATIO,
    MEASURED,
    THROUGHPUT,
    TIME,
    UNDER_LOAD,
    BenchmarkResult,
    Better,
    Series,
    Status,
    Tier,
    renamed,
)
from benchgate.model.verdict import TAIL_STATISTICS, TAILS, VALUE, is_tail
from benchgate.stats.differences import ratios_in_turn
from benchgate.stats.rank_tests import MAX_PAIRS
from benchgate.stats.spread import nearest_rank
from benchgate.stats.timer import clock_step
from benchgate.units import RATE_UNIT, counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from benchgate.arrays import FloatArray, IntArray
    from benchgate.model.load import LoadLaunch, LoadResult
    from benchgate.model.run import Launch, Metric


_ALIKE_LOOPS = 1.5
_LEAST_EQUAL: Final = 5
_OTHER_TOOLS = frozenset({Tier.STORED, Tier.SUITE})
# What follows a file in the ids of pytest; and a module, or a benchmark, in those of asv.
_ENDS: Final = re.compile(r"::|[.(/]")
MOST_ENDS: Final = 50
"""An id with more of them is made up; looking at all would take long."""
NOTHING_MEASURED: Final = "times are 0: the clock is too coarse, or nothing was measured"
SUMMARY: Final = "summary"
"""The statistic of a launch of which a tool gives only one number, such as its mean."""
_QUANTILES = {"p25": 0.25, "median": 0.5, **TAILS, SUMMARY: 0.5, VALUE: 0.5}


@dataclass(frozen=True, slots=True)
class Pair:
    """The base's and the head's results of one benchmark; one of them may be absent.

    Attributes:
        id: the head's id, or the base's if the head has no such benchmark.
        renamed_from: the base's id, if an alias joined them.
    """

    id: str
    base: BenchmarkResult | None
    head: BenchmarkResult | None
    renamed_from: str | None = None


def pair(
    base: Iterable[BenchmarkResult],
    head: Iterable[BenchmarkResult],
    aliases: Mapping[str, str],
) -> tuple[Pair, ...]:
    """Join the benchmarks of two runs by id: in the head's order, then those only in the base.

    Args:
        aliases: old id to new id; see `renamed`.
    """
    in_base = {b.id: b for b in base}
    in_head = {b.id: b for b in head}
    old_ids = renamed(in_base, in_head, aliases)
    pairs, used = [], set()
    for id_, result in in_head.items():
        old = id_ if id_ in in_base else old_ids.get(id_)
        partner = in_base[old] if old is not None else None
        used.add(old)
        pairs.append(Pair(id_, partner, result, old if old != id_ else None))
    pairs += [Pair(id_, result, None) for id_, result in in_base.items() if id_ not in used]
    return tuple(pairs)


def unread_in(pairs: Iterable[Pair]) -> Mapping[str, Sequence[str]]:
    """Find the benchmarks that one side lacks because it could not read their file.

    Returns:
        Their ids, by the id that stands for their file. They get no rows of their own.
    """
    pairs = list(pairs)
    of_base = {one.id for one in pairs if has_failed(one.base)}
    of_head = {one.id for one in pairs if has_failed(one.head)}
    found: dict[str, list[str]] = {}
    for unread, lone in (
        (of_base, [one.id for one in pairs if one.base is None]),
        (of_head, [one.id for one in pairs if one.head is None]),
    ):
        for id_ in lone if unread else ():
            for file in unread.intersection(files_of(id_)):
                found.setdefault(file, []).append(id_)
    return found


def has_failed(result: BenchmarkResult | None) -> bool:
    """Whether there is a result, and it is a failure."""
    return result is not None and result.status is Status.FAILED


def files_of(id_: str) -> Iterator[str]:
    """The ids that may stand for the file of a benchmark.

    A file in another folder of the same name is none of them. In suites of other tools, such an id
    stands for a module, a test, or a benchmark with all its params.
    """
    for end in islice(_ENDS.finditer(id_), MOST_ENDS):
        if end[0] != "/" or "/" not in id_[end.end() :].partition("[")[0]:
            yield id_[: end.start()]


def folders_of(id_: str) -> Iterator[str]:
    """The ids of the folders above a benchmark."""
    for end in islice(_ENDS.finditer(id_), MOST_ENDS):
        if end[0] == "/":
            yield id_[: end.start()]


def _are_copies(launches: Sequence[Launch]) -> bool:
    first = launches[0].samples
    return len(launches) >= _LEAST_EQUAL and all(
        np.array_equal(first, launch.samples) for launch in launches
    )


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The launches behind one row.

    Attributes:
        base, head: shape (n1,) and (n2,), the statistic of each launch, in the metric's unit; if
            paired, n1 == n2 and the same index is the same round.
        paired: the launches of both arms were measured in turn, in the same rounds.
        margin: as a fraction.
        settles: whether rounds are spent until it is settled; if not, it is only confirmed if
            suspected, and is "not settled" otherwise.
        base_launches, head_launches: the launches that the values come from, in the same order.
        obstacle: why it cannot be tested; None if it can.
        notes: notes that a reader of the row must see.
        runs: shape (K,), for stored results the values of earlier runs on the head's machine,
            logs, the newest first; see `calibration`.
        of_pairs: shape (n1,), for p25 of times taken in turn: log(head / base) of each round, from
            its pairs of samples; otherwise of the launches, and this is empty.
    """

    pair: Pair
    metric: Metric
    statistic: str
    base: FloatArray
    head: FloatArray
    paired: bool
    margin: float
    settles: bool
    base_launches: tuple[Launch, ...]
    head_launches: tuple[Launch, ...]
    obstacle: str | None = None
    notes: tuple[str, ...] = ()
    runs: FloatArray = field(default_factory=lambda: np.empty(0))
    of_pairs: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def key(self) -> tuple[str, str, str]:
        """The key that identifies the row."""
        return self.pair.id, self.metric.name, self.statistic

    @property
    def is_tail(self) -> bool:
        return is_tail(self.metric.name, self.statistic)

    @property
    def is_alone(self) -> bool:
        """Whether a side has a single launch that was not measured in turn with the other side."""
        return not self.paired and self.rounds == 1 and not self.is_tail

    @property
    def worse_sign(self) -> int:
        """The sign of a worsening: +1 if a larger value is worse, else -1."""
        return 1 if self.metric.better is Better.LOWER else -1

    @property
    def rounds(self) -> int:
        """The number of pairs, or of launches in the arm with fewer."""
        return min(len(self.base), len(self.head))

    @property
    def is_timed(self) -> bool:
        """Whether a clock measured it: a time or a rate."""
        return self.metric.unit in {"s", RATE_UNIT}

    def clock_step(self) -> float:
        """The steps of the clock, in the metric's unit, if they hide changes of the margin; else 0.

        A statistic that averages samples, such as the mean, may differ by less than the steps.
        """
        if not self.is_timed:
            return 0.0
        if not (_are_tied(self.base, self.margin) and _are_tied(self.head, self.margin)):
            return 0.0
        samples = [
            np.concatenate([launch.samples for launch in launches])
            for launches in (self.base_launches, self.head_launches)
        ]
        return clock_step(samples, float(np.median(self.base)), self.margin)

    def constant_side(self) -> str | None:
        """Which side reported one time or rate, or the same samples, in all runs; none measures so.

        Returns:
            "it" if both sides reported the same one; "the base" or "the head" if the other side
            has hardly two equal values, or if its own samples differ, but not from run to run;
            else None. A clock of benchgate's own is not asked.
        """
        head = self.pair.head
        if not self.is_timed or head is None or head.tier not in _OTHER_TOOLS:
            return None
        sides = [
            np.concatenate([launch.samples for launch in launches])
            for launches in (self.base_launches, self.head_launches)
        ]
        kinds = [len(np.unique(values)) for values in sides]
        if len(np.unique(np.concatenate(sides))) == 1:
            return "it" if sum(map(len, sides)) >= _LEAST_EQUAL else None
        for name, index in (("the head", 1), ("the base", 0)):
            varies = 2 * kinds[1 - index] >= len(sides[1 - index])
            if kinds[index] == 1 and varies and min(map(len, sides)) >= _LEAST_EQUAL:
                return name
            launches = (self.base_launches, self.head_launches)[index]
            if kinds[index] >= _LEAST_EQUAL and _are_copies(launches):
                return name
        return None

    def worse_log_ratios(self) -> FloatArray:
        """Return log(head / base) of each round, with the sign changed so that > 0 is worse."""
        ratios: FloatArray = self.worse_sign * self.log_ratios()
        return ratios

    def log_ratios(self) -> FloatArray:
        """Return log(head / base) of each round."""
        if len(self.of_pairs):
            return self.of_pairs
        ratios: FloatArray = np.log(self.head) - np.log(self.base)
        return ratios

    def taken(self, rounds: IntArray | slice) -> Evidence:
        """Keep only these rounds."""
        of_pairs = self.of_pairs[rounds] if len(self.of_pairs) else self.of_pairs
        return replace(self, base=self.base[rounds], head=self.head[rounds], of_pairs=of_pairs)

    def changed(self, factor: float) -> Evidence:
        """Multiply the head's values."""
        of_pairs = self.of_pairs + math.log(factor)
        return replace(self, head=self.head * factor, of_pairs=of_pairs)


def series_of(result: BenchmarkResult, metric: str) -> Series | None:
    """Return the series of one metric; None if it was not measured."""
    return next((s for s in result.series if s.metric.name == metric and s.launches), None)


def gather(
    pair: Pair,
    base: Series,
    head: Series,
    statistic: str,
    *,
    margin: float,
    paired: bool,
    settles: bool = True,
) -> Evidence:
    """Compute the statistic of every launch of both arms; for pairs, of their common rounds."""
    base_launches, head_launches = base.launches, head.launches
    notes: tuple[str, ...] = ()
    if paired:
        common = sorted({x.round for x in base_launches} & {x.round for x in head_launches})
        if len(common) > MAX_PAIRS:
            notes = (f"of {len(common)} rounds, only the first {MAX_PAIRS} are used",)
        judged = set(common[:MAX_PAIRS])
        base_launches = tuple(x for x in base_launches if x.round in judged)
        head_launches = tuple(x for x in head_launches if x.round in judged)
    evidence = Evidence(
        pair=pair,
        metric=head.metric,
        statistic=statistic,
        base=statistic_of([x.samples for x in base_launches], statistic),
        head=statistic_of([x.samples for x in head_launches], statistic),
        paired=paired,
        margin=margin,
        settles=settles,
        base_launches=base_launches,
        head_launches=head_launches,
        notes=notes,
    )
    obstacle = _obstacle(evidence, base.loops, head.loops)
    if obstacle or not paired or statistic != "p25" or not are_in_turn(pair.head, head.metric):
        return replace(evidence, obstacle=obstacle)
    return replace(evidence, of_pairs=log_ratios_in_turn(base_launches, head_launches))


def _are_tied(values: FloatArray, margin: float) -> bool:
    """Whether half of the launches are nearly the same; if not, a look at the samples is vain."""
    ordered = sorted(values.tolist())  # of few values faster than numpy
    near = margin / 100 * ordered[len(ordered) // 2]
    apart = sum(after - before > near for before, after in pairwise(ordered))
    return bool(2 * apart < len(ordered))


def _obstacle(evidence: Evidence, base_loops: int, head_loops: int) -> str | None:
    if not evidence.rounds:
        return "base and head have no round in common"
    is_zero = np.any(evidence.base <= 0) or np.any(evidence.head <= 0)
    if is_zero and evidence.is_timed and evidence.metric.better is Better.LOWER:
        return NOTHING_MEASURED
    why = _tail_obstacle(evidence, base_loops, head_loops)
    if why is None and is_zero:
        return "a launch measured 0 or less: there is no ratio to test"
    return why


def _tail_obstacle(evidence: Evidence, base_loops: int, head_loops: int) -> str | None:
    if evidence.statistic in TAIL_STATISTICS:
        launches = (*evidence.base_launches, *evidence.head_launches)
        counts = [len(x.samples) for x in launches]
        least = LEAST_TAIL_SAMPLES[evidence.statistic]
        if min(counts) < least:
            return f"tail not tested: needs {least} samples per launch"
        if TAILS[evidence.statistic] == 1 and min(counts) < max(counts):
            return (
                "tail not tested: the largest of more samples is larger, and launches have "
                f"{min(counts)} to {max(counts)}"
            )
        if max(base_loops, head_loops) > _ALIKE_LOOPS * min(base_loops, head_loops):
            return (
                "tail not tested: a mean of more operations has a shorter tail, and a sample is "
                f"the mean of {base_loops} in the base and of {head_loops} in the head"
            )
    return None


def are_in_turn(result: BenchmarkResult | None, metric: Metric) -> bool:
    """Whether base and head took the times of a round in turn, or together, sample by sample."""
    return result is not None and result.tier not in _OTHER_TOOLS and metric.unit == "s"


def log_ratios_in_turn(base: Sequence[Launch], head: Sequence[Launch]) -> FloatArray:
    """Return log(head / base) of rounds; of p25 where not every sample has its pair."""
    sides = [[launch.samples for launch in launches] for launches in (base, head)]
    before, after = (statistic_of(samples, "p25") for samples in sides)
    with np.errstate(divide="ignore", invalid="ignore"):  # a time may be 0
        ratios: FloatArray = np.log(after) - np.log(before)
    by_count: dict[int, list[int]] = {}
    for index, (left, right) in enumerate(zip(*sides, strict=True)):
        if len(left) == len(right) and min(left.min(), right.min()) > 0:
            by_count.setdefault(len(left), []).append(index)
    for rounds in by_count.values():
        ratios[rounds] = ratios_in_turn(
            *(np.stack([samples[index] for index in rounds]) for samples in sides)
        )
    return ratios


def log_ratios_by_round(base: Iterable[Launch], head: Iterable[Launch]) -> dict[int, float]:
    """Return log(head / base) of the rounds that both have, of times taken in turn, if finite."""
    sides = [{launch.round: launch for launch in launches} for launches in (base, head)]
    common = [number for number in sides[0] if number in sides[1]]
    ratios = log_ratios_in_turn(*([side[number] for number in common] for side in sides))
    found = zip(common, ratios.tolist(), strict=True)
    return {number: ratio for number, ratio in found if math.isfinite(ratio)}


def statistic_of(launches: Sequence[FloatArray], statistic: str) -> FloatArray:
    """Compute a statistic of each launch; launches may differ in length."""
    if not launches:
        return np.empty(0)
    if len({len(samples) for samples in launches}) == 1:
        return _of_rows(np.stack(launches), statistic)
    return np.concatenate([_of_rows(samples[None, :], statistic) for samples in launches])


def _of_rows(samples: FloatArray, statistic: str) -> FloatArray:
    if statistic in _QUANTILES:
        return nearest_rank(samples, _QUANTILES[statistic])
    values: FloatArray = samples.mean(axis=-1) if statistic == "mean" else samples.min(axis=-1)
    return values


LOOPS = {
    Loop.CLOSED: "closed loop: service time",
    Loop.OPEN: "open loop: timed from when each operation was due",
}
_FIGURE = re.compile(r"[0-9][0-9.,]*( [nmµ]?s\b)?")
_REASONS_NAMED = 3
_SETTINGS_NAMED = 3


def is_step(result: BenchmarkResult) -> bool:
    """Whether it is a step of a scenario: a launch of it is one value of each metric."""
    # The details of the load are not known of a result that a fork measured, and suites of other
    # tools may have metrics of these names.
    is_own = result.tier is Tier.INTERLEAVED
    return is_own and any(series.metric in UNDER_LOAD for series in result.series)


def has_error_ratio(result: BenchmarkResult) -> bool:
    """Whether it is known how many of its operations failed."""
    return any(series.metric == ERROR_RATIO for series in result.series)


def deciding_under_load(names: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    """Choose the metrics of a step that decide; the time stands for those that usually do.

    Args:
        names: what the configuration names.
        known: what was measured.
    """
    usual = [metric.name for metric in DECIDE_UNDER_LOAD] if TIME.name in names else []
    wanted = dict.fromkeys((*usual, *(name for name in names if name not in MEASURED)))
    return tuple(name for name in wanted if name in known)


def notes_under_load(pair: Pair, metric: str) -> tuple[str, ...]:
    """What a reader of a step's row must know about the load; nothing for other benchmarks."""
    arms = [
        (arm, result.load)
        for arm, result in (("base", pair.base), ("head", pair.head))
        if result and result.load
    ]
    launches = [launch for _, load in arms for launch in load.launches]
    notes = [LOOPS[loop] for loop in dict.fromkeys(load.loop for _, load in arms)]
    notes += [*load_notes(launches), *_servers(arms)]
    if metric == ERROR_RATIO.name:
        notes += [_errors(arm, load.launches) for arm, load in arms if _has_errors(load)]
    return tuple(notes)


def with_scenarios(
    base: Sequence[BenchmarkResult], head: Sequence[BenchmarkResult]
) -> tuple[list[BenchmarkResult], list[BenchmarkResult]]:
    """Give the throughput of each closed loop to its scenario, a benchmark beside its steps.

    The steps of a closed loop share its workers: if one step gets slower, the others get their turn
    less often. So the throughput of a step says nothing about the step. It stays with the step if
    there is only one, and in an open loop.

    Args:
        base, head: the benchmarks of both sides. A scenario has a throughput if all of its steps
            ran on both.
    """
    groups = [_closed_loops(side) for side in (base, head)]
    shared = {id_ for group in groups for id_, steps in group.items() if len(steps) > 1}
    sides = []
    for side, group in zip((base, head), groups, strict=True):
        steps = {step.id for id_ in shared for step in group.get(id_, ())}
        complete = [id_ for id_ in shared if all(_is_complete(other.get(id_)) for other in groups)]
        sides.append(
            [_without_throughput(one) if one.id in steps else one for one in side]
            + [_scenario(id_, group[id_]) for id_ in sorted(complete)]
        )
    return sides[0], sides[1]


def steps_of(result: BenchmarkResult) -> tuple[str, ...]:
    """The ids of the steps if it is a scenario's throughput, else its own id alone."""
    is_scenario = is_step(result) and result.load is None and _metrics(result) == {THROUGHPUT}
    return tuple(result.parts) if is_scenario and result.parts else (result.id,)


def scenario_of(result: BenchmarkResult) -> str:
    """The id of the scenario that it is a step of, or whose throughput it is; "" if of none."""
    if result.load:
        return result.id.removesuffix(f"/{result.load.step}")
    return "" if steps_of(result) == (result.id,) else result.id


def _closed_loops(side: Iterable[BenchmarkResult]) -> dict[str, list[BenchmarkResult]]:
    """The steps of each closed loop, by the id of the scenario."""
    found: dict[str, list[BenchmarkResult]] = {}
    for one in side:
        if one.load and one.load.loop is Loop.CLOSED:
            found.setdefault(scenario_of(one), []).append(one)
    # Steps that ran with other benchmark files did not share workers with the rest.
    files = {id_: min(one.files for one in steps) for id_, steps in found.items()}
    return {id_: [one for one in steps if one.files is files[id_]] for id_, steps in found.items()}


def _is_complete(steps: Sequence[BenchmarkResult] | None) -> bool:
    return bool(steps) and all(
        one.status is Status.OK and THROUGHPUT in _metrics(one) for one in steps or ()
    )


def _metrics(result: BenchmarkResult) -> set[Metric]:
    return {series.metric for series in result.series}


def _without_throughput(step: BenchmarkResult) -> BenchmarkResult:
    return replace(step, series=tuple(s for s in step.series if s.metric != THROUGHPUT))


def _scenario(id_: str, steps: Sequence[BenchmarkResult]) -> BenchmarkResult:
    """Add the throughput of the steps, launch by launch."""
    parts = {step.id: step.workload for step in steps}
    launches: dict[int, list[Launch]] = {}
    for step in steps:
        for series in step.series:
            for launch in series.launches if series.metric == THROUGHPUT else ():
                launches.setdefault(launch.round, []).append(launch)
    together = tuple(
        replace(each[0], samples=np.sum([launch.samples for launch in each], axis=0))
        for _, each in sorted(launches.items())
        if len(each) == len(steps)
    )
    return BenchmarkResult(
        id_,
        " ".join(parts.values()),
        Tier.INTERLEAVED,
        (Series(THROUGHPUT, 1, together),),
        location=steps[0].location,
        parts=parts,
        round_s=steps[0].round_s,
        files=steps[0].files,
    )


def load_notes(launches: Sequence[LoadLaunch]) -> tuple[str, ...]:
    """What was wrong with the load generator itself in some of the launches."""
    return (*_limits(launches), *_unfinished(launches), *_lost(launches))


def _unfinished(launches: Sequence[LoadLaunch]) -> list[str]:
    unfinished = sum(launch.unfinished for launch in launches)
    if not unfinished:
        return []
    total = sum(launch.ops + launch.errors for launch in launches) + unfinished
    left = f"{unfinished:,} of {total:,} operations were due, but found no free worker"
    return [f"{left}: the target is slower than the rate, or needs more workers"]


def _limits(launches: Sequence[LoadLaunch]) -> list[str]:
    """Each kind of limit once, with the figures of the first launch that had it."""
    first: dict[str, str] = {}
    count: Counter[str] = Counter()
    for launch in launches:
        kinds = {_FIGURE.sub("", limit): limit for limit in launch.generator.limits}
        first = kinds | first
        count.update(kinds.keys())
    of = counted(len(launches), "launch")
    return [
        f"in {count[kind]} of {of}, {said[:1].lower()}{said[1:].removesuffix('.')}"
        for kind, said in first.items()
    ]


def _lost(launches: Sequence[LoadLaunch]) -> list[str]:
    lost = [
        [f"{group.place}: {group.lost}" for group in launch.generator.groups if group.lost]
        for launch in launches
    ]
    why = Counter(reason for reasons in lost for reason in reasons)
    share = f"{sum(map(bool, lost))} of {counted(len(launches), 'launch')}"
    return [f"workers were lost in {share}: {_named(why)}"] if why else []


def _servers(arms: Sequence[tuple[str, LoadResult]]) -> list[str]:
    """Name settings of the server that differ between the arms."""
    if len(arms) < 2 or not all(load.server for _, load in arms):
        return []
    before, after = (load.server for _, load in arms)
    names = [n for n in dict.fromkeys((*before, *after)) if before.get(n) != after.get(n)]
    if not names:
        return []
    shown = [f"{n} ({before.get(n, 'none')}, {after.get(n, 'none')})" for n in names]
    more = f" and {len(names) - _SETTINGS_NAMED} more" if len(names) > _SETTINGS_NAMED else ""
    return [f"the servers of base and head differ in {', '.join(shown[:_SETTINGS_NAMED])}{more}"]


def _has_errors(load: LoadResult) -> bool:
    return any(launch.errors for launch in load.launches)


def _errors(arm: str, launches: Iterable[LoadLaunch]) -> str:
    launches = list(launches)
    errors = sum(launch.errors for launch in launches)
    total = errors + sum(launch.ops for launch in launches)
    texts = Counter(kept.text for launch in launches for kept in launch.kept_errors)
    said = f"{errors:,} of {total:,} operations failed on the {arm}"
    return f"{said}: {_named(texts)}" if texts else said


def _named(texts: Counter[str]) -> str:
    """The most frequent ones."""
    named = [text for text, _ in texts.most_common(_REASONS_NAMED)]
    more = len(texts) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more else "")


def cpu_ratio(cpu_s: FloatArray, time_s: FloatArray) -> float | None:
    """Return CPU time / wall-clock time: above 1 if several CPUs worked at the same time.

    Args:
        cpu_s, time_s: shape (n,), the same statistic of each launch, in seconds.

    Returns:
        The ratio of the medians; None if no time passed.
    """
    time = float(np.median(time_s))
    if time <= 0:
        return None
    ratio = float(np.median(cpu_s)) / time
    return ratio if math.isfinite(ratio) else None
