"""Whether a fixed number of rounds can decide anything."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from benchgate.config.resolved import LEAST_TAIL_SAMPLES
from benchgate.gate.single_runs import least_rounds
from benchgate.gate.under_load import deciding_under_load
from benchgate.model.metrics import ERROR_RATIO, EXACT_NAMES, UNDER_LOAD
from benchgate.model.notes import TOO_FEW
from benchgate.model.run import Tier
from benchgate.units import counted, format_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.config import Config
    from benchgate.measure.contract import Definition


CLASSICAL_LEAST = 5
_UNTESTED = EXACT_NAMES | {ERROR_RATIO.name}


def too_few_rounds(
    rounds: int, benchmarks: Sequence[Definition], config: Config, *, shards: int = 1
) -> str | None:
    """Warn that a fixed number of rounds cannot show any change; None if it can.

    Args:
        benchmarks: those on both arms.
    """
    metrics = [deciding_of(one, config) for one in benchmarks]
    tested = sum(
        _statistics(one, config) * sum(name not in _UNTESTED for name in names)
        for one, names in zip(benchmarks, metrics, strict=True)
    )
    gate = config.gate
    if not tested or (gate.rule == "classical" and gate.unit == "sample"):
        return None
    if gate.rule == "classical":
        needed, why = CLASSICAL_LEAST, "the textbook rule needs that many launches"
    else:
        needed = least_rounds(gate.alpha / shards / tested, paired=True)
        alpha = format_percent(gate.alpha)
        why = f"fewer cannot rule out chance for {counted(tested, 'row')} at an alpha of {alpha}"
    if rounds >= needed:
        return None
    named = frozenset(chain.from_iterable(metrics))
    others = [
        *(["counts"] if named & EXACT_NAMES else []),
        *(["error ratios"] if ERROR_RATIO.name in named else []),
    ]
    but = f", except about {' and '.join(others)}" if others else ""
    few = f"{TOO_FEW}{but}: {counted(rounds, 'round')}"
    return f"{few}, and it takes at least {needed}, because {why}"


def deciding_of(one: Definition, config: Config) -> tuple[str, ...]:
    """The metrics of a benchmark that will decide."""
    names = config.effective(one.id).metrics
    known = {metric.name for metric in UNDER_LOAD}
    return (deciding_under_load(names, known) if one.load else ()) or names


def _statistics(one: Definition, config: Config) -> int:
    """How many statistics of each metric are tested; of a function its tail, too.

    Functions that are too slow for so many samples have fewer.
    """
    if one.tier is not Tier.LOCKSTEP:
        return 1
    samples = config.measure.samples
    named = config.effective(one.id).statistics
    return max(1, sum(samples >= LEAST_TAIL_SAMPLES.get(name, 1) for name in named))
