"""`benchgate ci`: `check` in a GitHub Actions job; the event decides the base and the baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.baselines.base import BASE_HAS_NO_BENCHMARKS
from benchgate.baselines.files import read_result
from benchgate.ci.base import ask, compare_with, require_baseline
from benchgate.ci.stored_artifacts import (
    MEMBERS,
    environment_key,
    is_like,
    read_result_of,
    read_stored,
)
from benchgate.config import from_kept, policy_from, to_keep, with_accepted
from benchgate.describe.figures import figures_of
from benchgate.errors import BaselineError, ConfigError, MeasureError, UsageError
from benchgate.files import write_atomic
from benchgate.gate.courses import courses
from benchgate.gate.effect import require_effect
from benchgate.gate.screening import can_settle, to_measure
from benchgate.gate.stored import StoredResults, fit_for, of_machine
from benchgate.gate.verdict import judge_result, make_verdict
from benchgate.git.changes import settings_digest
from benchgate.github.artifact_names import ArtifactKind, artifact_name, artifact_prefix
from benchgate.github.artifacts import list_artifacts
from benchgate.github.client import read_run
from benchgate.github.plan import CommentTime
from benchgate.measure.machine import read_environment
from benchgate.model.codec import encode_result
from benchgate.model.policy import Policy
from benchgate.model.redact import Redactor
from benchgate.model.result import Screening, StoredRun, by_reason, join
from benchgate.model.run import BenchmarkFiles, Status
from benchgate.session.choice import Choice, chosen_of
from benchgate.session.measuring import ArmsRequest, RunRequest, measure_arms, run
from benchgate.session.recorder import BaseTrial
from benchgate.session.result_file import DEFAULT_SUITE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchgate.ci.base import ComparisonBase, Job
    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.github.client import Client, RunUrl
    from benchgate.github.objects import Artifact
    from benchgate.github.plan import EventPlan
    from benchgate.model.figures import BenchmarkFigures
    from benchgate.model.result import Result
    from benchgate.model.run import Environment, Run, Source
    from benchgate.model.verdict import Verdict
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
            judged = judge_result(replace(alone, screening=screening), config)
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
    if config.baseline.source in {"directory", "file"}:
        raise ConfigError(
            f"{config.where('baseline.source')} = {config.baseline.source!r}: a job on GitHub "
            "does not keep files for the next one",
            hint='Use source = "auto", or read the files in a step with `benchgate check`.',
        )
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
        reads_stored = _reads_stored(request, judged_by, plan)
        result = _measured(
            request, compared, effects, job, keep, say=say, reads_stored=reads_stored
        )
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
    judged = judge_result(result, judged_by)
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
    keep: Callable[[Result], None] | None,
    *,
    say: Callable[[str], None],
    reads_stored: bool,
) -> Result:
    """Measure; if the base has no benchmarks, it need not be ready for the head's."""
    config = compared.config
    found = StoredResults("artifact")
    if reads_stored:
        found = read_stored(
            job.client,
            job.context,
            job.git,
            name=_name(ArtifactKind.BASELINE, request, job),
            base=compared.base.sha if compared.base else None,
            limit=config.baseline.runs,
            here=job.here,
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


def replay(run: RunUrl, client: Client, *, name: str | None) -> tuple[Verdict, Result]:
    """Decide again about what a run of `benchgate ci` has measured."""
    _require_newest(client, run)
    artifact = _choose(client, run, name)
    result = read_result_of(client, run.repository, artifact)
    config = config_of(result.policy)
    return make_verdict(judge_result(result, config), config), result


def config_of(policy: Policy | None) -> Config:
    """Get the configuration that judged a result."""
    if policy is None:
        return from_kept(None)
    head = from_kept(policy.head).with_overrides(policy.options)
    if policy.base is None:
        return head
    return with_accepted(policy_from(from_kept(policy.base), head), policy.accepted)


def _require_newest(client: Client, run: RunUrl) -> None:
    """Refuse to present the newest attempt's result as that of another attempt."""
    if run.attempt is None:
        return
    newest = read_run(client, run.repository, run.run_id).run_attempt
    if run.attempt != newest:
        raise UsageError(
            f"attempt {run.attempt} of run {run.run_id} cannot be decided again: attempt "
            f"{newest} is newer, and has replaced its artifacts",
            hint=f"Leave out /attempts/{run.attempt} to use the artifacts that the run has now.",
        )


def _choose(client: Client, run: RunUrl, name: str | None) -> Artifact:
    prefix = artifact_prefix(ArtifactKind.RESULT)
    found = [
        one
        for one in list_artifacts(client, run.repository, name=name, run_id=run.run_id)
        if one.name.startswith(prefix)
    ]
    if not found:
        what = f"no artifact named {name!r}" if name else "no benchgate result"
        raise UsageError(
            f"run {run.run_id} of {run.repository} left {what}",
            hint="Check the URL (https://github.com/OWNER/NAME/actions/runs/ID); the run's "
            "artifacts may also have expired.",
        )
    names = sorted({one.name for one in found})
    if len(names) > 1:
        raise UsageError(
            f"run {run.run_id} of {run.repository} left {len(names)} results",
            hint=f"Name one of them with --artifact: {', '.join(names)}",
        )
    return found[0]
