"""Builds made of launches that were recorded apart: which launches the base and the head take.

There are three sessions of ten functions of real work, recorded as `launches/*`. A launch is a
fresh process that ran all ten. If a build takes a launch, it takes it for all benchmarks:

- `aa1`: 300 launches of unchanged code, one after the other, in three and a half minutes;
- `inj1`: directly after it, 60 rounds of five launches whose functions really did 0, 2, 3, 5 and
  10 % more;
- `lock1`: 20 minutes later, 30 lockstep pairs of unchanged code, and 30 whose head did 3 % more.

A launch took 50 samples. The files leave out the first five, in which the process warmed up.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from benchmarks.gate.launches import read_recording

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.gate.launches import Recording

    from benchgate.arrays import FloatArray, IntArray

    Samples: TypeAlias = Mapping[str, FloatArray]
    Arrangement: TypeAlias = Callable[[np.random.Generator, int, int], IntArray]


@lru_cache
def session(name: str) -> Recording:
    """Read a session; `about` has the shape of its samples, which are in seconds."""
    return read_recording(f"launches/{name}")


def in_any_order(rng: np.random.Generator, total: int, n: int) -> IntArray:
    """Give n launches to each arm, from anywhere in the session, none of them twice.

    Returns:
        Shape (2, n), indices of launches, base first, as for the other arrangements.
    """
    return rng.permutation(total)[: 2 * n].reshape(2, n)


def in_blocks(rng: np.random.Generator, total: int, n: int) -> IntArray:
    """Give the base n launches in a row, and the head the n that follow."""
    first = rng.integers(total - 2 * n + 1)
    return np.arange(first, first + 2 * n).reshape(2, n)


def in_distant_blocks(rng: np.random.Generator, total: int, n: int) -> IntArray:
    """Give the base n launches in a row, and the head n in a row after a gap of any length."""
    first, second = np.sort(rng.integers(total - 2 * n + 1, size=2))
    return np.stack([first + np.arange(n), second + np.arange(n, 2 * n)])


def in_turn(rng: np.random.Generator, total: int, n: int) -> IntArray:
    """Let the arms take turns: two neighbors are a round, and n rounds in a row are a build."""
    first = int(rng.integers(total - 2 * n + 1))
    return _rounds(rng, first + 2 * np.arange(n))


def in_shuffled_turns(rng: np.random.Generator, total: int, n: int) -> IntArray:
    """Let the arms take turns, and take n of the rounds in any order."""
    return _rounds(rng, 2 * rng.permutation(total // 2)[:n])


def _rounds(rng: np.random.Generator, first_launches: IntArray) -> IntArray:
    """Make each launch and the next one a round, base and head in random order."""
    return rng.permuted(np.stack([first_launches, first_launches + 1]), axis=0)


def unchanged(arrange: Arrangement, n: int, rng: np.random.Generator) -> Samples:
    """Draw a clean build from `aa1`.

    Returns:
        By benchmark the samples of the launches of both arms, shape (2, n, samples), as for the
        other draws.
    """
    launches = session("aa1").samples
    chosen = arrange(rng, _length(launches, axis=0), n)
    return {id_: values[chosen] for id_, values in launches.items()}


def rounds_changed(n: int, rng: np.random.Generator, percent: int) -> Samples:
    """Draw n rounds of `inj1` in any order: one unchanged launch each, and one with a change."""
    rounds = session("inj1")
    chosen = rng.permutation(_length(rounds.samples, axis=1))[:n]
    arms = [_of_change(rounds.about, 0), _of_change(rounds.about, percent)]
    return {id_: values[arms][:, chosen] for id_, values in rounds.samples.items()}


def against_session_before(n: int, rng: np.random.Generator, percent: int = 0) -> Samples:
    """Draw n launches in a row from `aa1`, and n with one change from `inj1`, minutes later."""
    later = session("inj1")
    changed = _of_change(later.about, percent)
    return _after_aa1(n, rng, {id_: values[changed] for id_, values in later.samples.items()})


def against_another_way(n: int, rng: np.random.Generator) -> Samples:
    """Draw n launches in a row from `aa1`, and n unchanged heads of lockstep pairs."""
    later = session("lock1")
    unchanged = _of_change(later.about, 0)
    return _after_aa1(n, rng, {id_: values[unchanged, 1] for id_, values in later.samples.items()})


def _after_aa1(n: int, rng: np.random.Generator, later: Samples) -> Samples:
    earlier = session("aa1").samples
    base, head = (_in_a_row(rng, _length(values, axis=0), n) for values in (earlier, later))
    return {id_: np.stack([earlier[id_][base], later[id_][head]]) for id_ in earlier}


def _in_a_row(rng: np.random.Generator, total: int, n: int) -> slice:
    first = int(rng.integers(total - n + 1))
    return slice(first, first + n)


def lockstep(n: int, rng: np.random.Generator, percent: int = 0) -> Samples:
    """Draw n lockstep pairs of one change from `lock1`, with replacement: there are only 30."""
    pairs = session("lock1")
    chosen = rng.integers(_length(pairs.samples, axis=2), size=n)
    changed = _of_change(pairs.about, percent)
    return {id_: values[changed][:, chosen] for id_, values in pairs.samples.items()}


def _of_change(about: Mapping[str, Any], percent: int) -> int:
    """Give the index of the launches that did this percentage more."""
    index: int = about["changes_percent"].index(percent)
    return index


def _length(samples: Samples, *, axis: int) -> int:
    length: int = next(iter(samples.values())).shape[axis]
    return length
