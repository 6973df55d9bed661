from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from benchgate.git.repository import Git
from benchgate.history.adding import KnownCommit, commit_order, commits_of
from benchgate.history.stored_rows import ListedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pytest


def run_of(id_: str, sha: str, day: int, committed: int | None = None) -> ListedRun:
    return ListedRun(
        id=id_,
        suite="default",
        sha=sha,
        ref="main",
        subject="",
        committed="" if committed is None else day_of(committed),
        started=day_of(day),
        machine="m",
        machine_key="k",
        conditions="{}",
        url="",
    )


def day_of(day: int) -> str:
    return f"2026-01-{day:02}T00:00:00Z"


def order(runs: list[ListedRun], commits: Mapping[str, KnownCommit]) -> str:
    return "".join(one.id for one in commit_order(runs, commits))


def test_known_commits_decide_and_not_the_days() -> None:
    # The newest commit was measured first, and its own date is wrong.
    commits = {
        "x": KnownCommit(0, day_of(9)),
        "y": KnownCommit(1, day_of(3)),
        "z": KnownCommit(2, day_of(1)),
    }
    assert order([run_of("c", "z", 1), run_of("b", "y", 2), run_of("a", "x", 3)], commits) == "abc"


def test_runs_of_one_commit_stay_together() -> None:
    commits = {"x": KnownCommit(0, day_of(1)), "y": KnownCommit(1, day_of(2))}
    runs = [run_of("d", "y", 4), run_of("c", "y", 3), run_of("b", "x", 9), run_of("a", "x", 1)]
    assert order(runs, commits) == "abcd"
    unknown = [run_of("b", "v", 9), run_of("c", "w", 5), run_of("a", "v", 1)]
    assert order(unknown, {}) == "abc"


def test_unknown_commits_are_placed_by_date() -> None:
    commits = {"x": KnownCommit(0, day_of(2)), "z": KnownCommit(1, day_of(6))}
    runs = [
        run_of("d", "z", 20),
        run_of("c", "y", 20, committed=4),
        run_of("b", "x", 20),
        run_of("a", "", 1),
        run_of("e", "", 21),
    ]
    assert order(runs, commits) == "abcde"


@given(st.permutations(range(12)))
def test_the_order_of_the_input_does_not_matter(permutation: list[int]) -> None:
    runs = [run_of(chr(97 + i), "uvwxyz"[i % 6], 1 + i, committed=1 + i % 4) for i in range(12)]
    commits = {"u": KnownCommit(1, day_of(2)), "v": KnownCommit(0, day_of(3))}
    assert order([runs[i] for i in permutation], commits) == order(runs, commits)


def test_git_says_which_commit_comes_after_which(
    repo: Git, commit: Callable[[Git, Mapping[str, str]], str], tmp_path: Path
) -> None:
    shas = [commit(repo, {"a": str(number)}) for number in range(3)]
    repo.run("checkout", "--quiet", "-b", "topic", shas[0])
    topic = commit(repo, {"b": "1"})
    repo.run("checkout", "--quiet", "main")
    repo.run("merge", "--quiet", "--no-ff", "--message", "merge\n\nmore", "topic")
    merge = repo.head_sha()
    found = commits_of(repo, [merge, topic, *shas[1:], "f" * 40, "HEAD", "--all", ""])
    assert found.keys() == {merge, topic, *shas[1:]}
    positions = {sha: one.position for sha, one in found.items()}
    assert positions[shas[1]] < positions[shas[2]] < positions[merge]
    assert positions[topic] < positions[merge]
    assert (found[merge].subject, found[merge].author) == ("merge", "A. Developer")
    assert found[topic].committed.endswith("Z")
    assert commits_of(repo, ["f" * 40]) == {}
    assert commits_of(None, shas) == {}
    clone = tmp_path / "clone"
    repo.run("clone", "--quiet", "--depth=1", repo.root.as_uri(), str(clone))
    assert commits_of(Git(clone), [merge, *shas]).keys() == {merge}


def test_authors_and_subjects_may_hold_anything(
    repo: Git, commit: Callable[[Git, Mapping[str, str]], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = commit(repo, {"a": "1"})
    monkeypatch.setenv("GIT_AUTHOR_NAME", "B\u2028\x0b\u202eB")
    repo.run("commit", "--quiet", "--allow-empty", "--message", "a\x0cb\u2028c\td")
    found = commits_of(repo, [first, repo.head_sha()])
    assert found[first].author == "A. Developer"
    assert found[repo.head_sha()].author == "B\u2028\x0b\u202eB"
    assert found[repo.head_sha()].subject == "a\x0cb\u2028c\td"


def test_a_commit_of_a_year_beyond_9999_is_as_good_as_unknown(
    repo: Git, commit: Callable[[Git, Mapping[str, str]], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    today = commit(repo, {"a": "1"})
    monkeypatch.setenv("GIT_COMMITTER_DATE", "@999999999999 +0000")
    far = commit(repo, {"a": "2"})
    assert repo.run("log", "-1", "--format=%ct").strip() == "999999999999"
    assert list(commits_of(repo, [today, far])) == [today]
