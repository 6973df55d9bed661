"""What `benchgate publish` says of a run of this repository's own branch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.ci.publishing import GATE, LAX, WAIVED, Make, Says, known, make, slower
from tests.contract.conftest import github
from tests.contract.records import Run
from tests.contract.scene import FORK, HELLO
from tests.jobs import RUN
from tests.results import arm, kept, measured

from benchgate.ci.publish import MOST_OWN_RESULTS
from benchgate.model.policy import Acceptance, AcceptanceMethod, Options, Policy
from benchgate.model.result import Result, Screening, StoredRun
from benchgate.model.run import Source

__all__ = ["github", "known", "make"]

ACCEPTED = Acceptance("anybody", AcceptanceMethod.REVIEW)
WARNING = "he pull request's own code ran in this measurement"
RETAINED = WAIVED.replace("2026-01-02", "2026-12-31")


def by(
    result: Result | None = None,
    *,
    file: str = "benchgate.toml",
    **policy: object,
) -> Result:
    """A result, `a` slower if none is given, with what its job says of its rules."""
    documents = {name: kept(f"1234567:{file}", "[gate]\n") for name in ("head", "base")}
    return replace(result or slower(), policy=Policy(**(documents | policy)))  # type: ignore[arg-type]


def stored_alone() -> Result:
    alone = measured({"a": 1e-3}, screening=Screening(arm({"a": 1e-3}), STORED))
    return replace(alone, base=None)


def begun(started: str) -> Result:
    plain = slower()
    return replace(plain, head=replace(plain.head, started=started))


def based_on(sha: str) -> Result:
    plain = slower()
    assert plain.base is not None
    return replace(plain, base=replace(plain.base, source=Source(sha)))


def forks(may: str) -> dict[str, Any]:
    base = f"{GATE}[accept]\nforks = {may}\n"
    return {"base": base, "head": base + RETAINED, "repository": FORK}


STORED = tuple(StoredRun(f"run {i}", "", arm({"a": 1e-3})) for i in range(12))
LEFT = measured({"b": 1e-3}, screening=Screening(arm({"a": 1e-3}), STORED))
LAX_DOCUMENT = kept("1234567:benchgate.toml", LAX)
WITH_WAIVER = {"head": GATE + RETAINED}
SAID: dict[str, Says] = {
    "it is the verdict of the job": Says(
        r"^### ❌ Slower: `a` \+100\xa0%",
        by(slower(warnings=("the canary is gone",))),
        ("The job that measured said: the canary is gone",),
        (WARNING,),
    ),
    "the rules are those of the base, whatever the result says": Says(
        "❌",
        by(base=LAX_DOCUMENT, head=LAX_DOCUMENT),
        ("gate.margin: 2 % -&gt; 300 %",),
        on={"head": LAX},
    ),
    "the inputs of the job count as they did there": Says("✅", by(options=Options(margin="300%"))),
    "an input that is not valid gives no verdict": Says(
        "❓", by(options=Options(margin="many")), ("--margin",)
    ),
    **{
        f"a file that is not there loosens nothing: {file!r}": Says("❌", by(file=file))
        for file in ("../benchgate.toml", "/etc/passwd", "", "sub/none.toml", "sub\0none.toml")
    },
    "a result cannot name a file of the head as the base's rules": Says(
        "❌", by(file="lax.toml"), on={"head_files": {"lax.toml": LAX}}
    ),
    "the base may keep its rules in any file": Says(
        "✅", by(file="lax.toml"), on={"files": {"lax.toml": LAX}}
    ),
    "what stored runs said counts": Says("1 inconclusive", by(LEFT)),
    "what a fork's stored runs said does not": Says(
        "^(?!.*inconclusive)", by(LEFT), on={"repository": FORK}
    ),
    "the head alone against stored runs": Says(
        "✅", by(stored_alone()), unsaid=("the head alone",)
    ),
    "an acceptance is asked of GitHub and not taken from the result": Says(
        "❌", by(accepted=ACCEPTED), ("nobody has accepted them",), ("anybody",), on=WITH_WAIVER
    ),
    "an acceptance of this head holds": Says(
        "✅",
        by(accepted=ACCEPTED),
        ("accepted by maintainer, who approved this commit",),
        on=WITH_WAIVER,
        is_approved=True,
    ),
    # The job was red, and so is its comment; it has to be run again.
    "an approval after the run turns the next one": Says(
        "❌", slower(), on=WITH_WAIVER, is_approved=True
    ),
    "a fork's waivers need the base's leave": Says(
        "❌", by(accepted=ACCEPTED), (WARNING,), on=forks("false"), is_approved=True
    ),
    "a fork's waivers have the base's leave": Says(
        "✅", by(accepted=ACCEPTED), (WARNING,), on=forks("true"), is_approved=True
    ),
    # Measured on its last day, says the result.
    "a waiver that has expired is not revived by an old date": Says(
        "❌",
        by(accepted=ACCEPTED),
        on={"head": GATE + WAIVED},
        is_approved=True,
        now="2026-03-01T00:00:00Z",
    ),
    "a base that the target branch does not have gives no verdict": Says(
        "No verdict",
        by(based_on("1" * 40)),
        ("1111111 is the base, but that is not a commit of the pull request",),
    ),
    "a time outside of the run gives no verdict": Says(
        "No verdict",
        by(begun("2020-01-01T00:00:00Z")),
        ("it was measured at 2020-01-01 00:00 UTC, but the run lasted",),
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_what_a_run_left_is_judged_and_said(make: Make, case: str) -> None:
    said = SAID[case]
    replace(said, on={"repository": HELLO, **said.on}).check(make)


@pytest.mark.parametrize(
    ("actor", "author"),
    [("octocat", "octocat"), ("dependabot[bot]", "octocat"), ("octocat", "dependabot[bot]")],
)
def test_what_dependabot_brings_is_judged_as_a_strangers_whoever_updates_its_branch(
    make: Make, actor: str, author: str
) -> None:
    on = make(repository=HELLO)
    on.server.state.put(replace(on.server.state.need(Run, RUN), actor=actor))
    on.pull(author=author)
    comment = on.verdict_of(slower(warnings=("bought by nobody",)))
    assert "Slower: " in comment.splitlines()[0]
    is_own = actor == author
    assert ("said: bought by nobody" in comment, WARNING in comment) == (is_own, not is_own)


def test_a_matrix_of_our_own_may_be_large(make: Make) -> None:
    on = make(repository=HELLO)
    for index in range(8):
        on.leaves(by(), suite=f"py-{index}")
    assert on.publish() == 0
    assert len(on.comments) == 8 < MOST_OWN_RESULTS


def test_commits_are_those_that_github_knows_and_their_words_are_not_ours(make: Make) -> None:
    on = make(repository=HELLO)
    sourced = slower()
    assert sourced.base is not None
    invented = Source("1" * 40, why="reviewed by the security bot")
    chosen = Source(on.git.base, why="chosen by the security bot")
    head, base = replace(sourced.head, source=invented), replace(sourced.base, source=chosen)
    comment = on.verdict_of(by(replace(sourced, head=head, base=base)))
    assert comment.startswith("### ❌ Slower: `a`")
    assert f"with {on.git.head[:7]}" in comment
    assert "1111111" not in comment
    assert "security bot" not in comment
