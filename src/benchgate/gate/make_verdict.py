"""Makes a verdict of judged runs: the decision, and everything that a reader needs."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from benchgate.config import loosening
from benchgate.gate.conclude import Terms, benchmarks_needed, conclude
from benchgate.gate.open_rows import about_machine, with_steadier_metrics
from benchgate.gate.waivers import apply_waivers
from benchgate.model.verdict import NO_BASELINE, GateSettings, Verdict
from benchgate.report.headline import headline
from benchgate.report.ordering import worst_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.config import Config
    from benchgate.gate.judging import JudgedRuns
    from benchgate.model.policy import PolicyChange
    from benchgate.model.run import Run
    from benchgate.model.verdict import Row


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
    rows = apply_waivers(noted, config, day)
    min_compared = _min_compared(judged, config, rows)
    concluded = conclude(
        rows,
        Terms(
            fail_on=gate.fail_on,
            min_compared=min_compared,
            advisory_fails=config.baseline.advisory_fails,
            complete=judged.complete,
            doubted=judgment.doubted,
            disturbed=judgment.disturbed,
            first_run=judged.base_source == NO_BASELINE,
            empty_shard=judged.shard is not None and not rows,
        ),
    )
    verdict = Verdict(
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
        ),
        environment=judged.head.environment,
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
    return replace(verdict, summary=headline(verdict))


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
