from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.ci.steps import SECRET, Stage
from tests.contract.conftest import github
from tests.contract.faults import Fault
from tests.contract.records import CheckRun, Token
from tests.contract.scene import BASE_SHA, FORKS_TOKEN, HEAD_SHA, HELLO, PULL, TOKEN
from tests.jobs import FORKS, RUN, job_of, pull_request, push
from tests.report.conftest import changed, unchanged, verdict

from benchgate.ci import step as ci_step
from benchgate.ci.measuring import CiOutcome, CiRequest, JobFile
from benchgate.config.load import loads
from benchgate.errors import BaselineError, FormatError, Interrupted, MeasureError, UsageError
from benchgate.github.artifact_names import Leg
from benchgate.github.comments import mark, marker_in
from benchgate.github.plan import Head, plan_for
from benchgate.model.environment import Environment
from benchgate.model.policy import Outcome
from benchgate.model.result import Shard
from benchgate.model.row import Row
from benchgate.model.verdict import Decision
from benchgate.session.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.contract.server import GitHubServer
    from tests.world import World

    from benchgate.git.repository import Git
    from benchgate.github.runner import Event
    from benchgate.model.verdict import Verdict

__all__ = ["github"]

PULL_REQUEST = pull_request(HEAD_SHA, BASE_SHA, PULL.number)
PUSH = push(BASE_SHA)
CHECKING = Token("ghs_checking", {**TOKEN.permissions, "checks": "write"})
ANNOTATION = re.compile(r"::error (file=[^:,]+,line=\d+,)?title=[^:,]+::.+")
HOSTILE = "\n::error::obeyed\r##[set-output name=verdict]pass"


def failed(*rows: Row, **more: Any) -> Verdict:  # noqa: ANN401 - any field
    at: dict[str, Any] = {"location": "bench_parse.py:3"}
    slower = (
        changed("parse/large", Outcome.REGRESSED, 1.146, **at),
        changed("parse/large", Outcome.REGRESSED, 1.3, metric="peak_rss", unit="B", **at),
        changed("sort", Outcome.IMPROVED, 0.8),
    )
    return verdict(Decision.FAIL, *slower, unchanged("json"), *rows, exit_code=3, **more)


@dataclass(slots=True)
class Working:
    """A step whose measuring is done by a test.

    Attributes:
        does: stands for `ci`; it gets the arguments that `ci` gets by name.
    """

    server: GitHubServer
    git: Git
    world: World
    stage: Stage
    does: Callable[..., CiOutcome] | None = None

    def measure(self, *arguments: Any, **more: Any) -> CiOutcome:  # noqa: ANN401 - those of `ci`
        assert self.does is not None
        return self.does(*arguments, **more)

    def run(
        self,
        event: Event = PULL_REQUEST,
        *,
        token: Token = TOKEN,
        suite: str = "default",
        machine: str = "x86_64",
        shard: Shard | None = None,
        actor: str = "octocat",
        **options: bool,
    ) -> int:
        job = job_of(
            self.server,
            self.git,
            event,
            token=token,
            here=Environment(machine=machine),
            run_attempt=2,
            actor=actor,
        )
        request = CiRequest(self.stage.folder, Choice(shard=shard), suite)
        step = self.stage.step(**options)
        return ci_step.ci_step(request, lambda: loads("", "x.toml"), self.world.effects, job, step)

    def gives(
        self,
        made: Verdict | None,
        *,
        why: str = "",
        figures: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        """Have the measuring come to a verdict, or to nothing for a reason."""

        def measure(*arguments: Any, **_: object) -> CiOutcome:  # noqa: ANN401 - those of `ci`
            plan = plan_for(arguments[3].context, Head("5" * 40))
            kept = JobFile(self.stage.folder / "result.json.gz", "benchgate-result.default.linux")
            page = self.stage.folder / "benchgate-report.default.linux.html"
            return CiOutcome(plan, made, kept if made else None, why, page, figures)

        self.does = measure

    def raises(self, error: BaseException) -> None:
        def measure(*_: object, **__: object) -> CiOutcome:
            raise error

        self.does = measure

    @property
    def comments(self) -> list[str]:
        """Ours."""
        return [one.body for one in self.server.state.comments(HELLO, PULL.number)][1:]

    @property
    def checks(self) -> list[CheckRun]:
        return self.server.state.all(CheckRun)

    @property
    def obeyed(self) -> list[str]:
        """The lines that the runner listens to, after the one that has it stop, and the end."""
        lines = self.stage.lines
        begin = next(i for i, line in enumerate(lines) if line.startswith("::stop-commands::"))
        end = lines.index(f"::{lines[begin].removeprefix('::stop-commands::')}::")
        return [*lines[:begin], *lines[end + 1 :]]


@pytest.fixture
def checkout(repo: Git, commit: Callable[[Git, Mapping[str, str]], str]) -> Git:
    commit(repo, {"a": "1"})
    return repo


@pytest.fixture
def working(
    github: GitHubServer,
    checkout: Git,
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Working:
    github.state.put(CHECKING)
    (tmp_path / "files").mkdir()
    one = Working(github, checkout, world, Stage(tmp_path / "files"))
    monkeypatch.setattr(ci_step, "ci", one.measure)
    return one


def test_a_verdict_is_told_in_every_way(working: Working) -> None:
    working.gives(failed())
    assert working.run(token=CHECKING, check_run=True) == 3
    first = "### \N{CROSS MARK} Slower: `parse/large`"
    (comment,) = working.comments
    assert comment.startswith(first)
    assert marker_in(comment) == mark("default.linux-x86_64", head=HEAD_SHA, run=RUN, attempt=2)
    assert working.stage.summary.startswith(first)
    assert (working.stage.folder / "report.md").read_text().startswith(first)
    (check,) = working.checks
    assert (check.name, check.head_sha) == ("benchgate", HEAD_SHA)
    assert (check.status, check.conclusion) == ("completed", "failure")
    (annotation,) = working.obeyed
    assert ANNOTATION.fullmatch(annotation)
    assert annotation.startswith("::error file=bench_parse.py,line=3,title=parse/large slower::")
    (shown,) = working.stage.shown
    assert shown.decision is Decision.FAIL


def test_the_outputs_are_set_in_the_order_of_their_worth(working: Working) -> None:
    # A job that is cancelled meanwhile keeps what was set until then.
    folder = working.stage.folder
    working.gives(failed())
    plain = working.does
    assert plain is not None
    set_before: list[tuple[str, str]] = []

    def measure(
        *arguments: Any,  # noqa: ANN401 - those of `ci`
        keep_baseline: Callable[[JobFile], None],
        **more: Any,  # noqa: ANN401 - those of `ci`
    ) -> CiOutcome:
        keep_baseline(JobFile(folder / "baseline.json.gz", "benchgate-baseline.default.linux"))
        set_before.extend(working.stage.outputs)
        return plain(*arguments, **more)

    working.does = measure
    working.run()
    baseline = [
        ("baseline", f"{folder}/baseline.json.gz"),
        ("baseline-name", "benchgate-baseline.default.linux"),
    ]
    assert set_before == baseline
    (posted,) = working.server.state.comments(HELLO, PULL.number)[1:]
    url = dict(working.stage.outputs)["comment-url"]
    assert url.endswith(f"#issuecomment-{posted.id}")
    assert working.stage.outputs == [
        *baseline,
        ("verdict", "fail"),
        ("regressions", "1"),
        ("improvements", "1"),
        ("report", f"{folder}/report.md"),
        ("comment-url", url),
        ("page", f"{folder}/benchgate-report.default.linux.html"),
        ("result", f"{folder}/result.json.gz"),
        ("result-name", "benchgate-result.default.linux"),
    ]


def test_the_comment_leads_to_the_page(working: Working) -> None:
    working.gives(failed())
    working.run()
    page = Path(dict(working.stage.outputs)["page"]).read_text()
    assert "parse/large" in page
    (posted,) = working.server.state.comments(HELLO, PULL.number)[1:]
    address = f"https://github.com/octo-org/hello/actions/runs/{RUN}/attempts/2#artifacts"
    assert f"[report](<{address}>)" in posted.body


def test_without_a_page_there_is_a_verdict(working: Working) -> None:
    def damaged() -> Mapping[str, Any]:
        raise FormatError("the histogram of 'a' cannot be read", hint="")

    working.gives(failed(), figures=damaged)
    assert working.run() == 3
    assert dict(working.stage.outputs)["page"] == ""
    warned = "no report as a page of HTML: the histogram of 'a' cannot be read"
    assert warned in "\n".join(working.stage.lines)
    (posted,) = working.server.state.comments(HELLO, PULL.number)[1:]
    assert "the figures of every benchmark" not in posted.body


def broken(*_: object, **__: object) -> Any:  # noqa: ANN401 - stands for any renderer
    raise IndexError("it is broken")


BROKEN = "benchgate itself failed there, and the verdict is not affected"


@pytest.mark.parametrize(
    ("renderer", "what"),
    [
        ("benchgate.page.report.render", "report as a page of HTML"),
        ("benchgate.page.report.plots", "figures of a benchmark"),
        ("benchgate.report.row_view.draw_course", "sparkline"),
        ("benchgate.report.row_view.view_cause", "cause"),
        ("benchgate.report.view.view_causes", "cause"),
        ("benchgate.ci.step.render_markdown", "report.md"),
        ("benchgate.ci.step.render_comment", "comment"),
        ("benchgate.ci.readers.view_verdict", "comment"),
        ("benchgate.ci.step.annotation_lines", "annotation"),
    ],
)
def test_a_renderer_that_fails_costs_only_itself(
    working: Working, monkeypatch: pytest.MonkeyPatch, renderer: str, what: str
) -> None:
    working.gives(failed())
    monkeypatch.setattr(renderer, broken)
    assert working.run(token=CHECKING, check_run=True) == 3
    outputs = dict(working.stage.outputs)
    assert (outputs["verdict"], outputs["regressions"]) == ("fail", "1")
    assert "result" in outputs
    (comment,) = working.comments
    (check,) = working.checks
    page = Path(outputs["page"]).read_text() if outputs["page"] else ""
    told = "\n".join((comment, *working.stage.lines, page))
    assert f"o {what}: {BROKEN}" in told
    assert "IndexError in test_step.py" in told
    if what == "comment":
        assert "the verdict is 'fail', but no comment" in comment
        assert check.conclusion == "cancelled"
    else:
        assert comment.startswith("### \N{CROSS MARK} Slower: `parse/large`")
        assert check.conclusion == "failure"


@pytest.mark.parametrize(
    ("decision", "exit_code"),
    [(Decision.PASS, 0), (Decision.NO_VERDICT, 0), (Decision.NO_VERDICT, 4), (Decision.FAIL, 5)],
)
def test_the_verdict_gives_the_exit_code(
    working: Working, decision: Decision, exit_code: int
) -> None:
    working.gives(verdict(decision, unchanged("sort"), exit_code=exit_code))
    assert working.run() == exit_code
    assert dict(working.stage.outputs)["verdict"] == decision.value


def test_nothing_hostile_is_said_while_the_runner_listens(working: Working) -> None:
    name = f"evil{HOSTILE}"
    working.gives(
        failed(
            Row(name, Outcome.FAILED, error=HOSTILE, location=f"a:1{HOSTILE}", notes=(HOSTILE,)),
            changed(name, Outcome.REGRESSED, 1.2, metric=name, notes=(HOSTILE,)),
            warnings=(HOSTILE,),
        )
    )
    plain = working.does
    assert plain is not None

    def measure(*arguments: Any, **more: Any) -> CiOutcome:  # noqa: ANN401 - those of `ci`
        assert working.stage.lines == ["::stop-commands::drawn0"]
        working.stage.stream.write(HOSTILE)
        return plain(*arguments, **more)

    working.does = measure
    working.run()
    lines = working.stage.lines
    assert lines[:2] == ["::stop-commands::drawn0", ""]
    assert "::error::obeyed" in lines  # while it does not listen
    assert len(working.obeyed) == 2
    for line in working.obeyed:
        assert ANNOTATION.fullmatch(line), line
    assert [name for name, _ in working.stage.outputs].count("verdict") == 1


@pytest.mark.parametrize("error", [RuntimeError("a bug"), KeyboardInterrupt()])
def test_the_runner_listens_again_and_no_check_run_goes_on_whatever_happens(
    working: Working, error: BaseException
) -> None:
    working.raises(error)
    with pytest.raises(type(error)):
        working.run(token=CHECKING, check_run=True)
    assert working.stage.lines == ["::stop-commands::drawn0", "", "::drawn0::"]
    assert working.comments == []
    (check,) = working.checks
    assert check.conclusion == "cancelled"
    assert "before it reached a verdict" in check.output["summary"]


@pytest.mark.parametrize(
    "error",
    [
        BaselineError("the base cannot be built", hint="Look at it.", details="make: no rule"),
        MeasureError("the head cannot be built", hint="Look at it.", details="make: no rule"),
        UsageError("no benchmarks", hint="Look at it.", details="make: no rule"),
    ],
)
def test_a_failure_is_told_and_goes_on(working: Working, error: BaselineError) -> None:
    working.raises(error)
    with pytest.raises(type(error)) as raised:
        working.run(token=CHECKING, check_run=True)
    assert raised.value is error
    (comment,) = working.comments
    for text in (comment, working.stage.summary):
        lines = text.splitlines()
        assert lines[0].endswith(f"No verdict: {error.message}")
        assert "Look at it." in lines
        assert "make: no rule" in lines
        assert f"There is no verdict on {HEAD_SHA[:7]}" in text
    assert marker_in(comment) == mark("default.linux-x86_64", head=HEAD_SHA, run=RUN, attempt=2)
    (check,) = working.checks
    assert (check.conclusion, check.output["summary"]) == ("cancelled", error.message)
    assert working.stage.outputs == []
    assert working.obeyed == [f"::error title=benchgate::{error.message}%0ALook at it."]


def test_what_was_kept_before_a_failure_stays(working: Working) -> None:
    def measure(*_: object, keep_baseline: Callable[[JobFile], None], **__: object) -> CiOutcome:
        keep_baseline(JobFile(working.stage.folder / "x", "benchgate-baseline.default.linux"))
        raise BaselineError("the base cannot be built")

    working.does = measure
    with pytest.raises(BaselineError):
        working.run(PUSH)
    assert [name for name, _ in working.stage.outputs] == ["baseline", "baseline-name"]
    assert working.comments == []
    assert "No verdict: the base cannot be built" in working.stage.summary


def test_a_failure_that_cannot_be_told_is_still_the_failure(working: Working) -> None:
    working.server.faults.always("*", Fault(status=503))
    working.raises(BaselineError("the base cannot be built"))
    with pytest.raises(BaselineError, match="cannot be built"):
        working.run(check_run=True)
    no_check, no_comment = (line for line in working.stage.lines if "::warning" in line)
    assert no_check.startswith("::warning::no check run: POST ")
    assert no_comment.startswith("::warning::no comment: GET /user")


def test_an_interruption_is_no_news(working: Working) -> None:
    working.raises(Interrupted("interrupted"))
    with pytest.raises(Interrupted):
        working.run(token=CHECKING, check_run=True)
    assert (working.comments, working.stage.summary, working.stage.outputs) == ([], "", [])
    (check,) = working.checks  # but nobody waits for it
    assert (check.status, check.conclusion) == ("completed", "cancelled")


def test_nothing_to_measure_is_no_failure(working: Working) -> None:
    working.gives(None, why="a tag names a commit and changes nothing")
    assert working.run(PUSH, token=CHECKING, check_run=True) == 0
    assert working.stage.outputs == [("verdict", ""), ("regressions", "0"), ("improvements", "0")]
    assert working.obeyed == [
        "::notice title=benchgate::nothing to measure: a tag names a commit and changes nothing"
    ]
    assert (working.comments, working.stage.summary, working.stage.shown) == ([], "", [])
    (check,) = working.checks
    assert check.output["summary"] == "a tag names a commit and changes nothing"


def test_a_push_has_no_comment_and_a_check_of_its_own_commit(working: Working) -> None:
    working.gives(failed())
    assert working.run(PUSH, token=CHECKING, check_run=True) == 3
    assert working.comments == []
    assert "no comment: push belongs to no pull request" in working.stage.said
    assert [check.head_sha for check in working.checks] == ["5" * 40]


@pytest.mark.parametrize("is_failure", [True, False])
def test_comments_can_be_switched_off(working: Working, *, is_failure: bool) -> None:
    working.gives(failed())
    if is_failure:
        working.raises(BaselineError("the base cannot be built"))
        with pytest.raises(BaselineError):
            working.run(comments=False)
    else:
        assert working.run(comments=False) == 3
        assert dict(working.stage.outputs)["comment-url"] == ""
    assert working.server.requests == []
    assert working.stage.said == ["no comment: comments are turned off"]
    assert working.stage.summary != ""


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"shard": Shard(1, 2)}, "no comment: the job that joins all shards comments"),
        (
            {"event": replace(PULL_REQUEST, head_repository=FORKS), "token": FORKS_TOKEN},
            (
                "no comment from this job: the pull request is from a fork, whose token is "
                "read-only; a second workflow with `benchgate publish` can comment"
            ),
        ),
    ],
    ids=["a shard", "a fork"],
)
def test_the_comment_is_left_to_another_job(
    working: Working, asked: dict[str, Any], said: str
) -> None:
    working.gives(failed())
    assert working.run(**asked) == 3
    assert working.server.requests == []
    assert working.stage.said == [said]
    assert "Slower: " in working.stage.summary


def test_each_suite_has_its_own_comment_and_check(working: Working) -> None:
    working.gives(failed())
    for suite in ("fast", "slow one"):
        working.run(suite=suite, token=CHECKING, check_run=True)
    markers = [marker_in(one) for one in working.comments]
    keys = [str(Leg.of(suite, "linux-x86_64")) for suite in ("fast", "slow one")]
    keys = [key.replace("-", "%2D") for key in keys]
    assert [one.suite for one in markers if one] == keys
    assert [one.name for one in working.checks] == ["benchgate (fast)", "benchgate (slow one)"]


def test_each_kind_of_machine_has_its_own_comment_and_check(working: Working) -> None:
    working.gives(failed())
    working.run(token=CHECKING, check_run=True)
    working.raises(BaselineError("the base cannot be built"))
    for suite in ("default", "fast"):
        with pytest.raises(BaselineError):
            working.run(suite=suite, machine="aarch64", token=CHECKING, check_run=True)
    first, *others = (one.splitlines()[0].partition(" ")[2] for one in working.comments)
    assert first.startswith("\N{CROSS MARK} ")
    warned = "\N{BLACK QUESTION MARK ORNAMENT} "
    assert others == [
        f"{warned}linux-aarch64 · No verdict: the base cannot be built",
        f"{warned}fast, linux-aarch64 · No verdict: the base cannot be built",
    ]
    names = ["benchgate", "benchgate (linux-aarch64)", "benchgate (fast, linux-aarch64)"]
    assert [one.name for one in working.checks] == names


def test_a_check_run_that_is_refused_is_a_warning(working: Working) -> None:
    working.gives(failed())
    assert working.run(check_run=True) == 3
    warning, *_ = working.stage.lines
    assert warning.startswith("::warning::no check run: POST /repos/octo-org/hello/check-runs: ")
    assert "checks: write" in warning
    assert len(working.comments) == 1


@pytest.mark.parametrize("has_verdict", [True, False])
def test_a_check_run_that_cannot_be_ended_is_a_warning(
    working: Working, *, has_verdict: bool
) -> None:
    working.server.faults.always("PATCH *", Fault(status=404))
    working.gives(failed() if has_verdict else None, why="a tag")
    assert working.run(token=CHECKING, check_run=True) == (3 if has_verdict else 0)
    (warning,) = (line for line in working.obeyed if line.startswith("::warning"))
    assert warning.startswith("::warning::no check run: PATCH ")


def test_a_github_that_is_down_changes_no_verdict(working: Working) -> None:
    working.server.faults.always("*", Fault(drop_connection=True))
    working.gives(failed())
    assert working.run(check_run=True) == 3
    outputs = dict(working.stage.outputs)
    assert (outputs["verdict"], outputs["comment-url"]) == ("fail", "")
    assert outputs["result-name"] == "benchgate-result.default.linux"
    assert len([line for line in working.stage.lines if line.startswith("::warning")]) == 2


def test_outputs_that_nobody_reads_are_noted(
    working: Working, monkeypatch: pytest.MonkeyPatch
) -> None:
    working.gives(failed())
    step = replace(working.stage.step(), environ={})
    monkeypatch.setattr(Stage, "step", lambda *_, **__: step)
    assert working.run() == 3
    assert any("GITHUB_OUTPUT is not set" in said for said in working.stage.said)


def everything(working: Working) -> str:
    """All that has left this process."""
    files = [path.read_text() for path in working.stage.folder.iterdir() if path.is_file()]
    bodies = [json.dumps(asked.body) for asked in working.server.requests]
    return "\n".join([*files, *bodies, *working.obeyed])


def test_secrets_are_taken_out_of_all_that_is_told(working: Working) -> None:
    name = f"login {SECRET}"
    working.gives(
        failed(
            changed(name, Outcome.REGRESSED, 1.5, notes=(f"see {SECRET}",), location=f"{SECRET}:1"),
            Row(f"{name} 2", Outcome.FAILED, error=f"{SECRET}\nmore {SECRET}"),
            warnings=(f"careful with {SECRET}",),
        )
    )
    assert working.run(token=CHECKING, check_run=True) == 3
    said = everything(working)
    assert said.count("removed") > 20
    assert "hunter2" not in said
    # What a secret alone told apart is counted all the same.
    assert dict(working.stage.outputs)["regressions"] == "2"


def test_secrets_are_taken_out_of_a_failure(working: Working) -> None:
    text = f"cannot reach {SECRET}"
    working.raises(MeasureError(text, hint=text, details=text))
    with pytest.raises(MeasureError):
        working.run(token=CHECKING, check_run=True)
    said = everything(working)
    # Comment and summary, each three times; check run and log once.
    assert len(re.findall(r"cannot reach \W+removed", said)) == 9
    assert "hunter2" not in said


def test_secrets_are_taken_out_of_what_could_not_be_told(working: Working) -> None:
    working.server.faults.always("GET /user", Fault(status=400, message=f"no {SECRET}"))
    working.gives(failed())
    working.run()
    (warning,) = (line for line in working.obeyed if line.startswith("::warning"))
    assert "no comment: GET /user" in warning
    assert "hunter2" not in warning
