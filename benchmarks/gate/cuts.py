"""What the verdict on a build would be if its budget ended after each single round."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.gate.build import evidences_of, samples_with
from benchmarks.gate.machines import MACHINES_CUT_SHORT, SLOWER, Truth, draw_build
from benchmarks.gate.replay import Half, Question, draw
from benchmarks.gate.replayed_builds import states
from benchmarks.gate.tally import rate, with_bounds
from validation.rates import Rate

from benchgate.config import loads
from benchgate.gate.waves import WaveSettings, unspent_families
from benchgate.model.policy import Outcome
from benchgate.stats.detectable import least_launches
from benchgate.stats.mann_whitney import least_p_mann_whitney, mann_whitney

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.gate.machines import Machine

    from benchgate.arrays import FloatArray
    from benchgate.config import Config

LAST_CUT = 40
"""By then, every procedure has ended."""
_SHOWN_CUTS = (5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 30)
_CHANGES = (0.05, 0.15, 0.70)
_RECORDINGS = ("rounds-clean", "rounds-edited")


@dataclass(frozen=True, slots=True)
class CutBuild:
    """One build, cut after every round.

    Attributes:
        slower: the benchmark that was changed; "" in a clean build.
        regressed: for each cut, beginning after the first round, what would be called slower.
        open: the cuts at which a suspect would be neither confirmed nor cleared.
    """

    slower: str
    regressed: tuple[frozenset[str], ...]
    open: frozenset[int]

    def is_false_alarm(self, cut: int) -> bool:
        """Whether the build would fail for a benchmark that did not change."""
        return bool(self.regressed[cut - 1] - {self.slower})

    def is_found(self, cut: int) -> bool:
        """Whether the changed benchmark would be called slower."""
        return self.slower in self.regressed[cut - 1]


def cut_everywhere(slower: str, source: Mapping[str, FloatArray], config: Config) -> CutBuild:
    """Judge a build as if the budget ended after its first round, its second, and so on."""
    evidences = evidences_of(source, config)
    keys = [evidence.pair.id for evidence in evidences if evidence.obstacle is None]
    first = least_launches(config.gate.alpha / 2, "mann-whitney")  # fewer cannot show anything
    regressed: list[frozenset[str]] = [frozenset()] * (first - 1)
    is_open: set[int] = set()
    for state in states(evidences, WaveSettings.of(config), config.gate.confidence, first=first):
        found = zip(keys, state.findings, strict=True)
        regressed.append(frozenset(i for i, f in found if f.outcome is Outcome.REGRESSED))
        if any(finding.unconfirmed for finding in state.findings):
            is_open.add(len(regressed))
    regressed += [regressed[-1]] * (LAST_CUT - len(regressed))
    return CutBuild(slower, tuple(regressed), frozenset(is_open))


def worst_cut(builds: Sequence[CutBuild]) -> tuple[int, str]:
    """Give the cut with the most false alarms, and their number."""
    alarms = Counter({c: sum(b.is_false_alarm(c) for b in builds) for c in range(1, LAST_CUT + 1)})
    cut = alarms.most_common(1)[0][0]
    return cut, with_bounds(rate(build.is_false_alarm(cut) for build in builds))


def report_clean(builds: Sequence[CutBuild]) -> str:
    """False alarms at the worst cut, over all cuts, and at any; suspects left open."""
    cut, worst = worst_cut(builds)
    cuts = range(1, LAST_CUT + 1)
    everywhere = rate(build.is_false_alarm(c) for build in builds for c in cuts)
    anywhere = rate(any(build.is_false_alarm(c) for c in cuts) for build in builds)
    left_open = max(sum(c in build.open for build in builds) / len(builds) for c in cuts)
    return (
        f"false alarms {worst} at the worst cut, after {cut} rounds; "
        f"{everywhere.hits / everywhere.trials:.2%} over all cuts; "
        f"at one cut or another {with_bounds(anywhere)}; "
        f"a suspect left open in at most {left_open:.0%}"
    )


def report_slower(builds: Sequence[CutBuild]) -> str:
    """How many of the changed benchmarks were found, by the round after which the budget ended."""
    found = {cut: rate(build.is_found(cut) for build in builds) for cut in _SHOWN_CUTS}
    shares = [f"{cut}: {one.hits / one.trials:.0%}" for cut, one in found.items()]
    return f"found when cut after {', '.join(shares)}"


def launches_alone(
    machine: Machine, config: Config, builds: int, seed: tuple[int, ...]
) -> tuple[int, str]:
    """Give the cut at which the test on all rounds alone fails most clean builds, and how many.

    These are more than in a real check, because here it tests every row, even one that another
    test has decided.
    """
    waves = WaveSettings.of(config)
    logs = np.log(np.stack([_drawn_rows(machine, (*seed, index)) for index in range(builds)]))
    rows = logs.shape[1]
    found = {}
    for cut in range(1, LAST_CUT + 1):
        level = waves.alpha * unspent_families(cut, waves) / waves.families / rows / 2
        if least_p_mann_whitney(cut, cut) <= level:
            flat = logs[..., :cut].reshape(-1, 2, cut)
            p = mann_whitney(flat[:, 0], flat[:, 1]).p_greater.reshape(builds, rows)
            found[cut] = Rate(int((p <= level).any(axis=1).sum()), builds)
    worst = max(found, key=lambda cut: found[cut].hits)
    return worst, with_bounds(found[worst])


def _drawn_rows(machine: Machine, seed: tuple[int, ...]) -> FloatArray:
    """Draw a clean build: its rows, one for each statistic, shape (rows, 2, rounds)."""
    drawn = draw_build(machine, Truth(), np.random.default_rng(seed), LAST_CUT)
    # 0 stands for a tail that was not measured.
    rows = [x[:, :, k] for x in drawn.values() for k in range(x.shape[2]) if x[0, 0, k]]
    return np.stack(rows)


def simulate_cuts(
    machine: Machine, truth: Truth, config: Config, seed: tuple[int, ...]
) -> CutBuild:
    """Draw one build of a simulated machine, and cut it."""
    drawn = draw_build(machine, truth, np.random.default_rng(seed), LAST_CUT)
    return cut_everywhere(SLOWER if truth.location else "", samples_with(drawn), config)


def replay_cuts(question: Question, seed: int, index: int) -> CutBuild:
    """Draw one build of recorded rounds, and cut it."""
    slower, drawn = draw(question, index, seed=seed)
    return cut_everywhere(slower, drawn, loads(question.config, "replay"))


def cut_all(
    builds: int, *, config: str, seed: int, processes: int, say: Callable[[str], None]
) -> None:
    """Cut builds of every simulated machine and of the recordings, and report the results.

    Args:
        builds: how many clean ones of each kind; there are a tenth as many of the others.
        config: TOML that overrides the defaults.
    """
    settings = loads(config, "--config")
    with ProcessPoolExecutor(processes) as pool:
        for name in _RECORDINGS:
            question = Question(Half.JUDGING, name, config=config)
            found = pool.map(partial(replay_cuts, question, seed), range(builds), chunksize=8)
            say(f"{name}: {report_clean(list(found))}")
        for machine in MACHINES_CUT_SHORT:
            say(str(machine))
            cut, worst = launches_alone(machine, settings, 5 * builds, (seed, len(_CHANGES) + 1))
            say(f"  the test on all rounds alone, clean: {worst} after {cut} rounds")
            for number, change in enumerate((0.0, *_CHANGES)):
                one = partial(simulate_cuts, machine, Truth(change, change), settings)
                seeds = [(seed, number, i) for i in range(builds // 10 if change else builds)]
                report = report_slower if change else report_clean
                say(f"  +{change:4.0%} {report(list(pool.map(one, seeds, chunksize=8)))}")
