"""One step of a job: measure, decide, and report to GitHub.

If something cannot be published, that is a warning and does not change the verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from benchgate.ci.check_run import CheckRun, write_page
from benchgate.ci.commenting import CommentTarget, PublishOutcome, comment
from benchgate.ci.legs import USUAL_ENVIRONMENT
from benchgate.ci.measuring import ci
from benchgate.ci.readers import Readers
from benchgate.ci.stored_artifacts import environment_key
from benchgate.errors import BenchgateError, GitHubError, Interrupted, UsageError, without_it
from benchgate.escape import plain_line
from benchgate.files import write_atomic
from benchgate.github.annotations import Annotation, Level, annotate, stopped
from benchgate.github.artifact_names import Leg
from benchgate.github.comments import mark
from benchgate.github.plan import CommentPlan, CommentTime
from benchgate.github.runner import PullRequestEvent
from benchgate.github.step_outputs import write_outputs, write_summary
from benchgate.model.policy import Outcome
from benchgate.model.row_order import WRONG
from benchgate.model.verdict import Decision
from benchgate.report.failure import render_failure
from benchgate.report.headline import bare
from benchgate.report.markdown import COMMENT_BYTES, render_comment, render_markdown
from benchgate.report.view import view_verdict
from benchgate.session.result_file import DEFAULT_SUITE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Self, TextIO

    from benchgate.ci.base import Job
    from benchgate.ci.measuring import CiOutcome, CiRequest
    from benchgate.config import Config
    from benchgate.model.verdict import Verdict
    from benchgate.report.row_view import RowView
    from benchgate.report.view import VerdictView
    from benchgate.session.effects import Effects

_NAME_LIMIT: Final = 200
_DEFINED_HERE: Final = "The benchmark is defined here. The cause may be in any line of this change."


def name_of(suite: str, environment: str) -> str:
    """The words that tell a verdict from others on the same pull request; "" for the usual one."""
    parts = (suite, DEFAULT_SUITE), (environment, USUAL_ENVIRONMENT)
    return ", ".join(part for part, usual in parts if part != usual)


def summarize(render: Callable[[int], str], environ: Mapping[str, str]) -> PublishOutcome:
    """Write the summary of the step.

    Args:
        render: makes the markdown, at most as many UTF-8 bytes long as its argument says.
    """
    lost: list[str] = []
    why_not = without_it("summary", partial(write_summary, render, environ), "", lost.append)
    notes = (f"no summary: {why_not}",) if why_not else ()
    return PublishOutcome(notes=notes, warnings=tuple(lost))


def annotation_lines(view: VerdictView, *, passed: bool) -> list[str]:
    """The workflow commands that annotate the diff with each benchmark that got worse.

    If nothing got worse but the job fails, they say why, because the page of a run for a merge
    group or a push has no comment that says so.
    """
    level = Level.ERROR if view.decision is Decision.FAIL else Level.WARNING
    marks = benchmark_annotations(view)
    if not marks and not passed:
        return annotate(Level.ERROR, [Annotation(view.sentence, "benchgate")])
    return annotate(level, marks)


def benchmark_annotations(view: VerdictView) -> list[Annotation]:
    """One annotation for each benchmark that regressed or failed, the worst first.

    It stands at the function that made it slower if that is known, or else where the benchmark is
    defined, and says so.
    """
    annotations = []
    for one in view.shown:
        wrong = [row for row in one.rows if row.outcome in WRONG]
        if wrong:
            said = [_said(row, view.interval_title) for row in wrong]
            cause = next((row.cause for row in wrong if row.cause and row.cause.location), None)
            place = cause.location if cause else wrong[0].location
            if cause:
                said.append(bare(cause.sentence))
            elif place and wrong[0].outcome is Outcome.REGRESSED:
                said.append(_DEFINED_HERE)
            title = f"{plain_line(wrong[0].benchmark, _NAME_LIMIT)} {wrong[0].word}"
            annotations.append(Annotation("\n".join(said), title, place))
    return annotations


def _said(row: RowView, interval_title: str) -> str:
    """The row in one line: "typical (p25): +14.6 % (95 % interval ...), 12.30 ms to 14.10 ms"."""
    compared = row.compared(interval_title)
    measured = f"{row.statistic}: {compared}" if compared else ""
    return "; ".join(filter(None, (measured, row.note)))


def error_lines(error: BenchgateError, redact: Callable[[str], str]) -> list[str]:
    """The workflow command that shows an error, and what to do, on the page of the run."""
    said = filter(None, (plain_line(error.message, 1000), plain_line(error.hint, 1000)))
    return annotate(Level.ERROR, [Annotation(redact("\n".join(said)), "benchgate")])


REPORT_FILE = "report.md"


@dataclass(frozen=True, slots=True)
class JobStep:
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
    request: CiRequest, configure: Callable[[], Config], effects: Effects, job: Job, step: JobStep
) -> int:
    """Run a step; return its exit code.

    Args:
        configure: loads the head's configuration; errors in it are also reported on the pull
            request.
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
                without_it("report", partial(_show_on, step, outcome.verdict), None, step.say)
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


def _show_on(step: JobStep, verdict: Verdict) -> None:
    step.show(view_verdict(verdict))


@dataclass(frozen=True, slots=True)
class _JobReport:
    """Reports the outcome of a job to GitHub."""

    request: CiRequest
    job: Job
    step: JobStep
    check: CheckRun | None

    @classmethod
    def begin(cls, request: CiRequest, effects: Effects, job: Job, step: JobStep) -> Self:
        """Create the check run, if one is wanted, before anything is measured."""
        telling = cls(request, job, step, None)
        if not step.check_run:
            return telling
        planned = job.plan.comment
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
        lost: list[str] = []
        view = without_it("comment", partial(readers.view, verdict), None, lost.append)
        posted = self._show(view, outcome, lost) if view else None
        if posted is None:
            self.of_failure(UsageError(f"the verdict is '{verdict.decision}', but {lost[0]}"))
            posted = PublishOutcome()
        self._report(written, PublishOutcome(warnings=tuple(lost)))
        counts = _benchmarks_by_outcome(verdict)
        step.output(
            verdict=verdict.decision.value,
            regressions=str(counts.get(Outcome.REGRESSED, 0)),
            improvements=str(counts.get(Outcome.IMPROVED, 0)),
            report=str(self._report_file) if self._report_file.exists() else "",
            comment_url=posted.comment_url,
            page="" if written.warnings else str(outcome.page),
        )
        if outcome.result:
            step.output(result=str(outcome.result.path), result_name=outcome.result.name)

    def _show(
        self, view: VerdictView, outcome: CiOutcome, lost: list[str]
    ) -> PublishOutcome | None:
        """Show the verdict in every place; None if there is no text for a comment.

        Args:
            lost: gets a warning for each place that does not show it.
        """
        step, passed = self.step, view.exit_code == 0
        render = partial(render_comment, view)
        body = without_it(
            "comment",
            lambda: render(limit_bytes=COMMENT_BYTES, summary_url=self._run_url),
            None,
            lost.append,
        )
        if body is None:
            return None
        file = self._report_file
        without_it(
            file.name,
            lambda: write_atomic(file, render_markdown(view).encode()),
            None,
            lost.append,
        )
        posted = self._comment(body, outcome.plan.comment)
        summarized = summarize(lambda room: render(limit_bytes=room), step.environ)
        ended = self._end_check_run(lambda check: check.conclude(view, passed=passed))
        self._report(summarized, posted, ended)
        marks = partial(annotation_lines, view, passed=passed)
        step.write(without_it("annotation", marks, [], lost.append))
        return posted

    @property
    def _report_file(self) -> Path:
        return self.request.folder / REPORT_FILE

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
            planned = self.job.plan.comment
            done = [summarize(lambda _: text, step.environ), self._comment(text, planned)]
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
    def _target(self) -> CommentTarget | None:
        context = self.job.context
        if not isinstance(context.event, PullRequestEvent):
            return None
        marker = mark(
            str(Leg.of(self.request.suite, self._environment)),
            head=self.head,
            run=context.run_id,
            attempt=context.run_attempt,
        )
        return CommentTarget(context.repository.full_name, context.event.number, marker)

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
        lost: list[str] = []
        check = self.check
        if check is not None:
            without_it("check run", lambda: end(check), None, lost.append)
        return PublishOutcome(warnings=tuple(lost))

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
