"""Suspects whose confirmation the budget cut short: tested on the launches of all rounds.

The signed rank test takes the sign of each round from chance, so that n rounds cannot show less
than 2^-n. A few rounds say more if the launches of the two arms hardly overlap: were the code the
same, every way to deal the launches out to the arms would be equally likely, and one that puts
all of the head's above all of the base's is one of (2n choose n). That is the Mann-Whitney test.
It is blind to what the launches of a round have in common, so it finds large changes only. What
the rounds have in common makes a false alarm of it less likely, not more.

Every row of the suite counts, whether it is a suspect or not, so the rounds that made it one may
be used. The test spends what the families of the waves leave: it has the shares of those
that cannot have tested anything in so few rounds. Like all tests over every row it counts p
twice, for both directions, although it asks only whether a row got worse: when a budget ends may
depend a little on what was measured, and half of alpha is kept back for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.batches import by_lengths
from benchgate.gate.waves import LOOKS, rounds_to_confirm
from benchgate.stats.mannwhitney import mann_whitney
from benchgate.stats.multiplicity import holm
from benchgate.stats.power import least_launches

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from benchgate.gate.evidence import Evidence
    from benchgate.gate.waves import Suspect, WaveSettings


def lacking_rounds(
    evidences: Sequence[Evidence], suspects: Sequence[Suspect | None], settings: WaveSettings
) -> list[int]:
    """Give the rows that lack rounds, for a test of the waves or for the last look for suspects.

    What looks better fails no build: it waits for its test.
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
    """Test rows against a head that is worse, each on all of its rounds.

    Args:
        evidences: every row that is tested in the suite.
        cut_short: indices of the rows to test.

    Returns:
        For each of them p, one-sided, and p adjusted, to compare with the suite's
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
    """How many families can have tested nothing yet when no row has more rounds than so many.

    A single suspect takes the fewest rounds.
    """
    least = least_launches(settings.alpha / settings.families, "wilcoxon")
    reached_at = list(settings.late_looks)
    for look in (settings.look(wave) for wave in range(LOOKS)):
        reached_at += [look + least, look + rounds_to_confirm(1, look, settings)]
    return sum(rounds < needed for needed in reached_at)
