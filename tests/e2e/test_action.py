"""The action in workflows as `benchgate init` writes them, run by act on this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.contract.act import ActArtifacts
from tests.contract.faults import Fault
from tests.contract.records import Comment, Token
from tests.contract.scene import FORKS_TOKEN, HELLO, SCENE, TOKEN
from tests.contract.server import GitHubServer
from tests.e2e import hosted
from tests.e2e.conftest import CODE, processes_with
from tests.e2e.hosted import Event, pull_request, push, run_of
from tests.patience import PATIENCE_S, eventually

from benchgate.cli.init import workflow_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import Project

# One worker runs them all, so the action is installed once for all jobs that do not install it.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("act")]

ROOT = Path(__file__).parents[2]
ACTION = "octo-org/benchgate@v1"
LOCKS = ("requirements/action.txt", "requirements/installer.txt")
SCRIPTS = ("scripts/action-setup.sh", "scripts/package-sources.py")
SHIPPED = ("action.yml", *LOCKS, *SCRIPTS, "src/benchgate")
UPLOAD = Path(__file__).with_name("actions") / "upload-artifact"
BASELINE = "benchgate-baseline.default.linux-x86_64"
RESULT = "benchgate-result.default.linux-x86_64"
PAGE = "benchgate-report.default.linux-x86_64.html"
# What the workflow that measures asks for, and no more.
READS = Token("ghs_reads", {"contents": "read", "actions": "read", "pull-requests": "read"})


def find_act() -> str:
    act = Path(sys.executable).with_name("act")
    if act.exists():
        return str(act)
    if os.environ.get("CI") == "true":
        pytest.fail("act is not installed: `make test` installs it")
    pytest.skip("act is not installed")


@pytest.fixture(scope="module")
def action(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a release of the action holds."""
    folder = tmp_path_factory.mktemp("action")
    for name in SHIPPED:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)
    return folder


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the action installs, fetched once for all jobs."""
    folder = tmp_path_factory.mktemp("wheels")
    locked = [f"--requirement={ROOT / lock}" for lock in LOCKS]
    download = ["pip", "download", "--quiet", "--only-binary=:all:", "--require-hashes"]
    subprocess.run(
        [sys.executable, "-m", *download, *locked, "--dest", folder], check=True, timeout=280
    )
    return folder


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An older Python, which a step of the user has put first."""
    folder = tmp_path_factory.mktemp("old")
    (folder / "python3").write_text("#!/bin/sh\necho 'Python 3.8.0'\nexit 1\n")
    (folder / "python3").chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def environment(
    action: Path, wheels: Path, old: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """What the action installs, in a job that has set all kinds of things for its own Python."""
    folder = tmp_path_factory.mktemp("environment")
    variables = {
        **os.environ,
        "PATH": f"{old}:{os.environ['PATH']}",
        "PYTHONPATH": str(old),
        "PIP_TARGET": str(old),
        "PIP_REQUIRE_VIRTUALENV": "1",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "RUNNER_TOOL_CACHE": str(old),
        "RUNNER_TEMP": str(folder),
        "GITHUB_OUTPUT": str(folder / "output"),
    }
    subprocess.run([action / "scripts/action-setup.sh"], env=variables, check=True, timeout=280)
    return Path((folder / "output").read_text().strip().removeprefix("environment="))


@pytest.fixture(scope="module")
def installed(action: Path, environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The action, but its first step finds everything installed, which takes most of a job."""
    folder = tmp_path_factory.mktemp("installed") / "action"
    shutil.copytree(action, folder)
    script = f'#!/bin/sh\necho "environment={environment}" >>"$GITHUB_OUTPUT"\n'
    (folder / "scripts/action-setup.sh").write_text(script)
    return folder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True, slots=True)
class Ended:
    """A run of act.

    Attributes:
        lines: what it reports, one object a line.
    """

    code: int
    lines: list[dict[str, Any]]

    def said(self) -> str:
        return "\n".join(str(line.get("msg", "")).rstrip("\n") for line in self.lines)

    def outputs(self) -> dict[str, str]:
        found = [x for x in self.lines if x.get("command") == "set-output"]
        return {line["name"]: line["arg"] for line in found}

    def annotations(self, level: str) -> list[str]:
        return [x["arg"] for x in self.lines if x.get("command") == level]


@dataclass(frozen=True, slots=True)
class Runner:
    """act, with the project as the repository that it runs in.

    Attributes:
        action: as it is released.
        installed: what jobs use unless they are told to use the released one.
    """

    project: Project
    server: GitHubServer
    action: Path
    installed: Path
    wheels: Path
    folder: Path

    def run(
        self,
        event: Event,
        run_id: int,
        *,
        token: Token = TOKEN,
        action: Path | None = None,
        **variables: str,
    ) -> Ended:
        """Run what the event triggers, of the commit that is checked out for it."""
        process = self.start(event, run_id, token=token, action=action, **variables)
        out, _ = process.communicate(timeout=280)
        return self.ended(process, out)

    def comment_on(self, of: Event, run_id: int, ended: Ended, *, by: int) -> Ended:
        """Run the second workflow, on the end of a run of the first one."""
        main = self.project.git.head_sha()
        run = {
            "id": run_id,
            "run_attempt": 1,
            "event": of.name,
            "status": "completed",
            "conclusion": "failure" if ended.code else "success",
            "head_sha": of.head_sha,
            "head_branch": of.head_branch,
            "head_repository": hosted.named(of.head_repository),
            "actor": {"login": of.actor},
        }
        payload = {"action": "completed", "workflow_run": run}
        ref = "refs/heads/main"
        done = self.run(Event("workflow_run", payload, main, ref, main, "main"), by)
        assert done.code == 0, done.said()
        return done

    def ended(self, process: subprocess.Popen[str], out: str) -> Ended:
        self.project.git.run("checkout", "--quiet", "main")
        lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        return Ended(process.returncode, lines)

    def start(
        self,
        event: Event,
        run_id: int,
        *,
        token: Token = TOKEN,
        action: Path | None = None,
        **more: str,
    ) -> subprocess.Popen[str]:
        self.server.state.put(run_of(event, run_id))
        git = self.project.git
        branch = "main" if event.ref == "refs/heads/main" else "merged"
        git.run("checkout", "--quiet", "-B", branch, event.sha)
        path = self.folder / f"event-{run_id}.json"
        repository = {"id": HELLO.id, "full_name": HELLO.full_name, "default_branch": "main"}
        path.write_text(json.dumps({**event.payload, "repository": repository}))
        variables = {
            "GITHUB_RUN_ID": str(run_id),
            "GITHUB_REPOSITORY": HELLO.full_name,
            "GITHUB_API_URL": self.server.api_url,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            **more,
        }
        command: list[str | Path] = [
            find_act(),
            event.name,
            "--json",
            *("--eventpath", path),
            *("--actor", event.actor),
            *("--secret", f"GITHUB_TOKEN={token.secret}"),
            *("--platform", "ubuntu-latest=-self-hosted"),
            *("--local-repository", f"{ACTION}={action or self.installed}"),
            *("--local-repository", f"{self._upload()}={UPLOAD}"),
            *("--artifact-server-path", self.folder / "artifacts"),
            *("--artifact-server-addr", "127.0.0.1"),
            *("--artifact-server-port", str(free_port())),
            *("--cache-server-addr", "127.0.0.1"),
            *("--cache-server-path", self.folder / "cache"),
            *("--action-cache-path", self.folder / "actions"),
            *(f"--env={name}={value}" for name, value in variables.items()),
        ]
        return subprocess.Popen(
            command,
            cwd=self.project.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def artifacts(self) -> list[str]:
        return [path.stem for path in (self.folder / "artifacts").glob("*/*/*.zip")]

    def comments(self) -> list[str]:
        return [one.body for one in self.server.state.all(Comment) if one.number == hosted.NUMBER]

    def _upload(self) -> str:
        text = (self.action / "action.yml").read_text()
        return next(
            line.split("uses:")[1].split("#")[0].strip()
            for line in text.splitlines()
            if "uses: actions/upload-artifact@" in line
        )


@pytest.fixture
def runner(
    toy: Project, action: Path, installed: Path, wheels: Path, tmp_path: Path
) -> Iterator[Runner]:
    """A consumer: a project with the workflows that `init` writes."""
    toy.write(workflow_texts(toy.git, ACTION))
    config = (toy.root / "benchgate.toml").read_text()
    config = config.replace("[gate]\n", '[gate]\nmargin = "50%"\n')
    toy.write({"benchgate.toml": config.replace("[measure]\n", "[measure]\nrounds = 8\n")})
    toy.commit()
    artifacts = ActArtifacts(tmp_path / "artifacts")
    with GitHubServer(*SCENE, READS, before=artifacts.refresh) as server:
        yield Runner(toy, server, action, installed, wheels, tmp_path)


def opened(runner: Runner, base: str, *, slower: bool, fork: bool = False) -> Event:
    """Open a pull request from a new commit, or push another commit to it."""
    on_github = hosted.Hosted(runner.project, runner.server, program=None, folder=runner.folder)  # type: ignore[arg-type]
    head, merge = on_github.topic(base, slower=slower)
    on_github.open_pull_request(base, head, fork=fork)
    return pull_request(base, head, merge, fork=fork)


def test_the_action_in_a_subfolder(runner: Runner) -> None:
    """The configuration, the code and the benchmarks are in `libs/toy`."""
    git = runner.project.git
    (git.root / "libs" / "toy").mkdir(parents=True)
    git.run("mv", "src", "benchmarks", "benchgate.toml", "libs/toy")
    runner.project.write(workflow_texts(git, ACTION, folder="libs/toy"))
    base = runner.project.commit()
    slow = CODE.replace("3000", "9000")
    on_github = hosted.Hosted(runner.project, runner.server, program=None, folder=runner.folder)  # type: ignore[arg-type]
    head, merge = on_github.topic(base, {"libs/toy/src/toy/__init__.py": slow})
    on_github.open_pull_request(base, head)
    slower = runner.run(pull_request(base, head, merge), 1001, token=READS)
    assert slower.outputs()["verdict"] == "fail", slower.said()
    assert slower.outputs()["regressions"] == "1"


def test_from_the_first_run_to_a_regression(runner: Runner) -> None:
    base = runner.project.git.head_sha()
    first = runner.run(push("0" * 40, base), 1001, action=runner.action)
    assert first.code == 0, first.said()
    assert "First run of " in first.said()
    assert sorted(runner.artifacts()) == [BASELINE, PAGE, RESULT]

    event = opened(runner, base, slower=False)
    clean = runner.run(event, 1002, token=READS)
    assert clean.code == 0, clean.said()
    assert clean.outputs()["verdict"] == "pass"
    assert len(runner.comments()) == 1
    told = runner.comment_on(event, 1002, clean, by=1012)
    _, comment = runner.comments()
    assert comment.startswith("### \N{WHITE HEAVY CHECK MARK} Nothing")
    assert "stored" not in comment.splitlines()[0]

    event = opened(runner, base, slower=True)
    slower = runner.run(event, 1003, token=READS)
    assert slower.code != 0
    assert slower.outputs()["verdict"] == "fail"
    assert slower.outputs()["regressions"] == "1"
    told_again = runner.comment_on(event, 1003, slower, by=1013)
    assert told_again.outputs()["comment-url"] == told.outputs()["comment-url"]
    assert len(runner.comments()) == 2
    assert runner.comments()[1].startswith("### \N{CROSS MARK} Slower")
    assert len(slower.annotations("error")) == 1
    summaries = [x["content"] for x in slower.lines if x.get("command") == "summary"]
    assert "Slower: " in "".join(summaries)
    # Also where the job fails: the result is what tells why.
    assert runner.artifacts().count(RESULT) == 3
    assert runner.artifacts().count(BASELINE) == 1


# What a benchmark can do to all that it finds of the action, as soon as it is imported.
PLANTING = """\
import os
from pathlib import Path

LEAK = Path({leak!r})
PLANTED = f"import os, sys; open({{str(LEAK)!r}}, 'a').write(sys.prefix + str(dict(os.environ)))\\n"
for folder in Path(os.environ["RUNNER_TEMP"]).rglob("site-packages"):
    if "benchgate-session" not in str(folder):
        (folder / "sitecustomize.py").write_text(PLANTED)
        (folder / "planted.pth").write_text(PLANTED)
        (folder.parents[2] / "bin" / "pip").write_text("#!/bin/sh\\nexit 1\\n")


def bench_work():
    sum(range(1000))
"""


def test_what_a_first_use_plants_is_not_run_by_a_second(runner: Runner) -> None:
    leak = runner.folder / "leak"
    path = runner.project.root / ".github/workflows/benchgate.yml"
    use = f"      - uses: {ACTION}\n"
    text = path.read_text()
    assert text.count(use) == 1
    second = f"{use}        with:\n          suite: second\n"
    runner.project.write(
        {
            ".github/workflows/benchgate.yml": text.replace(use, second + use),
            "benchmarks/bench_toy.py": PLANTING.format(leak=str(leak)),
        }
    )
    event = push("0" * 40, runner.project.commit())
    ended = runner.run(event, 1011, action=runner.action)
    assert ended.code == 0, ended.said()
    assert len(runner.artifacts()) == 6
    assert not leak.exists(), leak.read_text()


def test_the_environment_is_made_whatever_the_job_has_set(environment: Path, old: Path) -> None:
    assert sorted(path.name for path in old.iterdir()) == ["python3"]
    assert (environment / "bin" / "python").exists()


def test_a_fork_and_the_workflow_that_comments(runner: Runner) -> None:
    base = runner.project.git.head_sha()
    event = opened(runner, base, slower=True, fork=True)
    measured = runner.run(event, 1004, token=FORKS_TOKEN)
    assert measured.code != 0
    assert measured.outputs()["verdict"] == "fail"
    assert len(runner.comments()) == 1
    runner.comment_on(event, 1004, measured, by=1005)
    assert runner.comments()[1].startswith("### \N{CROSS MARK} Slower")
    assert BASELINE not in runner.artifacts()


def test_github_is_down(runner: Runner) -> None:
    base = runner.project.git.head_sha()
    event = opened(runner, base, slower=True)
    runner.server.faults.always("*", Fault(drop_connection=True))
    ended = runner.run(event, 1007, BENCHGATE_GITHUB_TIMEOUT="1s", BENCHGATE_VERBOSE="true")
    assert ended.code != 0
    assert ended.outputs()["verdict"] == "fail"
    assert ended.annotations("warning") == []  # it has nothing to say to GitHub
    assert sorted(runner.artifacts()) == [PAGE, RESULT]


def test_a_cancelled_job_leaves_nothing(runner: Runner) -> None:
    base = runner.project.git.head_sha()
    runner.project.write(
        {"benchmarks/bench_toy.py": "import time\n\n\ndef bench_work():\n    time.sleep(0.5)\n"}
    )
    event = push(base, runner.project.commit())
    process = runner.start(event, 1010, BENCHGATE_CANCELLED=str(runner.folder))
    assert process.stdout is not None
    read: list[str] = []
    for line in process.stdout:
        read.append(line)
        if "1 benchmark: " in line:
            break
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=PATIENCE_S)
    ended = runner.ended(process, "".join(read) + rest)
    assert ended.code != 0
    assert runner.artifacts() == []
    assert len(runner.comments()) == 1
    # The guardian ends what it guards, and then itself.
    mark = f"BENCHGATE_CANCELLED={runner.folder}"
    assert eventually(lambda: not processes_with(mark)), processes_with(mark)
