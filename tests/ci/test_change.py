from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.results import arm, measured

from benchgate.ci import change
from benchgate.ci.change import ChangeRequest, measure_change
from benchgate.config.load import loads
from benchgate.errors import BaselineError, MeasureError
from benchgate.gate.stored import EarlierResult, StoredResults
from benchgate.gate.verdict import judge
from benchgate.git.repository import Git
from benchgate.measure.machine.description import read_environment
from benchgate.model.policy import Outcome
from benchgate.model.result import Result, SkippedResult
from benchgate.model.run import Source, Tier
from benchgate.session.choice import Choice
from benchgate.session.recorder import BaseTrial

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.world import Clock, World

    from benchgate.config import Config
    from benchgate.model.environment import Environment
    from benchgate.model.result import Screening
    from benchgate.session.measuring import ArmsRequest
    from benchgate.session.one_tree import RunRequest

GIT, OUTPUT = Git(Path("/nowhere")), Path("/nowhere/result.json.gz")
BASE = Source("b" * 40, why="first parent")
GATE = '[gate]\nstatistics = ["p25"]\n'
CONFIG = loads(GATE, "benchgate.toml")
SAME = {"a": 1e-3, "b": 1e-3, "c": 1e-3}
SLOWER = SAME | {"b": 1.2e-3}
CHOICE = Choice(("*",), ("quick",))
SKIPPED = (SkippedResult("artifact 7 of run 8", "it has expired"),)
HERE = read_environment({})


@dataclass(slots=True)
class Machine:
    """What would be measured here, and what was asked to be.

    Attributes:
        head_s: what the head's benchmarks take.
        alone_s, both_s: how long measuring one arm, or both, takes.
        error: of measuring both.
        done: what was done, in order.
    """

    clock: Clock
    head_s: Mapping[str, float] = field(default_factory=lambda: SAME)
    alone_s: float = 30.0
    both_s: float = 200.0
    environment: Environment = HERE
    error: Exception | None = None
    done: list[str] = field(default_factory=list)
    arms: list[tuple[ArmsRequest, Source, Config]] = field(default_factory=list)
    runs: list[RunRequest] = field(default_factory=list)
    alone_limits_s: list[float] = field(default_factory=list)

    def run(self, request: RunRequest, config: Config, *_: object) -> Result:
        self.done.append("alone")
        self.alone_limits_s.append(config.measure.limit_s)
        self.runs.append(request)
        self.clock.now_s += self.alone_s
        head = arm(self.head_s, rounds=10, environment=self.environment, source=Source("a" * 40))
        return Result(head, duration_s=self.alone_s, warnings=("alone",))

    def measure_arms(
        self, request: ArmsRequest, base: Source, config: Config, *_: object
    ) -> Result:
        self.done.append("both")
        self.arms.append((request, base, config))
        if self.error:
            raise self.error
        ids = request.choice.ids
        head_s = {id_: s for id_, s in self.head_s.items() if ids is None or id_ in ids}
        base_s = {id_: s for id_, s in SAME.items() if ids is None or id_ in ids}
        both = measured(base_s, head_s, duration_s=self.both_s, warnings=("both",))
        return replace(both, head=replace(both.head, environment=self.environment))

    def keep(self, result: Result) -> None:
        assert result.base is None
        assert result.screening is None
        self.done.append("kept")


@pytest.fixture
def machine(world: World, monkeypatch: pytest.MonkeyPatch) -> Machine:
    one = Machine(world.clock)
    monkeypatch.setattr(change, "run", one.run)
    monkeypatch.setattr(change, "measure_arms", one.measure_arms)
    monkeypatch.setattr(change, "settings_digest", lambda _: "the same")
    return one


def stored(
    count: int = 12,
    values_s: Mapping[str, float] = SAME,
    *,
    environment: Environment = HERE,
    unsteady: str = "",
    newest: str | None = BASE.sha,
) -> StoredResults:
    """So many earlier runs, the newest first, and what could not be used.

    Args:
        newest: the commit of the newest, which is the base's own.
        unsteady: benchmarks that differ by 10 % from run to run.
    """
    earlier = []
    for day in range(count):
        factor = 1 + 0.05 * (-1) ** day
        run = arm(
            {id_: x * (factor if id_ in unsteady else 1) for id_, x in values_s.items()},
            rounds=10,
            environment=environment,
            started=f"2025-12-{28 - day:02}T03:04:05Z",
            source=Source(f"{day:040x}" if day else newest, "main"),
        )
        earlier.append(EarlierResult(f"artifact {day}", Result(run), f"why {day}"))
    return StoredResults("artifact", tuple(earlier), SKIPPED, ("careful",))


def make(
    machine: Machine,
    world: World,
    found: StoredResults,
    config: Config = CONFIG,
    *,
    base: Source | None = BASE,
    keep: bool = False,
    choice: Choice = CHOICE,
    alone: bool = False,
) -> Result:
    request = ChangeRequest(
        choice, "fast", base, found, OUTPUT, machine.keep if keep else None, alone
    )
    return measure_change(request, config, GIT, world.effects)


def held(result: Result) -> Screening:
    assert result.screening is not None
    return result.screening


def outcomes(result: Result, config: Config = CONFIG) -> dict[str, tuple[Outcome, Tier | None]]:
    rows = judge(result, config).rows
    return {row.benchmark: (row.outcome, row.tier) for row in rows}


def names(screening: Screening) -> list[str]:
    return [one.name for one in screening.earlier]


@pytest.mark.parametrize("keep", [False, True])
def test_without_a_base_the_head_is_held_against_what_is_stored(
    machine: Machine, world: World, *, keep: bool
) -> None:
    result = make(machine, world, stored(3), base=None, keep=keep)
    assert machine.done == ["alone", *(["kept"] if keep else [])]
    assert result.base is None
    assert held(result).head is result.head
    assert names(held(result)) == ["artifact 0", "artifact 1", "artifact 2"]
    assert held(result).skipped == SKIPPED
    assert held(result).warnings == ("careful",)
    assert held(result).earlier[0].why == "why 0"


def test_on_a_first_run_nothing_is_held_against_the_head(machine: Machine, world: World) -> None:
    result = make(machine, world, StoredResults("artifact"), base=None, keep=True)
    assert machine.done == ["alone", "kept"]
    assert held(result).earlier == ()
    assert {outcome for outcome, _ in outcomes(result).values()} == {Outcome.NEW}


def test_artifacts_alone_decide_where_that_is_configured(machine: Machine, world: World) -> None:
    machine.head_s = SLOWER
    result = make(machine, world, stored(), alone=True)
    assert machine.done == ["alone"]
    assert outcomes(result)["b"] == (Outcome.REGRESSED, Tier.STORED)


def test_the_head_is_kept_before_anything_can_fail(machine: Machine, world: World) -> None:
    machine.error = BaselineError("the base cannot be built")
    with pytest.raises(BaselineError, match="cannot be built"):
        make(machine, world, StoredResults("artifact"), keep=True)
    assert machine.done == ["alone", "kept", "both"]


def test_the_head_is_kept_before_it_is_held_against_anything(
    machine: Machine, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise BaselineError("judged wrongly")

    monkeypatch.setattr(change, "fit_for", fail)
    with pytest.raises(BaselineError, match="judged wrongly"):
        make(machine, world, stored(), keep=True)
    assert machine.done == ["alone", "kept"]


def test_a_head_that_changes_how_git_checks_out_ends_the_measuring(
    machine: Machine, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = iter(("before", "after"))
    monkeypatch.setattr(change, "settings_digest", lambda _: next(digests))
    with pytest.raises(MeasureError, match="git's configuration or attributes"):
        make(machine, world, StoredResults("artifact"), keep=True)
    assert machine.done == ["alone", "kept"]


def test_nothing_stored_and_all_is_measured_in_turn(machine: Machine, world: World) -> None:
    result = make(machine, world, StoredResults("artifact"))
    assert machine.done == ["both"]
    ((request, base, config),) = machine.arms
    assert (request.choice, request.output, request.suite) == (CHOICE, OUTPUT, "fast")
    assert request.tried is None
    assert base is BASE
    assert config.measure.limit_s == CONFIG.measure.limit_s
    assert result.screening is None
    assert result.duration_s == machine.both_s


def test_what_could_not_be_used_is_told_all_the_same(machine: Machine, world: World) -> None:
    result = make(machine, world, replace(stored(), earlier=()))
    assert machine.done == ["both"]
    assert (held(result).head, held(result).earlier) == (None, ())
    assert (held(result).skipped, held(result).warnings) == (SKIPPED, ("careful",))
    assert held(result).recent == ()
    verdict = judge(result, CONFIG)
    assert verdict.skipped == SKIPPED
    assert verdict.warnings == ("careful", "both")
    assert {row.tier for row in verdict.rows} == {Tier.LOCKSTEP}


def test_too_few_stored_runs_still_show_their_values(machine: Machine, world: World) -> None:
    few = stored(count=9)
    result = make(machine, world, few)
    assert machine.done == ["both"]
    verdict = judge(result, CONFIG)
    assert {row.tier for row in verdict.rows} == {Tier.LOCKSTEP}
    assert {(row.benchmark, len(row.recent)) for row in verdict.rows} == {
        ("a", 9),
        ("b", 9),
        ("c", 9),
    }


def test_the_values_of_another_machine_are_not_shown(machine: Machine, world: World) -> None:
    result = make(machine, world, stored(count=9, environment=OTHER_CPU))
    assert held(result).recent == ()


def test_what_is_measured_in_turn_has_the_values_that_left_it_open(
    machine: Machine, world: World
) -> None:
    machine.head_s = SLOWER
    result = make(machine, world, stored())
    assert machine.done == ["alone", "both"]
    verdict = judge(result, CONFIG)
    assert {row.benchmark: len(row.recent) for row in verdict.rows} == {"a": 12, "b": 12, "c": 12}


OTHER_CPU = replace(HERE, cpu_model="another CPU")
OF_NO_USE: dict[str, tuple[dict[str, Any], str, str]] = {
    "too few to know how far runs differ": ({"count": 9}, "", "abc"),
    "another machine": ({"environment": OTHER_CPU}, "", "abc"),
    "runs that differ too much": ({"unsteady": "abc"}, "", "abc"),
    "runs that differ too much for most benchmarks": ({"unsteady": "ac"}, "", "ac"),
    "the textbook rule, which knows no calibration": ({}, 'rule = "classical"\n', "abc"),
    "a decision on every row": ({}, "[measure]\nuntil_decided = true\n", ""),
}


@pytest.mark.parametrize("why", OF_NO_USE)
def test_stored_runs_of_no_use_cost_nothing(machine: Machine, world: World, why: str) -> None:
    about, toml, _ = OF_NO_USE[why]
    result = make(machine, world, stored(**about), loads(GATE + toml, "benchgate.toml"))
    assert machine.done == ["both"]
    assert machine.arms[0][0].choice == CHOICE
    assert (held(result).head, held(result).earlier) == (None, ())


@pytest.mark.parametrize("why", sorted(OF_NO_USE.keys() - {"another machine"}))
def test_a_head_that_is_measured_alone_anyway_is_held_against_them(
    machine: Machine, world: World, why: str
) -> None:
    about, toml, left_open = OF_NO_USE[why]
    found, config = stored(**about), loads(GATE + toml, "benchgate.toml")
    result = make(machine, world, found, config, keep=True)
    assert machine.done == ["alone", "kept", *(["both"] if left_open else [])]
    assert held(result).head is not None
    assert [request.choice for request, *_ in machine.arms] == [
        replace(CHOICE, ids=frozenset(left_open)) for _ in machine.arms
    ]
    assert outcomes(result, config) == {
        id_: (Outcome.UNCHANGED, Tier.LOCKSTEP if id_ in left_open else Tier.STORED) for id_ in SAME
    }


def test_most_benchmarks_are_enough_to_be_of_use(machine: Machine, world: World) -> None:
    make(machine, world, stored(unsteady="c"))
    assert machine.done == ["alone", "both"]
    assert machine.arms[0][0].choice.ids == frozenset({"c"})


def test_toolchains_that_are_not_known_yet_make_no_other_machine(
    machine: Machine, world: World
) -> None:
    environment = replace(HERE, toolchains={"head python": "3.12.1"})
    machine.environment = environment
    make(machine, world, stored(environment=environment))
    assert machine.done == ["alone"]


def test_a_toolchain_that_turns_out_to_be_another_has_all_measured_here(
    machine: Machine, world: World
) -> None:
    machine.environment = replace(HERE, toolchains={"head python": "3.13.0"})
    environment = replace(HERE, toolchains={"head python": "3.12.1"})
    result = make(machine, world, stored(environment=environment))
    assert machine.done == ["alone", "both"]
    assert {tier for _, tier in outcomes(result).values()} == {Tier.LOCKSTEP}


@pytest.mark.parametrize("keep", [False, True])
def test_what_stored_runs_settle_is_not_measured_again(
    machine: Machine, world: World, *, keep: bool
) -> None:
    result = make(machine, world, stored(), keep=keep)
    assert machine.done == ["alone", *(["kept"] if keep else [])]
    assert (machine.runs[0].choice, machine.runs[0].suite) == (CHOICE, "fast")
    assert machine.runs[0].output is None
    assert result.base is None
    assert len(held(result).earlier) == 12
    assert result.duration_s == machine.alone_s
    assert set(outcomes(result).values()) == {(Outcome.UNCHANGED, Tier.STORED)}


def test_what_they_leave_open_is_measured_in_turn(machine: Machine, world: World) -> None:
    machine.head_s = SLOWER
    result = make(machine, world, stored())
    assert machine.done == ["alone", "both"]
    request, base, _ = machine.arms[0]
    assert request.choice == replace(CHOICE, ids=frozenset({"b"}))
    assert (request.output, request.suite, base) == (OUTPUT, "fast", BASE)
    # The head was run here before the base is: what fails in this is known from the base's own run.
    assert request.tried == BaseTrial({})
    assert len(held(result).earlier) == 12
    assert result.duration_s == machine.alone_s + machine.both_s
    assert result.base is not None
    assert outcomes(result) == {
        "a": (Outcome.UNCHANGED, Tier.STORED),
        "b": (Outcome.REGRESSED, Tier.LOCKSTEP),
        "c": (Outcome.UNCHANGED, Tier.STORED),
    }


def test_what_is_new_is_measured_and_what_is_gone_is_not(machine: Machine, world: World) -> None:
    machine.head_s = {"a": 1e-3, "b": 1e-3, "fresh": 1e-3}
    result = make(machine, world, stored(), choice=Choice())
    assert machine.arms[0][0].choice.ids == frozenset({"fresh"})
    found = {id_: outcome for id_, (outcome, _) in outcomes(result).items()}
    assert found == {
        "a": Outcome.UNCHANGED,
        "b": Outcome.UNCHANGED,
        "c": Outcome.MISSING,
        "fresh": Outcome.NEW,
    }


def test_runs_that_do_not_fit_the_head_are_left_out(machine: Machine, world: World) -> None:
    found = stored()
    torn = replace(found.earlier[3].run, complete=False)
    earlier = list(found.earlier)
    earlier[3] = replace(earlier[3], result=Result(torn))
    result = make(machine, world, replace(found, earlier=tuple(earlier)))
    assert "artifact 3" not in names(held(result))
    assert held(result).skipped == (*SKIPPED, SkippedResult("artifact 3", "it was interrupted"))


def test_only_what_was_asked_for_is_missed(machine: Machine, world: World) -> None:
    machine.head_s = {"a": 1e-3}
    result = make(machine, world, stored(), choice=Choice(("a",)))
    assert set(outcomes(result)) == {"a"}


@pytest.mark.parametrize(
    ("budget", "alone_s", "left_s"),
    [
        ('budget = "100s"', 30.0, 70.0),
        ('budget = "100s"', 80.0, 50.0),
        ('budget = "100s"', 400.0, 50.0),
        ("until_decided = true", 30.0, math.inf),
        ('until_decided = true\nbudget = "100s"', 30.0, 70.0),
    ],
)
def test_what_is_left_of_the_budget_is_handed_on(
    machine: Machine, world: World, budget: str, alone_s: float, left_s: float
) -> None:
    machine.alone_s = alone_s
    config = loads(f"{GATE}[measure]\n{budget}\n", "benchgate.toml")
    make(machine, world, StoredResults("artifact"), config, keep=True)
    assert machine.alone_limits_s == [config.measure.limit_s / 2]
    handed_on = machine.arms[0][2]
    assert handed_on.measure.limit_s == left_s
    assert replace(handed_on, measure=config.measure) == config


def test_runs_of_other_commits_settle_nothing(machine: Machine, world: World) -> None:
    """They tell how far runs differ, but not what the head was changed from."""
    result = make(machine, world, stored(newest="c" * 40))
    assert machine.done == ["both"]
    assert held(result).head is None
    kept = make(machine, world, stored(newest="c" * 40), keep=True)
    assert machine.done[1:] == ["alone", "kept", "both"]
    assert machine.arms[-1][0].choice.ids is None
    assert held(kept).earlier == ()
