"""Screen, then confirm: suspects are found on the first rounds and tested on fresh ones.

A test on rounds that had no part in choosing it needs no correction for the choice. There
are two looks for suspects, after `screen_rounds` and after twice as many, because one
disturbed round can hide a change from the first. Each look's suspects are one wave.

How many fresh rounds a suspect gets is fixed before the first of them, and it is tested when
they are there: to test after each, and stop at the first success, would nearly double the
rate of false alarms. To give up early costs nothing of that kind: a suspect that after half of its
fresh rounds looks no more changed gets no test. One that fails its test but still looks changed
is tested once more on twice the rounds, because one disturbed round has the highest rank of all.

So there are two waves of two tests. Each of these four families spends a quarter of alpha;
together they keep the suite's rate of false alarms at alpha, however many benchmarks it has.
Inside a family Holm's procedure shares what it may spend.

If rows go on until they are decided, there are as many families more as late looks; see
`late_looks`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtrc

from benchgate.gate.batches import by_length
from benchgate.stats.multiplicity import holm
from benchgate.stats.power import least_launches
from benchgate.stats.shift import paired_shift
from benchgate.stats.signedrank import MAX_PAIRS, least_p_signed_rank, signed_rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Self

    from benchgate.arrays import FloatArray
    from benchgate.config import Config

LOOKS = 2
TESTS = 2
# Of rows that go on until they are decided.
LATE_LOOKS = (60, 120, 240, 480, 960)
SUSPECT_P = 0.1
# A tail is wide and would be suspected in vain too often: of five rounds, all must agree.
SUSPECT_TAIL_P = 0.05
SUSPECT_MARGIN_SHARE = 0.5
_SPARE_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class WaveSettings:
    """What the user may set of the procedure; see `config` for the meaning."""

    alpha: float
    screen_rounds: int
    confirm_rounds: int
    max_rounds: int
    until_decided: bool = False

    @classmethod
    def of(cls, config: Config) -> Self:
        """Take what a configuration says."""
        measure = config.measure
        return cls(
            config.gate.alpha,
            measure.screen_rounds,
            measure.confirm_rounds,
            measure.max_rounds,
            measure.until_decided,
        )

    def look(self, wave: int) -> int:
        """How many rounds the suspects of a wave are chosen on; the next is the first fresh one."""
        return self.screen_rounds * (wave + 1)

    @property
    def most_rounds(self) -> int:
        """How many rounds are judged at most: the limit set, or that of the exact test."""
        return LATE_LOOKS[-1] if self.until_decided else min(self.max_rounds, MAX_PAIRS)

    @property
    def late_looks(self) -> tuple[int, ...]:
        """After how many rounds all rows are tested that are still open, on all their rounds."""
        return LATE_LOOKS if self.until_decided else ()

    @property
    def families(self) -> int:
        """How many families of tests share alpha."""
        return LOOKS * TESTS + len(self.late_looks)

    def next_look(self, rounds: int) -> int:
        """After how many rounds rows are looked at next, after a look at so many: at one more.

        If rows go on until they are decided, only half as many as the first late look wants are
        looked at one by one, and then only what has doubled: each look may err.
        """
        if rounds < LATE_LOOKS[0] // 2:
            return rounds + 1
        return next((look for look in self.late_looks if look > rounds), rounds + 1)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A row to be confirmed.

    Attributes:
        wave: 0 or 1.
        sign: +1 when it looks worse, -1 when it looks better.
        start: index of its first fresh round.
        rounds: for each of its tests, how many fresh rounds it is done on; none if its first
            fresh rounds did not look like a change.
    """

    wave: int
    sign: int
    start: int
    rounds: tuple[int, ...]

    @property
    def first_rounds(self) -> int:
        """How many fresh rounds its first test is done on; 0 without a test."""
        return self.rounds[0] if self.rounds else 0

    def fresh(self, ratios: FloatArray, test: int) -> FloatArray:
        """Give the rounds of a test; fewer than it needs while they are still to come."""
        rounds = self.rounds[test] if test < len(self.rounds) else 0
        return ratios[self.start : self.start + rounds]

    def missing(self, rounds: int) -> int:
        """How many more rounds than these, which it has, its last test needs."""
        return max(0, self.start + self.rounds[-1] - rounds) if self.rounds else 0


@dataclass(frozen=True, slots=True)
class WaveRows:
    """What the waves need to know of all rows, in one order.

    Attributes:
        ratios: for each row the log ratios of its rounds, > 0 if the head is worse.
        margins: for each row, as a fraction.
        are_tails: for each row whether it compares tails.
    """

    ratios: Sequence[FloatArray]
    margins: Sequence[float]
    are_tails: Sequence[bool]


def find_suspects(rows: WaveRows, settings: WaveSettings) -> list[Suspect | None]:
    """Find the rows that need confirming, from rounds that their first test will not use."""
    suspects: list[Suspect | None] = [None] * len(rows.ratios)
    for wave in range(LOOKS):
        look = settings.look(wave)
        looked_at = {
            i: d[:look] for i, d in enumerate(rows.ratios) if not suspects[i] and len(d) >= look
        }
        signs = _screen(rows, looked_at)
        rounds = rounds_to_confirm(len(signs), look, settings)
        for index, sign in signs.items():
            suspects[index] = Suspect(wave, sign, look, (rounds,))
        _clear(rows, suspects, wave)
        _add_second_tests(rows, suspects, wave, settings)
    return suspects


def _clear(rows: WaveRows, suspects: list[Suspect | None], wave: int) -> None:
    """Spare suspects the test whose fresh rounds, after half of them, look no more changed."""
    for index, suspect in enumerate(suspects):
        if suspect is None or suspect.wave != wave:
            continue
        half = (suspect.first_rounds + 1) // 2
        fresh = rows.ratios[index][suspect.start : suspect.start + half]
        if len(fresh) < half:
            continue
        # The median is blind to how far disturbed rounds are off.
        if suspect.sign * np.median(fresh) <= np.log1p(rows.margins[index] * SUSPECT_MARGIN_SHARE):
            suspects[index] = replace(suspect, rounds=())


def _add_second_tests(
    rows: WaveRows, suspects: list[Suspect | None], wave: int, settings: WaveSettings
) -> None:
    tested = {i: s for i, s in enumerate(suspects) if s and s.wave == wave and s.rounds}
    done = {
        i: s.fresh(rows.ratios[i], 0)
        for i, s in tested.items()
        if len(s.fresh(rows.ratios[i], 0)) == s.rounds[0]
    }
    for index, sign in _screen(rows, done).items():
        suspect = tested[index]
        first = suspect.rounds[0]
        second = min(2 * first, settings.most_rounds - suspect.start)
        if sign == suspect.sign and second > first:
            suspects[index] = replace(suspect, rounds=(first, second))


def _screen(rows: WaveRows, looked_at: Mapping[int, FloatArray]) -> dict[int, int]:
    """Give the rows that look worse (+1) or better (-1) in the rounds looked at, all as many."""
    if not looked_at:
        return {}
    indices = list(looked_at)
    ratios = np.stack(list(looked_at.values()))
    estimate = paired_shift(ratios, 0.5).estimate
    margins = np.array([rows.margins[i] for i in indices])
    beyond = np.abs(estimate) > np.log1p(margins * SUSPECT_MARGIN_SHARE)
    are_tails = np.array([rows.are_tails[i] for i in indices])
    # Rounds that all agree are enough, however few they are.
    at_least = least_p_signed_rank(ratios.shape[1])
    limit = np.maximum(np.where(are_tails, SUSPECT_TAIL_P, SUSPECT_P), at_least)
    signs = np.sign(estimate)
    suspected = beyond & (_least_p(signs[:, np.newaxis] * ratios) <= limit)
    return {i: int(signs[row]) for row, i in enumerate(indices) if suspected[row]}


def _least_p(ratios: FloatArray) -> FloatArray:
    """Give the lesser p of signed rank and sign test, one-sided against ratios above 0.

    The sign test is blind to how far a disturbed round is off.
    """
    agreeing = (ratios > 0).sum(axis=1)
    p_sign = bdtrc(agreeing - 1, ratios.shape[1], 0.5)
    p: FloatArray = np.minimum(signed_rank(ratios).p_greater, p_sign)
    return p


def rounds_to_confirm(suspects: int, look: int, settings: WaveSettings) -> int:
    """How many fresh rounds a wave gets: enough to reach its level with a round or two amiss.

    The limit of rounds yields if the test could not reach its level within it.
    """
    least = least_launches(settings.alpha / settings.families / max(suspects, 1), "wilcoxon")
    wanted = max(settings.confirm_rounds, least + _SPARE_ROUNDS)
    return max(least, min(wanted, settings.most_rounds - look))


def confirm(
    ratios: Sequence[FloatArray],
    suspects: Sequence[Suspect | None],
    test: int,
    settings: WaveSettings,
) -> list[tuple[float, float] | None]:
    """Test suspects on their fresh rounds, one-sided in the direction they were suspected.

    Args:
        test: 0 for the first test of each suspect, 1 for the second.

    Returns:
        For each row (p, p adjusted), None if there is no such test or no round for it yet.
        Compare the adjusted p with the suite's alpha.
    """
    fresh = [
        s.sign * s.fresh(d, test) if s else d[:0] for d, s in zip(ratios, suspects, strict=True)
    ]
    p_values: dict[int, float] = {}
    for indices, rows in by_length(fresh):
        p_values.update(zip(indices, signed_rank(rows).p_greater.tolist(), strict=True))
    outcome: list[tuple[float, float] | None] = [None] * len(ratios)
    for wave in _waves(suspects):
        # All that were suspected count, also those without a second test: the data chose them.
        adjusted = holm(np.array([p_values.get(i, 1.0) for i in wave]))
        for index, value in zip(wave, adjusted.tolist(), strict=True):
            if index in p_values:
                outcome[index] = (p_values[index], min(1.0, settings.families * value))
    return outcome


def _waves(suspects: Sequence[Suspect | None]) -> Iterator[list[int]]:
    for wave in range(LOOKS):
        rows = [i for i, s in enumerate(suspects) if s and s.wave == wave]
        if rows:
            yield rows
