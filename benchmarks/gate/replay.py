"""Builds made of recorded rounds: thousands of them, judged by the gate's own code.

A build draws rounds of one recorded session in random order. All benchmarks take the same rounds,
because what disturbs one often disturbs its neighbors. The benchmark that got slower takes its
rounds from a session in which its head really did more. Half of the sessions are for tuning, half
for judging.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.gate.build import run_build
from benchmarks.gate.launches import read_recording, without_canary
from benchmarks.gate.recordings import RECORDINGS
from benchmarks.gate.rules import RULES, slower_by

from benchgate.config import loads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.gate.replayed_builds import ReplayedBuild

    from benchgate.arrays import FloatArray

# No build asks for more, and what is gathered for nothing takes long.
_MOST_ROUNDS = 60


class Half(StrEnum):
    """Which of the sessions."""

    TUNING = "tuning"
    JUDGING = "judging"


@dataclass(frozen=True, slots=True)
class Question:
    """A question that many builds answer.

    Attributes:
        clean: folder of the sessions in which nothing changed.
        slower: folder of those in which every head did more; "" for clean builds.
        config: TOML that overrides the defaults.
    """

    half: Half
    clean: str = "rounds-clean"
    slower: str = ""
    config: str = ""

    def sessions(self) -> int:
        """How many sessions the answer is based on."""
        return sum(len(_names(name, self.half)) for name in (self.clean, self.slower) if name)


@dataclass(frozen=True, slots=True)
class Replayed:
    """One build: what was changed, and what the gate said."""

    slower: str
    build: ReplayedBuild

    @property
    def is_false_alarm(self) -> bool:
        """Whether a benchmark regressed that did not change."""
        return bool(self.build.regressed - {self.slower})

    @property
    def is_found(self) -> bool:
        """Whether the changed benchmark regressed."""
        return self.slower in self.build.regressed


@dataclass(frozen=True, slots=True)
class RuledBuild:
    """One build: what was changed, and what a simple rule calls slower."""

    slower: str
    called: set[str]

    @property
    def is_false_alarm(self) -> bool:
        """Whether something was called slower that did not change."""
        return bool(self.called - {self.slower})

    @property
    def is_found(self) -> bool:
        """Whether the changed benchmark was called slower."""
        return self.slower in self.called


def replay(question: Question, builds: int, *, seed: int, processes: int) -> list[Replayed]:
    """Judge a number of builds."""
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(partial(_one, question, seed), range(builds), chunksize=16))


def _one(question: Question, seed: int, index: int) -> Replayed:
    slower, drawn = draw(question, index, seed=seed)
    needed = {id_: samples[:, :_MOST_ROUNDS] for id_, samples in drawn.items()}
    return Replayed(slower, run_build(needed, loads(question.config, "replay")))


def draw(question: Question, index: int, *, seed: int) -> tuple[str, dict[str, FloatArray]]:
    """Draw the rounds of a build: the benchmark that changed, and the samples of all."""
    rng = np.random.default_rng((seed, index))
    drawn = _shuffled(samples_of(question.clean, question.half), rng)
    if not question.slower:
        return "", drawn
    changed = _shuffled(samples_of(question.slower, question.half), rng)
    slower = sorted(changed)[index % len(changed)]
    return slower, {**drawn, slower: changed[slower]}


def _shuffled(
    recorded: Sequence[Mapping[str, FloatArray]], rng: np.random.Generator
) -> dict[str, FloatArray]:
    session = recorded[int(rng.integers(len(recorded)))]
    order = rng.permutation(next(iter(session.values())).shape[1])
    return {id_: values[:, order] for id_, values in session.items()}


def _names(folder: str, half: Half) -> list[str]:
    names = RECORDINGS.names(folder)
    chosen = names[0::2] if half is Half.TUNING else names[1::2]
    if not chosen:
        raise FileNotFoundError(f"no {half} session of {folder}: record some")
    return chosen


@lru_cache
def samples_of(name: str, half: Half) -> tuple[Mapping[str, FloatArray], ...]:
    """Give all samples of the launches of each session of a half, without the canary."""
    return tuple(without_canary(read_recording(one).samples) for one in _names(name, half))


def replay_rules(question: Question, builds: int, *, seed: int) -> dict[str, list[RuledBuild]]:
    """Ask each simple rule about a number of builds, drawn in the same way."""
    answers: dict[str, list[RuledBuild]] = {name: [] for name in RULES}
    for index in range(builds):
        slower, drawn = draw(question, index, seed=seed)
        for name, rule in RULES.items():
            answers[name].append(RuledBuild(slower, slower_by(rule, drawn)))
    return answers
