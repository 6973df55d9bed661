"""`benchgate ci` and `publish`: what the action's variables come to, with nothing measured."""

from __future__ import annotations

import ctypes
import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
import yaml

from benchgate.ci.publish import ALIKE, PullRequestSuite
from benchgate.cli import check, ci, compare, tree
from benchgate.cli.ci import TOKEN_VARIABLE
from benchgate.errors import BaselineError, GitHubError
from benchgate.github.client import Client
from benchgate.model.policy import OVERRIDES, Options
from benchgate.model.result import Shard
from benchgate.session.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.cli.conftest import Call

    from benchgate.ci.base import Job
    from benchgate.ci.measuring import CiRequest
    from benchgate.ci.step import JobStep
    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.github.runner import WorkflowRunEvent
    from benchgate.session.effects import Effects

ACTION: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[2] / "action.yml").read_text(encoding="utf-8")
)
TOKEN = "ghs_0123456789abcdefghij"  # noqa: S105 - nobody's
FILES = ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
OF_THE_JOB = (
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_URL",
    "BENCHGATE_TOKEN",
)
PR_GET_DUMPABLE, PR_SET_DUMPABLE = 3, 4
REPOSITORY = {"id": 1296269, "full_name": "octo-org/hello", "default_branch": "main"}


@dataclass(slots=True)
class Called:
    """What the use cases were called with; each has one call."""

    exit_code: int = 0
    error: Exception | None = None
    requests: list[CiRequest] = field(default_factory=list)
    configs: list[Config] = field(default_factory=list)
    steps: list[JobStep] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    published: list[WorkflowRunEvent] = field(default_factory=list)
    measured: list[PullRequestSuite] = field(default_factory=list)
    limits_s: list[float] = field(default_factory=list)
    seen_by_children: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def ci_step(
        self,
        request: CiRequest,
        configure: Callable[[], Config],
        effects: Effects,
        job: Job,
        step: JobStep,
    ) -> int:
        code = self._note(configure(), effects, job, step)
        self.requests.append(request)
        return code

    def publish(
        self,
        run: WorkflowRunEvent,
        config: Config,
        effects: Effects,
        job: Job,
        step: JobStep,
        *,
        theirs: PullRequestSuite = ALIKE,
    ) -> int:
        self.published.append(run)
        self.measured.append(theirs)
        return self._note(config, effects, job, step)

    def client(self, *arguments: Any, limit_s: float, **more: Any) -> Client:  # noqa: ANN401 - those of a client
        self.limits_s.append(limit_s)
        return Client(*arguments, limit_s=limit_s, **more)

    def _note(self, config: Config, effects: Effects, job: Job, step: JobStep) -> int:
        self.configs.append(config)
        self.jobs.append(job)
        self.steps.append(step)
        code = "import json, os; print(json.dumps(dict(os.environ)))"
        shown = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        self.seen_by_children = {**json.loads(shown.stdout), **effects.environ}
        with redirect_stderr(io.StringIO()) as said:
            step.say("the reason")
        self.said.append(said.getvalue())
        if self.error:
            raise self.error
        return self.exit_code


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Called:
    one = Called()
    monkeypatch.setattr(ci, "ci_step", one.ci_step)
    monkeypatch.setattr(ci, "publish", one.publish)
    monkeypatch.setattr(ci, "Client", one.client)
    return one


@dataclass(frozen=True, slots=True)
class InJob:
    """A checkout in a job of GitHub Actions."""

    root: Path
    folder: Path
    monkeypatch: pytest.MonkeyPatch

    def on(self, event: str, **payload: object) -> None:
        path = self.folder / "event.json"
        path.write_text(json.dumps({**payload, "repository": REPOSITORY}))
        self.set(GITHUB_EVENT_NAME=event, GITHUB_EVENT_PATH=str(path))

    def set(self, **variables: str) -> None:
        for name, value in variables.items():
            self.monkeypatch.setenv(name, value)


@pytest.fixture
def in_job(
    repo: Git,
    commit: Callable[[Git, Mapping[str, str]], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[InJob]:
    """On a push, with nothing asked for."""
    sha = commit(repo, {"benchgate.toml": "[measure]\nsamples = 50\n"})
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "BENCHGATE_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "job").mkdir()
    one = InJob(repo.root, tmp_path / "job", monkeypatch)
    one.on("push", ref="refs/heads/main", before="0" * 40, after=sha, forced=False, deleted=False)
    one.set(
        GITHUB_REPOSITORY="octo-org/hello",
        GITHUB_REPOSITORY_ID="1296269",
        GITHUB_SHA=sha,
        GITHUB_REF="refs/heads/main",
        GITHUB_RUN_ID="30433642",
        GITHUB_RUN_ATTEMPT="1",
        GITHUB_WORKFLOW="benchgate",
        GITHUB_JOB="benchgate",
        GITHUB_ACTOR="octocat",
        GITHUB_API_URL="https://api.github.com",
        GITHUB_SERVER_URL="https://github.com",
        RUNNER_OS="Linux",
        RUNNER_TEMP=str(one.folder),
        **{name: str(one.folder / name.lower()) for name in FILES},
    )
    yield one
    if sys.platform == "linux":  # the tests' own process is to be as it was
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


def ci_environment() -> dict[str, str]:
    """The variables that action.yml gives `benchgate ci`, and the input that each is."""
    (step,) = (one for one in ACTION["runs"]["steps"] if one.get("id") == "ci")
    return {
        name: value for name, value in step["env"].items() if name not in {"ENVIRONMENT", "FOLDER"}
    }


def test_every_variable_of_the_action_is_an_input_that_ci_knows() -> None:
    known = {f"BENCHGATE_{str(one.name).upper()}" for one in ci.command.params} | {TOKEN_VARIABLE}
    env = ci_environment()
    assert set(env) <= known
    inputs = set(ACTION["inputs"]) - {"working-directory", "retention-days"}
    given = [_input_of(name, value) for name, value in env.items()]
    assert sorted(given) == sorted(inputs)


def _input_of(name: str, value: str) -> str:
    """The input that a variable has; of what decides nothing, the job's own variable otherwise."""
    decides_nothing = name in {"BENCHGATE_VERBOSE", "BENCHGATE_GITHUB_TIMEOUT"}
    rest = f" || env.{name} }}}}" if decides_nothing else " }}"
    assert value.startswith("${{ inputs.")
    assert value.endswith(rest)
    return value.removeprefix("${{ inputs.").removesuffix(rest)


def test_every_option_over_the_configuration_is_an_input_of_the_action() -> None:
    env = ci_environment()
    for one in OVERRIDES.values():
        if one.name != "against":  # the event says which commit is the base
            assert env[f"BENCHGATE_{one.name.upper()}"] == f"${{{{ inputs.{one.flag[2:]} }}}}"
    (given,) = [p for p in ci.command.params if p.name == "baseline"]
    assert given.opts == [OVERRIDES["baseline"].flag]


@pytest.mark.parametrize("command", [check.command, ci.command, compare.command, tree.run_command])
def test_an_option_over_the_configuration_is_as_it_is_defined(command: click.Command) -> None:
    options = {p.name: p for p in command.params if isinstance(p, click.Option)}
    shared = options.keys() & OVERRIDES.keys()
    assert len(shared) >= 3
    for name in shared:
        assert options[name].opts == [OVERRIDES[name].flag]
        assert options[name].metavar == (OVERRIDES[name].metavar or None)
        if (command, name) != (ci.command, "baseline"):
            assert options[name].help == OVERRIDES[name].help


def test_no_script_of_the_action_holds_an_expression() -> None:
    scripts = [one["run"] for one in ACTION["runs"]["steps"] if "run" in one]
    assert len(scripts) == 2
    assert not [script for script in scripts if "${{" in script]


def test_every_output_of_the_action_is_one_that_the_step_sets() -> None:
    source = Path(ci_step_file()).read_text(encoding="utf-8")
    for name, output in ACTION["outputs"].items():
        assert output["value"] == f"${{{{ steps.ci.outputs.{name} }}}}"
        assert f"{name.replace('-', '_')}=" in source


def ci_step_file() -> str:
    from benchgate.ci import step as ci_step  # noqa: PLC0415 - its file alone

    return ci_step.__file__


# By variable: what an input holds, where it arrives, and as what.
INPUTS: dict[str, tuple[str, Callable[[Called], object], object]] = {
    "BENCHGATE_CONFIG_FILE": (
        "my config.toml",
        lambda c: (c.configs[-1].origin.name, c.configs[-1].measure.samples),
        ("my config.toml", 60),
    ),
    "BENCHGATE_BASELINE": (
        "git:v1",
        lambda c: (c.configs[-1].baseline.against, c.configs[-1].origin.options.baseline),
        ("v1", "git:v1"),
    ),
    "BENCHGATE_GLOBS": (
        "sort [n=1]\n\n  parse/*  \n",
        lambda c: c.requests[-1].choice.globs,
        ("sort [n=1]", "parse/*"),
    ),
    "BENCHGATE_TAGS": (
        "quick\nvery slow\n",
        lambda c: c.requests[-1].choice.tags,
        ("quick", "very slow"),
    ),
    "BENCHGATE_BUDGET": ("1m 30s", lambda c: c.configs[-1].measure.budget_s, 90.0),
    "BENCHGATE_ROUNDS": ("9", lambda c: c.configs[-1].measure.rounds, 9),
    "BENCHGATE_MARGIN": ("3%", lambda c: c.configs[-1].gate.margin, 0.03),
    "BENCHGATE_ALPHA": ("0.05", lambda c: c.configs[-1].gate.alpha, 0.05),
    "BENCHGATE_RULE": ("classical", lambda c: c.configs[-1].gate.rule, "classical"),
    "BENCHGATE_FAIL_ON": (
        "regressed\nmissing\n",
        lambda c: c.configs[-1].gate.fail_on,
        ("regressed", "missing"),
    ),
    "BENCHGATE_LANES": ("2", lambda c: c.configs[-1].measure.lanes, 2),
    "BENCHGATE_COUNTER": ("none", lambda c: c.configs[-1].measure.counter, "none"),
    "BENCHGATE_EXPLAIN": ("false", lambda c: c.configs[-1].measure.explain, False),
    "BENCHGATE_SEED": ("7", lambda c: c.configs[-1].measure.seed, 7),
    "BENCHGATE_SUITE": ("my suite", lambda c: c.requests[-1].suite, "my suite"),
    "BENCHGATE_SHARD": ("2/8", lambda c: c.requests[-1].choice.shard, Shard(2, 8)),
    "BENCHGATE_SHARDS": (".", lambda c: c.requests[-1].shards, Path()),
    "BENCHGATE_COMMENT": ("false", lambda c: c.steps[-1].comments, False),
    "BENCHGATE_UNTIL_DECIDED": ("true", lambda c: c.configs[-1].measure.until_decided, True),
    "BENCHGATE_VERBOSE": ("true", lambda c: c.said[-1], "the reason\n"),
    "BENCHGATE_GITHUB_TIMEOUT": ("2m 30s", lambda c: c.limits_s[-1], 150.0),
    "BENCHGATE_CHECK": ("true", lambda c: c.steps[-1].check_run, True),
    "BENCHGATE_TOKEN": (TOKEN, lambda c: len(c.jobs[-1].git.credentials), 3),
}


@pytest.mark.parametrize("variable", ci_environment())
def test_an_input_arrives(call: Call, in_job: InJob, called: Called, variable: str) -> None:
    text, seen, expected = INPUTS[variable]
    (in_job.root / "my config.toml").write_text("[measure]\nsamples = 60\n")
    call(in_job.root, "ci").check(0)
    assert seen(called) != expected
    in_job.set(**{variable: text})
    call(in_job.root, "ci").check(0)
    assert seen(called) == expected


def test_inputs_that_are_empty_mean_nothing(call: Call, in_job: InJob, called: Called) -> None:
    in_job.set(**dict.fromkeys(ci_environment(), ""))
    call(in_job.root, "ci").check(0)
    (request,), (config,), (step,) = called.requests, called.configs, called.steps
    assert (request.choice, request.suite, request.shards) == (Choice(), "default", None)
    assert (config.origin.name, config.measure.samples) == ("benchgate.toml", 50)
    assert config.origin.options == Options()
    assert (step.comments, step.check_run) == (True, False)
    assert called.jobs[0].git.credentials == {}
    assert called.limits_s == [90.0]  # a rate limit mostly lasts a minute


def test_options_hold_over_variables_and_are_kept_for_the_record(
    call: Call, in_job: InJob, called: Called
) -> None:
    in_job.set(BENCHGATE_MARGIN="3%", BENCHGATE_FAIL_ON="missing", BENCHGATE_COMMENT="false")
    given = ("--margin", "5%", "--comment", "--rounds", "9", "--seed", "3")
    call(in_job.root, "ci", *given).check(0)
    (config,) = called.configs
    assert (config.gate.margin, called.steps[0].comments) == (0.05, True)
    assert config.origin.options == Options(margin="5%", fail_on=("missing",), rounds=9, seed=3)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("BENCHGATE_ROUNDS=many", "--rounds"),
        ("BENCHGATE_ALPHA=often", "--alpha"),
        ("BENCHGATE_MARGIN=three", "--margin"),
        ("BENCHGATE_RULE=lunch", "--rule"),
        ("BENCHGATE_FAIL_ON=bogus", "--fail-on"),
        ("BENCHGATE_SHARD=9/8", "--shard 9/8"),
        ("BENCHGATE_COMMENT=maybe", "--comment"),
        ("BENCHGATE_CHECK=perhaps", "--check"),
        ("BENCHGATE_BASELINE=folder:x", "--baseline"),
        ("BENCHGATE_CONFIG_FILE=nowhere.toml", "nowhere.toml"),
        ("BENCHGATE_GITHUB_TIMEOUT=soon", "--github-timeout"),
        ("BENCHGATE_GITHUB_TIMEOUT=-1m", "--github-timeout"),
    ],
)
def test_a_value_that_makes_no_sense_is_named(
    call: Call, in_job: InJob, called: Called, setting: str, words: str
) -> None:
    name, _, value = setting.partition("=")
    in_job.set(**{name: value})
    call(in_job.root, "ci").check(2, words)
    assert called.requests == []


@pytest.mark.parametrize("command", ["ci", "publish"])
def test_how_long_github_is_asked_is_checked(
    call: Call, in_job: InJob, called: Called, command: str
) -> None:
    in_job.on("workflow_run", **RUN)
    call(in_job.root, command, "--github-timeout", "soon").check(
        2, "--github-timeout", "'soon' is not a duration: write it as 50ms, 1.5s, 10m or 1h 30m"
    )
    assert called.published == []
    call(in_job.root, command, "--github-timeout", "1m 30s").check(0)
    assert called.limits_s == [90.0]


RUN: dict[str, Any] = {
    "action": "completed",
    "workflow_run": {
        "id": 30433650,
        "run_attempt": 1,
        "event": "pull_request",
        "status": "completed",
        "conclusion": "success",
        "head_sha": "7" * 40,
        "head_branch": "topic",
        "head_repository": {"id": 217723378, "full_name": "octocat/hello"},
    },
}


@pytest.mark.parametrize("command", ["ci", "publish"])
def test_on_workflow_run_both_publish(
    call: Call, in_job: InJob, called: Called, command: str
) -> None:
    in_job.on("workflow_run", **RUN)
    call(in_job.root, command).check(0)
    assert [run.id for run in called.published] == [30433650]
    assert called.requests == []


def test_the_second_workflow_may_say_what_pull_requests_measure(
    call: Call, in_job: InJob, called: Called
) -> None:
    in_job.on("workflow_run", **RUN)
    in_job.set(BENCHGATE_SUITE="quick", BENCHGATE_GLOBS="parse/*")
    call(in_job.root, "ci").check(0)
    assert called.measured == [PullRequestSuite(Choice(("parse/*",)), "quick")]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("pull_request_target", "benchgate does not run on pull_request_target"),
        ("issue_comment", "benchgate has nothing to compare on the event 'issue_comment'"),
    ],
)
def test_an_event_that_is_refused_is_told_on_the_page_of_the_run(
    call: Call, in_job: InJob, called: Called, event: str, words: str
) -> None:
    in_job.set(GITHUB_EVENT_NAME=event, GITHUB_ACTIONS="true")
    done = call(in_job.root, "ci")
    done.check(2, words)
    (line,) = done.out.splitlines()
    assert line.startswith(f"::error title=benchgate::{words}")
    assert "%0ATrigger the workflow by " in line
    assert (called.requests, called.published) == ([], [])


@pytest.mark.parametrize("command", ["ci", "publish"])
def test_a_missing_checkout_is_told_on_the_page_of_the_run(
    call: Call, in_job: InJob, called: Called, command: str, tmp_path: Path
) -> None:
    in_job.on("workflow_run", **RUN)
    in_job.set(GITHUB_ACTIONS="true")
    (tmp_path / "empty").mkdir()
    done = call(tmp_path / "empty", command)
    done.check(2, "is not in a git repository", "`actions/checkout`")
    (line,) = done.out.splitlines()
    assert line.startswith("::error title=benchgate::")
    assert "is not in a git repository%0AAdd a step with `actions/checkout` before" in line
    assert (called.requests, called.published) == ([], [])


def test_what_fails_while_publishing_is_told_on_the_page_of_the_run(
    call: Call, in_job: InJob, called: Called
) -> None:
    in_job.on("workflow_run", **RUN)
    in_job.set(GITHUB_ACTIONS="true")
    called.error = GitHubError("GET /x: GitHub answered 503", hint="Try again later.")
    done = call(in_job.root, "ci")
    done.check(7, "GitHub answered 503")
    assert "::error title=benchgate::GET /x: GitHub answered 503%0ATry again later." in done.out


def test_publish_is_for_workflow_run_alone(call: Call, in_job: InJob, called: Called) -> None:
    call(in_job.root, "publish").check(
        2,
        "`benchgate publish` needs the event workflow_run, and this job runs on push",
        "benchgate init",
    )
    assert called.published == []


@pytest.mark.parametrize("command", ["ci", "publish"])
def test_outside_of_a_job_it_says_so(
    call: Call, in_job: InJob, called: Called, command: str
) -> None:
    in_job.monkeypatch.delenv("GITHUB_EVENT_NAME")
    call(in_job.root, command).check(2, "this is not a job of GitHub Actions", "benchgate check")
    assert (called.requests, called.published) == ([], [])


@pytest.mark.parametrize("command", ["ci", "publish"])
def test_what_is_started_sees_neither_token_nor_files(
    call: Call, in_job: InJob, called: Called, command: str
) -> None:
    if command == "publish":
        in_job.on("workflow_run", **RUN)
    in_job.set(**dict.fromkeys(OF_THE_JOB, TOKEN), OTHER="seen")
    hidden = {name: os.environ[name] for name in (*FILES, *OF_THE_JOB)}
    done = call(in_job.root, command)
    done.check(0)
    seen = called.seen_by_children
    assert seen["OTHER"] == "seen"
    assert seen["GITHUB_SHA"] == os.environ["GITHUB_SHA"]
    assert not seen.keys() & hidden.keys()
    assert TOKEN not in str(seen)
    # The step itself knows them.
    (step,) = called.steps
    assert {name: step.environ[name] for name in hidden} == hidden
    assert step.redact(f"a {TOKEN}") == "a [removed]"
    assert TOKEN not in f"{called.jobs[0].client!r} {done.out} {done.err}"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_what_a_job_was_started_with_is_no_longer_to_be_read(
    call: Call, in_job: InJob, called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumpable: list[int] = []

    def look(*arguments: Any) -> int:  # noqa: ANN401 - those of a step
        dumpable.append(ctypes.CDLL(None).prctl(PR_GET_DUMPABLE, 0, 0, 0, 0))
        return called.ci_step(*arguments)

    monkeypatch.setattr(ci, "ci_step", look)
    call(in_job.root, "ci").check(0)
    assert dumpable == [0]


def test_each_call_has_a_folder_of_its_own_that_stays(
    call: Call, in_job: InJob, called: Called
) -> None:
    call(in_job.root, "ci").check(0)
    call(in_job.root, "ci").check(0)
    folders = [request.folder for request in called.requests]
    assert len(set(folders)) == 2
    assert all(one.is_dir() and one.parent == in_job.folder for one in folders)


@pytest.mark.parametrize("code", [0, 3])
def test_the_exit_code_is_that_of_the_step(
    call: Call, in_job: InJob, called: Called, code: int
) -> None:
    called.exit_code = code
    done = call(in_job.root, "ci")
    done.check(code)
    assert (called.said, done.out) == ([""], "")  # reasons are for -v


def test_an_error_of_the_step_ends_as_everywhere(call: Call, in_job: InJob, called: Called) -> None:
    called.error = BaselineError("the base cannot be built", hint="Look at it.")
    call(in_job.root, "ci").check(6, "error: the base cannot be built", "hint: Look at it.")
