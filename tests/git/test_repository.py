from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from tests.patience import PATIENCE_S, eventually

from benchgate.errors import UsageError
from benchgate.git import repository
from benchgate.git.repository import Git, clean_environ, find_root

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_root_is_found_from_a_folder_below(repo: Git) -> None:
    below = repo.root / "a" / "b"
    below.mkdir(parents=True)
    assert find_root(below) == repo.root.resolve()


def test_root_of_a_linked_worktree_is_its_own(
    repo: Git, commit: Callable[..., str], tmp_path: Path
) -> None:
    commit(repo, {"a": "1"})
    linked = tmp_path / "linked"
    repo.run("worktree", "add", "--quiet", "--detach", str(linked))
    assert find_root(linked) == linked.resolve()
    assert linked.resolve() in repo.worktrees()


@pytest.mark.usefixtures("git_environment")
def test_outside_of_a_repository(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not in a git repository") as raised:
        find_root(tmp_path)
    assert "benchgate run" in raised.value.hint


def test_a_repository_of_another_user_names_the_remedy(
    repo: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(UsageError, match="git does not trust ") as raised:
        find_root(repo.root)
    assert raised.value.message.endswith(": the folder belongs to another user")
    assert raised.value.hint == (f"git config --global --add safe.directory {repo.root.resolve()}")


def test_git_folder_itself_has_no_files(repo: Git) -> None:
    with pytest.raises(UsageError, match="no files to measure"):
        find_root(repo.root / ".git")


def test_absent_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="git was not found") as raised:
        find_root(tmp_path)
    assert "2.30" in raised.value.hint


@pytest.fixture
def fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Put a git before the real one that is this script."""

    def put(script: str) -> Path:
        program = tmp_path / "bin" / "git"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(program.parent), prepend=":")
        return program

    return put


@pytest.mark.parametrize("said", ["git version 2.17.1", "git version 1.8.3 (Apple Git-145)"])
def test_old_git(fake_git: Callable[[str], Path], tmp_path: Path, said: str) -> None:
    program = fake_git(f"echo '{said}'")
    version = said.split()[2]
    with pytest.raises(UsageError, match=rf"git version {version} is too old.* 2\.30") as raised:
        find_root(tmp_path)
    assert str(program) in raised.value.hint


@pytest.mark.parametrize("stubborn", ["", "trap '' TERM; "])
def test_git_that_hangs(
    fake_git: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stubborn: str
) -> None:
    fake_git(f"{stubborn}case $* in *status*) while :; do sleep 0.1; done;; esac")
    monkeypatch.setattr(repository, "_READING_LIMIT_S", 0.5)
    monkeypatch.setattr(repository, "_ENDING_S", 0.5)
    with pytest.raises(UsageError, match=r"git status did not end within 0\.5 s in /") as raised:
        Git(tmp_path).run("status", "--porcelain")
    assert f"Run `git -C {tmp_path} status` yourself" in raised.value.hint


def test_absent_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="git cannot work in") as raised:
        find_root(tmp_path / "nowhere")
    assert "No such file" in raised.value.details


def test_variables_of_a_calling_hook_lead_nowhere(
    make_repo: Callable[[str], Git], commit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = make_repo("mine"), make_repo("other")
    sha = commit(mine, {"a": "1"})
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.root / ".git/index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    assert find_root(mine.root) == mine.root.resolve()
    assert mine.head_sha() == sha
    assert (
        clean_environ(os.environ).keys().isdisjoint({"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"})
    )


def test_a_failing_command_shows_what_git_said(repo: Git) -> None:
    with pytest.raises(UsageError, match=r"git frobnicate failed in .*project") as raised:
        repo.run("frobnicate")
    assert "not a git command" in raised.value.details
    with pytest.raises(UsageError, match="git merge-base failed"):
        repo.merge_base("nothing", "nobody")


def test_a_worktree_that_another_process_is_creating(
    repo: Git, commit: Callable[..., str], tmp_path: Path
) -> None:
    commit(repo, {"a": "1"})
    repo.run("worktree", "add", "--quiet", "--detach", str(tmp_path / "other"))
    unfinished = repo.root / ".git/worktrees/other/commondir"
    finished = unfinished.read_bytes()
    unfinished.write_bytes(b"")
    with pytest.raises(UsageError) as raised:
        repo.worktrees()
    assert "worktrees/other/commondir" in raised.value.details
    creating = threading.Timer(0.2, unfinished.write_bytes, (finished,))
    creating.start()
    assert repo.worktrees() == (repo.root, tmp_path / "other")
    creating.join()


def test_a_repository_without_commit(repo: Git) -> None:
    with pytest.raises(UsageError, match="has no commit yet") as raised:
        repo.head_sha()
    assert raised.value.hint


@pytest.mark.parametrize(
    "revision", ["", "nope", "-n", "--all", "HEAD~9", "HEAD:a", "1" * 40, "a..b", "x@{upstream}"]
)
def test_what_is_no_commit_has_no_hash(
    repo: Git, commit: Callable[..., str], revision: str
) -> None:
    commit(repo, {"a": "1"})
    assert repo.rev_parse(revision) is None


def test_hashes_of_names(repo: Git, commit: Callable[..., str]) -> None:
    first = commit(repo, {"a": "1"})
    second = commit(repo, {"a": "2"})
    repo.run("tag", "--annotate", "--message", "one", "v1", first)
    for revision, sha in {"v1": first, "HEAD^": first, "main": second, second[:8]: second}.items():
        assert repo.rev_parse(revision) == sha


def test_parents_are_read_from_the_commit_itself(
    repo: Git, commit: Callable[..., str], tmp_path: Path
) -> None:
    first = commit(repo, {"a": "1"})
    second = commit(repo, {"a": "2"})
    assert repo.parents(first) == ()
    assert repo.parents(second) == (first,)
    assert not repo.is_shallow()
    shallow = Git(tmp_path / "shallow")
    repo.run("clone", "--quiet", "--depth=1", repo.root.as_uri(), str(shallow.root))
    assert shallow.is_shallow()
    assert shallow.rev_parse("HEAD^") is None
    assert shallow.parents(second) == (first,)


def test_both_parents_of_a_merge(repo: Git, commit: Callable[..., str]) -> None:
    root = commit(repo, {"a": "1"})
    repo.run("checkout", "--quiet", "-b", "side")
    side = commit(repo, {"b": "1"})
    repo.run("checkout", "--quiet", "main")
    ours = commit(repo, {"a": "2"})
    repo.run("merge", "--quiet", "--no-edit", "side")
    assert repo.parents(repo.head_sha()) == (ours, side)
    assert repo.merge_base(ours, side) == root


def test_unrelated_histories_have_no_merge_base(repo: Git, commit: Callable[..., str]) -> None:
    first = commit(repo, {"a": "1"})
    repo.run("checkout", "--quiet", "--orphan", "island")
    assert repo.merge_base(commit(repo, {"b": "1"}), first) is None


def test_git_is_told_to_stop_when_its_caller_is(repo: Git) -> None:
    """A program that is interrupted while git waits leaves no git behind."""
    program = (
        "import os, signal, threading, time\n"
        "from pathlib import Path\n"
        "from benchgate.git.repository import Git\n"
        "def interrupt():\n"
        "    while not Path('pid').exists():\n"
        "        time.sleep(0.01)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt).start()\n"
        "wait = 'alias.wait=!echo $$ >begun; mv begun pid; exec sleep 300'\n"
        "Git(Path.cwd()).run('-c', wait, 'wait')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=repo.root,
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert b"KeyboardInterrupt" in ended.stderr

    def has_ended() -> bool:
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", (repo.root / "pid").read_text().strip()],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
        return state.stdout.strip() in {"", "Z"}

    assert eventually(has_ended)


def test_a_commit_is_what_its_hash_says(repo: Git, commit: Callable[..., str]) -> None:
    base = commit(repo, {"code.py": "fast"})
    head = commit(repo, {"code.py": "slow"})
    repo.run("replace", base, head)
    assert repo.run("show", f"{base}:code.py") == "fast"
