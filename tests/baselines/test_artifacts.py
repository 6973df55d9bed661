from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.baselines.conftest import FORK, OURS, GitHub, sha

from benchgate.baselines.artifacts import (
    TRUSTED_EVENTS,
    ArtifactCandidate,
    choose_artifacts,
    relation,
    why_not_run,
)

if TYPE_CHECKING:
    from benchgate.github.objects import Artifact


def kept(github: GitHub, *listed: Artifact, **wanted: Any) -> list[int]:  # noqa: ANN401
    kept, skipped = choose_artifacts(listed, github.wanting(**wanted))
    assert skipped == []
    return [one.artifact.id for one in kept]


@pytest.mark.parametrize(
    ("preferred", "expected"),
    [
        ((), [9, 8, 7, 6, 5]),
        ((7,), [7, 9, 8, 6, 5]),  # the base commit's own run
        ((100, 6), [6, 9, 8, 7, 5]),  # which has none: its nearest ancestor that has
        ((7, 6, 5), [7, 6, 5, 9, 8]),  # what is newer is not in the base
        ((5, 7), [5, 7, 9, 8, 6]),
        ((7, 6, 7), [7, 6, 9, 8, 5]),
    ],
)
def test_the_base_comes_first_then_its_ancestors_then_the_newest(
    github: GitHub, preferred: tuple[int, ...], expected: list[int]
) -> None:
    listed = [github.listed(number) for number in (8, 5, 9, 7, 6)]
    assert kept(github, *listed, preferred=[sha(one) for one in preferred]) == expected


def test_of_one_commit_the_newest_comes_first(github: GitHub) -> None:
    of_base = {"head_sha": sha(50)}
    same_time = datetime(2026, 1, 1, tzinfo=UTC)
    listed = [
        github.listed(1, run=of_base, created_at=None),
        github.listed(2, run=of_base, created_at=same_time),
        github.listed(3, run=of_base, created_at=same_time),
        github.listed(4, run=of_base),
    ]
    assert kept(github, *listed) == [4, 3, 2, 1]


def test_what_is_listed_twice_is_one(github: GitHub) -> None:
    assert kept(github, github.listed(1), github.listed(2), github.listed(1)) == [2, 1]


@pytest.mark.parametrize(
    ("changes", "run", "reason"),
    [
        ({"name": "benchgate-change.default.linux-x86_64"}, {}, "it has a different name"),
        ({"name": "Benchgate-Baseline.default.linux-x86_64"}, {}, "it has a different name"),
        ({"workflow_run": None}, {}, "GitHub does not say which run uploaded it"),
        ({}, {"id": None}, "GitHub does not say which run uploaded it"),
        ({}, {"repository_id": 5}, "its run belongs to another repository"),
        ({}, {"repository_id": None}, "its run belongs to another repository"),
        # a fork's branch is called main, too
        ({}, {"head_repository_id": 99}, "its commit came from another repository, such as a fork"),
        (
            {},
            {"head_repository_id": None},
            "its commit came from another repository, such as a fork",
        ),
        ({}, {"head_branch": "feature"}, "its run was of feature, not of main"),
        ({}, {"head_branch": None}, "its run was of no branch, not of main"),
        (
            {},
            {"head_branch": "gh-readonly-queue/main/pr-42-1f3"},
            "its run was of gh-readonly-queue/main/pr-42-1f3, not of main",
        ),
        ({}, {"head_sha": sha(900)}, "it measured the head's own commit"),
        ({"expired": True}, {}, "it has expired"),
        ({"size_in_bytes": 1001}, {}, "its archive is larger than 1000 B"),
    ],
)
def test_what_the_listing_rules_out_has_its_reason(
    github: GitHub, changes: dict[str, Any], run: dict[str, Any], reason: str
) -> None:
    listed = github.listed(1, run=run, **changes)
    kept, (skipped,) = choose_artifacts([listed, github.listed(2)], github.wanted)
    assert [one.artifact.id for one in kept] == [2]
    assert skipped.reason == reason
    assert skipped.what.startswith("artifact 1 of run ")


def candidate(github: GitHub, number: int = 1) -> ArtifactCandidate:
    (one,), _ = choose_artifacts([github.listed(number)], github.wanted)
    return one


@pytest.mark.parametrize("event", TRUSTED_EVENTS)
def test_runs_of_the_branch_are_believed_however_they_ended(github: GitHub, event: str) -> None:
    # A run whose gate found a regression has measured all the same.
    for conclusion in ("success", "failure", "cancelled", None):
        run = github.run(1, event=event, conclusion=conclusion)
        assert why_not_run(candidate(github), run, github.wanted) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"event": "pull_request"}, "its run was for a pull request"),
        (
            {"event": "merge_group"},
            "its run was for the merge queue, whose commits may never have been merged",
        ),
        *(
            ({"event": event}, f"its run was triggered by {event}, which may run untrusted code")
            for event in ("pull_request_target", "workflow_run", "issue_comment", "dynamic", "")
        ),
        ({"id": 5}, "GitHub's list of artifacts contradicts its run"),
        ({"head_sha": sha(5)}, "GitHub's list of artifacts contradicts its run"),
        ({"repository": FORK}, "its run belongs to another repository"),
        ({"head_repository": FORK}, "its commit came from another repository, such as a fork"),
        ({"head_repository": None}, "its commit came from another repository, such as a fork"),
        ({"head_branch": "feature"}, "its run was of feature, not of main"),
        ({"head_branch": None}, "its run was of no branch, not of main"),
    ],
)
def test_what_the_run_rules_out_has_its_reason(
    github: GitHub, changes: dict[str, Any], reason: str
) -> None:
    run = github.run(1, **changes)
    assert why_not_run(candidate(github), run, github.wanted) == reason


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (50, "the base commit's own run (push, run 7050)"),
        (49, "the run of an ancestor of the base, 1 commit before it (push, run 7049)"),
        (48, "the run of an ancestor of the base, 2 commits before it (push, run 7048)"),
        (60, "a run of main that is not a known ancestor of the head (push, run 7060)"),
    ],
)
def test_what_a_run_is_to_the_base_is_told(github: GitHub, number: int, expected: str) -> None:
    assert relation(github.run(number), github.wanted) == expected


def test_where_no_commit_is_preferred_none_is_the_base(github: GitHub) -> None:
    said = relation(github.run(50), github.wanting(preferred=()))
    assert said == "a run of main (push, run 7050)"


ids = st.sampled_from([None, OURS.id, FORK.id])
runs = st.fixed_dictionaries(
    {
        "id": st.none() | st.integers(1, 9),
        "repository_id": ids,
        "head_repository_id": ids,
        "head_branch": st.sampled_from([None, "main", "feature"]),
        "head_sha": st.none() | st.sampled_from([sha(1), sha(50), sha(900)]),
    }
)
names = st.sampled_from([GitHub.wanted.name, "other", ""])


@given(
    st.lists(
        st.tuples(st.integers(1, 20), runs, names, st.booleans(), st.integers(-1, 2000)),
        max_size=20,
    ),
    st.sampled_from(["push", "merge_group", "pull_request", "workflow_run"]),
)
def test_whatever_is_listed_only_the_branch_itself_is_believed(
    drawn: list[tuple[int, dict[str, Any], str, bool, int]], event: str
) -> None:
    github = GitHub()
    listed = [
        github.listed(number, run=run, name=name, expired=expired, size_in_bytes=size)
        for number, run, name, expired, size in drawn
    ]
    found, skipped = choose_artifacts(listed, github.wanted)
    assert len(found) + len(skipped) == len({one.id for one in listed})
    assert all(one.what and one.reason for one in skipped)
    for one in found:
        of_run = one.artifact.workflow_run
        assert of_run is not None
        assert (of_run.repository_id, of_run.head_repository_id) == (OURS.id, OURS.id)
        assert (of_run.head_branch, one.artifact.name) == ("main", github.wanted.name)
        assert of_run.head_sha != github.wanted.head_sha
        assert not one.artifact.expired
        run = github.run(1, id=one.run_id, head_sha=one.head_sha or sha(3), event=event)
        believed = why_not_run(one, run, github.wanted) is None
        assert believed is (event == "push" and one.head_sha is not None)
