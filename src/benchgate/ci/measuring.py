"""`benchgate ci`: `check` in a GitHub Actions job; the event decides the base and the baseline."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.baselines.stored_files import read_result
from benchgate.ci.base import ask, compare_with, require_baseline
from benchgate.ci.change import ChangeRequest, measure_change
from benchgate.ci.stored_artifacts import (
    MEMBERS,
    environment_key,
    read_stored,
)
from benchgate.config import to_keep, with_accepted
from benchgate.describe.figures import figures_of
from benchgate.errors import BaselineError, ConfigError, UsageError
from benchgate.files import write_atomic
from benchgate.gate.effect import require_effect
from benchgate.gate.judging import judge_runs
from benchgate.gate.stored import StoredResults
from benchgate.gate.verdict import make_verdict
from benchgate.github.artifact_names import ArtifactKind, artifact_name
from benchgate.github.plan import CommentTime
from benchgate.model.codec import encode_result
from benchgate.model.policy import Policy
from benchgate.model.redact import Redactor
from benchgate.model.result import by_reason, join
from benchgate.model.run import BenchmarkFiles
from benchgate.session.choice import Choice
from benchgate.session.result_file import DEFAULT_SUITE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.ci.base import ComparisonBase, Job
    from benchgate.config import Config
    from benchgate.github.plan import EventPlan
    from benchgate.model.figures import BenchmarkFigures
    from benchgate.model.result import Result
    from benchgate.model.run import Source
    from benchgate.model.verdict import Verdict
    from benchgate.session.effects import Effects


RESULT_FILE = "result.json.gz"
_STORED_SOURCES = frozenset({"auto", "artifact"})
_JUDGED_AGAIN = frozenset({CommentTime.LATER, CommentTime.IF_ALLOWED})


@dataclass(frozen=True, slots=True)
class CiRequest:
    """The inputs of a job, in addition to the configuration.

    Attributes:
        folder: for the files of this job; every job has its own folder.
        suite: tells several uses of benchgate in one repository apart.
        shards: the folder with the results of a suite's shards; if given, nothing is measured.
    """

    folder: Path
    choice: Choice = field(default_factory=Choice)
    suite: str = DEFAULT_SUITE
    shards: Path | None = None


@dataclass(frozen=True, slots=True)
class JobFile:
    """A file that the job keeps as an artifact."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class CiOutcome:
    """The outcome of a job.

    Attributes:
        verdict: None if the event leaves nothing to measure.
        why: the reason if there is no verdict.
        page: where the report is to be written as a page of HTML; its name is that of the artifact.
        figures: computes those of the report.
    """

    plan: EventPlan
    verdict: Verdict | None = None
    result: JobFile | None = None
    why: str = ""
    page: Path = Path()
    figures: Callable[[], Mapping[str, BenchmarkFigures]] = dict


def ci(
    request: CiRequest,
    config: Config,
    effects: Effects,
    job: Job,
    *,
    keep_baseline: Callable[[JobFile], None],
    say: Callable[[str], None],
) -> CiOutcome:
    """Measure what the event changed, and decide.

    Args:
        keep_baseline: called as soon as there is a baseline for later runs, so that a later failure
            cannot lose it.
        say: receives the reason of each decision, for `-v`.

    Raises:
        Interrupted: the job was canceled; what was measured is saved.
    """
    _refuse_files(config)
    plan = job.plan
    for words in plan.words():
        say(words)
    compared = compare_with(plan, config, job, effects.cwd)
    judged_by, commit = compared.config, compared.base
    is_baseline = _is_baseline(request, judged_by, plan)
    if commit is None and not is_baseline:
        return CiOutcome(plan, why=compared.why)
    policy = _policy(judged_by, effects)
    if request.shards is not None:
        result = _joined(request.shards, commit, job.git.head_sha())
    else:
        keep = _keeping(request, effects, job, keep_baseline, say) if is_baseline else None
        result = _measured(request, compared, effects, job, keep=keep, say=say)
    asked = ask(judged_by, job)
    judged_by = with_accepted(judged_by, asked.accepted)
    result = replace(
        result,
        warnings=(*compared.warnings, *asked.warnings, *result.warnings),
        policy=replace(policy, accepted=asked.accepted),
    )
    output = request.folder / RESULT_FILE
    _save(output, result, effects)
    is_whole = request.choice.is_whole and request.shards is None
    require_effect(judged_by, [result], is_whole=is_whole)
    judged = judge_runs(result, judged_by)
    require_baseline(judged, result, judged_by, compared.why)
    verdict = make_verdict(judged, judged_by)
    page = f"{_name(ArtifactKind.REPORT, request, job)}.html"
    return CiOutcome(
        plan,
        verdict,
        JobFile(output, _name(ArtifactKind.RESULT, request, job)),
        page=request.folder / page,
        figures=partial(figures_of, result, judged.base, judged_by.aliases),
    )


def _refuse_files(config: Config) -> None:
    """Refuse a baseline in files."""
    if config.baseline.source in {"directory", "file"}:
        raise ConfigError(
            f"{config.where('baseline.source')} = {config.baseline.source!r}: a job on GitHub "
            "does not keep files for the next one",
            hint='Use source = "auto", or read the files in a step with `benchgate check`.',
        )


def _joined(shards: Path, base: Source | None, head: str) -> Result:
    """Join the results of a suite's shard jobs, which must all be of this event's commits."""
    paths = sorted(path for name in MEMBERS for path in shards.rglob(name))
    if not paths:
        raise UsageError(
            f"{shards} holds no {' or '.join(MEMBERS)}",
            hint="Download the artifacts of all shard jobs into it with "
            "actions/download-artifact; if one of those jobs failed, run it again.",
        )
    result = join((str(path), read_result(path)) for path in paths)
    measured = result.base.source.sha if result.base else None
    if measured != (base.sha if base else None):
        raise UsageError(
            f"the shards were measured against {measured or 'nothing'}, but this event's base is "
            f"{base.sha if base else 'none'}",
            hint="Join the results of one run in a job of the same run.",
        )
    if result.head.source.sha != head:
        raise UsageError(
            f"the shards measured {result.head.source.sha}, but {head} is checked out",
            hint="Join the results of one run in a job of the same run.",
        )
    return result


def _measured(
    request: CiRequest,
    compared: ComparisonBase,
    effects: Effects,
    job: Job,
    *,
    keep: Callable[[Result], None] | None,
    say: Callable[[str], None],
) -> Result:
    """Measure; if the base has no benchmarks, it need not be ready for the head's."""
    config = compared.config
    reads_stored = _reads_stored(request, config, job.plan)
    found = StoredResults("artifact")
    if reads_stored:
        found = read_stored(
            job,
            name=_name(ArtifactKind.BASELINE, request, job),
            base=compared.base.sha if compared.base else None,
            limit=config.baseline.runs,
        )
    for skipped in by_reason(found.skipped):
        verb = "is" if skipped in found.skipped else "are"  # one result, or several of one reason
        say(f"{skipped.what} {verb} not used: {skipped.reason}")
    change = ChangeRequest(
        request.choice,
        request.suite,
        compared.base,
        found,
        request.folder / RESULT_FILE,
        keep,
        by_stored_alone=reads_stored and config.baseline.source == "artifact",
        files=compared.files,
        only_affected=job.plan.is_change,
    )
    try:
        return measure_change(change, config, job.git, effects)
    except BaselineError as error:
        if compared.files is not BenchmarkFiles.HEAD:
            raise
        alone = measure_change(replace(change, base=None), config, job.git, effects)
        return replace(alone, warnings=(f"the base was not measured: {error.message}",))


def _is_baseline(request: CiRequest, config: Config, plan: EventPlan) -> bool:
    """Whether a baseline is kept for later runs: only of a whole suite, if later runs read it."""
    is_whole = request.choice.shard is None and request.shards is None
    is_read = config.baseline.source in _STORED_SOURCES
    return is_whole and is_read and plan.keeping.kind is ArtifactKind.BASELINE


def _reads_stored(request: CiRequest, config: Config, plan: EventPlan) -> bool:
    """Whether the job uses stored runs.

    It does not for the code of a fork or of Dependabot: another job, which trusts nothing from that
    code, judges what was measured. Nor does it for a shard of a suite.
    """
    if plan.comment.when in _JUDGED_AGAIN or request.choice.shard is not None:
        return False
    return config.baseline.source in _STORED_SOURCES


def _keeping(
    request: CiRequest,
    effects: Effects,
    job: Job,
    keep_baseline: Callable[[JobFile], None],
    say: Callable[[str], None],
) -> Callable[[Result], None]:
    def keep(alone: Result) -> None:
        if alone.head.source.dirty:
            say("the result is not kept as a baseline: an earlier step changed files of the commit")
            return
        path = request.folder / "baseline" / RESULT_FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        _save(path, alone, effects)
        keep_baseline(JobFile(path, _name(ArtifactKind.BASELINE, request, job)))

    return keep


def _name(kind: ArtifactKind, request: CiRequest, job: Job) -> str:
    shard = request.choice.shard
    return artifact_name(
        kind,
        suite=request.suite,
        environment=environment_key(job.context.runner_os, job.here.machine),
        shard=(shard.number, shard.count) if shard else None,
    )


def _save(path: Path, result: Result, effects: Effects) -> None:
    write_atomic(path, encode_result(result, Redactor(effects.environ)))


def _policy(config: Config, effects: Effects) -> Policy:
    """Store with the result what judged it, so that anybody can repeat the decision."""
    redact = Redactor(effects.environ)
    sides = config.sides
    head = sides.head if sides else config
    return Policy(
        to_keep(head.origin, redact) if head.source else None,
        to_keep(sides.base.origin, redact) if sides else None,
        head.origin.options,
    )
