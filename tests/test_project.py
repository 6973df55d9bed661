"""The project around the code: version, locks, and what may lie in the repository."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import benchgate

ROOT = Path(__file__).resolve().parents[1]
LOCKS = tuple(
    f"{name}.txt" for name in ("action", "dev", "docs", "energy", "otava", "peers", "suites")
)
MAX_FILE_BYTES = 2**20
MAX_RECORDINGS_BYTES = 6_000_000
PINNED_ACTION = re.compile(r"\b([\w-]+/[\w.-]+)@([0-9a-f]{40})\b *(?:# (v[\d.]+))?")
# /home/runner is GitHub's.
PERSONAL_PATH = re.compile(r"/(?:home|Users)/(?!runner\b)[A-Za-z0-9]|/root(?=/)")


def git(*arguments: str) -> str:
    """Standard output and error of git in this repository."""
    done = subprocess.run(
        ["git", *arguments],  # noqa: S607 - the developer's own git
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout


def tracked_files() -> list[Path]:
    paths = [ROOT / name for name in git("ls-files", "-z").split("\0") if name]
    return [path for path in paths if path.is_file()]


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def declared(lock: str) -> list[Requirement]:
    """What pyproject.toml asks for and the lock must hold."""
    settings = pyproject()
    project, groups = settings["project"]["dependencies"], settings["dependency-groups"]
    extras = settings["project"]["optional-dependencies"]
    lines = {
        "action.txt": project + extras["sql"] + extras["yaml"],
        "dev.txt": project + groups["dev"],
        "installer.txt": groups["installer"],
        "docs.txt": groups["docs"],
        "peers.txt": groups["peers"],
        "suites.txt": groups["suites"],
        "otava.txt": groups["otava"],
        "energy.txt": groups["energy"],
    }
    return [Requirement(line) for line in lines[lock]]


def locked(lock: str) -> list[str]:
    """The requirements of a lock with their options and comments, one text for each."""
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    return re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]


def pinned(entry: str) -> Requirement:
    return Requirement(entry.splitlines()[0].rstrip(" \\"))


def test_the_version_is_the_same_everywhere() -> None:
    assert importlib.metadata.version("benchgate") == benchgate.__version__


def test_the_changelog_has_a_place_for_the_next_release() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(.+?)\]", text, flags=re.MULTILINE)
    assert headings[0] == "Unreleased"


def test_readme_begins_with_the_demo_and_the_tests() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^(?: {4}|\$ )?((?:make|benchgate|pip|uv) [^#\n]*)", text, re.MULTILINE)
    assert [command.strip() for command in commands[:2]] == ["make demo", "make test"]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_requirement_has_one_version_and_a_hash(lock: str) -> None:
    entries = locked(lock)
    assert entries
    for entry in entries:
        assert [specifier.operator for specifier in pinned(entry).specifier] == ["=="], entry
        assert "--hash=sha256:" in entry, entry


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_address(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    assert not re.search(r"://|--(?:extra-)?index-url|--find-links", text)


NPM_LOCKS = [path for path in tracked_files() if path.name == "package-lock.json"]


@pytest.mark.parametrize("path", NPM_LOCKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_npm_lock_has_hashes_and_no_address(path: Path) -> None:
    lock = json.loads(path.read_text(encoding="utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages
    for name, package in packages.items():
        assert package["integrity"].startswith("sha512-"), name
        assert "resolved" not in package, name


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_is_in_step_with_pyproject(lock: str) -> None:
    from_pyproject = {
        pinned(entry).name for entry in locked(lock) if "benchgate (pyproject.toml" in entry
    }
    wanted = declared(lock)
    assert from_pyproject == {canonicalize_name(requirement.name) for requirement in wanted}
    for requirement in wanted:
        for entry in locked(lock):
            pin = pinned(entry)
            if pin.name == canonicalize_name(requirement.name):
                version = next(iter(pin.specifier)).version
                assert requirement.specifier.contains(version), f"{pin} is not {requirement}"


def test_the_development_lock_tests_what_the_action_runs() -> None:
    action, dev = ({str(pinned(entry)) for entry in locked(lock)} for lock in LOCKS[:2])
    assert action <= dev


def test_no_file_is_large() -> None:
    large = {
        path.name: path.stat().st_size
        for path in tracked_files()
        if path.stat().st_size > MAX_FILE_BYTES
    }
    assert large.pop("recordings.parquet") <= MAX_RECORDINGS_BYTES
    assert large == {}


def test_no_file_names_a_developers_home() -> None:
    found = []
    for path in tracked_files():
        content = path.read_bytes()
        if b"\0" in content:
            continue
        lines = content.decode("utf-8").splitlines()
        found += [
            f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
            for number, line in enumerate(lines, start=1)
            if PERSONAL_PATH.search(line)
        ]
    assert found == []


def test_each_pinned_action_has_one_version() -> None:
    versions: dict[str, set[tuple[str, str]]] = {}
    for path in tracked_files():
        if path.suffix in {".yml", ".md", ".py"} and ROOT / "tests" not in path.parents:
            for action, sha, version in PINNED_ACTION.findall(path.read_text(encoding="utf-8")):
                versions.setdefault(action, set()).add((sha, version))
    assert "actions/checkout" in versions
    assert {action: found for action, found in versions.items() if len(found) > 1} == {}
    assert all(version for found in versions.values() for _, version in found)


def test_the_demos_change_applies_to_the_quickstart() -> None:
    folder = "examples/quickstart"
    report = git("apply", "--check", "-v", f"--directory={folder}", f"{folder}/change.patch")
    assert report.count("Checking patch") == 2
