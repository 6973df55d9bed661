"""Measures two arms in turn, until everything is decided or the time is up."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchgate.baselines.own_benchmarks import BASE_HAS_NO_BENCHMARKS
from benchgate.gate.effect import require_effect
from benchgate.gate.estimates import RowStage
from benchgate.gate.judging import judge_runs
from benchgate.gate.suite import Need
from benchgate.gate.waivers import apply_waivers
from benchgate.gate.waves import LOOKS, WaveSettings
from benchgate.git.changes import changed_since
from benchgate.measure.arm import ArmName
from benchgate.measure.machine import require_address_space
from benchgate.measure.sources import packages_in
from benchgate.measure.trees import content_digest, same_arms, sweep, two_arms
from benchgate.model.metrics import observed_as
from benchgate.model.policy import MOVED, Outcome
from benchgate.model.result import Phase
from benchgate.model.row_order import WRONG, by_benchmark, missing_rounds, worst_first
from benchgate.model.run import MOST_CHANGED, BenchmarkFiles, Source
from benchgate.model.verdict import decided_benchmarks
from benchgate.session.affected import every_reason, leave_as_before, leave_unaffected
from benchgate.session.building import cache_for
from benchgate.session.engines import config_in
from benchgate.session.fixed_rounds import too_few_rounds
from benchgate.session.one_tree import RunRequest
from benchgate.session.opening import Opening, open_session
from benchgate.session.outlook import (
    describe_rounds,
    describe_screen,
    of_fixed_rounds,
    of_left_out,
    of_the_screen,
    some_of,
)
from benchgate.session.recorder import SAME_CODE
from benchgate.session.result_file import ResultFile, working_tree_source
from benchgate.session.rounds import FixedRounds, RoundLoop, ScreenAndConfirm, own_ids
from benchgate.session.unlike import unlike_arms, unlike_packages, unmatched
from benchgate.stats import special
from benchgate.units import counted, format_budget, format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchgate.config import Config
    from benchgate.gate.judging import JudgedRuns
    from benchgate.git.repository import Git
    from benchgate.measure.trees import Trees
    from benchgate.model.result import Result
    from benchgate.model.row import Row
    from benchgate.report.progress import Progress
    from benchgate.session.choice import Choice
    from benchgate.session.effects import Effects
    from benchgate.session.outlook import BudgetForecast
    from benchgate.session.recorder import BaseTrial
    from benchgate.session.rounds import Planner
    from benchgate.session.session import Session
    from benchgate.session.unfinished import Unfinished


_CLASSICAL_ROUNDS = 10
NOTHING_RUNS_ON_BASE = "none of the head's benchmarks runs on the base"


@dataclass(frozen=True, slots=True)
class ArmsRequest(RunRequest):
    """What to measure on two arms, in addition to the configuration.

    Attributes:
        self_check: measure the working tree on both arms.
        tried: what trying the base before the head ran has shown; None to try it now.
        files: whose benchmarks decide; both sides run these, unless it is each side's own.
        warnings: to put into the result.
        unfinished: the interrupted check to go on with, if there is one.
        again: the command that goes on if this one is interrupted.
        head: another checkout of the repository that holds the head; None for the user's own.
        observes_all: whether to observe what unchanged benchmarks call, too.
        only_affected: whether to leave out what runs the same code on both sides, if the
            configuration does not say otherwise.
    """

    self_check: bool = False
    files: BenchmarkFiles = BenchmarkFiles.BASE
    tried: BaseTrial | None = None
    warnings: tuple[str, ...] = ()
    unfinished: Unfinished | None = None
    again: str = ""
    head: Git | None = None
    observes_all: bool = False
    only_affected: bool = False


def measure_arms(
    request: ArmsRequest, base: Source, config: Config, git: Git, effects: Effects
) -> Result:
    """Measure a commit and the working tree in turn.

    Args:
        base: the commit; with `self_check`, only its description is used.

    Raises:
        Interrupted: Ctrl-C, SIGTERM or SIGHUP; what was measured is saved.
    """
    began_s, started = effects.clock(), effects.now()
    with ExitStack() as stack:
        opened = _open(stack, request, base, config, git=git, effects=effects)
        session, trees = opened.session, opened.trees
        warnings = (*opened.warnings, *_unlike(trees, session, config, request.choice))
        is_spared = False
        if request.unfinished:
            is_spared = leave_as_before(session, request.unfinished.result.head)
        elif _leaves_out(request, config, opened.sources):
            is_spared = leave_unaffected(
                session, trees.arms, config, request.choice, opened.effects
            )
        result_file = ResultFile(
            session=session,
            sources=opened.sources,
            effects=opened.effects,
            began_s=began_s,
            started=started,
            suite=request.suite,
            screen_rounds=0 if fixed_rounds(config) else config.measure.screen_rounds,
            until_decided=config.measure.until_decided,
            output=request.output,
            again=request.again,
            must_save=request.must_save,
            warnings=warnings,
        )
        if is_spared:
            result_file.finish(session.conclude())
        else:
            _measure(session, result_file, config, opened.effects, request)
    return result_file.result()


def reasons_of_arms(
    request: ArmsRequest, base: Source, config: Config, git: Git, effects: Effects
) -> Mapping[str, str]:
    """Say why each benchmark is affected, without measuring; see `every_reason`."""
    with ExitStack() as stack:
        opened = _open(stack, request, base, config, git=git, effects=effects)
        return every_reason(opened.session, opened.trees.arms, config)


def _leaves_out(request: ArmsRequest, config: Config, sources: Mapping[ArmName, Source]) -> bool:
    """Whether to leave out what is not affected: not if the code is compared with itself."""
    base, head = (sources[name] for name in ArmName)
    is_same = request.self_check or (base.sha == head.sha and not head.uncommitted)
    is_first = BASE_HAS_NO_BENCHMARKS in request.warnings  # nobody has measured them before
    is_wanted = request.only_affected and config.measure.only_affected
    return is_wanted and not is_same and not is_first


@dataclass(frozen=True, slots=True)
class _Opened:
    """Both sides, built, with their benchmarks.

    Attributes:
        effects: with the seed of the interrupted check that goes on.
    """

    session: Session
    trees: Trees
    sources: Mapping[ArmName, Source]
    effects: Effects
    warnings: tuple[str, ...]


def _open(
    stack: ExitStack,
    request: ArmsRequest,
    base: Source,
    config: Config,
    *,
    git: Git,
    effects: Effects,
) -> _Opened:
    unfinished = request.unfinished
    effects.phases.begin(Phase.CHECK_OUT)
    require_address_space()
    importing = special.import_beside()
    warnings = (*sweep(git), *request.warnings)
    tree = request.head or git
    head = _source_of_head(tree, base, request)
    _tell_what_is_prepared(base, config, effects)
    files = BenchmarkFiles.OWN if request.self_check else request.files
    is_kept = cache_for(config, effects, git.root) is not None
    pair = two_arms(tree, base.sha or "", _configs(files, config), same_places=is_kept)
    trees = stack.enter_context(same_arms(git) if request.self_check else pair)
    if head.uncommitted and not request.self_check:
        head = replace(head, content=content_digest(trees.arms[ArmName.HEAD].root))
    sources = {ArmName.BASE: base, ArmName.HEAD: head}
    if unfinished:
        unfinished.require_code(sources)
        effects = replace(effects, draw_seed=lambda: unfinished.seed)
    opening = Opening(
        tuple(trees.arms.values()),
        config,
        effects,
        request.choice,
        git.root,
        tried=SAME_CODE if request.self_check else request.tried,
        ground=trees.ground,
        files=files,
        introspect=request.introspect,
        beside=importing,
    )
    return _Opened(open_session(stack, opening), trees, sources, effects, warnings)


def _source_of_head(tree: Git, base: Source, request: ArmsRequest) -> Source:
    head = working_tree_source(tree)
    if not base.sha or request.self_check:
        return head
    return replace(head, changed_files=changed_since(tree, base.sha, MOST_CHANGED))


def _tell_what_is_prepared(base: Source, config: Config, effects: Effects) -> None:
    builds = any(config_in(arm, config).build.commands for arm in ArmName)
    names = f"base {(base.sha or '')[:7]} and head (working tree)"
    effects.progress.preparing(f"{'building' if builds else 'preparing'} {names}")


def _unlike(trees: Trees, session: Session, config: Config, choice: Choice) -> Iterator[str]:
    """Warn of what the sides do not have in common, and of settings that match nothing."""
    if session.files is BenchmarkFiles.HEAD and not any(map(session.is_on_all_arms, session.ids)):
        yield NOTHING_RUNS_ON_BASE
    yield from trees.notes
    yield from unlike_arms(config, session.toolchains)
    yield from unlike_packages(*(packages_in(trees.arms[arm]) for arm in ArmName))
    yield from unmatched(config, choice, session)


def _configs(files: BenchmarkFiles, config: Config) -> Mapping[ArmName, Config] | None:
    """For each arm the configuration that names its benchmarks; None if each runs its own."""
    if files is BenchmarkFiles.OWN:
        return None
    if files is BenchmarkFiles.HEAD:
        return dict.fromkeys(ArmName, config)
    return {arm: config_in(arm, config) for arm in ArmName}


def _go_on(
    unfinished: Unfinished, session: Session, result_file: ResultFile, effects: Effects
) -> None:
    """Begin with what an interrupted check measured, if everything is as it was then."""
    unfinished.require_settings(
        result_file.screen_rounds, session.seed, until_decided=result_file.until_decided
    )
    unfinished.require_machine(result_file.environments)
    result_file.warnings += unfinished.restore(session)
    result_file.began_s -= unfinished.result.duration_s
    result_file.started = unfinished.result.head.started
    effects.phases.go_on(unfinished.result.phases)


def _measure(
    session: Session,
    result_file: ResultFile,
    config: Config,
    effects: Effects,
    request: ArmsRequest,
) -> None:
    """Measure rounds as they are planned, and observe what changed."""
    if request.unfinished:
        _go_on(request.unfinished, session, result_file, effects)
    tell, shown = Decided(config, effects.progress, config.measure.screen_rounds), session.shown
    planning = (
        _plan_fixed(fixed, session, result_file, config, warns=not request.self_check)
        if (fixed := fixed_rounds(config))
        else _plan_judged(session, result_file, config, tell, request)
    )
    limit_s = config.measure.limit_s
    with result_file.kept_when_interrupted():
        still_open = RoundLoop(
            session,
            planning.planner,
            budget_s=limit_s,
            clock=effects.clock,
            phases=effects.phases,
            progress=effects.progress,
            save=result_file.save_sometimes,
            foresee=planning.foresee,
            spent_s=request.unfinished.spent_s if request.unfinished else 0.0,
        ).measure()
    if left_out := [id_ for id_ in session.left_out if id_ not in session.new_versions]:
        result_file.warnings += (of_left_out(left_out, limit_s),)
    if undecided := [id_ for id_ in still_open if id_ not in shown]:
        result_file.warnings += budget_ended(
            config.measure.budget_s,
            undecided,
            tell.rows(result_file),
            session.costs_s,
            session.suites,
            least_rounds=LOOKS * config.measure.screen_rounds,
        )
    if config.measure.explain:
        with result_file.kept_when_interrupted():
            spent_s = effects.clock() - result_file.began_s
            rows = tell.rows(result_file)
            observe(session, rows, effects, spent_s=spent_s, every=request.observes_all)
    result_file.finish(session.conclude())


@dataclass(frozen=True, slots=True)
class _Planning:
    """What plans the rounds, and what says after the first one if the budget is too short."""

    planner: Planner
    foresee: Callable[[BudgetForecast], str | None]


def _plan_fixed(
    rounds: int, session: Session, result_file: ResultFile, config: Config, *, warns: bool
) -> _Planning:
    """Plan a fixed number of rounds; warn if no test can decide on so few."""
    progress = result_file.effects.progress
    progress.found(
        len(own_ids(session, session.ids)), describe_rounds({rounds}, config.measure.limit_s)
    )
    chosen = set(session.ids) - _once(session) - set(session.shown)
    compared = [one for one in session.definitions(ArmName.HEAD) if one.id in chosen]
    too_few = too_few_rounds(rounds, compared, config, shards=_shards(session))
    if too_few and warns:
        progress.message(f"warning: {too_few}")
        result_file.warnings += (too_few,)
    return _Planning(
        FixedRounds(session, rounds), lambda spending: of_fixed_rounds(spending, rounds)
    )


def _plan_judged(
    session: Session,
    result_file: ResultFile,
    config: Config,
    tell: Decided,
    request: ArmsRequest,
) -> _Planning:
    """Plan rounds of what is still open; tell of what was decided after each look."""
    waves, limit_s, unfinished = WaveSettings.of(config), config.measure.limit_s, request.unfinished
    once, shown = _once(session), session.shown

    def needs_of(result: Result, rounds: int) -> Sequence[Need]:
        """Let what is only shown have rounds enough for an interval, after everything else."""
        if rounds == 1:
            require_effect(config, [result], is_whole=request.choice.is_whole)
        judged = judge_runs(result, config)
        tell.of(judged, rounds)
        ahead = LOOKS * waves.screen_rounds - rounds
        left = shown if ahead > 0 else ()
        return (*judged.needs, *(Need(id_, RowStage.SETTLE, 0.0, ahead) for id_ in left))

    def needs() -> Sequence[Need]:
        return needs_of(result_file.result(), session.full_rounds)

    compares = not once.issuperset(session.ids)
    plan = describe_screen(waves, limit_s) if compares else describe_rounds({1}, limit_s)
    result_file.effects.progress.found(len(own_ids(session, session.ids)), plan)
    planner = ScreenAndConfirm(session, waves, needs, once)
    if unfinished:
        planner.go_on(
            session.full_rounds, lambda rounds: needs_of(unfinished.until(rounds), rounds)
        )
    own_share = replace(waves, alpha=waves.alpha / _shards(session))
    return _Planning(
        planner, lambda spending: of_the_screen(spending, own_share, lambda: len(needs()))
    )


def _once(session: Session) -> frozenset[str]:
    """The benchmarks that only one arm has: one launch of each is enough."""
    return frozenset(id_ for id_ in session.ids if not session.is_on_all_arms(id_))


def _shards(session: Session) -> int:
    return session.shard.count if session.shard else 1


_SHARE = 0.1
_LONGEST_S = 10.0


def observe(
    session: Session, rows: Sequence[Row], effects: Effects, *, spent_s: float, every: bool
) -> None:
    """Observe what those benchmarks call that changed, the worst first, at least one.

    Args:
        spent_s: the time of the check so far; this may take a tenth of it.
        every: whether to observe unchanged ones, too.
    """
    effects.phases.begin(Phase.EXPLAIN)
    began_s, most_s = effects.clock(), _SHARE * spent_s
    ids = set(session.ids)
    found: dict[str, set[str]] = {}
    for row in worst_first(rows):
        metric = observed_as(row.metric, row.unit)
        is_wanted = row.is_typical and (every or row.outcome in MOVED)
        if metric and is_wanted and row.benchmark in ids:
            found.setdefault(row.benchmark, set()).add(metric)
    for index, id_ in enumerate(filter(session.observes, found)):
        if not index:
            which = "the benchmarks call" if every else "the changed benchmarks call"
            effects.progress.preparing(f"observing which functions {which}")
        elif not every and effects.clock() - began_s > most_s:
            break
        session.observe(id_, min(_LONGEST_S, max(1.0, most_s / 4)), found[id_])


_TOLD = WRONG | {Outcome.IMPROVED, Outcome.WAIVED}


@dataclass(slots=True)
class Decided:
    """Tells of each benchmark that crashed or changed, as soon as that is decided.

    It keeps the rows, because judging takes long.
    """

    config: Config
    progress: Progress
    screen_rounds: int
    _told: set[str] = field(default_factory=set)
    _rows: dict[int, Sequence[Row]] = field(default_factory=dict)

    def of(self, judged: JudgedRuns, rounds: int) -> None:
        """Look through all rows after so many rounds."""
        self._rows = {rounds: judged.judgment.rows}
        still_open = {need.benchmark for need in judged.needs if need.stage is not RowStage.DONE}
        still_open -= {need.benchmark for need in judged.needs if need.got_worse}
        day = date.fromisoformat(judged.head.started[:10])
        rows = by_benchmark(apply_waivers(judged.judgment.rows, self.config, day))
        new = [
            row
            for id_, row in rows.items()
            if id_ not in self._told | still_open
            and row.outcome in _TOLD
            and (rounds >= self.screen_rounds or row.outcome is Outcome.FAILED)
        ]
        self._told |= {row.benchmark for row in new}
        self.progress.decided(new)

    def rows(self, result_file: ResultFile) -> Sequence[Row]:
        """The rows after all rounds so far."""
        known = self._rows.get(result_file.session.full_rounds)
        return known or judge_runs(result_file.result(), self.config).judgment.rows


def budget_ended(
    budget_s: float,
    still_open: Iterable[str],
    rows: Sequence[Row],
    costs_s: Mapping[str, float],
    suites: Mapping[str, str] = MappingProxyType({}),
    *,
    least_rounds: int,
) -> tuple[str, ...]:
    """Warn about the benchmarks that the budget left undecided; the rounds there were may decide.

    Args:
        still_open: the benchmarks that more rounds were planned for.
        rows: what was found with the rounds that the budget allowed.
        costs_s: what a round of each suite and of each other benchmark takes.
        suites: for each benchmark of a suite, which one it is.
        least_rounds: how many rounds every benchmark should get.
    """
    open_in_part = {row.benchmark for row in rows if row.outcome is Outcome.INCONCLUSIVE}
    decided = decided_benchmarks(rows) - open_in_part
    undecided = [id_ for id_ in still_open if id_ not in decided]
    if not undecided:
        return ()
    named = some_of(undecided)
    how_many = counted(len(undecided), "benchmark")
    budget = format_duration(budget_s)
    said = f"the budget of {budget} ended before {how_many} could be decided: {named}"
    missing = missing_rounds(rows, least_rounds)
    if not missing.keys() >= set(undecided):
        return (said,)
    units: dict[str, int] = {}
    for id_ in undecided:
        unit = suites.get(id_, id_)
        units[unit] = max(missing[id_], units.get(unit, 0))
    enough_s = budget_s + sum(rounds * costs_s.get(unit, 0.0) for unit, rounds in units.items())
    return (f"{said}; a budget of {format_budget(enough_s)} would be long enough",)


def fixed_rounds(config: Config) -> int | None:
    """The fixed number of rounds to measure; None if the gate decides when to stop."""
    if config.measure.rounds is not None:
        return config.measure.rounds
    return _CLASSICAL_ROUNDS if config.gate.rule == "classical" else None
