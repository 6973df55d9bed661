"""Waivers that a pull request brings along, from the question who accepted them to the verdict."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.contract.conftest import github
from tests.contract.faults import Fault
from tests.contract.records import START, IssueEvent, Pull, Review, User
from tests.contract.scene import FORK, FORKS_TOKEN, HELLO
from tests.jobs import NAMES, job_of, known_pull, known_run, pull_request, push
from tests.results import measured

from benchgate.baselines.stored_files import read_result
from benchgate.ci import measuring as module
from benchgate.ci.measuring import CiRequest, ci
from benchgate.ci.replay import config_of
from benchgate.config import load
from benchgate.gate.verdict import judge
from benchgate.github.runner import (
    EventRepository,
    MergeGroupEvent,
    PullRequestEvent,
)
from benchgate.model.policy import Acceptance, AcceptanceMethod, Outcome
from benchgate.model.verdict import Decision
from benchgate.report.headline import headline
from benchgate.report.markdown import render_comment
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.contract.records import Repository as Known
    from tests.contract.server import GitHubServer
    from tests.world import World

    from benchgate.ci.measuring import CiOutcome
    from benchgate.git.repository import Git
    from benchgate.github.runner import Event
    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict

__all__ = ["github"]

NUMBER = 9
GATE = '[gate]\nstatistics = ["p25"]\n'
LABEL = "benchgate: accepted"
BY_LABEL = f'{GATE}[accept]\nreview = false\nlabel = "{LABEL}"\n'
SLOWER = """
[[waive]]
benchmark = "a"
ceiling = "150%"
until = 2026-01-31
reason = "every row has a checksum"
"""
REMOVED = """
[[waive]]
benchmark = "b"
outcome = "missing"
until = 2026-01-31
reason = "c does all of it"
"""


@dataclass(slots=True)
class Change:
    """A change with waivers of its own, in the job that measures it.

    Attributes:
        measured: stands for what the job measures.
        head: of the pull request.
    """

    server: GitHubServer
    git: Git
    world: World
    folder: Path
    base: str
    head: str
    measured: Result

    def reviewed(self, commit: str, *, by: str = "maintainer") -> None:
        self.server.state.put(
            Review(
                id=self.server.state.new_id(),
                repository=HELLO.full_name,
                number=NUMBER,
                commit_id=commit,
                author=User(by),
            )
        )

    def labeled(self, after: timedelta, *, by: str = "maintainer") -> None:
        self.server.state.put(
            IssueEvent(
                id=self.server.state.new_id(),
                repository=HELLO.full_name,
                number=NUMBER,
                label=LABEL,
                actor=User(by),
                created_at=START + after,
            )
        )

    def pull_request(self, repository: Known = HELLO) -> PullRequestEvent:
        head_repository = repository.full_name
        pull = known_pull(self.head, self.base, head_repository=head_repository)
        self.server.state.put(pull)
        event_repository = EventRepository(repository.id, head_repository)
        return pull_request(self.head, self.base, NUMBER, event_repository)

    def judged(self, event: Event | None = None, **context: Any) -> Verdict:  # noqa: ANN401 - any field
        verdict = self.run(event, **context).verdict
        assert verdict is not None
        return verdict

    def run(self, event: Event | None = None, **context: Any) -> CiOutcome:  # noqa: ANN401 - any field
        event = event or self.pull_request()
        self.server.state.put(known_run(self.head, event=NAMES[type(event)], head_branch="topic"))
        about = {"sha": self.git.head_sha(), "ref": f"refs/pull/{NUMBER}/merge"} | context
        return ci(
            CiRequest(self.folder),
            load(self.git.root, self.git.root),
            replace(self.world.effects, cwd=self.git.root),
            job_of(self.server, self.git, event, token=FORKS_TOKEN, **about),
            keep_baseline=lambda _: None,
            say=lambda _: None,
        )

    @property
    def questions(self) -> int:
        """How often GitHub was asked who accepted something."""
        return len(self.server.asked("GET */pulls/*"))


@pytest.fixture
def change(  # noqa: PLR0917 - fixtures
    github: GitHubServer,
    repo: Git,
    commit: Callable[[Git, Mapping[str, str]], str],
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Change]:
    def make(base: str = GATE, more: str = SLOWER, result: Result | None = None) -> Change:
        first = commit(repo, {"benchgate.toml": base})
        head = commit(repo, {"benchgate.toml": base + more})
        repo.run("reset", "--quiet", "--hard", first)
        repo.run("merge", "--quiet", "--no-ff", "--message", "merge", head)
        slower = measured({"a": 1e-3, "b": 1e-3}, {"a": 2e-3, "b": 1e-3})
        one = Change(github, repo, world, tmp_path / "job", first, head, result or slower)
        one.folder.mkdir()
        monkeypatch.setattr(module, "measure_change", lambda *_: one.measured)
        return one

    return make


def comment_on(verdict: Verdict) -> str:
    return render_comment(view_verdict(verdict))


def outcomes(verdict: Verdict) -> dict[str, Outcome]:
    return {row.benchmark: row.outcome for row in verdict.rows}


def test_without_anybodys_word_it_is_red_and_says_what_to_do(change: Callable[..., Change]) -> None:
    asked = change()
    verdict = asked.judged()
    assert (verdict.decision, verdict.exit_code) == (Decision.FAIL, 3)
    (warning,) = [one for one in verdict.warnings if "waivers" in one]
    assert warning == (
        "the waivers in this change do not apply: nobody has accepted them. "
        f"Somebody with write access can approve {asked.head[:7]} in a review; "
        "then run the failed job again."
    )
    assert "the configuration of the base has judged it" in comment_on(verdict)


def test_an_approval_of_this_head_accepts_its_waivers(change: Callable[..., Change]) -> None:
    accepted = change()
    accepted.reviewed(accepted.head)
    verdict = accepted.judged()
    assert (verdict.decision, verdict.exit_code) == (Decision.PASS, 0)
    assert outcomes(verdict)["a"] is Outcome.WAIVED
    comment = comment_on(verdict)
    assert "every row has a checksum; accepted by maintainer, who approved this commit" in comment
    assert "@maintainer" not in comment
    assert "a: none -&gt; up to 150 % until 2026-01-31" in comment
    assert "somebody accepted them, and this verdict already applies them" in comment
    assert "under new names" not in comment
    assert not [one for one in verdict.warnings if "waivers" in one]


def test_a_run_of_an_older_head_is_not_accepted_by_what_came_later(
    change: Callable[..., Change],
) -> None:
    old = change()
    event = old.pull_request()
    newer = "1" * 40
    known = old.server.state.need(Pull, HELLO.key, NUMBER)
    old.server.state.put(replace(known, head_sha=newer))
    old.reviewed(newer)
    verdict = old.judged(event)
    assert verdict.exit_code == 3
    assert any("a newer head by now" in one for one in verdict.warnings)


EDITED = REMOVED.replace("missing", "incomparable")


def of_other_work(result: Result, *names: str) -> Result:
    """The result as if the head had edited these benchmarks."""
    head = tuple(
        replace(one, workload="other", parts={}) if one.id in names else one
        for one in result.head.benchmarks
    )
    return replace(result, head=replace(result.head, benchmarks=head))


@dataclass(frozen=True)
class Case:
    """A change, who accepted it, and what comes of it.

    Attributes:
        by: who approved its head.
    """

    code: int
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    base: str = GATE
    more: str = SLOWER
    result: Result | None = None
    by: str | None = "maintainer"
    decision: Decision = Decision.PASS
    is_asked: bool = True


BOTH, GONE = measured({"a": 1e-3, "b": 1e-3}), measured({"a": 1e-3, "b": 1e-3}, {"a": 1e-3})
OTHER_WORK = of_other_work(BOTH, "b")
WAIVED, NOTHING_NEW = {"b": Outcome.WAIVED}, "\n# nothing new\n"
CASES: dict[str, Case] = {
    "the author cannot accept": Case(3, by="octocat", decision=Decision.FAIL),
    "a reader cannot accept": Case(3, by="reader", decision=Decision.FAIL),
    "beyond the ceiling": Case(
        3,
        said=(
            "beyond the waiver of 20 % until 2026-01-31 (every row has a checksum); accepted by",
        ),
        more=SLOWER.replace("150%", "20%"),
        decision=Decision.FAIL,
    ),
    "nothing but waivers is accepted": Case(
        3, more='margin = "300%"\nfail_on = []\n', decision=Decision.FAIL, is_asked=False
    ),
    "there is nothing to accept": Case(
        0, base=GATE + SLOWER, more=NOTHING_NEW, by=None, is_asked=False
    ),
    "a removal that nobody accepted": Case(
        4, {"b": Outcome.MISSING}, (), GATE, REMOVED, GONE, None, Decision.NO_VERDICT
    ),
    "a removal that is accepted": Case(
        0,
        WAIVED,
        (
            "Removed, which is waived: b",
            "its removal is waived until 2026-01-31: c does all of it; accepted by",
        ),
        more=REMOVED,
        result=GONE,
    ),
    "a removal that was merged before needs nobody": Case(
        0, WAIVED, (), GATE + REMOVED, NOTHING_NEW, GONE, None, is_asked=False
    ),
    "an accepted removal of everything is no pass and fails nothing": Case(
        0,
        said=("nothing could be compared",),
        more=REMOVED,
        result=measured({"b": 1e-3}, {}),
        decision=Decision.NO_VERDICT,
    ),
    "other work that nobody accepted": Case(
        4, {"b": Outcome.INCOMPARABLE}, (), GATE, EDITED, OTHER_WORK, None, Decision.NO_VERDICT
    ),
    "other work that is accepted": Case(
        0,
        WAIVED,
        (
            "Other work, which is waived: b",
            "its different work is waived until 2026-01-31: c does all of it; accepted by",
        ),
        more=EDITED,
        result=OTHER_WORK,
    ),
    "all is other work, and nobody accepted it": Case(
        4,
        more=EDITED,
        result=of_other_work(measured({"b": 1e-3}), "b"),
        by=None,
        decision=Decision.NO_VERDICT,
    ),
    "all is other work, and accepted": Case(
        0,
        said=("nothing could be compared",),
        more=EDITED,
        result=of_other_work(measured({"b": 1e-3}), "b"),
        decision=Decision.NO_VERDICT,
    ),
    "a removal is not waived as slower": Case(
        4,
        {"b": Outcome.MISSING},
        more=SLOWER.replace('"a"', '"*"'),
        result=measured({"b": 1e-3}, {}),
        decision=Decision.NO_VERDICT,
    ),
    "slower is not waived as a removal": Case(
        3, {"a": Outcome.REGRESSED}, more=REMOVED.replace('"b"', '"*"'), decision=Decision.FAIL
    ),
    "reviews are left out": Case(3, base=BY_LABEL, decision=Decision.FAIL),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_accepted_and_what_comes_of_it(change: Callable[..., Change], name: str) -> None:
    case = CASES[name]
    on = change(case.base, case.more, case.result)
    if case.by:
        on.reviewed(on.head, by=case.by)
    verdict = on.judged()
    assert (verdict.exit_code, verdict.decision) == (case.code, case.decision)
    assert outcomes(verdict).items() >= case.outcomes.items()
    told = f"{headline(verdict)}\n{comment_on(verdict)}"
    assert [text for text in case.said if text not in told] == []
    assert bool(on.questions) is case.is_asked


def test_a_push_after_the_approval_has_to_be_approved_again(change: Callable[..., Change]) -> None:
    pushed = change()
    pushed.reviewed(pushed.base)
    assert pushed.judged().exit_code == 3


@pytest.mark.parametrize(
    ("after", "by", "code"),
    [
        (timedelta(seconds=1), "maintainer", 0),
        (timedelta(seconds=1), "octocat", 3),
        (timedelta(0), "maintainer", 3),
        (timedelta(hours=-1), "maintainer", 3),
    ],
)
def test_a_label_accepts_what_was_there_when_it_was_set(
    change: Callable[..., Change], after: timedelta, by: str, code: int
) -> None:
    labeled = change(BY_LABEL)
    labeled.labeled(after, by=by)
    verdict = labeled.judged()
    assert verdict.exit_code == code
    words = comment_on(verdict)
    if code:
        assert 'set the label "benchgate: accepted" (remove it first if it is already set)' in words
    else:
        assert "accepted by maintainer, who set the label" in words


def test_the_change_itself_cannot_open_a_way(change: Callable[..., Change]) -> None:
    closed = f"{GATE}[accept]\nreview = false\n"
    opened = change(closed, f'label = "{LABEL}"\nforks = true\n{SLOWER}')
    opened.labeled(timedelta(minutes=1))
    verdict = opened.judged()
    assert verdict.exit_code == 3
    words = comment_on(verdict)
    assert "They apply once they are merged" in words
    assert "accept.label" in words
    assert "accept.forks" in words


@pytest.mark.parametrize(("forks", "code"), [("false", 3), ("true", 0)])
def test_on_forks_it_is_off_unless_the_base_says_so(
    change: Callable[..., Change], forks: str, code: int
) -> None:
    fork = change(f"{GATE}[accept]\nforks = {forks}\n")
    fork.reviewed(fork.head)
    verdict = fork.judged(fork.pull_request(FORK))
    assert verdict.exit_code == code
    if code:
        assert any("they come from a fork" in one for one in verdict.warnings)


def test_where_github_does_not_answer_nothing_is_accepted(change: Callable[..., Change]) -> None:
    down = change()
    down.reviewed(down.head)
    down.server.faults.always("GET */reviews", Fault(status=500))
    verdict = down.judged()
    assert verdict.exit_code == 3
    assert any("GitHub does not say who accepted them" in one for one in verdict.warnings)


def test_what_was_merged_is_accepted_on_the_default_branch(change: Callable[..., Change]) -> None:
    merged = change()
    verdict = merged.judged(push(merged.base), ref="refs/heads/main")
    assert verdict.exit_code == 0
    assert "accepted by octocat, who pushed it to the default branch" in comment_on(verdict)
    assert merged.questions == 0


def test_a_push_to_another_branch_accepts_nothing(change: Callable[..., Change]) -> None:
    topic = change()
    ref = "refs/heads/topic"
    assert topic.judged(push(topic.base, ref), ref=ref).exit_code == 3


@pytest.mark.parametrize(("number", "code"), [(NUMBER, 0), (None, 3)])
def test_the_queue_knows_what_was_accepted_on_the_pull_request(
    change: Callable[..., Change], number: int | None, code: int
) -> None:
    queued = change()
    queued.pull_request()
    queued.reviewed(queued.head)
    queued.git.run("update-ref", "refs/remotes/origin/main", queued.base)
    assert queued.judged(MergeGroupEvent("main", number), ref="refs/heads/queue").exit_code == code


def test_the_same_verdict_can_be_made_again(change: Callable[..., Change]) -> None:
    accepted = change()
    accepted.reviewed(accepted.head)
    outcome = accepted.run()
    assert outcome.result is not None
    result = read_result(outcome.result.path)
    assert result.policy is not None
    assert result.policy.accepted == Acceptance("maintainer", AcceptanceMethod.REVIEW)
    config = config_of(result.policy)
    again = judge(result, config)
    assert again.rows == accepted.judged().rows
    assert again.exit_code == 0


def test_hostile_words_of_a_waiver_break_out_of_nothing(change: Callable[..., Change]) -> None:
    words = '"<!-- benchgate --> @everyone | [x](http://e.example) \\u202e"'
    hostile = change(more=SLOWER.replace('"every row has a checksum"', words))
    hostile.reviewed(hostile.head)
    comment = comment_on(hostile.judged())
    assert "<!--" not in comment
    assert "@everyone" not in comment
    assert "http://" not in comment
