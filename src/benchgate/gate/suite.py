"""Judges a whole suite: every row of two runs, and what each benchmark still needs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.alone import with_zeros
from benchgate.gate.apart import as_new, is_apart, is_new, of_base, rows_apart, with_new_versions
from benchgate.gate.at_once import judge_at_once
from benchgate.gate.calibration import run_value
from benchgate.gate.canary import disturbance_of, doubted
from benchgate.gate.classical import compare_classically, decide_classically
from benchgate.gate.error_rates import ALPHA_SHARE, MOSTLY, without_failed_requests
from benchgate.gate.evidence import files_of, folders_of, has_failed, pair, unread_in
from benchgate.gate.findings import within_clock
from benchgate.gate.in_waves import judge_in_waves
from benchgate.gate.limits import limit_rows, without_effect
from benchgate.gate.pair_rows import Terms, rows_of_pair
from benchgate.gate.rows import (
    tested_row,
    unpaired_row,
    untested_row,
)
from benchgate.gate.under_load import has_error_ratio, steps_of, with_scenarios
from benchgate.gate.which_metrics import about_unknown
from benchgate.model.policy import COMPARED, Outcome
from benchgate.model.run import ERROR_RATIO, INSTRUCTIONS, Status
from benchgate.model.verdict import RUNS_NEEDED, Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.config import Config
    from benchgate.gate.evidence import Evidence, Pair
    from benchgate.gate.findings import Finding, Stage
    from benchgate.gate.waves import WaveSettings
    from benchgate.model.run import BenchmarkResult, Run


@dataclass(frozen=True, slots=True)
class Need:
    """What one row still needs, and how wide its interval is (log scale, may be infinite)."""

    benchmark: str
    stage: Stage
    width: float


@dataclass(frozen=True, slots=True)
class Judgment:
    """All rows, unsorted, and what each tested row still needs.

    Attributes:
        doubted: whether a regression was found that a disturbance may explain.
        disturbed: whether a canary saw a disturbance.
        evidence: the evidence of the rows that have a statistic of launches.
    """

    rows: tuple[Row, ...]
    needs: tuple[Need, ...] = ()
    warnings: tuple[str, ...] = ()
    base_benchmarks: int = 0
    doubted: bool = False
    disturbed: bool = False
    evidence: tuple[Evidence, ...] = field(default=(), compare=False)


def judge(
    base: Run,
    head: Run,
    config: Config,
    *,
    paired: bool,
    waves: WaveSettings | None,
    earlier: Sequence[Run] = (),
    shards: int = 1,
) -> Judgment:
    """Judge every benchmark of two runs.

    Args:
        paired: the runs were measured in turn, so that launches of the same round belong together.
        waves: the procedure that chose the rounds; None if their number was fixed.
        earlier: for arms that are not paired, the runs on the head's machine, the newest first,
            which is the base; none if the base is from another machine.
        shards: the number of shards of the suite. This is one of them and spends its equal share
            of alpha, so that all verdicts together keep the suite's alpha.
    """
    rows, evidences, shown = _gathered(base, head, config, paired=paired, shards=shards)
    if earlier and config.gate.rule != "classical":
        evidences = _with_runs(evidences, earlier, head, config)
    if not paired:
        rows = [replace(row, advisory=_is_advisory(row, len(earlier))) for row in rows]
    tested, needs = _judge_rows(evidences, config, waves if paired else None, shards)
    alpha, margin = config.gate.alpha, config.gate.margin
    warning = disturbance_of(base, head, margin=margin, alpha=alpha) if paired else None
    unknown: tuple[str, ...] = ()
    if shards == 1:
        every = [one for side in _sides(base, head) for one in side] if config.limits else []
        unknown = (*about_unknown(base, head, config), *without_effect(every, config.limits))
    is_doubted = bool(warning) and any(row.outcome is Outcome.REGRESSED for row in tested)
    if warning:
        tested = [doubted(row, warning) for row in tested]
    pairs = [evidence.pair for evidence in evidences]
    scenarios = {one.id for one in pairs if one.head and steps_of(one.head) != (one.id,)}
    compared = {row.benchmark for row in tested if row.outcome in COMPARED}
    every_row = (*without_failed_requests((*rows, *tested)), *shown)
    return Judgment(
        tuple(
            with_new_versions(every_row, base, head, _terms(head, config)) if paired else every_row
        ),
        tuple(needs),
        (*([warning] if warning else []), *unknown),
        # Nobody misses the throughput of a scenario that had too few rounds.
        len(of_base(base, head.files) if paired else base.of_project) + len(scenarios & compared),
        is_doubted,
        warning is not None,
        tuple(evidences),
    )


def _is_advisory(row: Row, runs: int) -> bool:
    """Whether an exact row that is based on stored results does not fail the build.

    Counts also depend on the machine and its tools, instructions on the seeds of a run, and how
    many errors there are on how busy the server was.
    """
    if row.metric == ERROR_RATIO.name and (not row.base or row.base < MOSTLY <= (row.head or 0)):
        return False
    needed = RUNS_NEEDED if row.metric in {INSTRUCTIONS.name, ERROR_RATIO.name} else 1
    return row.test == "exact" and runs < needed


def gather_rows(
    base: Run, head: Run, config: Config, *, paired: bool
) -> tuple[list[Row], list[Evidence]]:
    """Give the rows that need no test of their values, and the evidence of those that do."""
    return _gathered(base, head, config, paired=paired)[:2]


def _gathered(
    base: Run, head: Run, config: Config, *, paired: bool, shards: int = 1
) -> tuple[list[Row], list[Evidence], list[Row]]:
    """The same, and the rows that only show what they measured.

    Args:
        shards: see `judge`.
    """
    decide = head.files
    pairs = pair(*_sides(base, head), config.aliases)
    if paired:
        pairs = tuple(as_new(pairs, decide))
    only_failed = {one.id for one in pairs if one.head is None and has_failed(one.base)}
    represented = {
        place
        for benchmark in (head.of_project if only_failed else ())
        for place in (*files_of(benchmark.id), *folders_of(benchmark.id))
        if place in only_failed
    }
    unread = unread_in(pairs)
    without_rows = {id_ for ids in unread.values() for id_ in ids}
    terms = _terms(head, config, paired=paired, shards=shards)
    rows: list[Row] = []
    evidences: list[Evidence] = []
    apart: list[Pair] = []
    for one in pairs:
        if one.head and one.head.status is Status.OK:
            rows += limit_rows(one, one.head, config)
        if one.base and one.head and Status.FAILED not in {one.base.status, one.head.status}:
            if paired and is_apart(one.base, one.head, decide):
                apart.append(one)
                continue
            untested, sampled = rows_of_pair(one, one.base, one.head, terms)
            rows += untested
            evidences += sampled
        elif one.id not in without_rows:
            stands_for = unread.get(one.id, ())
            rows.append(unpaired_row(one, stands_for, is_represented=one.id in represented))
    return rows, evidences, rows_apart(apart, terms)


def _terms(head: Run, config: Config, *, paired: bool = True, shards: int = 1) -> Terms:
    rates = sum(has_error_ratio(one) for one in head.of_project if not is_new(one, head.files))
    level = config.gate.alpha * ALPHA_SHARE / shards / max(rates, 1)
    return Terms(config, paired, level)


def _sides(base: Run, head: Run) -> tuple[list[BenchmarkResult], list[BenchmarkResult]]:
    """What is judged of both sides."""
    return with_scenarios(base.of_project, head.of_project)


def _with_runs(
    evidences: Iterable[Evidence], earlier: Iterable[Run], head: Run, config: Config
) -> list[Evidence]:
    """Add to each row the values of earlier runs that measured the same work."""
    values: dict[tuple[str, str, str], list[float]] = {}
    for run in earlier:
        for one in gather_rows(run, head, config, paired=False)[1]:
            if one.obstacle is None:
                value = float(run_value(one.base, len(one.head)))
                values.setdefault(one.key, []).append(value)
    return [replace(one, runs=np.array(values.get(one.key, []))) for one in evidences]


def needs_of(evidences: Iterable[Evidence], findings: Iterable[Finding]) -> list[Need]:
    """Say what each row still needs."""
    return [
        Need(id_, finding.stage, _width(finding))
        for evidence, finding in zip(evidences, findings, strict=True)
        for id_ in (steps_of(evidence.pair.head) if evidence.pair.head else (evidence.pair.id,))
    ]


def _judge_rows(
    evidences: Sequence[Evidence], config: Config, waves: WaveSettings | None, shards: int
) -> tuple[list[Row], list[Need]]:
    gate = config.gate
    beside = compare_classically(evidences, raw=gate.unit == "sample" and gate.rule == "classical")
    testable = [i for i, e in enumerate(evidences) if e.obstacle is None]
    chosen = [evidences[i] for i in testable]
    if waves is None:
        findings = judge_at_once(chosen, alpha=gate.alpha / shards, confidence=gate.confidence)
    else:
        share = replace(waves, alpha=waves.alpha / shards)
        findings = judge_in_waves(chosen, share, gate.confidence)
    if shards > 1:
        findings = [_of_whole_suite(finding, shards) for finding in findings]
    findings = [within_clock(f, e) for f, e in zip(findings, chosen, strict=True)]
    by_index = dict(zip(testable, findings, strict=True))
    rows = []
    for index, evidence in enumerate(evidences):
        found = by_index.get(index)
        if found is None:
            rows.append(with_zeros(untested_row(evidence, beside[index]), evidence))
        else:
            row = tested_row(evidence, found, beside[index], gate.confidence)
            is_hidden = found.estimate is None
            rows.append(row if gate.rule == "launch" or is_hidden else decide_classically(row))
    return rows, needs_of(chosen, findings)


def _of_whole_suite(finding: Finding, shards: int) -> Finding:
    """Also adjust p for the shards, so that it can be compared with the suite's alpha."""
    if finding.p_adjusted is None:
        return finding
    return replace(finding, p_adjusted=min(1.0, shards * finding.p_adjusted))


def _width(finding: Finding) -> float:
    estimate = finding.estimate
    return estimate.high - estimate.low if estimate else float("inf")
