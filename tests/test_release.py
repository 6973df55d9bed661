"""A release, rehearsed in a copy of the repository: everything but the upload."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click import ClickException
from scripts import release
from scripts.released_pages import PAGES
from tests.interpreters import find_interpreter

from benchgate import RELEASED

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.git.repository import Git

# One worker runs them all, so that there is one rehearsal.
pytestmark = pytest.mark.xdist_group("release")

ROOT = Path(__file__).parents[1]
VERSION = "0.1.0"
TAG = f"v{VERSION}"
FILES = (release.VERSION_FILE, release.CHANGELOG, *PAGES)


def git(root: Path, *arguments: str) -> str:
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    command = ["git", *author, *arguments]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.parametrize("page", PAGES)
def test_pages_say_whether_there_is_a_release(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for before, after in PAGES[page]:
        said, unsaid = (after, before) if RELEASED else (before, after)
        assert not said or text.count(said) == 1, f"scripts/released_pages.py: {said}"
        assert not unsaid or unsaid not in text, f"scripts/released_pages.py: {unsaid}"


@pytest.fixture
def project(repo: Git, commit: Callable[[Git, dict[str, str]], str]) -> Path:
    """The files that a release changes, as they are here, before the release."""
    files = {name: (ROOT / name).read_text(encoding="utf-8") for name in FILES}
    code = '__version__ = "0.1.0.dev0"\n\nRELEASED = False\n'
    changelog = "# Changelog\n\n## [Unreleased]\n\nIt is [new](docs/new.md#a), and\nwrapped.\n"
    commit(repo, files | {release.VERSION_FILE: code, release.CHANGELOG: changelog})
    return repo.root


@pytest.fixture
def prepared(project: Path) -> Path:
    release.prepare(project, VERSION)
    git(project, "commit", "--quiet", "--all", "--message", "Release")
    return project


def test_a_release_is_prepared(prepared: Path) -> None:
    code = (prepared / release.VERSION_FILE).read_text(encoding="utf-8")
    assert code == '__version__ = "0.1.0"\n\nRELEASED = True\n'
    for page, pairs in PAGES.items():
        text = (prepared / page).read_text(encoding="utf-8")
        assert [after for _, after in pairs if after not in text] == []
    changelog = (prepared / release.CHANGELOG).read_text(encoding="utf-8")
    assert changelog.startswith("# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 20")
    link = "[new](https://github.com/benchgate/benchgate/blob/v0.1.0/docs/new.md#a)"
    assert release.notes(changelog, VERSION) == f"It is {link}, and wrapped.\n"


@pytest.mark.parametrize(
    ("version", "message"),
    [("0.1", "no version such as"), ("0.1.0", "has a section"), ("0.2.0", "nothing under Unrel")],
)
def test_what_is_no_new_release_is_not_prepared(prepared: Path, version: str, message: str) -> None:
    with pytest.raises(ClickException, match=message):
        release.prepare(prepared, version)
    assert git(prepared, "status", "--porcelain") == ""


def refused(root: Path, message: str) -> None:
    with pytest.raises(ClickException, match=message):
        release.build(root, root / "build")


def test_a_tag_that_is_not_the_version_is_refused(prepared: Path) -> None:
    refused(prepared, "has the version 0.1.0, but this commit has no tag")
    git(prepared, "tag", "v0.2.0")
    refused(prepared, "has the version 0.1.0, but this commit has the tag v0.2.0")


def test_another_commit_than_that_of_the_tag_is_refused(prepared: Path) -> None:
    git(prepared, "tag", TAG)
    git(prepared, "commit", "--quiet", "--allow-empty", "--message", "More")
    refused(prepared, "this commit has no tag")


def test_a_changelog_without_the_version_is_refused(prepared: Path) -> None:
    (prepared / release.CHANGELOG).write_text("## [Unreleased]\n\n## [0.1.0]\n\nNo date.\n")
    git(prepared, "commit", "--quiet", "--all", "--message", "More")
    git(prepared, "tag", TAG)
    refused(prepared, r"no section \[0.1.0\] with a date")


def test_files_that_are_not_committed_are_refused(prepared: Path) -> None:
    git(prepared, "tag", TAG)
    (prepared / "new").touch()
    refused(prepared, "not committed:\n.. new")


def test_a_development_version_is_refused(project: Path) -> None:
    git(project, "tag", "v0.1.0.dev0")
    refused(project, "not that of a release")


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which a release was prepared, tagged and built."""
    root = tmp_path_factory.mktemp("rehearsal")
    for name in git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split(
        "\0"
    ):
        if name and (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
    git(root, "-c", "init.defaultBranch=main", "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Before the release")
    if not RELEASED:
        run(root, "-m", "scripts.release", "prepare", VERSION)
        git(root, "commit", "--quiet", "--all", "--message", "Release")
    git(root, "tag", "--annotate", "--message", "Release", TAG)
    run(root, "-m", "scripts.release", "build")
    return root


def run(root: Path, *arguments: str) -> None:
    environ = {**os.environ, "PYTHONPATH": str(root / "src")}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def package(rehearsed: Path, pattern: str) -> Path:
    (found,) = (rehearsed / "build" / "release" / "dist").glob(pattern)
    return found


@pytest.mark.slow
def test_the_packages_hold_the_program(rehearsed: Path) -> None:
    tracked = git(rehearsed, "ls-files", "src/benchgate").split()
    with zipfile.ZipFile(package(rehearsed, "*.whl")) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        assert {f"src/{name}" for name in names} == set(tracked)
        metadata = message_from_bytes(wheel.read(f"benchgate-{VERSION}.dist-info/METADATA"))
    with tarfile.open(package(rehearsed, "*.tar.gz")) as sdist:
        assert {f"benchgate-{VERSION}/{name}" for name in tracked} <= set(sdist.getnames())
    assert metadata["Version"] == VERSION
    page = str(metadata.get_payload())
    assert "pipx install benchgate\n" in page
    assert f"](https://github.com/benchgate/benchgate/blob/{TAG}/docs/suites.md)" in page
    assert f'src="https://raw.githubusercontent.com/benchgate/benchgate/{TAG}/docs/comment-' in page
    assert not any(start in page for start in ("](docs/", '"docs/', "](LICENSE)"))


@pytest.mark.slow
def test_the_notes_are_what_the_changelog_says(rehearsed: Path) -> None:
    said = (rehearsed / "build" / "release" / "notes.md").read_text(encoding="utf-8")
    assert "- `benchgate init` finds" in said
    assert "](docs/" not in said


@pytest.mark.slow
def test_the_pages_of_a_release_are_in_order(rehearsed: Path) -> None:
    commands = "docs/test_shell_examples.py"
    tests = (
        "docs/test_pages.py",
        f"{commands}::test_what_is_not_run_is_documented",
        f"{commands}::test_every_command_runs[getting-started.md]",
        "test_release.py::test_pages_say_whether_there_is_a_release",
    )
    run(rehearsed, "-m", "pytest", "-q", *(f"tests/{test}" for test in tests))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "version",
    [
        "3.11",
        *(pytest.param(other, marks=pytest.mark.nightly) for other in ("3.12", "3.13", "3.14")),
    ],
)
def test_a_fresh_environment_runs_the_demo(rehearsed: Path, version: str) -> None:
    python = find_interpreter(version)
    subprocess.run(
        [ROOT / "scripts" / "try-wheel.sh", package(rehearsed, "*.whl"), python], check=True
    )
