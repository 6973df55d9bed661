"""The evidence of a row: one value for each launch of both sides."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.config.resolved import LEAST_TAIL_SAMPLES
from benchgate.model.metrics import (
    Better,
)
from benchgate.model.row import TAIL_STATISTICS, TAILS, VALUE, is_tail
from benchgate.model.run import BenchmarkResult, Series, Status, Tier, renamed
from benchgate.stats.differences import ratios_in_turn
from benchgate.stats.signed_rank import MAX_PAIRS
from benchgate.stats.spread import nearest_rank
from benchgate.stats.timer import clock_step
from benchgate.units import RATE_UNIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.arrays import FloatArray, IntArray
    from benchgate.model.launch_table import Launch
    from benchgate.model.metrics import Metric


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
    old_ids = {new: old for old, new in renamed(in_base, in_head, aliases).items()}
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
) -> Evidence:
    """Compute the statistic of every launch of both arms; for pairs, of their common rounds.

    It is a row that settles.
    """
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
        settles=True,
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
