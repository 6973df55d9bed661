"""Turns judged runs into a verdict, with everything that a reader needs."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from benchgate.config import loosening
from benchgate.gate.causes import explained
from benchgate.gate.conclusion import VerdictTerms, conclude, excused
from benchgate.gate.judging import judge_runs
from benchgate.gate.waivers import apply_waivers
from benchgate.model.environment import in_common
from benchgate.model.notes import busy_machine, compare_instead
from benchgate.model.policy import Outcome
from benchgate.model.row_order import worst_first
from benchgate.model.verdict import (
    NO_BASELINE,
    GateSettings,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from benchgate.config import Config
    from benchgate.gate.evidence import Evidence
    from benchgate.gate.judging import JudgedRuns
    from benchgate.gate.stored import StoredResults
    from benchgate.model.environment import Environment
    from benchgate.model.policy import PolicyChange
    from benchgate.model.result import Result
    from benchgate.model.row import Row
    from benchgate.model.run import Run


def benchmarks_needed(rows: Iterable[Row], wanted: int | None, in_base: int) -> int:
    """Return how many benchmarks must have been compared for a pass.

    Benchmarks that need not be compared lower the number that is wanted, but only as far as the
    other benchmarks of the base cannot reach it.

    Args:
        wanted: the configured number; None for all benchmarks of the base.
        in_base: how many benchmarks the base has.
    """
    reachable = in_base - len(excused(rows))
    if wanted is None:
        return reachable
    return wanted - max(0, min(wanted, in_base) - reachable)


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


def judge(
    result: Result,
    config: Config,
    earlier: StoredResults | None = None,
    *,
    day: date | None = None,
    ids: Sequence[str] | None = None,
    untested: tuple[str, ...] = (),
) -> Verdict:
    """Judge a result, and decide; see `judge_runs` and `make_verdict`.

    Args:
        untested: metrics that must decide, or have a limit, and that both sides left out.
    """
    judged = replace(judge_runs(result, config, earlier), untested=untested)
    return make_verdict(judged, config, day=day, ids=ids)


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
    judgment = judged.judgment
    day = day or date.fromisoformat(judged.head.started[:10])
    noted = with_steadier_metrics(judgment.rows, judgment.evidence, config)
    lost: list[str] = []
    waived = apply_waivers(noted, config, day)
    rows = explained(waived, judged.base, judged.head, lost.append)
    min_compared = _min_compared(judged, config, rows)
    concluded = conclude(rows, _terms(judged, config, rows, min_compared))
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


def _terms(
    judged: JudgedRuns, config: Config, rows: Collection[Row], min_compared: int
) -> VerdictTerms:
    return VerdictTerms(
        fail_on=config.gate.fail_on,
        min_compared=min_compared,
        advisory_fails=config.baseline.advisory_fails,
        complete=judged.complete,
        doubted=judged.judgment.doubted,
        disturbed=judged.judgment.disturbed,
        untested=bool(judged.untested),
        first_run=judged.base_source == NO_BASELINE,
        empty_shard=judged.shard is not None and not rows,
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
