"""Measures what a change did: with the base in turn, or compared with earlier results."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.baselines.own_benchmarks import BASE_HAS_NO_BENCHMARKS
from benchgate.ci.stored_artifacts import (
    is_like,
)
from benchgate.errors import MeasureError
from benchgate.gate.courses import courses
from benchgate.gate.judging import judge_runs
from benchgate.gate.screening import can_settle, to_measure
from benchgate.gate.stored import StoredResults, fit_for, of_machine
from benchgate.git.changes import settings_digest
from benchgate.measure.machine import read_environment
from benchgate.model.result import Screening, StoredRun
from benchgate.model.run import BenchmarkFiles, Status
from benchgate.session.choice import Choice, chosen_of
from benchgate.session.measuring import ArmsRequest, measure_arms
from benchgate.session.one_tree import RunRequest, run
from benchgate.session.recorder import BaseTrial

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.model.environment import Environment
    from benchgate.model.result import Result
    from benchgate.model.run import Run, Source
    from benchgate.session.effects import Effects


# If stored runs can decide fewer, measuring the head alone costs more than it saves.
_LEAST_SETTLED_SHARE = 0.5
# Both arms get this share of the budget; the head alone gets at most the rest.
_LEAST_BUDGET_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """What to measure, in addition to the configuration.

    Attributes:
        base: the commit; None if there is none to measure.
        output: saved after rounds of both arms, at most once a second.
        keep: receives the result of the head measured alone, if it becomes a baseline.
        by_stored_alone: compare with stored runs only; measure nothing in turn.
        files: whose benchmarks both sides run.
    """

    choice: Choice
    suite: str
    base: Source | None
    found: StoredResults
    output: Path
    keep: Callable[[Result], None] | None = None
    by_stored_alone: bool = False
    files: BenchmarkFiles = BenchmarkFiles.BASE
    only_affected: bool = False


def measure_change(request: ChangeRequest, config: Config, git: Git, effects: Effects) -> Result:
    """Measure the head alone if that helps, then measure in turn what is still open.

    Raises:
        BaselineError: the base cannot be checked out or built.
        Interrupted: Ctrl-C, SIGTERM or SIGHUP; what was measured in turn is saved.
    """
    began_s = effects.clock()
    found, choice = request.found, request.choice
    if request.base is None or request.by_stored_alone:
        alone = _measure_alone(request, config, git, effects)
        held = _held(found, alone, config, choice)
        # Without a base nothing was changed: no regression can be missed, even on a new machine.
        is_first = not held.earlier and (request.base is None or found.is_first)
        return replace(alone, screening=replace(held, is_first=is_first))
    screening = _unused(found)
    runs = _comparable(found, request.base, read_environment(effects.environ))
    tried = None
    if request.keep or _is_of_use(runs, config):
        half = _with_budget(config, (1 - _LEAST_BUDGET_SHARE) * config.measure.limit_s)
        alone = _measure_alone(request, half, git, effects)
        if runs:
            tried = _tried(runs[0])
            screening = _held(found, alone, config, choice)
            judged = judge_runs(replace(alone, screening=screening), config)
            choice = replace(choice, ids=to_measure(judged.judgment))
            if not choice.ids:
                return replace(alone, screening=screening)
    spent_s = effects.clock() - began_s
    result = measure_arms(
        ArmsRequest(
            choice,
            request.output,
            request.suite,
            tried=tried,
            files=request.files,
            only_affected=request.only_affected,
            warnings=(BASE_HAS_NO_BENCHMARKS,) if request.files is BenchmarkFiles.HEAD else (),
        ),
        request.base,
        _with_less_time(config, spent_s),
        git,
        effects,
    )
    if screening is None or screening.head is None:
        screening = _with_recent(screening, found, result.head, config, choice)
    return replace(result, screening=screening, duration_s=spent_s + result.duration_s)


def _tried(base: Run) -> BaseTrial:
    """Read failures from the base's own stored run: the head's code has already run here."""
    failed = (one for one in base.benchmarks if one.status is Status.FAILED)
    return BaseTrial({one.id: one.error or "" for one in failed})


def _measure_alone(request: ChangeRequest, config: Config, git: Git, effects: Effects) -> Result:
    """Measure the head alone and hand the result over, so that no later failure loses it."""
    before = settings_digest(git)
    alone = run(RunRequest(request.choice, suite=request.suite), config, git, effects)
    if request.keep:
        request.keep(alone)
    if settings_digest(git) != before:
        raise MeasureError(
            "a build or a benchmark has changed git's configuration or attributes: git could check "
            "out something other than the base commit",
            hint="Look for `git config` in [build] and in the benchmarks, and remove it.",
        )
    return alone


def _held(found: StoredResults, alone: Result, config: Config, choice: Choice) -> Screening:
    """Find the stored runs to compare the head with."""
    fit = _fitting(found, alone.head, config, choice)
    earlier = tuple(StoredRun(one.name, one.why, one.run) for one in fit.earlier)
    return Screening(alone.head, earlier, fit.skipped, fit.warnings)


def _fitting(found: StoredResults, head: Run, config: Config, choice: Choice) -> StoredResults:
    """The stored runs that measured the head's work on this machine."""
    chosen = chosen_of(found, choice, config.aliases, head)
    return of_machine(fit_for(chosen, head, config.aliases), head)


def _with_recent(
    screening: Screening | None, found: StoredResults, head: Run, config: Config, choice: Choice
) -> Screening | None:
    """Add what stored runs measured, for readers of a head that was not compared with them."""
    runs = [one.run for one in _fitting(found, head, config, choice).earlier]
    recent = courses(runs, head, config)
    return replace(screening or Screening(None, ()), recent=recent) if recent else screening


def _unused(found: StoredResults) -> Screening | None:
    """Keep the remarks about stored runs if nothing is compared with them."""
    if not (found.skipped or found.warnings):
        return None
    return Screening(None, (), found.skipped, found.warnings)


def _comparable(found: StoredResults, base: Source, here: Environment) -> list[Run]:
    """The stored runs of this machine, the base's own first; none if its own is unknown.

    Other runs tell how far runs differ, but not what the head started from.
    """
    runs = [one.run for one in found.earlier if is_like(one.run, here)]
    return runs if runs and runs[0].source.sha == base.sha else []


def _is_of_use(runs: Sequence[Run], config: Config) -> bool:
    """Whether stored runs would probably decide enough if the head were unchanged."""
    if not runs or config.gate.rule == "classical" or config.measure.until_decided:
        return False
    known = len(runs[0].of_project)
    return len(can_settle(runs, config)) > _LEAST_SETTLED_SHARE * known


def _with_less_time(config: Config, spent_s: float) -> Config:
    """Leave the rest of the budget, but at least a share of it, however long the build took."""
    budget_s = config.measure.limit_s
    return _with_budget(config, max(budget_s - spent_s, _LEAST_BUDGET_SHARE * budget_s))


def _with_budget(config: Config, budget_s: float) -> Config:
    """Set the budget in seconds; an infinite one stays infinite."""
    if math.isinf(budget_s):
        return config
    return replace(config, measure=config.measure.model_copy(update={"budget_s": budget_s}))
