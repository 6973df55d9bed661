"""Scratch repositories that know nothing of the developer's own git configuration.

Properties are checked however slow the machine is.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from tests.world import World

from benchgate.git.repository import Git

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any speed")

# Whatever the terminal that the tests run in is like: those that need one say so.
for terminal in ("COLUMNS", "LINES", "TERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
    os.environ.pop(terminal, None)

# A shell's background job is started with Ctrl-C ignored, and all that it starts would be, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Start a worker on each CPU, and one more for slow tests, which often wait for processes."""
    return (os.cpu_count() or 1) + int(config.option.markexpr.startswith("slow"))


# They start real processes by the dozen, or simulate for long: `make test-slow` runs them.
SLOW = (
    *("docs/test_github.py", "docs/test_project_site.py", "e2e/", "fuzz/", "gate/test_cuts.py"),
    *("gate/test_judging_shards.py", "gate/test_laboratory.py", "gate/test_simulation.py"),
    *("gate/test_stored_simulation.py", "load/cluster/", "load/drivers/test_child.py"),
    *("load/drivers/test_databases.py", "load/test_generator.py", "load/test_group.py"),
    *(
        "load/test_generator_iteration.py",
        "measure/test_valgrind_counts.py",
        "measure/test_ground.py",
    ),
    *("measure/test_functions.py", "measure/test_pytest_host.py", "measure/test_functions_slow.py"),
    *("measure/test_worker.py", "measure/test_checkouts.py", "measure/test_languages.py"),
)
# Each takes minutes and guards a few packages, which CONTRIBUTING.md names: `make test-nightly`
# runs those of their tests that are slow.
NIGHTLY = (
    *("browser/", "docs/test_shell_examples.py", "docs/test_site.py", "docs/test_validation.py"),
    *("e2e/test_examples.py", "e2e/test_init.py", "e2e/test_recipes.py", "faults/"),
    *("measure/test_asv_versions.py", "measure/test_pyperf_versions.py"),
    *("measure/test_pytest_versions.py", "suites/", "test_linear_time.py"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the folders and files that they are in."""
    here = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        place = str(item.path).removeprefix(here)
        if place.startswith(SLOW):
            item.add_marker("slow")
        if place.startswith(NIGHTLY) and item.get_closest_marker("slow"):
            item.add_marker("nightly")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name archives by their argument: they hold the time, and all workers need equal names."""
    return argname if isinstance(val, bytes) and val.startswith(b"PK") else None


@pytest.fixture
def git_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    variables = {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A. Developer",
        "GIT_AUTHOR_EMAIL": "developer@example.org",
        "GIT_COMMITTER_NAME": "A. Developer",
        "GIT_COMMITTER_EMAIL": "developer@example.org",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def make_repo(
    git_environment: None,  # noqa: ARG001 - asked for its effect
    tmp_path: Path,
) -> Callable[[str], Git]:
    """Make an empty repository on a branch named main."""

    def make(name: str) -> Git:
        root = tmp_path / name
        root.mkdir()
        git = Git(root)
        git.run("-c", "init.defaultBranch=main", "init", "--quiet")
        return git

    return make


@pytest.fixture
def repo(make_repo: Callable[[str], Git]) -> Git:
    return make_repo("project")


@pytest.fixture
def commit() -> Callable[[Git, Mapping[str, str]], str]:
    """Write files, commit everything and give the commit."""

    def write_and_commit(git: Git, files: Mapping[str, str]) -> str:
        for name, text in files.items():
            path = git.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        git.run("add", "--all")
        git.run("commit", "--quiet", "--message", "work")
        return git.head_sha()

    return write_and_commit


@pytest.fixture
def world() -> World:
    return World()
