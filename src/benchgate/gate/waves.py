"""Screen, then confirm: suspects are found on the first rounds and tested on fresh ones.

A test on rounds that had no part in choosing it needs no correction for the choice. There
are two looks for suspects, after `screen_rounds` and after twice as many, because one
disturbed round can hide a change from the first. Each look's suspects are one wave, and
each wave spends half of alpha: together they keep the suite's rate of false alarms at alpha,
however many benchmarks it has. Inside a wave Holm's procedure shares what the wave may spend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.batches import by_length
from benchgate.stats.multiplicity import holm
from benchgate.stats.power import least_launches
from benchgate.stats.shift import paired_shift
from benchgate.stats.signedrank import signed_rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.arrays import FloatArray

LOOKS = 2
SUSPECT_P = 0.1
SUSPECT_MARGIN_SHARE = 0.5
_SPARE_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class WaveSettings:
    """What the user may set of the procedure; see `config` for the meaning."""

    alpha: float
    screen_rounds: int
    confirm_rounds: int
    max_rounds: int

    def look(self, wave: int) -> int:
        """How many rounds the suspects of a wave are chosen on; the next is the first fresh one."""
        return self.screen_rounds * (wave + 1)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A row to be confirmed.

    Attributes:
        wave: 0 or 1.
        sign: +1 when it looks worse, -1 when it looks better.
        start: index of its first fresh round.
        rounds: how many fresh rounds it is tested on.
    """

    wave: int
    sign: int
    start: int
    rounds: int

    def fresh(self, ratios: FloatArray) -> FloatArray:
        """Give the rounds of the test; fewer than `rounds` while they are still to come."""
        return ratios[self.start : self.start + self.rounds]


def find_suspects(
    ratios: Sequence[FloatArray], margins: Sequence[float], settings: WaveSettings
) -> list[Suspect | None]:
    """Find the rows that need confirming, from rounds that their test will not use.

    Args:
        ratios: for each row the log ratios of its rounds, > 0 where the head is worse.
        margins: for each row, as a fraction.
    """
    suspects: list[Suspect | None] = [None] * len(ratios)
    for wave in range(LOOKS):
        look = settings.look(wave)
        open_rows = [i for i, d in enumerate(ratios) if suspects[i] is None and len(d) >= look]
        if not open_rows:
            continue
        signs = _screen(
            np.stack([ratios[i][:look] for i in open_rows]),
            np.array([margins[i] for i in open_rows]),
        )
        chosen = [(i, sign) for i, sign in zip(open_rows, signs, strict=True) if sign]
        rounds = rounds_to_confirm(len(chosen), look, settings)
        for index, sign in chosen:
            suspects[index] = Suspect(wave, sign, look, rounds)
    return suspects


def _screen(ratios: FloatArray, margins: FloatArray) -> list[int]:
    """Give +1, -1 or 0 for each row: looks worse, looks better, neither."""
    test = signed_rank(ratios)
    estimate = paired_shift(ratios, 0.5).estimate
    beyond = np.abs(estimate) > np.log1p(margins * SUSPECT_MARGIN_SHARE)
    worse = beyond & (estimate > 0) & (test.p_greater <= SUSPECT_P)
    better = beyond & (estimate < 0) & (test.p_less <= SUSPECT_P)
    return [int(sign) for sign in worse.astype(int) - better.astype(int)]


def rounds_to_confirm(suspects: int, look: int, settings: WaveSettings) -> int:
    """How many fresh rounds a wave gets: enough to reach its level with a round or two amiss."""
    level = settings.alpha / LOOKS / max(suspects, 1)
    needed = least_launches(level, "wilcoxon") + _SPARE_ROUNDS
    return max(
        least_launches(level, "wilcoxon"),
        min(max(settings.confirm_rounds, needed), settings.max_rounds - look),
    )


def confirm(
    ratios: Sequence[FloatArray], suspects: Sequence[Suspect | None]
) -> list[tuple[float, float] | None]:
    """Test every suspect on its fresh rounds, one-sided in the direction it was suspected.

    Returns:
        For each row (p, p adjusted), None where it is no suspect. The adjusted p is to be
        held against the suite's alpha. Without a fresh round p is 1.
    """
    p_values = {i: 1.0 for i, s in enumerate(suspects) if s}
    fresh = [s.sign * s.fresh(d) if s else d[:0] for d, s in zip(ratios, suspects, strict=True)]
    for indices, rows in by_length(fresh):
        p_values.update(zip(indices, signed_rank(rows).p_greater.tolist(), strict=True))
    outcome: list[tuple[float, float] | None] = [None] * len(ratios)
    for rows_of_wave in _waves(suspects):
        adjusted = holm(np.array([p_values[i] for i in rows_of_wave]))
        for index, value in zip(rows_of_wave, adjusted.tolist(), strict=True):
            outcome[index] = (p_values[index], min(1.0, LOOKS * value))
    return outcome


def _waves(suspects: Sequence[Suspect | None]) -> Iterator[list[int]]:
    for wave in range(LOOKS):
        rows = [i for i, s in enumerate(suspects) if s and s.wave == wave]
        if rows:
            yield rows
