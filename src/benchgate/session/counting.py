"""Chooses what counts instructions in a session, and says what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from benchgate.errors import UsageError
from benchgate.measure.counters import USER_INSTRUCTIONS, CounterError, find_obstacle
from benchgate.measure.valgrind import SLOWDOWN, Valgrind, find_valgrind
from benchgate.model.run import INSTRUCTIONS, LEAST_COUNTED_ROUNDS, VALGRIND

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.config import Config
    from benchgate.measure.counters import Event


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


@dataclass(frozen=True, slots=True)
class Machine:
    """What the machine can count with.

    Attributes:
        perf_obstacle: says why the processor's counters cannot be used; None if they can.
        find_valgrind: finds valgrind in the PATH of an environment, or raises `CounterError`.
    """

    perf_obstacle: Callable[[], str | None]
    find_valgrind: Callable[[Mapping[str, str]], str]


THIS_MACHINE: Final = Machine(partial(find_obstacle, USER_INSTRUCTIONS), find_valgrind)


def choose_counting(
    config: Config, environ: Mapping[str, str], machine: Machine = THIS_MACHINE
) -> Counting:
    """Choose the counter that the configuration asks for.

    Valgrind takes many times longer than the benchmarks, so by default it counts only what is
    judged by instructions, and only if the processor's counters cannot be used.

    Raises:
        UsageError: the configuration asks for valgrind, which does not work here.
    """
    wanted = config.measure.counter
    if wanted == "none":
        return Counting(obstacle=f"{config.where('measure.counter')} counts nothing")
    if wanted == VALGRIND:
        try:
            return Counting(valgrind=Valgrind(machine.find_valgrind(environ), _everything))
        except CounterError as error:
            raise UsageError(
                f"{config.where('measure.counter')}: {error}",
                hint='Or set `counter = "auto"`, which counts with valgrind only if it is there.',
            ) from error
    obstacle = machine.perf_obstacle()
    if obstacle is None:
        return Counting(event=USER_INSTRUCTIONS)
    if wanted != "auto" or not _decides_anywhere(config):
        return Counting(obstacle=obstacle)
    try:
        program = machine.find_valgrind(environ)
    except CounterError as error:
        return Counting(obstacle=f"{obstacle}. Valgrind needs no counters, but {error}")
    return Counting(valgrind=Valgrind(program, partial(_decides, config)))


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


def _decides(config: Config, id_: str) -> bool:
    return INSTRUCTIONS.name in config.effective(id_).metrics


def _decides_anywhere(config: Config) -> bool:
    named = [config.gate.metrics, *(rule.metrics or () for rule in config.rules)]
    return any(INSTRUCTIONS.name in each for each in named)
