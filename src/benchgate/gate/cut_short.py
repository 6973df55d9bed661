"""Tests suspects whose confirmation the budget cut short, on the launches of all rounds.

The signed rank test assumes that the sign of each round is random, so n rounds cannot give a p
below 2^-n. A few rounds show more if the launches of the two arms hardly overlap. If the code were
the same, every way to assign the launches to the arms would be equally likely, and only one of
(2n choose n) ways puts all of the head's above all of the base's. This is the Mann-Whitney test.
It ignores what the launches of a round have in common, so it finds only large changes. What they
have in common makes a false alarm less likely, not more.

Every row of the suite counts, whether it is a suspect or not. So the test may use the rounds that
made a row a suspect. The test spends the alpha that the families of the waves leave: the shares of
those that cannot have tested anything in so few rounds. Like all tests over every row, it doubles
p for both directions, although it asks only whether a row got worse. The reason: the time at which
a budget ends may depend a little on the measured values, and half of alpha is reserved for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.batches import by_lengths
from benchgate.gate.waves import LOOKS, rounds_to_confirm
from benchgate.stats.differences import least_launches
from benchgate.stats.rank_tests import holm, mann_whitney

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from benchgate.gate.evidence import Evidence
    from benchgate.gate.waves import Suspect, WaveSettings


def lacking_rounds(
    evidences: Sequence[Evidence], suspects: Sequence[Suspect | None], settings: WaveSettings
) -> list[int]:
    """Return the rows that lack rounds for a test of the waves or for the last look for suspects.

    Rows that look better are left out: they cannot fail a build, and wait for their test.
    """
    last_look = settings.look(LOOKS - 1)
    return [
        index
        for index, (row, suspect) in enumerate(zip(evidences, suspects, strict=True))
        if (
            suspect.sign > 0 and suspect.missing(row.rounds)
            if suspect
            else row.settles and row.rounds < last_look
        )
    ]


def launch_test(
    evidences: Sequence[Evidence], cut_short: Collection[int], settings: WaveSettings
) -> dict[int, tuple[float, float]]:
    """Test whether the head of each row is worse, on all rounds of the row.

    Args:
        evidences: all rows of the suite that are tested.
        cut_short: indices of the rows to test.

    Returns:
        For each of these rows the one-sided p, and the adjusted p to compare with the suite's
        alpha; nothing if no share of alpha is left.
    """
    unspent = unspent_families(max((e.rounds for e in evidences), default=0), settings)
    if not unspent or not cut_short:
        return {}
    chosen = sorted(cut_short)
    base = [evidences[i].worse_sign * np.log(evidences[i].base) for i in chosen]
    head = [evidences[i].worse_sign * np.log(evidences[i].head) for i in chosen]
    p_values = np.ones(len(evidences))
    for places, x, y in by_lengths(base, head):
        p_values[[chosen[place] for place in places]] = mann_whitney(x, y).p_greater
    both_directions = np.minimum(1.0, 2 * p_values)
    adjusted = np.minimum(1.0, holm(both_directions) * settings.families / unspent)
    return {i: (float(p_values[i]), float(adjusted[i])) for i in chosen}


def unspent_families(rounds: int, settings: WaveSettings) -> int:
    """How many families cannot have tested anything yet if no row has more than this many rounds.

    A single suspect needs the fewest rounds.
    """
    least = least_launches(settings.alpha / settings.families, "wilcoxon")
    reached_at = list(settings.late_looks)
    for look in (settings.look(wave) for wave in range(LOOKS)):
        reached_at += [look + least, look + rounds_to_confirm(1, look, settings)]
    return sum(rounds < needed for needed in reached_at)
