"""Which benchmarks have their instructions counted, and how."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.measure.machine import (
    SLOWDOWN,
    USER_INSTRUCTIONS,
    CounterError,
    Valgrind,
    find_valgrind,
    why_not_counted,
)
from benchgate.model.metrics import INSTRUCTIONS, VALGRIND
from benchgate.model.run import LEAST_COUNTED_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from benchgate.config import Config
    from benchgate.measure.machine import Event


@dataclass(frozen=True, slots=True)
class Counting:
    """What counts instructions.

    Attributes:
        event: what the processor counts; None if it is not asked.
        valgrind: what counts in launches of its own; None if it does not.
        obstacle: why nothing is counted; "" if something is.
    """

    event: Event | None = None
    valgrind: Valgrind | None = None
    obstacle: str = ""


def choose_counting(
    config: Config,
    environ: Mapping[str, str],
    perf_obstacle: Callable[[], str | None] = partial(why_not_counted, USER_INSTRUCTIONS),  # noqa: B008 - it stays the same
    find: Callable[[Mapping[str, str]], str] = find_valgrind,
) -> Counting:
    """Choose the counter that the configuration asks for.

    Valgrind takes many times longer than the benchmarks, so by default it counts only what is
    judged by instructions, and only if the processor's counters cannot be used.

    Args:
        perf_obstacle: says why the processor's counters cannot be used; None if they can.
        find: finds valgrind in the PATH of an environment, or raises `CounterError`.
    """
    wanted = config.measure.counter
    if wanted == "none":
        return Counting(obstacle=f"{config.where('measure.counter')} counts nothing")
    if wanted == VALGRIND:
        try:
            return Counting(valgrind=Valgrind(find(environ), _everything))
        except CounterError as error:
            raise UsageError(
                f"{config.where('measure.counter')}: {error}",
                hint='Or set `counter = "auto"`, which counts with valgrind only if it is there.',
            ) from error
    obstacle = perf_obstacle()
    if obstacle is None:
        return Counting(event=USER_INSTRUCTIONS)
    if wanted != "auto" or not _wants_anywhere(config, INSTRUCTIONS.name):
        return Counting(obstacle=obstacle)
    try:
        program = find(environ)
    except CounterError as error:
        return Counting(obstacle=f"{obstacle}. Valgrind needs no counters, but {error}")
    wanted_by = partial(wants, config, metrics=(INSTRUCTIONS.name,))
    return Counting(valgrind=Valgrind(program, wanted_by))


def about_cost(counting: Counting, ids: tuple[str, ...]) -> str:
    """Say that counting takes long, and what is counted; "" if valgrind counts none of these."""
    valgrind = counting.valgrind
    count = sum(map(valgrind.wants, ids)) if valgrind else 0
    if not count:
        return ""
    return (
        f"valgrind counts the instructions of {count} of {len(ids)} benchmarks, in launches of "
        f"their own in the first {LEAST_COUNTED_ROUNDS} rounds: they run {SLOWDOWN} there, "
        "and may take half of the budget"
    )


def _everything(_: str) -> bool:
    return True


def wants(config: Config, id_: str, metrics: Collection[str]) -> bool:
    """Whether one of these metrics of a benchmark decides, or has a limit."""
    return not config.limited(id_).union(config.effective(id_).metrics).isdisjoint(metrics)


def _wants_anywhere(config: Config, metric: str) -> bool:
    named = [config.gate.metrics, *(rule.metrics or () for rule in config.rules)]
    return any(metric in each for each in named) or any(
        one.metric == metric for one in config.limits
    )
