"""What one leg of a run leads to: its result is cleaned and judged, and its comment written.

The verdict on a branch of the own repository equals that of the job that measured. Whoever can push
a branch there can make that job measure anything, so the numbers count here as they do there,
stored runs included. But the rules are always those of the base commit, and GitHub is asked who
accepted what.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from benchgate.baselines.base_config import base_config, config_at, require_few
from benchgate.baselines.claims import (
    RunPeriod,
    require_base_of_branch,
    require_named_base,
    require_possible_times,
)
from benchgate.baselines.untrusted_texts import cleaned_loosening
from benchgate.baselines.unverified import cleaned
from benchgate.ci.base import AcceptanceAnswer, ask_about
from benchgate.ci.commenting import CommentTarget, PublishOutcome, comment, no_comment
from benchgate.ci.known_benchmarks import known_benchmarks
from benchgate.ci.legs import USUAL_ENVIRONMENT
from benchgate.ci.readers import Readers
from benchgate.ci.step import name_of, summarize
from benchgate.config import Sides, loads, policy_from, with_accepted, with_options
from benchgate.errors import (
    BenchgateError,
    ConfigError,
    GitHubError,
    UsageError,
    without_it,
)
from benchgate.escape import plain_line
from benchgate.gate.effect import require_effect, untested_metrics
from benchgate.gate.verdict import judge
from benchgate.git.repository import FULL_SHA, ensure_commit
from benchgate.github.artifact_names import Leg
from benchgate.github.client import commit_of, merge_base
from benchgate.github.comments import mark, own_markers
from benchgate.github.plan import MERGE_COMMIT, CommentPlan, CommentTime
from benchgate.model.run import Source
from benchgate.report.failure import render_failure
from benchgate.report.markdown import COMMENT_BYTES, render_comment
from benchgate.session.choice import EVERYTHING
from benchgate.session.result_file import DEFAULT_SUITE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchgate.baselines.unverified import SanitizedResult
    from benchgate.ci.base import Job
    from benchgate.ci.step import JobStep
    from benchgate.config import Config
    from benchgate.github.comments import Marker
    from benchgate.github.objects import PullRequest
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
        verdict = judge(whole, config, day=self._today, ids=ids, untested=untested)
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
        return judge(known, config, day=self._today)

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
