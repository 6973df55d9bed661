"""Screen, then confirm: suspects are found on the first rounds and tested on fresh ones.

A test on rounds that had no part in choosing it needs no correction for the choice. There
are two looks for suspects, after `screen_rounds` and after twice as many, because one
disturbed round can hide a change from the first. Each look's suspects are one wave.

The number of a suspect's fresh rounds is fixed before the first of them, and the test waits until
all are measured. A test after each round that stops at the first success would nearly double the
false-alarm rate. Giving up early has no such cost: a suspect that no longer looks changed after
half of its fresh rounds gets no test. A suspect that fails its test but still looks changed is
tested once more on twice the rounds, because a single disturbed round has the highest rank of all.

So there are two waves of two tests. A late look, after twice `max_rounds`, tests all rows once more
on all their rounds: a change that is hardly larger than the margin may show only then. Each of
these five families spends a fifth of alpha. Together they keep the suite's false-alarm rate at
alpha, however many benchmarks it has. Inside a family, Holm's procedure distributes the share.

If rows are measured until they are decided, there are more late looks, and each is a family.

The outcome depends only on the rounds, so a saved run gives the same outcome again.

Every row of the suite counts at every late look, whether it is still open or not. The rows were
not selected, so their rounds need not be fresh. Holm's procedure divides the look's share among
the rows and the two directions.

The signed rank test assumes that the sign of each round is random, so n rounds cannot give a p
below 2^-n. A few rounds show more if the launches of the two arms hardly overlap. If the code were
the same, every way to assign the launches to the arms would be equally likely, and only one of
(2n choose n) ways puts all of the head's above all of the base's. This is the Mann-Whitney test.
It ignores what the launches of a round have in common, so it finds only large changes. What they
have in common makes a false alarm less likely, not more.

Every row of the suite counts, whether it is a suspect or not. So the test may use the rounds that
made a row a suspect. The test spends the alpha that the other families leave: the shares of those
that cannot have tested anything in so few rounds. Like all tests over every row, it doubles p for
both directions, although it asks only whether a row got worse. The reason: the time at which a
budget ends may depend a little on the measured values, and half of alpha is reserved for that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.estimates import by_length, by_lengths
from benchgate.gate.suspects import is_large, look_changed
from benchgate.stats import special
from benchgate.stats.detectable import least_launches
from benchgate.stats.mann_whitney import mann_whitney
from benchgate.stats.multiple_tests import holm
from benchgate.stats.signed_rank import MAX_PAIRS, least_p_signed_rank, paired_shift, signed_rank

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Self

    from benchgate.arrays import FloatArray
    from benchgate.config import Config
    from benchgate.gate.evidence import Evidence


LOOKS = 2
TESTS = 2
# For rows that are measured until they are decided.
LATE_LOOKS = (60, 120, 240, 480, 960)
_SPARE_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class WaveSettings:
    """The settings of the procedure that the user may change; see `config` for the meaning."""

    alpha: float
    screen_rounds: int
    confirm_rounds: int
    max_rounds: int
    until_decided: bool = False

    @classmethod
    def of(cls, config: Config) -> Self:
        """Read the settings from a configuration."""
        measure = config.measure
        return cls(
            config.gate.alpha,
            measure.screen_rounds,
            measure.confirm_rounds,
            measure.max_rounds,
            measure.until_decided,
        )

    def look(self, wave: int) -> int:
        """How many rounds choose the suspects of a wave; the next round is the first fresh one."""
        return self.screen_rounds * (wave + 1)

    @property
    def most_rounds(self) -> int:
        """The most rounds of a row that does not look changed."""
        return LATE_LOOKS[-1] if self.until_decided else min(self.max_rounds, MAX_PAIRS)

    @property
    def late_looks(self) -> tuple[int, ...]:
        """The numbers of rounds after which all rows are tested on all their rounds."""
        return LATE_LOOKS if self.until_decided else (min(2 * self.max_rounds, MAX_PAIRS),)

    @property
    def families(self) -> int:
        """How many families of tests share alpha."""
        return LOOKS * TESTS + len(self.late_looks)

    def next_look(self, rounds: int) -> int:
        """The number of rounds at the next look, after a look at this many: usually one more.

        If rows are measured until they are decided, a look follows each round only up to half the
        rounds of the first late look, and after that each doubling: every look may err.
        """
        if not self.until_decided or rounds < LATE_LOOKS[0] // 2:
            return rounds + 1
        return next((look for look in self.late_looks if look > rounds), rounds + 1)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A row to be confirmed.

    Attributes:
        wave: 0 or 1.
        sign: +1 when it looks worse, -1 when it looks better.
        start: index of its first fresh round.
        rounds: for each of its tests, the number of fresh rounds; none if its first fresh rounds
            did not look like a change.
    """

    wave: int
    sign: int
    start: int
    rounds: tuple[int, ...]

    @property
    def first_rounds(self) -> int:
        """The number of fresh rounds of its first test; 0 without a test."""
        return self.rounds[0] if self.rounds else 0

    def fresh(self, ratios: FloatArray, test: int) -> FloatArray:
        """Return the rounds of a test; fewer than it needs until all are measured."""
        rounds = self.rounds[test] if test < len(self.rounds) else 0
        return ratios[self.start : self.start + rounds]

    def missing(self, rounds: int) -> int:
        """How many more rounds its last test needs than these, which it has."""
        return max(0, self.start + self.rounds[-1] - rounds) if self.rounds else 0


@dataclass(frozen=True, slots=True)
class WaveRows:
    """The data of all rows that the waves need, in one order.

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
    """Drop the test of suspects that no longer look changed after half of their fresh rounds."""
    for index, suspect in enumerate(suspects):
        if suspect is None or suspect.wave != wave:
            continue
        half = (suspect.first_rounds + 1) // 2
        fresh = rows.ratios[index][suspect.start : suspect.start + half]
        if len(fresh) < half:
            continue
        # The median ignores how far off disturbed rounds are.
        if not is_large(suspect.sign * float(np.median(fresh)), rows.margins[index]):
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
    """Return the rows that look worse (+1) or better (-1); all have equally many rounds."""
    if not looked_at:
        return {}
    indices = list(looked_at)
    ratios = np.stack(list(looked_at.values()))
    estimate = paired_shift(ratios, 0.5).estimate
    signs = np.sign(estimate)
    suspected = look_changed(
        estimate,
        _least_p(signs[:, np.newaxis] * ratios),
        least_p_signed_rank(ratios.shape[1]),
        [rows.margins[i] for i in indices],
        [rows.are_tails[i] for i in indices],
    )
    return {i: int(signs[row]) for row, i in enumerate(indices) if suspected[row]}


def _least_p(ratios: FloatArray) -> FloatArray:
    """Return the smaller p of the signed rank and sign tests, one-sided for ratios above 0.

    The sign test ignores how far off a disturbed round is.
    """
    agreeing = (ratios > 0).sum(axis=1)
    p_sign = special.bdtrc(agreeing - 1, ratios.shape[1], 0.5)
    p: FloatArray = np.minimum(signed_rank(ratios).p_greater, p_sign)
    return p


def rounds_to_confirm(suspects: int, look: int, settings: WaveSettings) -> int:
    """How many fresh rounds a wave gets: enough to reach its level even with one or two bad rounds.

    The limit of rounds is exceeded if the test could not reach its level within it.
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
    """Test suspects on their fresh rounds, one-sided in the suspected direction.

    Args:
        test: 0 for the first test of each suspect, 1 for the second.

    Returns:
        For each row (p, p adjusted); None if it has no such test, or no round for it yet.
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
        # All suspects count, even those without a second test, because the data selected them.
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


def late_test(
    ratios: Sequence[FloatArray], look: int, settings: WaveSettings
) -> list[tuple[float, float] | None]:
    """Test the rows that have reached a late look, in the direction of their change.

    Returns:
        For each row (p, p adjusted); None if it has fewer rounds. Compare the adjusted p with the
        suite's alpha.
    """
    there = [index for index, d in enumerate(ratios) if len(d) >= look]
    if not there:
        return [None] * len(ratios)
    test = signed_rank(np.stack([ratios[index][:look] for index in there]))
    one_sided = dict(zip(there, np.minimum(test.p_greater, test.p_less).tolist(), strict=True))
    p_values = [one_sided.get(index, 1.0) for index in range(len(ratios))]
    adjusted = holm(np.minimum(1.0, 2 * np.array(p_values))).tolist()
    return [
        (p, min(1.0, settings.families * p_adjusted)) if index in one_sided else None
        for index, (p, p_adjusted) in enumerate(zip(p_values, adjusted, strict=True))
    ]
