"""One comment of `benchgate publish`: decides for one pull request what a run measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Final

from benchgate.baselines.base_config import base_config, config_at, require_few
from benchgate.baselines.claims import lie_about_base, lie_about_named_base, lie_about_time
from benchgate.baselines.unverified import cleaned, cleaned_loosening
from benchgate.ci.announce import (
    USUAL_ENVIRONMENT,
    PublishOutcome,
    Target,
    comment,
    name_of,
    no_comment,
    summarize,
)
from benchgate.ci.known_names import known_benchmarks
from benchgate.ci.own_branch import confirmed, judge_own
from benchgate.ci.readers import Readers
from benchgate.config import Sides, with_accepted, with_options
from benchgate.errors import BenchgateError, ConfigError, GitHubError, UsageError
from benchgate.gate.judging import judge_run
from benchgate.gate.make_verdict import make_verdict
from benchgate.git.branches import ensure_commit
from benchgate.git.repository import FULL_SHA
from benchgate.github.artifacts import Leg
from benchgate.github.comments import mark, own_markers
from benchgate.github.plan import CommentPlan, CommentTime
from benchgate.github.queries import commit_of, merge_base
from benchgate.model.run import Source
from benchgate.report.comment import COMMENT_BYTES, render_comment, render_failure
from benchgate.session.choice import EVERYTHING
from benchgate.session.result_file import DEFAULT_SUITE

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.baselines.claims import Lie, RunPeriod
    from benchgate.baselines.unverified import SanitizedResult
    from benchgate.ci.job import Job
    from benchgate.ci.step import Step
    from benchgate.config import Config
    from benchgate.github.comments import Marker
    from benchgate.github.events import WorkflowRunEvent
    from benchgate.github.objects import PullRequest
    from benchgate.model.result import Result
    from benchgate.model.run import Run
    from benchgate.model.verdict import Verdict
    from benchgate.session.choice import Choice
    from benchgate.session.effects import Effects

_USUAL: Final = Leg.of(DEFAULT_SUITE, USUAL_ENVIRONMENT)
_UNKNOWN: Final = frozenset({404, 422})
_WARNING: Final = (
    "measured by the pull request's own run: review its changes before you rely on these numbers"
)
_SHARED: Final = (
    "other open pull requests have the same head: this run may have measured for one of them, "
    "against another base"
)


@dataclass(frozen=True, slots=True, eq=False)
class LegResult:
    """The result that a run left of one suite on one kind of machine.

    Attributes:
        read: the result, or what is wrong with it.
        period: when the run took place, until it left this result.
        own: what the default branch's newest run of that leg measured; None if there is none.
    """

    leg: Leg
    read: Result | UsageError
    period: RunPeriod
    own: Run | None


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
    step: Step
    choice: Choice = EVERYTHING

    def of_result(self, left: LegResult) -> PublishOutcome:
        """Judge the result and comment; or comment why that is impossible.

        Raises:
            GitHubError: it has to be asked for the base, and does not answer.
        """
        leg = left.leg
        try:
            if isinstance(left.read, UsageError):
                raise left.read
            verdict = self._verdict(left.read, left)
        except GitHubError as error:
            done = no_comment(error)
            self.step.warn(done.warnings)
            return done
        except BenchgateError as error:
            return self._of_failure(leg, error.message, error.hint)
        view = self._readers(leg).view(verdict)
        body = render_comment(view, limit_bytes=COMMENT_BYTES, summary_url=self._run_url)
        self.step.output(verdict=verdict.decision.value)
        return self._post(self._marker(leg), body)

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
        target = Target(self._repository, self.pull.number, marker)
        wanted = CommentPlan(CommentTime.NOW, "the run measured its head")
        posted = comment(text, wanted, target, self.job.client)
        summarized = summarize(lambda _: text, self.step.environ)
        for one in (summarized, posted):
            self.step.write([self.step.redact(note) for note in one.notes])
            self.step.warn(one.warnings)
        if posted.comment_url:
            self.step.output(comment_url=posted.comment_url)
        return posted

    def _verdict(self, result: Result, left: LegResult) -> Verdict:
        """Judge by the configuration of the pull request's target branch, as of today.

        Raises:
            UsageError: it cannot be judged alone (one arm, or a shard), or it contradicts GitHub.
            BaselineError: the base commit cannot be found.
            GitHubError: it has to be asked for the base, and does not answer.
        """
        if not self.is_strange:
            shared = self._warnings[1:]
            known = replace(result, warnings=(*shared, *result.warnings))
            find, today = self._configuration, self._today
            return judge_own(known, self.run, self.pull, self.job, configuration=find, today=today)
        if result.base is None:
            raise UsageError("the run measured only the head, so there is nothing to compare")
        if result.shard and result.shard.count > 1:
            raise UsageError("the run left the result of one shard, not of the whole suite")
        found = self._configuration(self.pull.base.sha)
        base = with_options(found, self.config) if found else self.config
        config = self._with_head(base)
        asked = confirmed(result, self.run, self.pull, config, self.job)
        config = with_accepted(config, asked.accepted)
        _refuse(lie_about_time(result, left.period))
        _refuse(self._lie_about_base(result.base.source, base))
        clean = self._cleaned(result, result.base, base, left.own)
        names = clean.names
        renamed = {o: n for o, n in config.aliases.items() if o in names and n in names}
        aliases = {names[old]: names[new] for old, new in renamed.items()}
        said = (*self._warnings, *asked.warnings, *clean.warnings)
        config = replace(config, aliases=aliases)
        # It counts as the whole of a suite, because a shard is judged less strictly.
        whole = replace(clean.result, warnings=said, shard=None, screening=None, policy=None)
        ids = tuple(names.values())
        verdict = make_verdict(judge_run(whole, config), config, day=self._today, ids=ids)
        return replace(verdict, policy_changes=cleaned_loosening(verdict.policy_changes, base, ids))

    @property
    def _today(self) -> date:
        return date.fromisoformat(self.effects.now()[:10])

    def _cleaned(
        self, result: Result, base: Run, config: Config, own: Run | None
    ) -> SanitizedResult:
        sha = base.source.sha or ""
        ensure_commit(self.job.git, sha)
        measured = [one.id for one in base.benchmarks]
        known = known_benchmarks(
            config, self.job.git, sha, own=own, choice=self.choice, measured=measured
        )
        return cleaned(result, known, self._head, _claimed(base))

    def _lie_about_base(self, claimed: Source, config: Config) -> Lie | None:
        if named := config.baseline.against:
            return lie_about_named_base(claimed, named, self._asked(commit_of, named))
        return lie_about_base(
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


def _refuse(lie: Lie | None) -> None:
    if lie is not None:
        raise UsageError(lie.what, hint=lie.hint)


def _name(leg: Leg) -> str:
    return name_of(leg.suite, leg.environment)


def _claimed(base: Run) -> Source:
    """The base that the run claims to have measured."""
    sha = base.source.sha or ""
    return Source(sha if FULL_SHA.fullmatch(sha) else None, why="as the pull request's run says")
