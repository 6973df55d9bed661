"""The parameters and the choices of operations: the same in every launch, by the seed.

Only the raw bits of PCG64 are used: numpy promises that they stay the same in all its versions,
which it does not promise for anything derived from them.
"""

from __future__ import annotations

import zlib
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchgate.load.parameters import Literal, RandomChoice, RandomInt, parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from benchgate.load.parameters import NumberSequence, Parameters, Value
    from benchgate.load.scenario import Step


BLOCK: Final = 128
"""Operations whose parameters are drawn at once; the first ones before an iterator is returned."""

_RAW_VALUES: Final = 2**64


def parameters(
    step: Step, *, seed: int, iteration: int, worker: int, workers: int
) -> Iterator[Parameters]:
    """Draw the parameters of a worker's operations, endlessly; do not change what it yields.

    Args:
        seed: that of the scenario.
        iteration: from 0; each launch draws others.
        worker: its index among all workers of the launch.
        workers: how many they are.
    """
    generators = {name: parsed(written) for name, written in step.params.items()}
    fixed = {name: one.value for name, one in generators.items() if isinstance(one, Literal)}
    if len(fixed) == len(generators):
        return repeat(fixed)
    columns = {
        name: _column(one, _Raw(seed + iteration, worker, step.name, name), worker, workers)
        for name, one in generators.items()
        if not isinstance(one, Literal)
    }
    # The key of each parameter is there from the start, so that their order is that of the file.
    blocks = _blocks({name: fixed.get(name) for name in generators}, columns)
    return chain(next(blocks), chain.from_iterable(blocks))


def choices(steps: Sequence[Step], *, seed: int, iteration: int, worker: int) -> Iterator[int]:
    """Choose the steps of a worker's operations by their weights, endlessly, as their indices.

    Args: as in `parameters`.
    """
    if len(steps) == 1:
        return repeat(0)
    bounds = np.array(list(accumulate(step.weight for step in steps)), dtype=np.uint64)
    raw = _Raw(seed + iteration, worker, "", "")
    total = int(bounds[-1])

    def blocks() -> Iterator[list[int]]:
        while True:
            yield np.searchsorted(bounds, raw.below(total, BLOCK), side="right").tolist()

    return chain.from_iterable(blocks())


def _blocks(
    fixed: dict[str, Value], columns: Mapping[str, Callable[[int], list[Value]]]
) -> Iterator[list[dict[str, Value]]]:
    while True:
        block = [fixed.copy() for _ in range(BLOCK)]
        for name, column in columns.items():
            for row, value in zip(block, column(BLOCK), strict=True):
                row[name] = value
        yield block


class _Raw:
    """A stream of random bits of its own for each worker, step and parameter of a launch."""

    def __init__(self, seed: int, worker: int, step: str, parameter: str) -> None:
        names = (zlib.crc32(text.encode("utf-8", "replace")) for text in (step, parameter))
        self._bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(worker, *names)))

    def below(self, bound: int, count: int) -> NDArray[np.uint64]:
        """Draw numbers from 0 to below a bound, each as likely as the others."""
        unfair = _RAW_VALUES % bound
        raw = self._bits.random_raw(count)
        if unfair:
            raw = raw[raw < np.uint64(_RAW_VALUES - unfair)]
            while len(raw) < count:
                more = self._bits.random_raw(count - len(raw))
                raw = np.concatenate([raw, more[more < np.uint64(_RAW_VALUES - unfair)]])
        return raw if bound == _RAW_VALUES else raw % np.uint64(bound)


def _column(
    generator: RandomInt | RandomChoice | NumberSequence, raw: _Raw, worker: int, workers: int
) -> Callable[[int], list[Value]]:
    """Make a function that draws the next values of one parameter."""
    match generator:
        case RandomInt(low, high):
            return lambda count: _shifted(raw.below(high - low + 1, count), low)
        case RandomChoice(values):
            table = np.empty(len(values), dtype=object)
            table[:] = values
            return lambda count: table[raw.below(len(values), count).astype(np.intp)].tolist()
        case _:
            return _numbers(generator, worker, workers)


def _shifted(drawn: NDArray[np.uint64], low: int) -> list[Any]:
    # Both wrap around at 2**64, so the sum is right for every range of 64 bits.
    values: list[Any] = (drawn + np.uint64(low % _RAW_VALUES)).view(np.int64).tolist()
    return values


def _numbers(generator: NumberSequence, worker: int, workers: int) -> Callable[[int], list[Value]]:
    stride = workers * generator.step
    following = generator.start + worker * generator.step

    def column(count: int) -> list[Value]:
        nonlocal following
        first, following = following, following + count * stride
        return list(range(first, following, stride))

    return column
