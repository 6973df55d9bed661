"""Turns judged runs into a verdict: whether the build fails, and everything that a reader needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.config import loosening
from benchgate.config.resolved import concerns
from benchgate.errors import UsageError
from benchgate.gate.causes import explained
from benchgate.gate.courses import courses, courses_of, with_courses
from benchgate.gate.other_files import of_base
from benchgate.gate.screening import joined as with_settled
from benchgate.gate.stored import EarlierResult, StoredResults, choose_stored
from benchgate.gate.suite import about_shard, joined, judge, share_of
from benchgate.gate.waves import WaveSettings
from benchgate.model.notes import busy_machine, compare_instead
from benchgate.model.policy import MOVED, Outcome, Waiver
from benchgate.model.result import Result
from benchgate.model.run import Run, Source, in_common
from benchgate.model.verdict import (
    NO_BASELINE,
    Decision,
    GateSettings,
    Reason,
    Verdict,
    compared_benchmarks,
    decided_benchmarks,
    partly_compared,
    worst_first,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from benchgate.config import Config, Waive
    from benchgate.gate.evidence import Evidence
    from benchgate.gate.suite import Judgment, Need
    from benchgate.model.policy import Acceptance, PolicyChange
    from benchgate.model.result import Shard, SkippedResult
    from benchgate.model.run import Environment
    from benchgate.model.verdict import Row


PASS, REGRESSION, NO_VERDICT, BROKEN = 0, 3, 4, 5

_FAILURES = (
    (Outcome.REGRESSED, REGRESSION),
    (Outcome.FAILED, BROKEN),
    (Outcome.IMPROVED, REGRESSION),
    (Outcome.NEW, BROKEN),
    (Outcome.MISSING, NO_VERDICT),
)
_OPEN = (Outcome.INCOMPARABLE, Outcome.INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class VerdictTerms:
    """What a verdict depends on besides its rows.

    Attributes:
        fail_on: outcomes that fail the build.
        min_compared: the number of benchmarks that must have been compared, each in every metric
            that decides; see `benchmarks_needed`.
        advisory_fails: whether advisory rows count like all others.
        complete: False if the measurement of an arm was interrupted.
        doubted: whether a regression was found that a disturbance may explain.
        disturbed: whether a canary saw a disturbance.
        untested: whether a metric that must decide, or has a limit, was left out of both sides.
        first_run: whether there is nothing to compare with yet.
        empty_shard: whether this shard has no benchmarks, because the suite has more shards than
            benchmarks.
    """

    fail_on: Collection[str]
    min_compared: int
    advisory_fails: bool = False
    complete: bool = True
    doubted: bool = False
    disturbed: bool = False
    untested: bool = False
    first_run: bool = False
    empty_shard: bool = False


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The verdict's decision and its exit code.

    Attributes:
        reason: why there is no verdict; None for a pass and a fail.
    """

    decision: Decision
    exit_code: int
    reason: Reason | None = None


def conclude(rows: Iterable[Row], terms: VerdictTerms) -> Conclusion:
    """Return the decision, its exit code and, if there is no verdict, the reason.

    A regression takes precedence over a failed benchmark, because regressions are what people look
    for. A failed benchmark takes precedence over everything else. Both count in an interrupted
    measurement too: the missing rounds could not change them. Advisory rows never fail a build
    unless the user asks for that.
    """
    all_rows = list(rows)
    outcomes = {row.policy_outcome for row in all_rows if terms.advisory_fails or not row.advisory}
    crashes = {row.outcome for row in all_rows if row.error}
    for outcome, code in _FAILURES:
        is_there = outcome in (crashes if outcome is Outcome.NEW else outcomes)
        if outcome in terms.fail_on and is_there:
            return Conclusion(Decision.FAIL, code)
    suite = _Suite(all_rows, outcomes, terms)
    against = next((one for one in _AGAINST_A_PASS if one.holds(suite)), None)
    if against is None:
        return Conclusion(Decision.PASS, PASS)
    code = against.code if isinstance(against.code, int) else against.code(suite)
    return Conclusion(Decision.NO_VERDICT, code, against.reason)


@dataclass(frozen=True, slots=True)
class _Suite:
    """What reasons against a pass depend on.

    Attributes:
        outcomes: of the rows that may fail the build, as `fail_on` names them.
    """

    rows: Sequence[Row]
    outcomes: Collection[Outcome]
    terms: VerdictTerms

    @property
    def unless_ignored(self) -> int:
        """The exit code if something may be worse that nobody can say."""
        return NO_VERDICT if Outcome.REGRESSED in self.terms.fail_on else PASS

    @property
    def nothing_compared(self) -> int:
        """The exit code if nothing could be compared."""
        if any(row.outcome is Outcome.BASE_FAILED for row in self.rows):
            return BROKEN
        together = any(row.changed_together and not row.excused for row in self.rows)
        may_be_none = self.terms.min_compared <= 0 and _excused(self.rows) and not together
        return PASS if self.terms.empty_shard or may_be_none else NO_VERDICT

    @property
    def compared(self) -> int:
        """How many benchmarks were compared in every metric that decides."""
        return len(compared_benchmarks(self.rows) - partly_compared(self.rows))

    @property
    def looks_wrong(self) -> bool:
        """Whether an advisory row looks like what fails a build."""
        wrong = {Outcome.REGRESSED, *self.terms.fail_on} & MOVED
        return any(row.outcome in wrong and row.advisory for row in self.rows)

    @property
    def undecided(self) -> int:
        """The exit code if no benchmark was decided."""
        must_decide = Outcome.INCONCLUSIVE in self.terms.fail_on
        return NO_VERDICT if must_decide and Outcome.NOT_SETTLED in self.outcomes else PASS


class _Against(NamedTuple):
    """A reason why a suite cannot pass, if its condition holds, and the exit code."""

    reason: Reason
    holds: Callable[[_Suite], object]
    code: int | Callable[[_Suite], int] = NO_VERDICT


_AGAINST_A_PASS: Final = (
    _Against(Reason.INTERRUPTED, lambda suite: not suite.terms.complete),
    _Against(Reason.LEFT_OPEN, lambda suite: {*_OPEN} & {*suite.terms.fail_on} & {*suite.outcomes}),
    _Against(
        Reason.FIRST_RUN,
        lambda suite: suite.terms.first_run and Outcome.NEW in suite.outcomes,
        PASS,
    ),
    # What had to be compared or tested, and was not.
    _Against(
        Reason.WORSE_TOGETHER,
        lambda suite: any(row.is_worse_together for row in suite.rows),
        lambda suite: suite.unless_ignored,
    ),
    _Against(
        Reason.NOTHING_COMPARED,
        lambda suite: not compared_benchmarks(suite.rows),
        lambda suite: suite.nothing_compared,
    ),
    _Against(Reason.TOO_FEW_COMPARED, lambda suite: suite.compared < suite.terms.min_compared),
    _Against(Reason.METRIC_UNTESTED, lambda suite: suite.terms.untested),
    _Against(
        Reason.LIMIT_UNTESTED,
        lambda suite: any(row.is_limit and row.outcome is Outcome.NOT_TESTED for row in suite.rows),
        lambda suite: suite.unless_ignored,
    ),
    # What another measurement may decide.
    _Against(
        Reason.DISTURBED,
        lambda suite: suite.terms.doubted and Outcome.REGRESSED in suite.terms.fail_on,
    ),
    _Against(
        Reason.UNCONFIRMED,
        lambda suite: any(row.unconfirmed for row in suite.rows),
        lambda suite: suite.unless_ignored,
    ),
    # Without a regression: the disturbance may have hidden one.
    _Against(Reason.DISTURBED, lambda suite: suite.terms.disturbed, PASS),
    _Against(Reason.ADVISORY, lambda suite: suite.looks_wrong, PASS),
    _Against(
        Reason.UNDECIDED,
        lambda suite: not decided_benchmarks(suite.rows),
        lambda suite: suite.undecided,
    ),
)
"""In this order; the first one that holds counts."""


def benchmarks_needed(rows: Iterable[Row], wanted: int | None, in_base: int) -> int:
    """Return how many benchmarks must have been compared for a pass.

    Benchmarks that need not be compared lower the number that is wanted, but only as far as the
    other benchmarks of the base cannot reach it.

    Args:
        wanted: the configured number; None for all benchmarks of the base.
        in_base: how many benchmarks the base has.
    """
    reachable = in_base - len(_excused(rows))
    if wanted is None:
        return reachable
    return wanted - max(0, min(wanted, in_base) - reachable)


def _excused(rows: Iterable[Row]) -> set[str]:
    """Give the benchmarks that need not be compared.

    The change did not break a benchmark that fails on the base. A waiver allows to remove a
    benchmark, or to change its definition: then it is compared again in the next change. So it is
    without a waiver if the benchmark changed together with the code.
    """
    excused, others = set[str](), set[str]()
    for row in (row for row in rows if not row.is_limit):
        is_excused = row.excused or row.changed_together or row.outcome is Outcome.BASE_FAILED
        (excused if is_excused else others).add(row.benchmark)
    return excused - others


def with_steadier_metrics(
    rows: Iterable[Row], evidences: Sequence[Evidence], config: Config
) -> list[Row]:
    """Note on each inconclusive time whether its CPU time is much steadier.

    Args:
        evidences: of the rows that have a statistic of launches.
    """
    rows = list(rows)
    if all(row.outcome is not Outcome.INCONCLUSIVE for row in rows):
        return rows
    from benchgate.gate.sensitivity import (  # noqa: PLC0415 - most checks leave nothing open
        Procedure,
        steadier_metric,
    )

    known = {one.key: one for one in evidences if one.paired and one.obstacle is None}
    procedure = Procedure.of(config, len(known), None)
    noted = []
    for row in rows:
        evidence = known.get((row.benchmark, row.metric, row.statistic))
        is_noisy = row.outcome is Outcome.INCONCLUSIVE
        found = steadier_metric(evidence, procedure) if evidence and is_noisy else None
        if found and found.rounds is not None and found.rounds <= procedure.limit:
            noted.append(replace(row, notes=(*row.notes, compare_instead(found))))
        else:
            noted.append(row)
    return noted


def about_machine(rows: Iterable[Row], environment: Environment) -> tuple[str, ...]:
    """Warn about other programs if they may be why a row is open."""
    busy = busy_machine(environment)
    is_open = any(
        row.outcome is Outcome.INCONCLUSIVE
        or (row.outcome is Outcome.NOT_TESTED and row.is_typical)
        for row in rows
    )
    return (busy,) if busy and is_open else ()


# 1 + 0.07 and 107 / 100 may differ in their last digit.
_ROUNDING = 1e-9


def apply_waivers(rows: Iterable[Row], config: Config, day: date) -> tuple[Row, ...]:
    """Turn each row whose outcome is waived into one that does not fail the build.

    The ceiling is compared with the same value as the margin: the estimate. So a change that is as
    large as the ceiling is waived about half of the time, and a change whose interval reaches
    beyond the ceiling is still waived.

    If there are several waivers, the first one that is high enough counts, the base's before those
    of the change. If none is high enough, the row has regressed, and names the highest one.

    Args:
        day: the day, in UTC, on which a waiver must be valid.
    """
    holding = [one for one in _usable_waivers(config) if day <= one.waive.until]
    return tuple(_waive(row, config, holding) for row in rows)


@dataclass(frozen=True, slots=True)
class _UsableWaiver:
    """A waiver, and the condition for it if it comes from the change itself."""

    waive: Waive
    accepted: Acceptance | None = None

    @property
    def ceiling(self) -> float:
        return self.waive.ceiling or 0.0

    def concerns(self, row: Row, config: Config) -> bool:
        """Whether it applies to a row; the change uses the new name of a renamed benchmark."""
        # What would confirm a suspect would only show what is accepted already.
        is_worse = row.unconfirmed or row.is_worse_together
        outcomes = {row.outcome.value, *((Outcome.REGRESSED.value,) if is_worse else ())}
        if self.waive.outcome not in outcomes:
            return False
        name = row.benchmark
        if self.accepted is None:
            name = config.name_in_policy(row.benchmark, row.renamed_from)
        return concerns(self.waive, name, row.metric)

    def shown(self) -> Waiver:
        waive = self.waive
        outcome, until = Outcome(waive.outcome), waive.until.isoformat()
        return Waiver(outcome, waive.ceiling, until, waive.reason, self.accepted)


def _usable_waivers(config: Config) -> list[_UsableWaiver]:
    usable = [_UsableWaiver(waive) for waive in config.waivers]
    if config.sides and config.sides.accepted:
        usable += [
            _UsableWaiver(waive, config.sides.accepted) for waive in config.sides.head.waivers
        ]
    return usable


def _waive(row: Row, config: Config, holding: Iterable[_UsableWaiver]) -> Row:
    matching = [one for one in holding if one.concerns(row, config)]
    if not matching:
        return row
    worse = _worse_ratio(row)
    enough = (one for one in matching if _allows(one, worse))
    if usable := next(enough, None):
        if row.unconfirmed:
            return replace(row, unconfirmed=None)
        return replace(row, outcome=Outcome.WAIVED, waiver=usable.shown())
    if row.outcome is not Outcome.REGRESSED:
        return row
    return replace(row, waiver=max(matching, key=lambda one: one.ceiling).shown())


def _allows(usable: _UsableWaiver, worse: float | None) -> bool:
    if usable.waive.ceiling is None:
        return True
    return worse is not None and worse - 1 <= usable.ceiling + _ROUNDING


def _worse_ratio(row: Row) -> float | None:
    """The ratio that decided; None if the base is 0, which no percentage can express."""
    return replace(row, ratio=row.deciding_ratio).worse_ratio


def make_verdict(
    judged: JudgedRuns,
    config: Config,
    *,
    day: date | None = None,
    ids: Sequence[str] | None = None,
) -> Verdict:
    """Decide from the rows, and add everything that a reader needs.

    Args:
        day: the day, in UTC, on which waivers must be valid. The default is the day of the
            measurement, so that the same result is judged the same way on any later day. If
            untrusted people measured the result, do not take the day from the result.
        ids: the benchmarks for which the rules of base and head are compared. The default is all
            of the base; an untrusted result may name very many.
    """
    gate, judgment = config.gate, judged.judgment
    day = day or date.fromisoformat(judged.head.started[:10])
    noted = with_steadier_metrics(judgment.rows, judgment.evidence, config)
    lost: list[str] = []
    waived = apply_waivers(noted, config, day)
    rows = explained(waived, judged.base, judged.head, lost.append)
    min_compared = _min_compared(judged, config, rows)
    concluded = conclude(
        rows,
        VerdictTerms(
            fail_on=gate.fail_on,
            min_compared=min_compared,
            advisory_fails=config.baseline.advisory_fails,
            complete=judged.complete,
            doubted=judgment.doubted,
            disturbed=judgment.disturbed,
            untested=bool(judged.untested),
            first_run=judged.base_source == NO_BASELINE,
            empty_shard=judged.shard is not None and not rows,
        ),
    )
    return Verdict(
        decision=concluded.decision,
        exit_code=concluded.exit_code,
        summary="",
        base=judged.base.source,
        head=judged.head.source,
        settings=_settings(judged, config, min_compared),
        rows=tuple(worst_first(rows)),
        warnings=(
            *judged.warnings,
            *judgment.warnings,
            *about_machine(rows, judged.head.environment),
            *config.expired(day),
            *dict.fromkeys(lost),
        ),
        environment=_where(judged.base.environment, judged.head.environment),
        started=judged.head.started,
        duration_s=judged.duration_s,
        rounds=_rounds(judged.head),
        base_source=judged.base_source,
        files=judged.head.files,
        skipped=judged.skipped,
        policy_changes=_policy_changes(judged, config, ids),
        reason=concluded.reason,
        complete=judged.complete,
    )


def _where(base: Environment, head: Environment) -> Environment:
    """The machine of both arms; if they differ, what their machines have in common."""
    return in_common([base, head]) if base.other_machine(head) else head


def _settings(judged: JudgedRuns, config: Config, min_compared: int) -> GateSettings:
    gate = config.gate
    return GateSettings(
        rule=gate.rule,
        alpha=gate.alpha,
        correction=_correction(judged, config),
        confidence=gate.confidence,
        fail_on=tuple(gate.fail_on),
        advisory_fails=config.baseline.advisory_fails,
        min_compared=min_compared,
        policy="base" if config.sides else "head",
        max_rounds=None if judged.head.until_decided else config.measure.max_rounds,
    )


def _policy_changes(
    judged: JudgedRuns, config: Config, ids: Sequence[str] | None
) -> tuple[PolicyChange, ...]:
    """Describe how the change loosens its own gate; nothing if its own configuration decides."""
    if config.sides is None:
        return ()
    if ids is None:
        ids = [one.id for one in judged.base.of_project]
    return loosening(config.sides.base, config.sides.head, ids, config.sides.accepted)


def _min_compared(judged: JudgedRuns, config: Config, rows: Iterable[Row]) -> int:
    """Return how many must have been compared; a configured number is for the whole suite."""
    configured = config.gate.min_compared
    wanted = configured if isinstance(configured, int) else None
    if wanted is not None and judged.shard:
        return 0
    return benchmarks_needed(rows, wanted, judged.judgment.base_benchmarks)


def _correction(judged: JudgedRuns, config: Config) -> str:
    """Name the correction that keeps the suite at alpha, for any number of rows and shards."""
    if config.gate.rule == "classical":
        return "none"
    shards = f", bonferroni over {judged.shards} shards" if judged.shards > 1 else ""
    return f"holm{shards}"


def _rounds(run: Run) -> int:
    return len({x.round for b in run.benchmarks for s in b.series for x in s.launches})


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRuns:
    """Two runs and the gate's judgment of them.

    Attributes:
        base: without what only the head has.
        shard: the part of the suite that was measured; None for the whole suite.
        shards: the number of parts that share alpha.
        complete: False if the measurement of an arm was interrupted.
        untested: metrics that must decide, or have a limit, and that both sides left out.
    """

    base: Run
    head: Run
    judgment: Judgment
    duration_s: float
    warnings: tuple[str, ...] = ()
    base_source: str = "git"
    skipped: tuple[SkippedResult, ...] = ()
    shard: Shard | None = None
    shards: int = 1
    complete: bool = True
    untested: tuple[str, ...] = ()

    @property
    def needs(self) -> Sequence[Need]:
        """What each row still needs."""
        return self.judgment.needs


def judge_result(result: Result, config: Config) -> JudgedRuns:
    """Judge a result by everything in it: both arms, and what stored runs showed first."""
    screening = result.screening
    if screening is None:
        return judge_run(result, config)
    earlier = (EarlierResult(one.name, Result(one.run), one.why) for one in screening.earlier)
    found = StoredResults("artifact", tuple(earlier), screening.skipped, screening.warnings)
    plain = replace(result, screening=None)
    if screening.head is None:
        measured = judge_run(plain, config)
        return replace(
            measured,
            judgment=with_courses(measured.judgment, screening.recent),
            skipped=found.skipped,
            warnings=(*found.warnings, *measured.warnings),
        )
    if result.base is None:
        judged = judge_stored(found, replace(plain, head=screening.head), config)
        source = NO_BASELINE if screening.is_first else found.source
        return replace(judged, base_source=source)
    stored = judge_stored(found, replace(plain, head=screening.head, warnings=()), config)
    measured = judge_run(plain, config)
    judgment = with_settled(stored.judgment, measured.judgment)
    return replace(
        measured,
        judgment=with_courses(judgment, courses_of(stored.judgment.rows)),
        skipped=stored.skipped,
        warnings=(*found.warnings, *measured.warnings),
        complete=stored.complete and measured.complete,
    )


def judge_run(result: Result, config: Config) -> JudgedRuns:
    """Judge a result with two arms that were measured in turn."""
    if result.base is None:
        raise UsageError(
            "the result holds only one side, so there is nothing to compare it with",
            hint="Name a second result, or measure both sides with `benchgate check`.",
        )
    parts = result.shards or (result,)
    # If one of them has both arms, all have: that was checked when they were joined.
    judgment = joined([_judge_shard(p.base, p, config) for p in parts if p.base])
    return JudgedRuns(
        replace(result.base, benchmarks=tuple(of_base(result.base, result.head.files))),
        result.head,
        judgment,
        result.duration_s,
        (*about_shard(result), *result.warnings),
        base_source="git" if judgment.base_benchmarks else NO_BASELINE,
        shard=result.shard,
        shards=len(result.shards) or _shards(result),
        complete=result.base.complete and result.head.complete,
    )


def _judge_shard(base: Run, part: Result, config: Config) -> Judgment:
    """Judge what one machine measured, a part of a suite or all of it."""
    judgment = judge(
        base,
        part.head,
        config,
        paired=True,
        waves=_waves(config, part.head),
        shards=_shards(part),
    )
    if part.shard is None:
        return judgment
    warnings = tuple(f"shard {part.shard.number}: {one}" for one in judgment.warnings)
    return replace(judgment, warnings=warnings)


def _shards(result: Result) -> int:
    """The number of shards that the suite was split into."""
    return result.shard.count if result.shard else 1


def judge_stored(found: StoredResults, head: Result, config: Config) -> JudgedRuns:
    """Judge a result by earlier results that were measured at other times.

    The first usable one is the base. If there are too few others to know how much runs differ, the
    evidence is advisory. If there are none at all, every benchmark is new.
    """
    if not found.earlier:
        return _judge_first(found, head, config)
    stored = choose_stored(found.earlier, head.head, config.aliases)
    base = stored.base
    run = share_of(base.head, head, config.aliases)
    judgment = judge(
        run,
        head.head,
        config,
        paired=False,
        waves=None,
        earlier=stored.runs,
        shards=_shards(head),
    )
    judgment = with_courses(judgment, courses(stored.runs, head.head, config))
    warnings = (*found.warnings, *stored.warnings, *base.warnings, *head.warnings)
    return JudgedRuns(
        run,
        head.head,
        judgment,
        base.duration_s + head.duration_s,
        (*about_shard(head), *dict.fromkeys(warnings)),
        base_source=found.source,
        skipped=(*found.skipped, *stored.skipped),
        shard=head.shard,
        shards=_shards(head),
        complete=run.complete and head.head.complete,
    )


def _judge_first(found: StoredResults, head: Result, config: Config) -> JudgedRuns:
    """Judge a result without a base: there is none yet, or none that can be used."""
    nothing = Run(Source(), head.head.started, head.head.environment, ())
    return JudgedRuns(
        nothing,
        head.head,
        judge(nothing, head.head, config, paired=False, waves=None),
        head.duration_s,
        (*about_shard(head), *found.warnings, *head.warnings),
        base_source=NO_BASELINE if found.is_empty else found.source,
        skipped=found.skipped,
        shard=head.shard,
        complete=head.head.complete,
    )


def _waves(config: Config, head: Run) -> WaveSettings | None:
    """Return the procedure that chose a run's rounds; None if the number of rounds was fixed."""
    if not head.screen_rounds:
        return None
    return replace(
        WaveSettings.of(config),
        screen_rounds=head.screen_rounds,
        until_decided=head.until_decided,
    )
