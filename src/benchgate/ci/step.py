"""One step of a job: measure, decide, and report to GitHub."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.ci.announce import (
    CheckRun,
    PublishOutcome,
    Target,
    annotation_lines,
    comment,
    error_lines,
    name_of,
    summarize,
)
from benchgate.ci.base import checked_out
from benchgate.ci.measuring import ci
from benchgate.ci.page import write_page
from benchgate.ci.readers import Readers
from benchgate.ci.stored_artifacts import environment_key
from benchgate.errors import BenchgateError, GitHubError, Interrupted, UsageError
from benchgate.files import write_atomic
from benchgate.github.artifacts import Leg
from benchgate.github.comments import mark
from benchgate.github.events import PullRequestEvent
from benchgate.github.plan import CommentPlan, CommentTime, plan_for
from benchgate.github.runner import Annotation, Level, annotate, stopped, write_outputs
from benchgate.model.outcome import Outcome
from benchgate.report.comment import COMMENT_BYTES, render_comment, render_failure
from benchgate.report.markdown import render_markdown
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self, TextIO

    from benchgate.ci.job import Job
    from benchgate.ci.measuring import CiOutcome, CiRequest
    from benchgate.config import Config
    from benchgate.model.verdict import Verdict
    from benchgate.report.view import VerdictView
    from benchgate.session.effects import Effects

REPORT_FILE = "report.md"


@dataclass(frozen=True, slots=True)
class Step:
    """The current step, as GitHub's runner sees it.

    Attributes:
        environ: its variables, including those that benchmarks do not see.
        stream: standard output, where the runner looks for commands.
        draw: returns a random word that nobody can guess.
        redact: removes the secrets from a text.
        show: prints the verdict for people.
        say: prints the reason of a decision, if the user wants reasons.
    """

    environ: Mapping[str, str]
    stream: TextIO
    draw: Callable[[], str]
    redact: Callable[[str], str]
    show: Callable[[VerdictView], None]
    say: Callable[[str], None]
    comments: bool = True
    check_run: bool = False

    def output(self, **values: str) -> None:
        """Set outputs of the step; `_` in a name stands for `-`."""
        named = {name.replace("_", "-"): value for name, value in values.items()}
        try:
            why_not = write_outputs(named, self.environ, self.draw)
        except UsageError as error:
            self.warn((error.message,))
        else:
            if why_not:
                self.say(why_not)

    def warn(self, texts: tuple[str, ...]) -> None:
        """Show warnings on the page of the run."""
        self.write(annotate(Level.WARNING, [Annotation(self.redact(text)) for text in texts]))

    def write(self, lines: list[str]) -> None:
        """Write workflow commands for the runner."""
        for line in lines:
            print(line, file=self.stream, flush=True)


def ci_step(
    request: CiRequest, configure: Callable[[], Config], effects: Effects, job: Job, step: Step
) -> int:
    """Run a step; return its exit code.

    Args:
        configure: loads the head's configuration; errors in it are also reported on the pull
            request.

    Raises:
        BenchgateError: as for `ci`; the pull request's comment reports it, too.
    """
    telling = _JobReport.begin(request, effects, job, step)
    try:
        # The runner must not obey what benchmarks print, or their names, as commands.
        with stopped(step.stream, step.draw):
            outcome = ci(
                request,
                configure(),
                effects,
                job,
                keep_baseline=lambda kept: step.output(
                    baseline=str(kept.path), baseline_name=kept.name
                ),
                say=step.say,
            )
            if outcome.verdict:
                step.show(view_verdict(outcome.verdict))
    except BenchgateError as error:
        telling.of_failure(error)
        raise
    except BaseException:
        telling.of_end()
        raise
    if outcome.verdict is None:
        telling.of_nothing(outcome.why)
        return 0
    telling.of_verdict(outcome, outcome.verdict)
    return outcome.verdict.exit_code


@dataclass(frozen=True, slots=True)
class _JobReport:
    """Reports the outcome of a job to GitHub."""

    request: CiRequest
    job: Job
    step: Step
    check: CheckRun | None

    @classmethod
    def begin(cls, request: CiRequest, effects: Effects, job: Job, step: Step) -> Self:
        """Create the check run, if one is wanted, before anything is measured."""
        telling = cls(request, job, step, None)
        if not step.check_run:
            return telling
        planned = plan_for(job.context, checked_out(job.git)).comment
        if planned.when is CommentTime.LATER:
            step.say(f"no check run: {planned.why}")
            return telling
        name = f"benchgate ({telling.name})" if telling.name else "benchgate"
        repository = job.context.repository.full_name
        try:
            check = CheckRun(job.client, repository, name=name, head=telling.head, now=effects.now)
        except GitHubError as error:
            step.warn(_no_check_run(error).warnings)
            return telling
        return replace(telling, check=check)

    @property
    def head(self) -> str:
        """The commit that is judged; for a pull request the head of its branch, not the merge."""
        event = self.job.context.event
        return event.head_sha if isinstance(event, PullRequestEvent) else self.job.context.sha

    def of_verdict(self, outcome: CiOutcome, verdict: Verdict) -> None:
        """Publish the verdict; if part of it cannot be published, warn on the page of the run."""
        step = self.step
        readers = self._readers
        written = write_page(outcome.page, verdict, outcome.figures, readers)
        if not written.warnings:
            readers = replace(readers, page_url=f"{self._run_url}#artifacts")
        view = readers.view(verdict)
        report = self.request.folder / REPORT_FILE
        write_atomic(report, render_markdown(view).encode())
        body = render_comment(view, limit_bytes=COMMENT_BYTES, summary_url=self._run_url)
        posted = self._comment(body, outcome.plan.comment)
        summarized = summarize(lambda room: render_comment(view, limit_bytes=room), step.environ)
        passed = verdict.exit_code == 0
        ended = self._end_check_run(lambda check: check.conclude(view, passed=passed))
        self._report(written, summarized, posted, ended)
        step.write(annotation_lines(view, passed=passed))
        counts = _benchmarks_by_outcome(verdict)
        step.output(
            verdict=verdict.decision.value,
            regressions=str(counts.get(Outcome.REGRESSED, 0)),
            improvements=str(counts.get(Outcome.IMPROVED, 0)),
            report=str(report),
            comment_url=posted.comment_url,
            page="" if written.warnings else str(outcome.page),
        )
        if outcome.result:
            step.output(result=str(outcome.result.path), result_name=outcome.result.name)

    def of_failure(self, error: BenchgateError) -> None:
        """Report on the pull request that there is no verdict: the old one looks current."""
        step = self.step
        done: list[PublishOutcome] = []
        if not isinstance(error, Interrupted):
            text = render_failure(
                step.redact(error.message),
                hint=step.redact(error.hint),
                details=step.redact(error.details),
                head=self.head,
                name=self.name,
            )
            plan = plan_for(self.job.context, checked_out(self.job.git))
            done = [summarize(lambda _: text, step.environ), self._comment(text, plan.comment)]
            step.write(error_lines(error, step.redact))
        self._report(*done, self._give_up(step.redact(error.message)))

    def of_end(self) -> None:
        """Conclude the check run, so that it does not seem to run forever."""
        self._report(self._give_up("the job was canceled before it reached a verdict"))

    def of_nothing(self, why: str) -> None:
        """Report that the event leaves nothing to measure."""
        self.step.output(verdict="", regressions="0", improvements="0")
        said = Annotation(self.step.redact(f"nothing to measure: {why}"), "benchgate")
        self.step.write(annotate(Level.NOTICE, [said]))
        self._report(self._give_up(why))

    def _comment(self, body: str, planned: CommentPlan) -> PublishOutcome:
        wanted = planned
        if not self.step.comments:
            wanted = CommentPlan(CommentTime.NEVER, "comments are turned off")
        elif self.request.choice.shard is not None:
            wanted = CommentPlan(CommentTime.NEVER, "the job that joins all shards comments")
        return comment(body, wanted, self._target, self.job.client)

    @property
    def _target(self) -> Target | None:
        context = self.job.context
        if not isinstance(context.event, PullRequestEvent):
            return None
        marker = mark(
            str(Leg.of(self.request.suite, self._environment)),
            head=self.head,
            run=context.run_id,
            attempt=context.run_attempt,
        )
        return Target(context.repository.full_name, context.event.number, marker)

    @property
    def _environment(self) -> str:
        return environment_key(self.job.context.runner_os, self.job.here.machine)

    @property
    def name(self) -> str:
        """The words that tell this verdict from those of other jobs; "" if it is the usual one."""
        return name_of(self.request.suite, self._environment)

    @property
    def _readers(self) -> Readers:
        event = self.job.context.event
        return Readers(
            self.job.context.repository_url,
            self.head,
            event.base_ref if isinstance(event, PullRequestEvent) else "",
            self._run_url,
            self.name,
            self.step.redact,
        )

    @property
    def _run_url(self) -> str:
        context = self.job.context
        return context.run_url(context.run_id, context.run_attempt)

    def _end_check_run(self, end: Callable[[CheckRun], None]) -> PublishOutcome:
        try:
            if self.check is not None:
                end(self.check)
        except GitHubError as error:
            return _no_check_run(error)
        return PublishOutcome()

    def _give_up(self, why: str) -> PublishOutcome:
        return self._end_check_run(lambda check: check.give_up(why))

    def _report(self, *done: PublishOutcome) -> None:
        for one in done:
            for note in one.notes:
                self.step.say(note)
            self.step.warn(one.warnings)


def _no_check_run(error: GitHubError) -> PublishOutcome:
    return PublishOutcome(warnings=(f"no check run: {error.message}. {error.hint}".rstrip(),))


def _benchmarks_by_outcome(verdict: Verdict) -> Mapping[Outcome, int]:
    """Count the benchmarks that have a row of each outcome."""
    ids: dict[Outcome, set[str]] = {}
    for row in verdict.rows:
        ids.setdefault(row.outcome, set()).add(row.benchmark)
    return {outcome: len(found) for outcome, found in ids.items()}
