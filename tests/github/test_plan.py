"""The plan of every event; the table of docs/github-events.md is made of the same cases.

python tests/github/test_plan.py brings that page up to date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.github.artifact_names import ArtifactKind
from benchgate.github.plan import DEPENDABOT, CommentTime, EventPlan, Head, plan_for
from benchgate.github.runner import (
    Context,
    Event,
    EventRepository,
    MergeGroupEvent,
    PullRequestEvent,
    PushEvent,
    Schedule,
    WorkflowDispatch,
    WorkflowRunEvent,
)

PAGE = Path(__file__).parents[2] / "docs" / "github-events.md"
BLOCK = re.compile(r"(?<=<!-- events -->\n).*?(?=<!-- end -->)", re.DOTALL)

EVENT, HEAD, BASE, BEFORE, OTHER = (digit * 40 for digit in "12345")
ZEROS = "0" * 40
OWN = EventRepository(1, "octo-org/hello")
FORK = EventRepository(2, "octocat/hello")
MAIN, TOPIC, TAG = "refs/heads/main", "refs/heads/topic", "refs/tags/v1"

PULL = PullRequestEvent(
    number=42, is_open=True, head_sha=HEAD, head_repository=OWN, base_sha=BASE, base_ref="main"
)
PUSH = PushEvent(MAIN, BEFORE, forced=False, deleted=False)
TOPIC_PUSH = replace(PUSH, ref=TOPIC)
RUN = WorkflowRunEvent(
    id=7,
    attempt=1,
    event="pull_request",
    is_completed=True,
    conclusion="success",
    head_sha=HEAD,
    head_branch="topic",
    head_repository=FORK,
)
MERGE = Head(EVENT, (BASE, HEAD))
AT_EVENT = Head(EVENT, (OTHER,))
ELSEWHERE = Head(OTHER, (EVENT,))


def context_of(event: Event, ref: str = MAIN, actor: str = "octocat") -> Context:
    names: dict[type, str] = {
        PullRequestEvent: "pull_request",
        PushEvent: "push",
        MergeGroupEvent: "merge_group",
        WorkflowRunEvent: "workflow_run",
        Schedule: "schedule",
        WorkflowDispatch: "workflow_dispatch",
    }
    return Context(
        event=event,
        event_name=names[type(event)],
        repository=OWN,
        default_branch="main",
        sha=EVENT,
        ref=ref,
        run_id=7,
        run_attempt=1,
        workflow="benchgate",
        job="benchgate",
        actor=actor,
        api_url="https://api.github.com",
        server_url="https://github.com",
        runner_os="Linux",
    )


@dataclass(frozen=True)
class Case:
    """A situation in words, and what has to be done in it.

    Attributes:
        why: how the reason for the base begins.
        base: a commit or a branch.
    """

    words: str
    event: Event
    why: str
    base: str | None
    kind: ArtifactKind | None = ArtifactKind.RESULT
    comment: CommentTime = CommentTime.NEVER
    ref: str = MAIN
    head: Head = AT_EVENT
    actor: str = "octocat"

    @property
    def context(self) -> Context:
        return context_of(self.event, self.ref, self.actor)

    @property
    def plan(self) -> EventPlan:
        return plan_for(self.context, self.head)


PULL_REF = "refs/pull/42/merge"
FIRST_PARENT, MERGE_BASE = "first parent of the merge commit", "merge base with"
BEFORE_PUSH, NONE = "the commit before the push", ""
BASELINE = ArtifactKind.BASELINE
NOW, IF_ALLOWED, LATER, NEVER = CommentTime


def pulled(
    words: str,
    event: Event = PULL,
    *,
    why: str = FIRST_PARENT,
    head: Head = MERGE,
    comment: CommentTime = NOW,
    actor: str = "octocat",
) -> Case:
    """A pull request that is open."""
    more = {"comment": comment, "ref": PULL_REF, "head": head, "actor": actor}
    return Case(f"`pull_request`{words}", event, why, BASE, **more)  # type: ignore[arg-type]


CASES = [
    pulled(""),
    pulled(", `head.sha` checked out", why=MERGE_BASE, head=Head(HEAD, (OTHER,))),
    pulled(", another commit checked out", why=MERGE_BASE, head=ELSEWHERE),
    pulled(" from a fork", replace(PULL, head_repository=FORK), comment=LATER),
    pulled(" from a fork that was deleted", replace(PULL, head_repository=None), comment=LATER),
    pulled(" of Dependabot", actor=DEPENDABOT, comment=IF_ALLOWED),
    Case("`pull_request`, closed", replace(PULL, is_open=False), NONE, None, None, ref=PULL_REF),
    Case(
        "`merge_group`", MergeGroupEvent("main"), MERGE_BASE, "main", ref="refs/heads/gh-readonly-q"
    ),
    Case("`push` to the default branch", PUSH, BEFORE_PUSH, BEFORE, BASELINE),
    Case(
        "`push` to the default branch, forced",
        replace(PUSH, forced=True),
        MERGE_BASE,
        BEFORE,
        BASELINE,
    ),
    Case("`push` that makes the default branch", replace(PUSH, before=ZEROS), NONE, None, BASELINE),
    Case(
        "`push` to the default branch, another commit checked out",
        PUSH,
        MERGE_BASE,
        "main",
        head=ELSEWHERE,
    ),
    Case("`push` to another branch", TOPIC_PUSH, BEFORE_PUSH, BEFORE, ref=TOPIC),
    Case(
        "`push` to another branch, forced",
        replace(TOPIC_PUSH, forced=True),
        MERGE_BASE,
        "main",
        ref=TOPIC,
    ),
    Case(
        "`push` of a new branch", replace(TOPIC_PUSH, before=ZEROS), MERGE_BASE, "main", ref=TOPIC
    ),
    Case("`push` of a tag", replace(PUSH, ref=TAG, before=ZEROS), NONE, None, ref=TAG),
    Case("`push` that deletes", replace(TOPIC_PUSH, deleted=True), NONE, None, None),
    Case("`schedule`", Schedule(), NONE, None, BASELINE),
    Case("`workflow_dispatch` on the default branch", WorkflowDispatch(), NONE, None, BASELINE),
    Case(
        "`workflow_dispatch` on another branch or a tag",
        WorkflowDispatch(),
        MERGE_BASE,
        "main",
        ref=TOPIC,
    ),
    Case("`workflow_run` of a `pull_request`", RUN, NONE, None, None, NOW),
    Case(
        "`workflow_run` of a `pull_request` that goes on",
        replace(RUN, is_completed=False),
        NONE,
        None,
        None,
    ),
    Case("`workflow_run` of another event", replace(RUN, event="push"), NONE, None, None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.words)
def test_every_event_has_its_plan(case: Case) -> None:
    plan = case.plan
    assert plan.base.why.startswith(case.why)
    assert (plan.base.sha or plan.base.merge_base_with) == case.base
    assert (plan.base.merge_base_with is not None) == (case.why == MERGE_BASE)
    assert plan.keeping.kind == case.kind
    assert plan.comment.when == case.comment


@pytest.mark.parametrize(
    ("event", "ref", "is_change"),
    [
        (PULL, PULL_REF, True),
        (PULL, MAIN, True),  # pull_request_target
        (WorkflowDispatch(), MAIN, False),
        (WorkflowDispatch(), TOPIC, True),
        (Schedule(), MAIN, False),
    ],
)
def test_the_default_branch_is_measured_as_a_whole(
    event: Event, ref: str, *, is_change: bool
) -> None:
    assert plan_for(context_of(event, ref), AT_EVENT).is_change is is_change


def test_the_words() -> None:
    assert CASES[0].plan.words() == (
        "base: first parent of the merge commit: main before the pull request is merged",
        "kept as result: a pull request is not part of the default branch",
        "comment now: the pull request is from this repository",
    )
    assert CASES[-1].plan.words() == (
        "base: this run only publishes what another run measured",
        "kept as nothing: the measurements of another run never become a baseline here",
        "comment never: the run was triggered by push, not by a pull request",
    )


def test_what_is_surprising_is_said() -> None:
    words = {case.words: case.plan.base.why for case in CASES}
    assert "so it had no commit before the push" in words["`push` of a new branch"]
    assert "the head is checked out" in words["`pull_request`, `head.sha` checked out"]
    assert "555555555555 is checked out" in words["`pull_request`, another commit checked out"]
    assert "entries ahead" in words["`merge_group`"]


@pytest.mark.parametrize(
    ("parents", "why"),
    [
        ((BASE, HEAD), FIRST_PARENT),
        ((OTHER, HEAD), FIRST_PARENT),  # main moved on after the event
        ((HEAD, BASE), MERGE_BASE),  # main merged into the head, by a step
        ((BASE, OTHER), MERGE_BASE),  # a merge of something else
        ((BASE, HEAD, OTHER), MERGE_BASE),
        ((HEAD,), MERGE_BASE),
        ((), MERGE_BASE),
    ],
)
def test_the_merge_commit_is_known_by_its_second_parent(parents: tuple[str, ...], why: str) -> None:
    base = plan_for(context_of(PULL, PULL_REF), Head(EVENT, parents)).base
    assert base.why.startswith(why)
    assert base.sha == (parents[0] if why == FIRST_PARENT else None)


def test_a_head_that_is_itself_a_merge_is_not_taken_for_the_merge_commit() -> None:
    base = plan_for(context_of(PULL, PULL_REF), Head(HEAD, (OTHER, BASE))).base
    assert base.why.startswith(MERGE_BASE)
    assert (base.sha, base.merge_base_with) == (None, BASE)


def test_a_fork_is_known_by_its_id_and_not_by_its_name() -> None:
    renamed = replace(PULL, head_repository=EventRepository(OWN.id, "octo-org/old-name"))
    assert plan_for(context_of(renamed), MERGE).comment.when == NOW
    disguised = replace(PULL, head_repository=EventRepository(FORK.id, OWN.full_name))
    assert plan_for(context_of(disguised), MERGE).comment.when == LATER


def test_a_branch_that_another_branch_is_named_after_is_not_the_default_one() -> None:
    for ref in ("refs/heads/topic/main", "refs/tags/main", "refs/heads/main2", "main"):
        plan = plan_for(context_of(WorkflowDispatch(), ref), AT_EVENT)
        assert plan.keeping.kind == ArtifactKind.RESULT


SHAS = st.sampled_from([EVENT, HEAD, BASE, BEFORE, OTHER, ZEROS])
REFS = st.sampled_from([MAIN, TOPIC, TAG, PULL_REF])
REPOSITORIES = st.sampled_from([OWN, FORK])
PULLS = st.builds(
    PullRequestEvent,
    number=st.integers(1, 99),
    is_open=st.booleans(),
    head_sha=SHAS,
    head_repository=st.none() | REPOSITORIES,
    base_sha=SHAS,
    base_ref=st.sampled_from(["main", "release"]),
)
RUNS = st.builds(
    WorkflowRunEvent,
    id=st.integers(1),
    attempt=st.integers(1),
    event=st.sampled_from(["pull_request", "push", "schedule", "merge_group"]),
    is_completed=st.booleans(),
    conclusion=st.none() | st.just("success"),
    head_sha=SHAS,
    head_branch=st.none() | st.just("main"),
    head_repository=st.none() | REPOSITORIES,
)
PUSHES = st.builds(PushEvent, ref=REFS, before=SHAS, forced=st.booleans(), deleted=st.booleans())
EVENTS = PULLS | RUNS | PUSHES | st.sampled_from([MergeGroupEvent("main"), Schedule()])
HEADS = st.builds(Head, sha=SHAS, parents=st.lists(SHAS, max_size=3).map(tuple))


@given(EVENTS | st.just(WorkflowDispatch()), REFS, HEADS)
def test_what_holds_for_every_plan(event: Event, ref: str, head: Head) -> None:
    context = context_of(event, ref)
    plan = plan_for(context, head)
    assert all(line.isprintable() for line in plan.words())
    if plan.keeping.kind == BASELINE:
        assert isinstance(event, PushEvent | Schedule | WorkflowDispatch)
        assert (context.ref, context.sha) == (MAIN, head.sha)
    if plan.comment.when == NOW and isinstance(event, PullRequestEvent):
        assert event.head_repository == OWN
    known, asked = plan.base.sha, plan.base.merge_base_with
    assert known is None or asked is None


def documented(text: str) -> str:
    """The page with its table written anew."""
    lines = ["| event | compared with | kept as | comment |", "|---|---|---|---|"]
    for case in CASES:
        base, kept, comment = case.plan.base, case.plan.keeping.kind, case.plan.comment.when
        why = re.sub(r"\b(\d)\1{11}\b", r"`\g<0>`", base.why)
        compared = f"nothing: {why}" if not (base.sha or base.merge_base_with) else why
        lines.append(f"| {case.words} | {compared} | {kept or 'nothing'} | {comment} |")
    return BLOCK.sub("\n".join(lines).replace("\\", r"\\") + "\n", text)


def test_the_page_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("<!-- events -->") == 1
    assert documented(text) == text, "run: python tests/github/test_plan.py"


if __name__ == "__main__":
    PAGE.write_text(documented(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
