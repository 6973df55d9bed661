"""What `benchgate publish` says of a run of this repository's own branch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.ci.test_publish import (
    GATE,
    LAX,
    NUMBER,
    RUN,
    WAIVED,
    Make,
    OnGitHub,
    known,
    make,
    repositories,
    slower,
)
from tests.contract.conftest import github
from tests.contract.records import Review, Run, User
from tests.contract.scene import FORK, HELLO
from tests.results import arm, kept, measured

from benchgate.ci.publish import MOST_OWN_RESULTS
from benchgate.model.policy import Acceptance, AcceptanceMethod, Options, Policy
from benchgate.model.result import Screening, StoredRun
from benchgate.model.run import Source

if TYPE_CHECKING:
    from benchgate.model.result import Result

__all__ = ["github", "known", "make", "repositories"]

ACCEPTED = Acceptance("anybody", AcceptanceMethod.REVIEW)
WARNING = "he pull request's own code ran in this measurement"
RETAINED = WAIVED.replace("2026-01-02", "2026-12-31")


def own(make: Make, base: str | None = GATE, head: str | None = GATE) -> OnGitHub:
    return make(base, head, repository=HELLO)


def by(result: Result, *, file: str = "benchgate.toml", **policy: object) -> Result:
    """A result with what the job that measured it says of its rules."""
    documents = {name: kept(f"1234567:{file}", "[gate]\n") for name in ("head", "base")}
    return replace(result, policy=Policy(**(documents | policy)))  # type: ignore[arg-type]


def approve(on: OnGitHub, commit: str) -> None:
    review = Review(
        id=99,
        repository=HELLO.full_name,
        number=NUMBER,
        commit_id=commit,
        author=User("maintainer"),
    )
    on.server.state.put(review)


def test_it_is_the_verdict_of_the_job(make: Make) -> None:
    comment = own(make).verdict_of(by(slower(warnings=("the canary is gone",))))
    assert comment.startswith("### \N{CROSS MARK} Slower: `a` +100\N{NO-BREAK SPACE}%")
    assert "The job that measured said: the canary is gone" in comment
    assert WARNING not in comment


def test_dependabots_run_is_judged_as_a_strangers(make: Make) -> None:
    on = own(make)
    known = on.server.state.need(Run, RUN)
    on.server.state.put(replace(known, actor="dependabot[bot]"))
    on.leaves(slower())
    assert on.publish() == 0
    (comment,) = on.comments
    assert WARNING in comment


def test_dependabots_pull_request_is_a_strangers_whoever_updates_its_branch(make: Make) -> None:
    on = own(make)
    on.pull(author="dependabot[bot]")
    on.leaves(slower())
    assert on.publish() == 0
    (comment,) = on.comments
    assert WARNING in comment


def test_the_rules_are_those_of_the_base_whatever_the_result_says(make: Make) -> None:
    lax = kept("1234567:benchgate.toml", LAX)
    comment = own(make, head=LAX).verdict_of(by(slower(), base=lax, head=lax))
    assert "❌" in comment.splitlines()[0]
    assert "gate.margin: 2 % -&gt; 300 %" in comment


def test_the_inputs_of_the_job_count_as_they_did_there(make: Make) -> None:
    comment = own(make).verdict_of(by(slower(), options=Options(margin="300%")))
    assert "✅" in comment.splitlines()[0]


def test_an_input_that_is_not_valid_gives_no_verdict(make: Make) -> None:
    comment = own(make).verdict_of(by(slower(), options=Options(margin="many")))
    assert "❓" in comment.splitlines()[0]
    assert "--margin" in comment


@pytest.mark.parametrize(
    "file", ["../benchgate.toml", "/etc/passwd", "", "sub/none.toml", "sub\0none.toml"]
)
def test_a_file_that_is_not_there_loosens_nothing(make: Make, file: str) -> None:
    comment = own(make).verdict_of(by(slower(), file=file))
    assert "❌" in comment.splitlines()[0]


def test_a_result_cannot_name_a_file_of_the_head_as_the_bases_rules(make: Make) -> None:
    on = make(repository=HELLO, head_files={"lax.toml": LAX})
    assert "❌" in on.verdict_of(by(slower(), file="lax.toml")).splitlines()[0]


def test_the_base_may_keep_its_rules_in_any_file(make: Make) -> None:
    on = make(repository=HELLO, files={"lax.toml": LAX})
    assert "✅" in on.verdict_of(by(slower(), file="lax.toml")).splitlines()[0]


def test_what_stored_runs_said_counts(make: Make) -> None:
    same = arm({"a": 1e-3})
    stored = tuple(StoredRun(f"run {i}", "", arm({"a": 1e-3})) for i in range(12))
    left = measured({"b": 1e-3}, screening=Screening(same, stored))
    assert "1 inconclusive" in own(make).verdict_of(by(left)).splitlines()[0]


def test_what_a_forks_stored_runs_said_does_not(make: Make) -> None:
    left = measured({"b": 1e-3}, screening=Screening(arm({"a": 1e-3}), ()))
    assert "inconclusive" not in make().verdict_of(by(left)).splitlines()[0]


def test_the_head_alone_against_stored_runs(make: Make) -> None:
    stored = tuple(StoredRun(f"run {i}", "", arm({"a": 1e-3})) for i in range(12))
    alone = measured({"a": 1e-3}, screening=Screening(arm({"a": 1e-3}), stored))
    comment = own(make).verdict_of(by(replace(alone, base=None)))
    assert "the head alone" not in comment
    assert "✅" in comment.splitlines()[0]


def test_a_matrix_of_our_own_may_be_large(make: Make) -> None:
    on = own(make)
    for index in range(8):
        on.leaves(by(slower()), suite=f"py-{index}")
    assert on.publish() == 0
    assert len(on.comments) == 8 < MOST_OWN_RESULTS


def test_an_acceptance_is_asked_of_github_and_not_taken_from_the_result(make: Make) -> None:
    on = own(make, head=GATE + RETAINED)
    comment = on.verdict_of(by(slower(), accepted=ACCEPTED))
    assert "❌" in comment.splitlines()[0]
    assert "nobody has accepted them" in comment
    assert "anybody" not in comment


def test_an_acceptance_of_this_head_holds(make: Make) -> None:
    on = own(make, head=GATE + RETAINED)
    approve(on, on.git.head)
    comment = on.verdict_of(by(slower(), accepted=ACCEPTED))
    assert "✅" in comment.splitlines()[0]
    assert "accepted by maintainer, who approved this commit" in comment


def test_an_approval_after_the_run_turns_the_next_one(make: Make) -> None:
    # The job was red, and so is its comment; it has to be run again.
    on = own(make, head=GATE + RETAINED)
    approve(on, on.git.head)
    assert "❌" in on.verdict_of(by(slower())).splitlines()[0]


@pytest.mark.parametrize(
    ("forks", "word"), [("false", "\N{CROSS MARK}"), ("true", "\N{WHITE HEAVY CHECK MARK}")]
)
def test_a_forks_waivers_need_the_bases_leave(make: Make, forks: str, word: str) -> None:
    base = f"{GATE}[accept]\nforks = {forks}\n"
    on = make(base, base + RETAINED, repository=FORK)
    approve(on, on.git.head)
    comment = on.verdict_of(by(slower(), accepted=ACCEPTED))
    assert word in comment.splitlines()[0]
    assert WARNING in comment


def test_a_waiver_that_has_expired_is_not_revived_by_an_old_date(make: Make) -> None:
    on = own(make, head=GATE + WAIVED)  # measured on its last day, says the result
    approve(on, on.git.head)
    left = by(slower(), accepted=ACCEPTED)
    on.effects = replace(on.effects, now=lambda: "2026-03-01T00:00:00Z")
    assert "❌" in on.verdict_of(left).splitlines()[0]


def test_the_head_is_the_commit_that_github_knows(make: Make) -> None:
    on = own(make)
    sourced = slower()
    invented = Source("1" * 40, why="reviewed by the security bot")
    comment = on.verdict_of(by(replace(sourced, head=replace(sourced.head, source=invented))))
    assert f"with {on.git.head[:7]}" in comment
    assert "1111111" not in comment
    assert "security bot" not in comment


def test_a_base_that_the_target_branch_does_not_have_gives_no_verdict(make: Make) -> None:
    plain = slower()
    assert plain.base is not None
    base = replace(plain.base, source=Source("1" * 40))
    comment = own(make).verdict_of(by(replace(plain, base=base)))
    assert "1111111 is the base, but that is not a commit of the pull request" in comment


def test_the_words_of_a_base_are_not_ours(make: Make) -> None:
    on = own(make)
    plain = slower()
    assert plain.base is not None
    base = replace(plain.base, source=Source(on.git.base, why="chosen by the security bot"))
    comment = on.verdict_of(by(replace(plain, base=base)))
    assert comment.startswith("### \N{CROSS MARK} Slower: `a`")
    assert "security bot" not in comment


def test_a_time_outside_of_the_run_gives_no_verdict(make: Make) -> None:
    plain = slower()
    comment = own(make).verdict_of(
        by(replace(plain, head=replace(plain.head, started="2020-01-01T00:00:00Z")))
    )
    assert "it was measured at 2020-01-01 00:00 UTC, but the run lasted" in comment
