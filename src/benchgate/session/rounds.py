"""Plans, measures and judges rounds until all is decided or the budget ends."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from benchgate.gate.estimates import RowStage
from benchgate.gate.next_round import RoundPlan, follow_up, screen
from benchgate.model.result import Phase
from benchgate.model.run import CANARY_IDS
from benchgate.report.progress import MEASURE, RoundState
from benchgate.session.outlook import BudgetForecast, has_room, rounds_of_a_large_slowdown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.gate.suite import Need
    from benchgate.gate.waves import WaveSettings
    from benchgate.report.progress import Progress
    from benchgate.session.phases import Phases
    from benchgate.session.session import Session


@dataclass(slots=True)
class FixedRounds:
    """Measures everything for a fixed number of rounds, whatever they show.

    Attributes:
        own_rounds: the number for each benchmark that has one of its own.
        once: benchmarks of which one launch is enough; here there are none.
    """

    session: Session
    rounds: int
    own_rounds: Mapping[str, int] = field(default_factory=dict)
    once: frozenset[str] = frozenset()
    _left_out: dict[str, None] = field(default_factory=dict)

    def plan(self, round_index: int, left_s: float) -> RoundPlan:
        """Plan everything until the number is reached; then repeat what lacks a round."""
        ids = tuple(id_ for id_ in self.session.ids if round_index < self._rounds_of(id_))
        if ids:
            plan = screen(ids, self.session.costs_s, left_s, self.session.suites)
            self._left_out |= dict.fromkeys(plan.dropped)
            ids = plan.ids
        return RoundPlan(MEASURE, ids, tuple(self._left_out))

    def least_rounds(self, benchmarks: int) -> int:  # noqa: ARG002 - see ScreenAndConfirm
        """How many rounds are worth measuring at all: one, because nothing is judged here."""
        return 1

    def ahead(self, ids: Iterable[str], round_index: int) -> Mapping[str, int]:
        """How many rounds these benchmarks will still get."""
        return {id_: max(self._rounds_of(id_) - round_index, 1) for id_ in ids}

    def may_end_sooner(self) -> bool:
        """Whether `ahead` is a limit: it never is."""
        return False

    def suspected(self) -> frozenset[str]:
        """Nothing: this planner judges nothing during measuring."""
        return frozenset()

    changed = suspected

    def numbers(self) -> frozenset[int]:
        """The numbers of rounds that there are."""
        return frozenset(map(self._rounds_of, self.session.ids)) or frozenset({self.rounds})

    def _rounds_of(self, id_: str) -> int:
        return self.own_rounds.get(id_, self.rounds)


class ScreenAndConfirm:
    """The gate's procedure: measure everything first, then only what is still open.

    Args:
        judge: tells what each row still needs, given what was measured so far. Before the looks
            that the waves plan, only the estimate of the time depends on it.
        once: benchmarks of one arm only; one launch of each is enough.
    """

    def __init__(
        self,
        session: Session,
        waves: WaveSettings,
        judge: Callable[[], Sequence[Need]],
        once: frozenset[str],
    ) -> None:
        self._session = session
        self._waves = waves
        self._judge = judge
        self.once = once
        self._needs: Sequence[Need] = ()
        self._looked_at = 0
        self._next_look = waves.screen_rounds

    def plan(self, round_index: int, left_s: float) -> RoundPlan:
        """Plan the next round: of the screen, or of what is open after it."""
        costs_s, suites = self._session.costs_s, self._session.suites
        ids = self._session.ids
        if round_index < self._waves.screen_rounds:
            if round_index:
                self._needs, self._looked_at = self._judge(), round_index
                ids = tuple(id_ for id_ in ids if id_ not in self.once)
            return screen(ids, costs_s, left_s, suites)
        if round_index == self._next_look:
            self._needs, self._looked_at = self._judge(), round_index
            self._next_look = self._waves.next_look(round_index)
        left = set(ids)
        alive = [need for need in self._needs if need.benchmark in left]
        plan = follow_up(alive, costs_s, left_s, suites)
        # Late looks test rows that no earlier look has made suspects.
        return replace(plan, canary=plan.canary or self._waves.until_decided)

    def go_on(self, full_rounds: int, judge_after: Callable[[int], Sequence[Need]]) -> None:
        """Act as if this many rounds had been planned and measured.

        Args:
            judge_after: as `judge`, given only what was measured in the first rounds.
        """
        last_look = 0
        while self._next_look < full_rounds:
            last_look = self._next_look
            self._next_look = self._waves.next_look(last_look)
        if last_look:
            self._needs, self._looked_at = judge_after(last_look), last_look

    def least_rounds(self, benchmarks: int) -> int:
        """How many rounds the largest slowdown of one of some benchmarks needs to be shown."""
        if self.once.issuperset(self._session.ids):
            return 1
        return rounds_of_a_large_slowdown(benchmarks, self._waves)

    def ahead(self, ids: Iterable[str], round_index: int) -> Mapping[str, int]:
        """How many rounds these benchmarks will still get, at least until the next look."""
        found = dict.fromkeys(ids, max(self._next_look - round_index, 1))
        since = round_index - self._looked_at
        for need in self._needs:
            if need.benchmark in found:
                found[need.benchmark] = max(found[need.benchmark], need.ahead - since)
        return found | dict.fromkeys(self.once & found.keys(), 1)

    def may_end_sooner(self) -> bool:
        """Whether `ahead` is a limit, because nobody can know how many rounds some will get."""
        return any(need.at_most for need in self._needs)

    def suspected(self) -> frozenset[str]:
        """The benchmarks that looked changed and are measured again to make sure."""
        return frozenset(x.benchmark for x in self._needs if x.stage is RowStage.CONFIRM)

    def changed(self) -> frozenset[str]:
        """The benchmarks that got worse for sure, even if something about them is still open."""
        return frozenset(x.benchmark for x in self._needs if x.got_worse)


# Says what the next round measures; a round without ids ends the loop.
Planner: TypeAlias = FixedRounds | ScreenAndConfirm


@dataclass(slots=True)
class RoundLoop:
    """Measures rounds until the planner has none left, after those that the session has already.

    Attributes:
        save: called after every round.
        foresee: says after the first round if the budget is too short; None if it is not.
        spent_s: how much of the budget was spent before.
    """

    session: Session
    planner: Planner
    budget_s: float
    clock: Callable[[], float]
    phases: Phases
    progress: Progress
    save: Callable[[], None]
    foresee: Callable[[BudgetForecast], str | None] = lambda _: None
    spent_s: float = 0.0
    _started_s: float = field(default=0.0, init=False)
    _pace: _Pace = field(init=False)
    _chosen: set[str] = field(init=False)

    def measure(self) -> tuple[str, ...]:
        """Measure, and return the benchmarks that were still open when the budget ended."""
        session = self.session
        self._started_s = self.clock()
        self._pace = _Pace(session)
        self._pace.learn(session.ids)
        self._chosen = own_ids(session, session.ids)
        session.counting.budget_s = self.budget_s
        session.budget.begin(self.budget_s, self.spent_s)
        round_index = session.full_rounds
        while True:
            began_s = self.clock()
            left_s = self._deadline_s - began_s - session.counting.ahead_s(1)
            self.phases.begin(Phase.DECIDE)
            plan = self.planner.plan(round_index, left_s)
            if not plan.ids:
                session.budget.offer(math.inf)  # for what comes after measuring
                return plan.dropped
            ahead = self.planner.ahead(plan.ids, round_index)
            self.progress.round_started(self._state(plan, round_index, ahead, left_s))
            self._measure_round(plan, round_index)
            self._pace.learn(plan.ids, self.clock() - began_s)
            if not round_index:
                self._tell_of_the_budget(ahead)
            round_index += 1

    @property
    def _deadline_s(self) -> float:
        return self._started_s + self.budget_s - self.spent_s

    def _state(
        self, plan: RoundPlan, round_index: int, ahead: Mapping[str, int], left_s: float
    ) -> RoundState:
        """What is shown while a round is measured."""
        planner = self.planner
        own = own_ids(self.session, plan.ids)
        still_open = own.union(plan.dropped, self.session.left_out) - planner.changed()
        ahead_s = self._pace.seconds(ahead)
        return RoundState(
            round_index,
            plan.phase,
            len(own),
            suspected=len(own & planner.suspected() - planner.changed()),
            changed=len(own & planner.changed()),
            decided=len(self._chosen - still_open),
            chosen=len(self._chosen),
            ends_s=self.clock() + min(ahead_s, left_s) if ahead_s else None,
            may_end_sooner=planner.may_end_sooner(),
            rounds=round_index + max(ahead.values()) if plan.phase == MEASURE else None,
        )

    def _measure_round(self, plan: RoundPlan, round_index: int) -> None:
        self.phases.begin(Phase.LATER_ROUNDS if round_index else Phase.FIRST_ROUND)
        self.session.measure_round(
            round_index,
            plan.ids,
            self.progress.measured,
            starting=self.progress.measuring,
            is_over=partial(self._is_over, round_index),
            canary=plan.canary,
        )
        self.phases.assign(Phase.COUNT, self.session.counting.last_s)
        self.phases.begin(Phase.SAVE)
        self.save()

    def _is_over(self, round_index: int) -> bool:
        """Whether a round ends here: the first one only if no later one could show anything."""
        now_s = self.clock()
        if round_index:
            return now_s >= self._deadline_s
        costs_s = [cost for unit, cost in self.session.costs_s.items() if unit not in CANARY_IDS]
        least = self.planner.least_rounds(len(costs_s) + 1)
        return not has_room(costs_s, now_s - self._started_s, self.budget_s, least)

    def _tell_of_the_budget(self, ahead: Mapping[str, int]) -> None:
        counting_s = self.session.counting.ahead_s(max(ahead.values()) - 1)
        spent_s = self.clock() - self._started_s + counting_s
        forecast = _forecast(self._pace, self.planner, spent_s, self.budget_s, counting_s)
        if forecast is not None and (shortage := self.foresee(forecast)):
            self.progress.message(shortage)


def own_ids(session: Session, ids: Iterable[str]) -> set[str]:
    """Leave out the head's versions of benchmarks, which people do not count."""
    return set(ids) - session.new_versions.keys()


@dataclass(slots=True)
class _Pace:
    """How long rounds take, as far as earlier ones have shown it.

    Attributes:
        beside_s: what a round takes besides its benchmarks, such as workers, trees and judging;
            None before the second round has shown it.
    """

    session: Session
    beside_s: float | None = None
    # Of each suite and each other benchmark, if nothing else is measured at the same time.
    _alone_s: dict[str, float] = field(default_factory=dict)

    def slowest_s(self, units: Iterable[str]) -> float:
        """How long the slowest of these takes, if nothing else is measured at the same time."""
        return max((self._alone_s.get(unit, 0.0) for unit in units), default=0.0)

    def seconds(self, ahead: Mapping[str, int]) -> float:
        """Estimate how long so many more rounds of each benchmark take; 0.0 if nothing is known."""
        units: dict[str, int] = {}
        for id_, rounds in ahead.items():
            unit = self.session.unit_of(id_)
            units[unit] = max(rounds, units.get(unit, 0))
        own_s, done = 0.0, 0
        for rounds in sorted({*units.values()}):
            still = [unit for unit, most in units.items() if most >= rounds]
            lanes = min(self.session.lanes, len(still))
            round_s = sum(self._alone_s.get(unit, 0.0) for unit in still) / lanes
            own_s, done = own_s + (rounds - done) * round_s, rounds
        if not own_s:
            return 0.0
        beside_s = self.beside_s
        if beside_s is None:
            beside_s = sum(self.session.costs_s.get(id_, 0.0) for id_ in CANARY_IDS)
        return own_s + done * beside_s + self.session.counting.ahead_s(done)

    def learn(self, ids: Iterable[str], took_s: float | None = None) -> None:
        """Learn from a round of these benchmarks.

        Args:
            took_s: as a whole; None if that is not known.
        """
        session = self.session
        units = {*map(session.unit_of, ids)} & session.costs_s.keys()
        is_first = session.full_rounds == 1  # it also starts everything
        shared = units & session.shared if is_first else units
        lanes = min(session.lanes, len(shared))
        for unit in units:
            alone_s = session.costs_s[unit] * (lanes if unit in shared else 1)
            self._alone_s[unit] = (alone_s + self._alone_s.get(unit, alone_s)) / 2
        if took_s is not None and not is_first:
            own_s = sum(session.costs_s[unit] for unit in units) + session.counting.last_s
            this_s = max(0.0, took_s - own_s)
            self.beside_s = this_s if self.beside_s is None else (self.beside_s + this_s) / 2


def _forecast(
    pace: _Pace, planner: Planner, spent_s: float, budget_s: float, counting_s: float
) -> BudgetForecast | None:
    """Forecast what later rounds take; None if there are none, or no budget."""
    session = pace.session
    later = {session.unit_of(id_) for id_ in session.ids if id_ not in planner.once} - CANARY_IDS
    costs_s = [cost_s for unit, cost_s in session.costs_s.items() if unit in later and cost_s > 0]
    if not costs_s or not math.isfinite(budget_s):
        return None
    beside_s = sum(session.costs_s.get(id_, 0.0) for id_ in CANARY_IDS)
    slowest_s = pace.slowest_s(later)
    return BudgetForecast(
        max(sum(costs_s), slowest_s) + beside_s,
        slowest_s + beside_s,
        spent_s,
        budget_s,
        session.counting.total_s + counting_s,
    )
