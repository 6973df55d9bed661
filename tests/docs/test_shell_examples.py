"""Every command that README and docs show is run, in the order of its page, in scratch projects.

What a ```console block shows below a command must be printed by it. Output that was measured
stands in ```text blocks, which are not compared.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchgate import RELEASED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.docs.conftest import Page

    from benchgate.git.repository import Git

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
QUICKSTART = ROOT / "examples" / "quickstart"

_RUN = "https://github.com/octo-org/hello/actions/runs/1234567890"
NOT_RUN = {
    "make demo": "takes a minute and more; CI runs it",
    "make test": "runs this test",
    f"pipx install {'benchgate' if RELEASED else '.'}": "downloads packages",
    "benchgate ci --margin 3%": "only in a job of GitHub Actions; tests/e2e/test_ci.py",
    "benchgate publish": "only in a job of GitHub Actions; tests/e2e/test_ci.py",
    "benchgate export --hdr latencies.hlog --csv windows.csv --filter 'orders/*'": (
        "needs the result of a scenario; tests/cli/test_export.py"
    ),
    "GITHUB_TOKEN=$(gh auth token) benchgate history artifacts": (
        "asks GitHub; tests/ci/test_history_artifacts.py"
    ),
    "benchgate bisect parse/large --good v1.2": "needs a history; tests/e2e/test_bisect.py",
    "benchgate explain 'parse/*' result.json.gz --speedscope calls.json": (
        "needs a change that was found; tests/cli/test_explain.py"
    ),
    "benchgate explain parse/large --against main": (
        "needs a benchmark of that name; tests/e2e/test_explained.py"
    ),
    "benchgate conformance ./my-worker": "needs a worker; tests/measure/test_conformance.py",
    f"benchgate check --run {_RUN}": "asks GitHub; tests/e2e/test_ci.py",
}

_VERDICT = re.compile(r"benchgate (check|compare|doctor)\b")
_VERDICT_CODES = {0, 3, 4}  # which one depends on the machine

# Short launches, so that all pages together take a minute. Nothing is judged by the numbers.
_QUICK = """
[measure]
budget = "1s"
launch_time = "2ms"
executions = 1
"""


@pytest.fixture
def scratch_project(
    make_repo: Callable[[str], Git], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Path]:
    """Give the folder of a scratch project, the same each time within a test."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    for owner in ("benchgate", "octo-org"):
        (tmp_path / owner).mkdir()
        _grow(action := make_repo(f"{owner}/benchgate"), "action")
        action.run("tag", "v1")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{tmp_path.as_uri()}/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://github.com/")
    made: dict[str, Path] = {}

    def give(kind: str) -> Path:
        if kind not in made:
            made[kind] = _grow(make_repo(kind), kind)
        return made[kind]

    return give


def _grow(git: Git, kind: str) -> Path:
    """Fill a repository: the quickstart, with a change under way or clean, or only its package."""
    quickstart = kind in {"quickstart", "clean"}
    source = QUICKSTART if quickstart else QUICKSTART / "src"
    shutil.copytree(
        source,
        git.root if quickstart else git.root / "src",
        ignore=shutil.ignore_patterns("__pycache__"),
        dirs_exist_ok=True,
    )
    if quickstart:
        with (git.root / "benchgate.toml").open("a", encoding="utf-8") as file:
            file.write(_QUICK)
    git.run("add", ".")
    git.run("commit", "--quiet", "--message", "Start")
    if kind == "quickstart":
        git.run("apply", "change.patch")
    return git.root


def commands_of(console: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a ```console block, each with the output shown below it."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        yield command, [line for line in shown if line.strip()]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-e", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_every_command_runs(page: Page, scratch_project: Callable[[str], Path]) -> None:
    if page.path.name == "suites.md":
        pytest.skip("tests/suites runs it, with the tools that it is about")
    for fence in page.fences:
        folder = scratch_project(fence.scratch)
        if fence.language == "console":
            for command, shown in commands_of(fence.text):
                if command not in NOT_RUN:
                    allowed = _VERDICT_CODES if _VERDICT.search(command) else {0}
                    assert_runs(fence.place, command, folder, allowed, shown)
        elif fence.language == "sh":
            assert_runs(fence.place, fence.text, folder, {0}, [])
        elif named := re.match(r"(?:#|--) (\S+\.(?:py|toml|sql))\n", fence.text):
            path = folder / named[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(fence.text, encoding="utf-8")


def assert_runs(
    place: str, command: str, folder: Path, allowed: set[int], shown: list[str]
) -> None:
    done = run(command, folder)
    report = f"{place}: {command}\n{done.stdout}\n{done.stderr}"
    assert done.returncode in allowed, f"exit code {done.returncode}: {report}"
    missing = [line for line in shown if line not in done.stdout.splitlines()]
    assert missing == [], report


def test_what_is_not_run_is_documented() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    shown = set(re.findall(r"^\$ (.+)$", text, re.MULTILINE))
    assert shown >= NOT_RUN.keys()
