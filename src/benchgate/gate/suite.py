"""Judges a whole suite, joined from shards: every row of two runs, and what each one needs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.gate.classical import compare_classically, decide_classically
from benchgate.gate.disturbance import disturbances, doubted
from benchgate.gate.estimates import RowStage, within_clock
from benchgate.gate.evidence import (
    Pair,
    files_of,
    folders_of,
    has_failed,
    pair,
    unread_in,
)
from benchgate.gate.exact import ALPHA_SHARE, MOSTLY, without_failed_requests
from benchgate.gate.limits import limit_rows
from benchgate.gate.other_files import (
    as_new,
    is_apart,
    is_new,
    of_base,
    rows_apart,
    with_new_versions,
)
from benchgate.gate.pair_rows import open_outcome, rows_of_pair
from benchgate.gate.rows import Terms, same_code_row, tested_row, unpaired_row, untested_row
from benchgate.gate.scenario_rows import scenario_of, steps_of, with_scenarios
from benchgate.gate.single_runs import judge_at_once, run_value, with_zeros
from benchgate.gate.under_load import has_error_ratio
from benchgate.gate.wave_findings import judge_in_waves
from benchgate.model.metrics import ERROR_RATIO, INSTRUCTIONS
from benchgate.model.notes import unlike_machines
from benchgate.model.policy import COMPARED, Outcome
from benchgate.model.result import ids_of
from benchgate.model.run import FILES_CANARY_ID, Status
from benchgate.model.verdict import RUNS_NEEDED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from benchgate.config import Config
    from benchgate.gate.estimates import Finding
    from benchgate.gate.evidence import Evidence
    from benchgate.gate.waves import WaveSettings
    from benchgate.model.result import Result
    from benchgate.model.row import Row
    from benchgate.model.run import BenchmarkResult, Run

_BESIDE: Final = "not measured further, because this scenario already got worse"


@dataclass(frozen=True, slots=True)
class Need:
    """What one row still needs, and how wide its interval is (log scale, may be infinite).

    Attributes:
        ahead: about how many more rounds it will get.
        outcome: what is known already.
        at_most: whether `ahead` is a limit, because nobody can know the number.
    """

    benchmark: str
    stage: RowStage
    width: float
    ahead: int = 1
    outcome: Outcome = Outcome.INCONCLUSIVE
    at_most: bool = False

    @property
    def got_worse(self) -> bool:
        """Whether more rounds cannot change that."""
        return self.stage is RowStage.DONE and self.outcome is Outcome.REGRESSED


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


@dataclass(frozen=True, slots=True)
class Design:
    """How two runs were measured, which decides how they are tested.

    Attributes:
        paired: in turn, so that launches of the same round belong together.
        waves: the procedure that chose the rounds; None if their number was fixed.
        shards: the number of shards of the suite. This is one of them and spends its equal share
            of alpha, so that all verdicts together keep the suite's alpha.
    """

    paired: bool
    waves: WaveSettings | None = None
    shards: int = 1


def judge_suite(
    base: Run,
    head: Run,
    config: Config,
    design: Design,
    *,
    earlier: Sequence[Run] = (),
) -> Judgment:
    """Judge every benchmark of two runs.

    Args:
        earlier: for arms that are not paired, the runs on the head's machine, the newest first,
            which is the base; none if the base is from another machine.
    """
    paired, shards = design.paired, design.shards
    rows, evidences, shown = _gathered(base, head, config, paired=paired, shards=shards)
    if earlier and config.gate.rule != "classical":
        evidences = _with_runs(evidences, earlier, head, config)
    if not paired:
        rows = [replace(row, advisory=_is_advisory(row, len(earlier))) for row in rows]
    waves = design.waves if paired else None
    tested, needs = _judge_rows(evidences, config, waves, shards)
    alpha, margin = config.gate.alpha, config.gate.margin
    canaries = disturbances(base, head, margin=margin, alpha=alpha) if paired else {}
    tested, warnings, is_doubted = _doubted_by(canaries, tested, _using_files(base, head))
    pairs = [evidence.pair for evidence in evidences]
    scenarios = {one.id for one in pairs if one.head and steps_of(one.head) != (one.id,)}
    compared = {row.benchmark for row in tested if row.outcome in COMPARED}
    every_row = (*without_failed_requests((*rows, *tested)), *shown)
    return Judgment(
        tuple(
            with_new_versions(every_row, base, head, _terms(head, config)) if paired else every_row
        ),
        tuple(needs),
        warnings,
        # Nobody misses the throughput of a scenario that had too few rounds.
        len(of_base(base, head.files) if paired else base.of_project) + len(scenarios & compared),
        is_doubted,
        bool(warnings),
        tuple(evidences),
    )


def _using_files(base: Run, head: Run) -> frozenset[str]:
    return frozenset(one.id for run in (base, head) for one in run.benchmarks if one.uses_files)


def _doubted_by(
    canaries: Mapping[str, str], rows: Sequence[Row], using_files: Collection[str]
) -> tuple[list[Row], tuple[str, ...], bool]:
    """Leave open what a disturbance may explain: a disk explains no time of pure computing.

    Returns:
        The rows, the warnings about those that are concerned, and whether one had got worse.
    """
    found, said, is_doubted = list(rows), dict[str, None](), False
    for at, row in enumerate(rows):
        uses_files = not {row.benchmark, row.renamed_from}.isdisjoint(using_files)
        for id_, warning in canaries.items():
            if id_ == FILES_CANARY_ID and not uses_files:
                continue
            said[warning] = None
            is_doubted |= row.outcome is Outcome.REGRESSED
            found[at] = doubted(found[at], warning)
    return found, tuple(said), is_doubted


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
    if not paired:
        terms = replace(terms, unlike=unlike_machines(base, head))
    rows: list[Row] = []
    evidences: list[Evidence] = []
    apart: list[Pair] = []
    for one in pairs:
        if one.head and one.head.status is Status.OK:
            rows += limit_rows(one, one.head, config)
        if unmeasured := same_code_row(one, paired=paired):
            rows.append(unmeasured)
        elif one.base and one.head and Status.FAILED not in {one.base.status, one.head.status}:
            if paired and is_apart(one.base, one.head, decide):
                apart.append(one)
                continue
            untested, sampled = rows_of_pair(one, one.base, one.head, terms)
            rows += untested
            evidences += sampled
        elif one.id not in without_rows:
            stands_for = unread.get(one.id, ())
            is_added = paired and one.head is not None and is_new(one.head, decide)
            # If the base has nothing at all, nothing else could show that the head is broken.
            is_added = is_added and bool(of_base(base, decide)) and not stands_for
            row = unpaired_row(
                one, stands_for, is_represented=one.id in represented, is_new=is_added
            )
            rows.append(row)
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
        Need(id_, finding.stage, _width(finding), finding.ahead, finding.outcome, finding.at_most)
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
        may_be_waived = config.waivers or (config.sides and config.sides.accepted)
        must_fail = Outcome.REGRESSED in gate.fail_on and not may_be_waived
        if must_fail and not waves.until_decided:
            findings = _beside_a_regression(chosen, findings)
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


def _beside_a_regression(
    evidences: Sequence[Evidence], findings: Sequence[Finding]
) -> list[Finding]:
    """Spend no more rounds on a scenario that got worse for sure.

    A round of it takes seconds, and the build fails whatever the rest of it shows.
    """
    names = [scenario_of(one.pair.head) if one.pair.head else "" for one in evidences]
    rows = list(zip(names, evidences, findings, strict=True))
    done = [(name, one.outcome) for name, _, one in rows if name and one.stage is RowStage.DONE]
    worse = {name for name, outcome in done if outcome is Outcome.REGRESSED}
    return [_left_open(one, evidence) if name in worse else one for name, evidence, one in rows]


def _left_open(finding: Finding, evidence: Evidence) -> Finding:
    if finding.stage is RowStage.DONE:
        return finding
    is_open = finding.outcome is Outcome.INCONCLUSIVE
    outcome = open_outcome(settles=evidence.settles) if is_open else finding.outcome
    done = replace(finding, stage=RowStage.DONE, ahead=0, at_most=False, unconfirmed=0)
    return replace(done, outcome=outcome, notes=(*finding.notes, _BESIDE))


def _of_whole_suite(finding: Finding, shards: int) -> Finding:
    """Also adjust p for the shards, so that it can be compared with the suite's alpha."""
    if finding.p_adjusted is None:
        return finding
    return replace(finding, p_adjusted=min(1.0, shards * finding.p_adjusted))


def _width(finding: Finding) -> float:
    estimate = finding.estimate
    return estimate.high - estimate.low if estimate else float("inf")


def joined(judgments: Sequence[Judgment]) -> Judgment:
    """Join the judgments of a suite's shards without judging again.

    A suspect's number of rounds was planned for the suspects of its own shard. If all shards were
    judged together, it could lack rounds, or be tested on more rounds than planned.
    """
    return Judgment(
        tuple(row for one in judgments for row in one.rows),
        tuple(need for one in judgments for need in one.needs),
        tuple(warning for one in judgments for warning in one.warnings),
        sum(one.base_benchmarks for one in judgments),
        any(one.doubted for one in judgments),
        any(one.disturbed for one in judgments),
        tuple(evidence for one in judgments for evidence in one.evidence),
    )


def share_of(base: Run, head: Result, aliases: Mapping[str, str]) -> Run:
    """Leave out of a stored base the benchmarks that other shards measure."""
    if head.shard is None:
        return base
    others = set(head.shard.dealt).difference(ids_of(head))
    kept = (b for b in base.benchmarks if others.isdisjoint({b.id, aliases.get(b.id, b.id)}))
    return replace(base, benchmarks=tuple(kept))


def about_shard(result: Result) -> tuple[str, ...]:
    """Return a note that the verdict covers only one shard; nothing for a whole suite."""
    shard = result.shard
    if shard is None or shard.count == 1:
        return ()
    own, all_ = len(ids_of(result)), len(shard.dealt)
    join = "`benchgate merge` joins the results of all shards"
    return (f"shard {shard.number} of {shard.count}: {own} of {all_} benchmarks; {join}",)
