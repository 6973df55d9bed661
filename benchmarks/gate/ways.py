"""The ways in which recorded launches are put together to builds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.gate.independent import (
    against_another_way,
    against_session_before,
    in_any_order,
    in_blocks,
    in_distant_blocks,
    in_shuffled_turns,
    in_turn,
    lockstep,
    rounds_changed,
    unchanged,
)
from benchmarks.gate.rules import ROUNDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.gate.independent import Samples

STORED_LAUNCHES = 12
# `inj1` has this many; the gate asks for fewer.
_MOST_ROUNDS = 60
_EVERY = (2, 3, 5, 10)


@dataclass(frozen=True, slots=True)
class Way:
    """How the launches of a build were measured, and are judged.

    Attributes:
        name: in the tables.
        clean: draws a build in which nothing changed.
        changed: draws one in which every head did this percentage more.
        percents: which changes there are.
        paired: whether the arms took turns; otherwise their launches share no rounds, as with
            stored results.
        in_waves: whether the gate chooses the rounds; otherwise it judges all at once.
    """

    name: str
    clean: Callable[[np.random.Generator], Samples]
    changed: Callable[[np.random.Generator, int], Samples] | None = None
    percents: tuple[int, ...] = ()
    paired: bool = True
    in_waves: bool = False


STORED = (
    *(
        Way(name, partial(unchanged, arrange, STORED_LAUNCHES), paired=False)
        for name, arrange in (
            ("in the same minutes, in any order", in_any_order),
            ("directly after", in_blocks),
            ("up to three minutes after", in_distant_blocks),
        )
    ),
    Way(
        "in a later session, minutes after",
        partial(against_session_before, STORED_LAUNCHES),
        partial(against_session_before, STORED_LAUNCHES),
        _EVERY,
        paired=False,
    ),
    Way(
        "25 minutes after, measured in another way",
        partial(against_another_way, STORED_LAUNCHES),
        paired=False,
    ),
)
TURNS = (
    *(
        Way(
            f"launches in turn, {rounds} rounds judged at once",
            partial(unchanged, in_shuffled_turns, rounds),
            partial(rounds_changed, rounds),
            _EVERY,
        )
        for rounds in (12, 20)
    ),
    Way(
        "launches in turn, screen and confirm",
        partial(unchanged, in_shuffled_turns, _MOST_ROUNDS),
        partial(rounds_changed, _MOST_ROUNDS),
        _EVERY,
        in_waves=True,
    ),
    Way(
        "the same, rounds as they followed each other",
        partial(unchanged, in_turn, _MOST_ROUNDS),
        in_waves=True,
    ),
    Way(
        "lockstep pairs, screen and confirm",
        partial(lockstep, _MOST_ROUNDS),
        partial(lockstep, _MOST_ROUNDS),
        (3,),
        in_waves=True,
    ),
)
RULED = (
    Way("1 launch each", partial(unchanged, in_blocks, 1)),
    Way(f"{ROUNDS} in blocks", partial(unchanged, in_blocks, ROUNDS)),
    Way(
        f"{ROUNDS} in turn",
        partial(unchanged, in_turn, ROUNDS),
        partial(rounds_changed, ROUNDS),
        (3, 5, 10),
    ),
    Way(f"{ROUNDS}, the head's minutes later", partial(against_session_before, ROUNDS)),
)


def draw(way: Way, percent: int, seed: int, index: int) -> tuple[str, Samples]:
    """Draw a build: the benchmark that changed, another one in each, and the samples of all."""
    rng = np.random.default_rng((seed, index))
    drawn = way.clean(rng)
    if not percent:
        return "", drawn
    if way.changed is None:
        raise ValueError(f"no launches with a change are drawn {way.name}")
    slower = sorted(drawn)[index % len(drawn)]
    return slower, {**drawn, slower: way.changed(rng, percent)[slower]}
