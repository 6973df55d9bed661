from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchgate.errors import BaselineError, UsageError
from benchgate.git.repository import Git
from benchgate.measure import session_folder
from benchgate.measure.arm import ArmName
from benchgate.measure.reach import Watch
from benchgate.measure.session_folder import remove_abandoned
from benchgate.measure.trees import checkouts
from benchgate.measure.trees.checkouts import one_arm, same_arms, sweep, two_arms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Commit = Callable[[Git, Mapping[str, str]], str]

BASE, HEAD = ArmName.BASE, ArmName.HEAD

SESSION = """
import signal, sys, time
from pathlib import Path
from benchgate.git.repository import Git
from benchgate.measure.trees import sweep, two_arms

def stop(number, frame):
    raise SystemExit(143)

signal.signal(signal.SIGTERM, stop)
git = Git(Path(sys.argv[1]))
sweep(git)
with two_arms(git, sys.argv[2], same_places="same" in sys.argv) as trees:
    print(trees.folder, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders of this test, and of no other session, are made."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.fixture
def changed(repo: Git, commit: Commit) -> Git:
    """A repository on a branch, with something staged, something not, and a stash."""
    commit(repo, {"code.py": "old", "gone.py": "1", "same.py": "1"})
    repo.run("checkout", "--quiet", "-b", "feature")
    commit(repo, {"code.py": "committed"})
    (repo.root / "same.py").write_text("stashed")
    repo.run("stash", "--quiet")
    (repo.root / "code.py").write_text("staged")
    repo.run("add", "code.py")
    (repo.root / "code.py").write_text("working")
    (repo.root / "gone.py").unlink()
    (repo.root / "new.py").write_text("new")
    return repo


@pytest.fixture
def with_submodule(repo: Git, make_repo: Callable[[str], Git], commit: Commit) -> Git:
    """A repository whose submodule `lib` has one commit in the first commit, two in the second."""
    library = make_repo("library")
    commit(library, {"x": "first"})
    repo.run(
        *("-c", "protocol.file.allow=always", "submodule", "--quiet", "add"),
        *(str(library.root), "lib"),
    )
    commit(repo, {"a": "1"})
    commit(Git(repo.root / "lib"), {"x": "second"})
    commit(repo, {"a": "2"})
    return repo


def contents(tree: Path) -> dict[str, str]:
    return {
        str(path.relative_to(tree)): path.read_text()
        for path in tree.rglob("*")
        if path.is_file() and path.name != ".git"
    }


def fingerprint(git: Git) -> dict[str, object]:
    """All that must be as it was."""
    folder = git.root / ".git"
    index = folder / "index"
    files = [path for path in git.root.rglob("*") if path.is_file() and ".git/" not in str(path)]
    return {
        "index": hashlib.sha256(index.read_bytes()).hexdigest(),
        "index time": index.stat().st_mtime_ns,
        "HEAD": (folder / "HEAD").read_text(),
        "config": (folder / "config").read_text(),
        "refs": git.run("for-each-ref"),
        "stash": git.run("stash", "list"),
        "reflog": git.run("reflog", "--all"),
        "logs": {path: path.read_text() for path in (folder / "logs").rglob("*") if path.is_file()},
        "status": git.run("status", "--porcelain=v2"),
        "git folder": sorted(path.name for path in folder.iterdir()),
        "files": {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files},
        "worktrees": git.worktrees(),
    }


def start_session(git: Git, sha: str, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SESSION, str(git.root), sha, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def folder_of(session: subprocess.Popen[str]) -> Path:
    """Wait until the session has its trees."""
    assert session.stdout is not None
    return Path(session.stdout.readline().strip())


def kill(session: subprocess.Popen[str], number: signal.Signals = signal.SIGKILL) -> None:
    with session:
        session.send_signal(number)


def test_arms_are_the_base_commit_and_the_working_tree(changed: Git) -> None:
    base_sha, head_sha = changed.rev_parse("main"), changed.head_sha()
    assert base_sha is not None
    with two_arms(changed, base_sha) as trees:
        base, head = trees.arms[BASE], trees.arms[HEAD]
        assert contents(base.root) == {"code.py": "old", "gone.py": "1", "same.py": "1"}
        assert contents(head.root) == {"code.py": "working", "new.py": "new", "same.py": "1"}
        assert (base.name, base.sha) == (BASE, base_sha)
        assert (head.name, head.sha) == (HEAD, head_sha)
        assert Git(base.root).head_sha() == base_sha
        assert Git(head.root).head_sha() == head_sha
        assert trees.notes == ()


def test_arms_differ_in_nothing_but_the_code(changed: Git, place: Path) -> None:
    with two_arms(changed, changed.head_sha()) as trees:
        base, head = trees.arms[BASE], trees.arms[HEAD]
        assert len(str(base.root)) == len(str(head.root))
        assert len(str(base.env)) == len(str(head.env))
        assert base.root.name == head.root.name == changed.root.name
        for arm in (base, head):
            assert arm.root.is_relative_to(trees.folder)
            assert arm.env.is_relative_to(trees.folder)
            assert not arm.env.exists()
        assert trees.folder.parent == place.resolve()
    assert not trees.folder.exists()


def test_the_users_checkout_is_not_touched(changed: Git, place: Path) -> None:
    before = fingerprint(changed)
    with two_arms(changed, changed.head_sha()) as trees:
        (trees.arms[HEAD].root / "same.py").write_text("built")
        during = fingerprint(changed)
    assert fingerprint(changed) == before
    assert list(place.iterdir()) == []
    # While they exist, git lists the trees, with a reflog of their own, and keeps them apart.
    theirs = ("reflog", "git folder", "worktrees")
    for name in before.keys() - theirs:
        assert during[name] == before[name], name


def test_after_an_interruption_another_process_removes_the_trees(
    changed: Git, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fingerprint(changed)
    removed_here: list[Path] = []
    monkeypatch.setattr(session_folder, "remove_tree", removed_here.append)
    with pytest.raises(KeyboardInterrupt), two_arms(changed, changed.head_sha()):
        raise KeyboardInterrupt
    assert removed_here == []
    deadline_s = time.monotonic() + 60
    while list(place.iterdir()) and time.monotonic() < deadline_s:
        # It is not abandoned: nobody else may remove it meanwhile.
        assert remove_abandoned(list(place.iterdir())) == []
        time.sleep(0.02)
    assert fingerprint(changed) == before
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("error", [ValueError, SystemExit])
def test_trees_are_removed_on_an_error(
    changed: Git, place: Path, error: type[BaseException]
) -> None:
    before = fingerprint(changed)
    with pytest.raises(error), two_arms(changed, changed.head_sha()):
        raise error
    assert fingerprint(changed) == before
    assert list(place.iterdir()) == []


def test_one_arm_and_same_arms(changed: Git) -> None:
    with one_arm(changed) as trees:
        assert list(trees.arms) == [HEAD]
        assert (trees.arms[HEAD].root / "code.py").read_text() == "working"
    with same_arms(changed) as trees:
        assert list(trees.arms) == [BASE, HEAD]
        base, head = trees.arms[BASE], trees.arms[HEAD]
        assert contents(base.root) == contents(head.root)
        assert (base.root / "new.py").exists()


def test_in_a_linked_worktree(changed: Git, tmp_path: Path) -> None:
    linked = Git(tmp_path / "linked")
    changed.run("worktree", "add", "--quiet", "-b", "other", str(linked.root), "main")
    (linked.root / "code.py").write_text("in the linked one")
    before = changed.worktrees()
    with two_arms(linked, linked.head_sha()) as trees:
        assert (trees.arms[HEAD].root / "code.py").read_text() == "in the linked one"
        assert (trees.arms[BASE].root / "code.py").read_text() == "old"
    assert changed.worktrees() == before
    assert linked.run("status", "--porcelain") == " M code.py\n"


def test_hooks_do_not_run(changed: Git) -> None:
    hooks = changed.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        hook = hooks / name
        hook.write_text(f"#!/bin/sh\ntouch '{changed.root}/hook-ran'\n")
        hook.chmod(0o755)
    changed.run("config", "core.hooksPath", str(hooks))
    with two_arms(changed, changed.head_sha()):
        pass
    assert not (changed.root / "hook-ran").exists()


def test_started_by_a_git_hook(
    changed: Git, make_repo: Callable[[str], Git], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repo("other")
    before = fingerprint(changed)
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(changed.root / ".git/index"))
    with two_arms(changed, changed.head_sha()) as trees:
        assert (trees.arms[HEAD].root / "code.py").read_text() == "working"
    assert fingerprint(changed) == before


def test_folder_with_an_awkward_name(make_repo: Callable[[str], Git], commit: Commit) -> None:
    git = make_repo("my project\n& 'more'")
    sha = commit(git, {"a": "1"})
    with two_arms(git, sha) as trees:
        assert trees.arms[HEAD].root.name == "my-project----more-"
        assert (trees.arms[HEAD].root / "a").read_text() == "1"
    assert len(git.worktrees()) == 1


def test_read_only_leftovers_of_a_build_are_removed(changed: Git, place: Path) -> None:
    with two_arms(changed, changed.head_sha()) as trees:
        cache = trees.arms[BASE].env / "cache" / "module"
        cache.mkdir(parents=True)
        (cache / "file").write_text("1")
        (cache / "file").chmod(0o400)
        for folder in (cache, cache.parent):
            folder.chmod(0o500)
        trees.arms[HEAD].env.symlink_to(changed.root)
    assert list(place.iterdir()) == []
    assert (changed.root / "code.py").exists()


@pytest.mark.parametrize("mode", [0o700, 0o500])
def test_very_deep_leftovers_are_removed(changed: Git, place: Path, mode: int) -> None:
    with two_arms(changed, changed.head_sha()) as trees:
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(trees.arms[BASE].root)
            for _ in range(1200):
                Path("deep").mkdir()
                Path("file").write_text("1")
                os.chdir("deep")
            for _ in range(1200):
                os.chdir("..")
                Path("deep").chmod(mode)
        finally:
            os.fchdir(here)
            os.close(here)
    assert list(place.iterdir()) == []
    assert len(changed.worktrees()) == 1


def test_trees_are_forgotten_though_a_build_removed_their_git_file(changed: Git) -> None:
    before = changed.worktrees()
    with two_arms(changed, changed.head_sha()) as trees:
        shutil.rmtree(trees.arms[BASE].root)
        (trees.arms[HEAD].root / ".git").unlink()
    assert changed.worktrees() == before


def test_base_that_cannot_be_checked_out(changed: Git, place: Path) -> None:
    before = fingerprint(changed)
    with (
        pytest.raises(BaselineError, match="base commit 111111111111 cannot be") as raised,
        two_arms(changed, "1" * 40),
    ):
        pass
    assert raised.value.details
    assert fingerprint(changed) == before
    assert list(place.iterdir()) == []


def test_temporary_folder_inside_of_the_repository(
    changed: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(changed.root / "tmp"))
    with pytest.raises(UsageError, match="is inside the repository"), one_arm(changed):
        pass


def test_no_room_for_the_trees(changed: Git, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(place / "absent"))
    with pytest.raises(UsageError, match="cannot create the trees") as raised, one_arm(changed):
        pass
    assert "TMPDIR" in raised.value.hint


def test_submodules_are_made_of_their_local_repositories(with_submodule: Git) -> None:
    base_sha = with_submodule.rev_parse("HEAD^")
    assert base_sha is not None
    library = Git(with_submodule.root / "lib")
    (library.root / "new").write_text("not committed")
    shutil.rmtree(with_submodule.root.parent / "library")  # nothing is fetched from it
    before = fingerprint(with_submodule), library.worktrees()
    with two_arms(with_submodule, base_sha) as trees:
        assert contents(trees.arms[BASE].root / "lib") == {"x": "first"}
        assert contents(trees.arms[HEAD].root / "lib") == {"x": "second", "new": "not committed"}
        assert trees.notes == ()
    assert (fingerprint(with_submodule), library.worktrees()) == before


def test_submodule_that_is_not_checked_out_is_left_out(with_submodule: Git) -> None:
    with_submodule.run("submodule", "--quiet", "deinit", "--force", "lib")
    with same_arms(with_submodule) as trees:
        assert not any((trees.arms[HEAD].root / "lib").iterdir())
        (note,) = trees.notes
    assert "submodule lib is not measured" in note
    assert "git submodule update --init --recursive" in note


def test_submodule_commit_that_a_shallow_clone_lacks(with_submodule: Git, tmp_path: Path) -> None:
    base_sha = with_submodule.rev_parse("HEAD^")
    assert base_sha is not None
    library = tmp_path / "project/lib"
    Git(library).run("push", "--quiet", "origin", "HEAD:refs/heads/second")
    Git(tmp_path / "library").run("config", "uploadpack.allowAnySHA1InWant", "true")
    shutil.rmtree(with_submodule.root / ".git/modules/lib")
    shutil.rmtree(library)
    url = f"file://{tmp_path / 'library'}"
    with_submodule.run("clone", "--quiet", "--depth=1", "--branch=second", url, str(library))
    assert Git(library).is_shallow()
    assert Git(library).rev_parse("HEAD^") is None
    with two_arms(with_submodule, base_sha) as trees:
        assert contents(trees.arms[BASE].root / "lib") == {"x": "first"}
        assert contents(trees.arms[HEAD].root / "lib") == {"x": "second"}
    assert Git(library).is_shallow()
    assert not (library / ".git/FETCH_HEAD").exists()


def test_submodule_commit_that_is_not_here(with_submodule: Git) -> None:
    missing = "2" * 40
    with_submodule.run("update-index", "--cacheinfo", f"160000,{missing},lib")
    with_submodule.run("commit", "--quiet", "--message", "ahead")
    with (
        pytest.raises(BaselineError, match="commit 222222222222 of the submodule") as raised,
        two_arms(with_submodule, with_submodule.head_sha()),
    ):
        pass
    assert raised.value.hint == f"git -C {with_submodule.root / 'lib'} fetch origin {missing}"


def test_next_session_removes_what_a_killed_one_left(changed: Git, place: Path) -> None:
    before = fingerprint(changed)
    session = start_session(changed, changed.head_sha())
    folder = folder_of(session)
    (folder / "base-env").mkdir()
    kill(session)
    assert folder.exists()
    assert len(changed.worktrees()) == 3
    assert sweep(changed) == ()
    assert fingerprint(changed) == before
    assert list(place.iterdir()) == []


def test_terminated_session_removes_its_own(changed: Git, place: Path) -> None:
    before = fingerprint(changed)
    session = start_session(changed, changed.head_sha())
    folder_of(session)
    kill(session, signal.SIGTERM)
    assert fingerprint(changed) == before
    assert list(place.iterdir()) == []


def test_killed_at_any_moment_nothing_is_left_after_the_next_start(
    changed: Git, place: Path
) -> None:
    before = fingerprint(changed)
    for step in range(10):
        session = start_session(changed, changed.head_sha())
        try:
            session.wait(0.1 + step * 0.03)
        except subprocess.TimeoutExpired:
            kill(session)
    assert sweep(changed) == ()
    assert list(place.iterdir()) == []
    assert fingerprint(changed) == before


def test_living_sessions_are_left_alone(changed: Git) -> None:
    sha = changed.head_sha()
    first, second = start_session(changed, sha), start_session(changed, sha)
    folders = [folder_of(first), folder_of(second)]
    kill(first)
    assert sweep(changed) == ()
    assert [folder.exists() for folder in folders] == [False, True]
    assert len(changed.worktrees()) == 3
    second.communicate("end\n")
    assert second.returncode == 0
    assert not folders[1].exists()
    assert len(changed.worktrees()) == 1


def test_session_of_another_repository_is_swept_with_its_records(
    changed: Git, make_repo: Callable[[str], Git], commit: Commit, place: Path
) -> None:
    other = make_repo("other")
    commit(other, {"a": "1"})
    session = start_session(changed, changed.head_sha())
    folder_of(session)
    kill(session)
    assert sweep(other) == ()
    assert list(place.iterdir()) == []
    assert len(changed.worktrees()) == 1


def test_records_of_a_folder_that_vanished(with_submodule: Git) -> None:
    library = Git(with_submodule.root / "lib")
    session = start_session(with_submodule, with_submodule.head_sha())
    folder = folder_of(session)
    kill(session)
    shutil.rmtree(folder)
    assert (len(with_submodule.worktrees()), len(library.worktrees())) == (3, 3)
    assert sweep(with_submodule) == ()
    assert (len(with_submodule.worktrees()), len(library.worktrees())) == (1, 1)


def test_worktrees_of_the_user_stay_also_those_on_a_drive_that_is_gone(
    changed: Git, tmp_path: Path
) -> None:
    for name in ("kept", "gone", "benchgate-mine"):
        changed.run("worktree", "add", "--quiet", "--detach", str(tmp_path / name))
    shutil.rmtree(tmp_path / "gone")
    before = changed.worktrees()
    assert sweep(changed) == ()
    with one_arm(changed):
        pass
    assert changed.worktrees() == before
    assert len(before) == 4


def test_session_left_where_temporary_files_no_longer_go(
    changed: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start_session(changed, changed.head_sha())
    folder = folder_of(session)
    kill(session)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert sweep(changed) == ()
    assert not folder.exists()
    assert len(changed.worktrees()) == 1


def test_folder_that_is_no_sessions_stays(changed: Git, place: Path) -> None:
    mine = place / "benchgate-12345678"
    mine.mkdir()
    (mine / "file").write_text("1")
    (place / "benchgate-notes").mkdir()
    empty = place / "benchgate-00000000"
    empty.mkdir()  # killed before it could lock it
    assert sweep(changed) == ()
    assert (mine / "file").exists()
    assert (place / "benchgate-notes").exists()
    assert not empty.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_session_of_another_user_stays(changed: Git, place: Path) -> None:
    session = start_session(changed, changed.head_sha())
    folder = folder_of(session)
    kill(session)
    os.chown(folder, 65534, 65534)
    assert sweep(changed) == ()
    assert folder.exists()
    os.chown(folder, 0, 0)
    assert sweep(changed) == ()
    assert list(place.iterdir()) == []


def test_all_files_are_as_old_and_git_knows_them(changed: Git) -> None:
    base_sha = changed.rev_parse("main")
    assert base_sha is not None
    with two_arms(changed, base_sha) as trees:
        roots = [arm.root for arm in trees.arms.values()]
        assert len({f.stat().st_mtime_ns for root in roots for f in root.rglob("*.py")}) == 1
        # What a build would take for a change, without looking into the files.
        assert all(Git(root).run("diff-files", "--name-only") == "" for root in roots)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_who_asks_git_for_uncommitted_changes_opens_no_file(changed: Git) -> None:
    with one_arm(changed) as trees:
        head = Git(trees.arms[HEAD].root)
        with Watch([head.root]) as watch:
            assert head.run("describe", "--always", "--dirty").endswith("-dirty\n")
            assert {*head.run("status", "--porcelain").split()} > {"code.py", "gone.py", "new.py"}
            opened = {path.name for path in watch.opened()}
        assert not opened - {".git", ".gitignore", ".gitattributes", ".gitmodules"}


def test_nothing_in_a_place_tells_the_arm(changed: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    first = {}
    for order in ([BASE, HEAD], [HEAD, BASE]):
        monkeypatch.setattr(checkouts.SECRET, "sample", lambda *_, order=order: order)
        with same_arms(changed) as trees:
            base, head = trees.arms[BASE], trees.arms[HEAD]
            for one, other in ((base.root, head.root), (base.env, head.env)):
                assert len(str(one)) == len(str(other))
                assert not {"base", "head"} & set(re.split(r"\W|_", str(one)))
            made = [(root / ".git").read_text().split("/")[-1] for root in (base.root, head.root)]
            first[order[0]] = (
                made[0] < made[1],
                base.root.stat().st_ctime_ns < head.root.stat().st_ctime_ns,
            )
    # All that tells who was first tells no more than what was drawn.
    assert first[BASE] == tuple(not one for one in first[HEAD])


def places(git: Git, base_sha: str) -> dict[ArmName, Path]:
    """Where a session has its trees if builds are kept."""
    assert sweep(git) == ()
    with two_arms(git, base_sha, same_places=True) as trees:
        return {name: arm.root for name, arm in trees.arms.items()}


def test_the_same_code_has_the_same_place_in_every_session(changed: Git) -> None:
    base_sha = changed.rev_parse("main")
    assert base_sha is not None
    first = places(changed, base_sha)
    assert len({len(str(root)) for root in first.values()}) == 1
    assert len(set(first.values())) == 2
    assert places(changed, base_sha) == first
    with one_arm(changed, same_places=True) as trees:
        assert trees.arms[HEAD].root == first[HEAD]
    # Whether it is the head's then, or the base's later.
    changed.run("stash", "--quiet", "--include-untracked")
    with one_arm(changed, same_places=True) as trees:
        clean = trees.arms[HEAD].root
    assert clean not in first.values()
    changed.run("stash", "pop", "--quiet")
    assert places(changed, changed.head_sha()) == {BASE: clean, HEAD: first[HEAD]}
    with two_arms(changed, base_sha) as trees:
        assert trees.folder != first[HEAD].parents[1]


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "code.py").write_text("WORKING"),  # as many bytes
        lambda root: (root / "new.py").write_text("NEW"),
        lambda root: (root / "new.py").chmod(0o755),
        lambda root: (root / "newer.py").touch(),
        lambda root: (root / "same.py").unlink(),
    ],
    ids=["content", "of a new file", "mode", "new file", "removed"],
)
def test_other_code_has_another_place(changed: Git, change: Callable[[Path], object]) -> None:
    """A cache outside of the trees could take it for the code that was there before."""
    before = places(changed, changed.head_sha())
    change(changed.root)
    after = places(changed, changed.head_sha())
    assert after[BASE] == before[BASE]
    assert after[HEAD] != before[HEAD]


def test_other_code_of_a_submodule_has_another_place(with_submodule: Git) -> None:
    library = Git(with_submodule.root / "lib")
    sha = with_submodule.head_sha()

    def head() -> Path:
        with two_arms(with_submodule, sha, same_places=True) as trees:
            return trees.arms[HEAD].root

    found = [head()]
    (library.root / "new").write_text("1")
    found.append(head())
    (library.root / "new").unlink()
    library.run("checkout", "--quiet", "HEAD^")
    found.append(head())
    assert len(set(found)) == 3


def test_equal_trees_of_a_session_have_places_of_their_own(changed: Git) -> None:
    changed.run("stash", "--quiet", "--include-untracked")
    first = places(changed, changed.head_sha())
    assert len(set(first.values())) == 2
    assert set(places(changed, changed.head_sha()).values()) == set(first.values())


def test_sessions_at_once_never_share_a_place(changed: Git) -> None:
    session = start_session(changed, changed.head_sha(), "same")
    taken = folder_of(session)
    elsewhere = places(changed, changed.head_sha())
    assert not any(root.is_relative_to(taken) for root in elsewhere.values())
    assert places(changed, changed.head_sha()) == elsewhere
    assert taken.exists()
    kill(session)
    # What a killed session left is removed, and its place is free.
    (dirty,) = (path for path in taken.glob("*/*/new.py"))
    again = places(changed, changed.head_sha())
    assert all(root.is_relative_to(taken) for root in again.values())
    assert not dirty.exists()
    assert len(changed.worktrees()) == 1


def test_after_an_interruption_the_place_is_free_as_soon_as_it_is_empty(changed: Git) -> None:
    first = places(changed, changed.head_sha())

    def interrupted() -> None:
        with two_arms(changed, changed.head_sha(), same_places=True) as trees:
            for number in range(2000):
                (trees.arms[HEAD].root / f"file{number}").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert places(changed, changed.head_sha()) == first


def test_a_place_that_something_else_has_is_not_taken(changed: Git) -> None:
    first = places(changed, changed.head_sha())
    folder = first[BASE].parents[1]
    folder.mkdir()
    (folder / "mine").touch()
    second = places(changed, changed.head_sha())
    assert not any(root.is_relative_to(folder) for root in second.values())
    assert [path.name for path in folder.iterdir()] == ["mine"]
