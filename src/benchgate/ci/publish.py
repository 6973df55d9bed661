"""`benchgate publish`: comment on a pull request from a job that runs none of its code.

What a fork's run left is untrusted data. benchgate uses only its numbers. Everything else it knows
itself or asks GitHub: the pull request, the rules that judge it, the day, and the names of
benchmarks and suites.

It equals the verdict of the job that measured. Whoever can push a branch to this repository can
make that job measure anything, so the numbers count here as they do there, stored runs included.
But the rules are always those of the base commit, and GitHub is asked who accepted what.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from benchgate.baselines.base import base_config, config_at, require_few
from benchgate.baselines.claims import (
    RunPeriod,
    require_base_of_branch,
    require_named_base,
    require_possible_times,
)
from benchgate.baselines.untrusted_texts import cleaned_loosening
from benchgate.baselines.unverified import cleaned
from benchgate.ci.base import AcceptanceAnswer, ask_about
from benchgate.ci.step import (
    CommentTarget,
    PublishOutcome,
    Readers,
    comment,
    name_of,
    no_comment,
    summarize,
)
from benchgate.ci.stored_artifacts import USUAL_ENVIRONMENT, Legs, known_benchmarks, read_file_of
from benchgate.config import Sides, loads, policy_from, with_accepted, with_options
from benchgate.errors import (
    BenchgateError,
    ConfigError,
    FormatError,
    GitHubError,
    UsageError,
    without_it,
)
from benchgate.escape import plain_line
from benchgate.gate.effect import require_effect, untested_metrics
from benchgate.gate.verdict import judge_result, judge_run, make_verdict
from benchgate.git.repository import FULL_SHA, ensure_commit
from benchgate.github.annotations import stopped
from benchgate.github.artifact_names import ArtifactKind, Leg, leg_in
from benchgate.github.artifacts import list_artifacts
from benchgate.github.client import commit_of, find_pull_requests, merge_base, read_run
from benchgate.github.comments import mark, own_markers
from benchgate.github.plan import DEPENDABOT, MERGE_COMMIT, CommentPlan, CommentTime
from benchgate.model.codec import decode_result
from benchgate.model.run import Source
from benchgate.report.markdown import COMMENT_BYTES, render_comment, render_failure
from benchgate.session.choice import EVERYTHING
from benchgate.session.result_file import DEFAULT_SUITE
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchgate.baselines.unverified import SanitizedResult
    from benchgate.ci.base import Job
    from benchgate.ci.step import JobStep
    from benchgate.config import Config
    from benchgate.github.comments import Marker
    from benchgate.github.objects import Artifact, PullRequest
    from benchgate.github.objects import WorkflowRun as KnownRun
    from benchgate.github.runner import WorkflowRunEvent
    from benchgate.model.result import Result
    from benchgate.model.run import Run
    from benchgate.model.verdict import Verdict
    from benchgate.session.choice import Choice
    from benchgate.session.effects import Effects


def _file(result: Result) -> str | None:
    """Return where the job that measured says it read the base's rules; None for the usual file."""
    if result.policy is None or result.policy.base is None:
        return None
    name = result.policy.base.name.partition(":")[2]
    path = PurePosixPath(name)
    is_inside = path.name and not path.is_absolute() and ".." not in path.parts
    return path.as_posix() if is_inside and name.isprintable() else None


def _config(result: Result, base: Config | None, head: Config | None) -> Config:
    """Combine the rules as the measuring job does, with the inputs that it was given."""
    head = head or loads("", "defaults")
    require_few(head)
    if result.policy is not None:
        head = head.with_overrides(result.policy.options)
    return head if base is None else policy_from(base, head)


_USUAL: Final = Leg.of(DEFAULT_SUITE, USUAL_ENVIRONMENT)
_UNKNOWN: Final = frozenset({404, 422})
_AS_RUN_SAYS: Final = "as the pull request's run says"
_WARNING: Final = (
    "the pull request's own code ran in this measurement and could change its numbers: review it "
    "before you rely on them"
)
_SHARED: Final = (
    "other open pull requests have the same head: this run may have measured for one of them, "
    "against another base"
)


@dataclass(frozen=True, slots=True)
class Publication:
    """The pull request to comment on, and how its result may be used.

    Attributes:
        is_shared: whether other pull requests have the same head.
        is_strange: whether code from outside the repository measured it: then no text of the result
            is trusted.
        choice: the benchmarks that pull requests of this repository measure.
    """

    run: WorkflowRunEvent
    pull: PullRequest
    is_shared: bool
    is_strange: bool
    config: Config
    effects: Effects
    job: Job
    step: JobStep
    choice: Choice = EVERYTHING

    def of_result(
        self,
        leg: Leg,
        read: Result | UsageError,
        period: RunPeriod,
        own: Run | BenchgateError | None,
    ) -> PublishOutcome:
        """Judge the result and comment; or comment why that is impossible.

        Args:
            leg: the suite and the kind of machine.
            read: the result, or what is wrong with it.
            period: when the run took place, until it left this result.
            own: what the default branch's newest run of that leg measured, or why that cannot be
                read; None if there is none.
        """
        try:
            if isinstance(read, UsageError):
                raise read
            verdict = self._verdict(read, period, own)
        except GitHubError as error:
            done = no_comment(error)
            self.step.warn(done.warnings)
            return done
        except BenchgateError as error:
            return self._of_failure(leg, error.message, error.hint)
        self.step.output(verdict=verdict.decision.value)
        lost: list[str] = []
        body = without_it("comment", partial(self._body, leg, verdict), "", lost.append)
        if not body:
            return self._of_failure(leg, f"the verdict is '{verdict.decision}', but {lost[0]}", "")
        return self._post(self._marker(leg), body)

    def _body(self, leg: Leg, verdict: Verdict) -> str:
        view = self._readers(leg).view(verdict)
        return render_comment(view, limit_bytes=COMMENT_BYTES, summary_url=self._run_url)

    def _readers(self, leg: Leg) -> Readers:
        url, redact = self.job.context.repository_url, self.step.redact
        head, target = self.run.head_sha, self.pull.base.ref
        return Readers(url, head, target, self._run_url, _name(leg), redact)

    def of_nothing(self, *, first: bool) -> list[PublishOutcome]:
        """Report that there is no result, in each comment on an earlier commit.

        Args:
            first: whether to write a comment if there is none yet.
        """
        message, hint = "the run left no result", "Its log says why."
        try:
            found = own_markers(self.job.client, self._repository, self.pull.number)
        except GitHubError as error:
            done = no_comment(error)
            self.step.warn(done.warnings)
            return [done]
        if not found:
            return [self._of_failure(_USUAL, message, hint)] if first else []
        text = self._failure(message, hint)
        return [
            self._post(replace(self._marker(_USUAL), suite=one.suite), text)
            for one in found
            if one.head != self.run.head_sha
        ]

    def _of_failure(self, leg: Leg, message: str, hint: str) -> PublishOutcome:
        """Report that there is no verdict, because the old comment looks current."""
        return self._post(self._marker(leg), self._failure(message, hint, _name(leg)))

    def _failure(self, message: str, hint: str, name: str = "") -> str:
        redact, head = self.step.redact, self.run.head_sha
        texts = {"hint": redact(hint), "details": "", "head": head, "name": name}
        return render_failure(redact(message), run_url=self._run_url, **texts)

    def _marker(self, leg: Leg) -> Marker:
        run = self.run
        return mark(str(leg), head=run.head_sha, run=run.id, attempt=run.attempt)

    def _post(self, marker: Marker, text: str) -> PublishOutcome:
        target = CommentTarget(self._repository, self.pull.number, marker)
        wanted = CommentPlan(CommentTime.NOW, "the run measured its head")
        posted = comment(text, wanted, target, self.job.client)
        summarized = summarize(lambda _: text, self.step.environ)
        for one in (summarized, posted):
            self.step.write([self.step.redact(note) for note in one.notes])
            self.step.warn(one.warnings)
        if posted.comment_url:
            self.step.output(comment_url=posted.comment_url)
        return posted

    def _verdict(
        self, result: Result, period: RunPeriod, own: Run | BenchgateError | None
    ) -> Verdict:
        """Judge by the configuration of the pull request's target branch, as of today.

        Raises:
            GitHubError: it has to be asked for the base, and does not answer.
        """
        if result.shard and result.shard.count > 1:
            raise UsageError("the run left the result of one shard, not of the whole suite")
        if not self.is_strange:
            return self._own_verdict(result, period)
        if result.base is None:
            raise UsageError("the run measured only the head, so there is nothing to compare")
        found = self._configuration(self.pull.base.sha)
        base = with_options(found, self.config) if found else self.config
        config = self._with_head(base)
        asked = self._confirmed(result, config)
        config = with_accepted(config, asked.accepted)
        require_possible_times(result, period)
        self._require_honest_base(result.base.source, base)
        clean = self._cleaned(result, result.base, base, own)
        names = clean.names
        renamed = {o: n for o, n in config.aliases.items() if o in names and n in names}
        aliases = {names[old]: names[new] for old, new in renamed.items()}
        stored = None if isinstance(own, BenchgateError) else own
        untested = untested_metrics(config, clean.result.base, stored)
        said = (*self._warnings, *asked.warnings, *clean.warnings, *_about(untested))
        config = replace(config, aliases=aliases)
        # It counts as the whole of a suite, because a shard is judged less strictly.
        whole = replace(clean.result, warnings=said, shard=None, screening=None, policy=None)
        ids = tuple(names.values())
        judged = replace(judge_run(whole, config), untested=untested)
        verdict = make_verdict(judged, config, day=self._today, ids=ids)
        return replace(verdict, policy_changes=cleaned_loosening(verdict.policy_changes, base, ids))

    def _own_verdict(self, result: Result, period: RunPeriod) -> Verdict:
        """Decide as the job that measured has decided."""
        require_possible_times(result, period)
        file = _file(result)
        base = self._configuration(self.pull.base.sha, file)
        if base is None and file is not None:
            # The result names the file, so it must not choose one that only the head has.
            file = None
            base = self._configuration(self.pull.base.sha)
        config = _config(result, base, self._configuration(self.run.head_sha, file))
        asked = self._confirmed(result, config)
        config = with_accepted(config, asked.accepted)
        if result.base is not None:
            self._require_honest_base(result.base.source, base or config)
        told = (f"the job that measured said: {plain_line(one)}" for one in result.warnings)
        said = (*asked.warnings, *self._warnings[1:], *told)
        require_effect(config, [result], is_whole=False)
        source = replace(result.head.source, sha=self.run.head_sha, why="")
        head = replace(result.head, source=source)
        known = replace(result, head=head, base=_without_words(result.base), warnings=said)
        known = replace(known, policy=None)
        return make_verdict(judge_result(known, config), config, day=self._today)

    def _confirmed(self, result: Result, config: Config) -> AcceptanceAnswer:
        """Ask GitHub whether somebody accepted the waivers, if the job that measured says so.

        If that job found nobody, it failed; a later approval counts only from the next job on.
        """
        if result.policy is None or result.policy.accepted is None or config.sides is None:
            return AcceptanceAnswer()
        run = self.run
        return ask_about(self.pull.number, run.head_sha, run.id, config.accept, self.job)

    @property
    def _today(self) -> date:
        return date.fromisoformat(self.effects.now()[:10])

    def _cleaned(
        self, result: Result, base: Run, config: Config, own: Run | BenchgateError | None
    ) -> SanitizedResult:
        sha = base.source.sha or ""
        ensure_commit(self.job.git, sha)
        measured = [one.id for one in base.benchmarks]
        is_unread = isinstance(own, BenchgateError)
        known = known_benchmarks(
            config,
            self.job.git,
            sha,
            own=None if isinstance(own, BenchgateError) else own,
            choice=self.choice,
            measured=measured,
        )
        known = replace(known, are_all=not is_unread)
        return cleaned(result, known, self._head, _claimed(base))

    def _require_honest_base(self, claimed: Source, config: Config) -> None:
        if named := config.baseline.against:
            require_named_base(claimed, named, self._asked(commit_of, named))
        else:
            require_base_of_branch(
                claimed,
                branch=self.pull.base.ref,
                head=self.run.head_sha,
                merge_base=lambda one, other: self._asked(merge_base, one, other),
            )

    def _asked(self, ask: Callable[..., str], *names: str) -> str | None:
        """Ask GitHub for a commit; None if GitHub does not know it."""
        try:
            return ask(self.job.client, self._repository, *names)
        except GitHubError as error:
            if error.status in _UNKNOWN:
                return None
            raise

    @property
    def _warnings(self) -> tuple[str, ...]:
        return (_WARNING, *((_SHARED,) if self.is_shared else ()))

    @property
    def _head(self) -> Source:
        return Source(self.run.head_sha)

    def _with_head(self, base: Config) -> Config:
        """The base's configuration, with the additions that the head's may make."""
        try:
            head = self._configuration(self.run.head_sha)
            if head is None:
                return base
            require_few(head)
        except ConfigError as error:
            self.step.say(error.message)
            raise ConfigError(
                "the configuration in the pull request is not valid",
                hint="Run `benchgate validate` to see what is wrong.",
            ) from None
        return replace(base, aliases=head.aliases, sides=Sides(base, head))

    def _configuration(self, sha: str, path: str | None = None) -> Config | None:
        """The configuration of a commit; its files are only read, never run."""
        ensure_commit(self.job.git, sha)
        if path is not None:
            return config_at(self.job.git, sha, path)
        return base_config(self.job.git, sha, self.config, self.effects.cwd)

    @property
    def _repository(self) -> str:
        return self.job.context.repository.full_name

    @property
    def _run_url(self) -> str:
        return self.job.context.run_url(self.run.id, self.run.attempt)


def _without_words(base: Run | None) -> Run | None:
    """A base whose source says only what it is, in words of our own."""
    if base is None or base.source.why.startswith(MERGE_COMMIT):  # `Readers` has words for it
        return base
    return replace(base, source=replace(base.source, why=_AS_RUN_SAYS))


def _about(untested: Sequence[str]) -> tuple[str, ...]:
    if not untested:
        return ()
    said = (
        f"this run did not report {', '.join(untested)}, which must decide or has a limit: "
        "of a fork's run, benchgate believes only metrics of its own"
    )
    return (said,)


def _name(leg: Leg) -> str:
    return name_of(leg.suite, leg.environment)


def _claimed(base: Run) -> Source:
    """The base that the run claims to have measured."""
    sha = base.source.sha or ""
    return Source(sha if FULL_SHA.fullmatch(sha) else None, why=_AS_RUN_SAYS)


MOST_RESULTS: Final = 5
"""Results of one run; each gets its own comment."""

MOST_OWN_RESULTS: Final = 20
"""Results of one run of a branch of this repository, for example from a matrix."""

MOST_PULL_REQUESTS: Final = 5
"""Pull requests with one head; each has another target branch."""

_MOST_LISTED: Final = 300
_BROKEN = frozenset({"failure", "timed_out", "startup_failure"})
_ENDED = _BROKEN | {"success"}
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def publish(
    run: WorkflowRunEvent,
    config: Config,
    effects: Effects,
    job: Job,
    step: JobStep,
    *,
    choice: Choice = EVERYTHING,
    suite: str = "",
) -> int:
    """Comment on what a run of a pull request measured; return the exit code.

    Args:
        config: of the default branch, which is checked out.
        choice: the benchmarks that pull requests measure, if the default branch measures more.
        suite: one that pull requests measure but the default branch does not; "" for none.
    """
    planned = job.plan.comment
    if not step.comments:
        planned = CommentPlan(CommentTime.NEVER, "comments are turned off")
    if planned.when is CommentTime.NEVER:
        step.write([f"nothing to comment on: {planned.why}"])
        return 0
    repository = job.context.repository.full_name
    pulls = find_pull_requests(job.client, repository, run)
    if not pulls:
        step.write([f"nothing to comment on: no open pull request has the head {run.head_sha[:7]}"])
        return 0
    if len(pulls) > MOST_PULL_REQUESTS:
        more = f"{len(pulls)} open pull requests have the head {run.head_sha[:7]}"
        step.warn((f"{more}: only {MOST_PULL_REQUESTS} of them get a comment",))
    known = read_run(job.client, repository, run.id)
    is_strange = _is_strange(known, pulls, job)
    publications = [
        Publication(run, pull, len(pulls) > 1, is_strange, config, effects, job, step, choice)
        for pull in pulls[:MOST_PULL_REQUESTS]
    ]
    errors = _publish(publications, job, step, known, suite)
    if errors:
        raise errors[0]
    return 0


def _publish(
    publications: list[Publication], job: Job, step: JobStep, known: KnownRun, suite: str
) -> list[GitHubError]:
    """Comment on all results of the run; return the errors of GitHub that prevented a comment."""
    run, is_strange = publications[0].run, publications[0].is_strange
    artifacts = _results(job, known, run)
    legs = _legs(artifacts, job, known, suite, step) if is_strange else None
    left = [(one, leg) for one, leg in artifacts if legs is None or leg in legs]
    done: list[PublishOutcome] = []
    most = MOST_RESULTS if is_strange else MOST_OWN_RESULTS
    for artifact, leg in left[:most]:
        try:
            read = _read(job, artifact, step, is_strange=is_strange)
        except GitHubError as error:  # the existing comment says more than this one would
            done.append(no_comment(error))
            step.warn(done[-1].warnings)
        else:
            own = legs.newest(leg) if legs and not isinstance(read, UsageError) else None
            if isinstance(own, BenchgateError):
                step.warn((f"the default branch's newest result is not known: {own.message}",))
            period = _period(known, artifact)
            done += [one.of_result(leg, read, period, own) for one in publications]
    _warn(step, run, len(artifacts) - len(left), len(left), most)
    if not left:
        step.write([f"run {run.id} left no result"])
        if run.conclusion in _ENDED:
            is_broken = run.conclusion in _BROKEN
            done += [told for one in publications for told in one.of_nothing(first=is_broken)]
    return [one.error for one in done if one.error]


def _is_strange(known: KnownRun, pulls: Iterable[PullRequest], job: Job) -> bool:
    """Whether a fork's code, or a dependency update that nobody reviewed, was measured.

    The actor of a run is whoever updated the pull request's branch or reopened the pull request.
    """
    head = known.head_repository
    is_own = head is not None and head.id == job.context.repository.id
    by = (known.actor, *(pull.user for pull in pulls))
    return not is_own or any(one is not None and one.login == DEPENDABOT for one in by)


def _warn(step: JobStep, run: WorkflowRunEvent, unknown: int, left: int, most: int) -> None:
    if unknown:
        message = (
            f"run {run.id} left {counted(unknown, 'result')} of suites that the default branch's "
            "runs do not have: they were not read, because the fork chose their names. If pull "
            "requests have their own suite, set the input `suite` in this job"
        )
        step.warn((message,))
    if left > most:
        step.warn((f"run {run.id} left {left} results: only {most} of them were read",))


def _legs(
    artifacts: list[tuple[Artifact, Leg]], job: Job, known: KnownRun, suite: str, step: JobStep
) -> Legs:
    """Find out which suites there are, from the default branch's own runs."""
    try:
        return Legs.left(job, {leg for _, leg in artifacts}, known.path, suite)
    except GitHubError as error:
        step.warn((f"cannot find out which suites exist: {error.message}",))
        return replace(Legs.usual(job, suite), unlisted=error)


def _results(job: Job, known: KnownRun, run: WorkflowRunEvent) -> list[tuple[Artifact, Leg]]:
    """The results of this attempt of the run; those of earlier ones already have comments.

    If a newer attempt has begun, GitHub tells the start of the newest one only. Then all results
    count: otherwise those that the newest attempt does not measure again would be lost.
    """
    repository = job.context.repository.full_name
    began = known.run_started_at if known.run_attempt <= run.attempt else None
    listed = islice(list_artifacts(job.client, repository, run_id=run.id), _MOST_LISTED)
    return [
        (one, leg)
        for one in listed
        if (leg := leg_in(ArtifactKind.RESULT, one.name))
        and not one.expired
        and (began is None or (one.created_at is not None and one.created_at >= began))
    ]


def _period(known: KnownRun, artifact: Artifact) -> RunPeriod:
    """The time from the start of the run to the upload of the artifact.

    All attempts count: one that repeats failed jobs joins what the earlier ones measured.
    """
    began = known.created_at or _LONG_AGO
    return RunPeriod(began, artifact.created_at or began)


def _read(job: Job, artifact: Artifact, step: JobStep, *, is_strange: bool) -> Result | UsageError:
    """The result in it, or what is wrong with it, in words that are not from the file.

    Raises:
        GitHubError: GitHub refuses, or does not answer.
    """
    try:
        data = read_file_of(job.client, job.context.repository.full_name, artifact)
    except UsageError as error:
        return error
    try:
        return decode_result(data, artifact.name)
    except FormatError as error:
        if not is_strange:
            return error
        with stopped(step.stream, step.draw):
            step.write([step.redact(plain_line(error.message, 1000))])
        return FormatError(
            f"{artifact.name}: this version of benchgate cannot read the result in it",
            hint="The log of the job that writes this comment says what is wrong.",
        )
