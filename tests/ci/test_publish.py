from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.ci.publishing import (
    ENVIRONMENT,
    GATE,
    LAX,
    NUMBER,
    WAIVED,
    Make,
    Says,
    known,
    make,
    slower,
)
from tests.ci.steps import SECRET
from tests.contract.client import client_of
from tests.contract.conftest import github
from tests.contract.faults import Fault
from tests.contract.records import START, Artifact, Commit, Comparison, Pull
from tests.contract.records import Run as KnownRun
from tests.contract.scene import FORK, FORKS_TOKEN, HELLO, TOKEN, zip_of
from tests.jobs import RUN, known_run
from tests.report.page import Page, assert_harmless
from tests.results import MEMBER, arm, as_archive, as_file, bench, kept, measured

from benchgate.ci.publish import MOST_PULL_REQUESTS, MOST_RESULTS
from benchgate.errors import FormatError, GitHubError
from benchgate.github.artifact_names import ArtifactKind, artifact_name
from benchgate.github.comments import mark, marker_in
from benchgate.model.codec import decode_result, encode_result
from benchgate.model.launch_table import LARGEST, Launch
from benchgate.model.metrics import ALLOC_BLOCKS
from benchgate.model.policy import Options, Policy
from benchgate.model.result import Result, Screening, Shard, StoredRun, join
from benchgate.model.run import Run, Series, Source, Status
from benchgate.report.markdown import COMMENT_BYTES
from benchgate.session.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.contract.records import Repository as Known

__all__ = ["github", "known", "make"]

PARSE = """
def bench_large(n, how):
    parse(n, how)

bench_large.params = {"n": [10**3], "how": ["utf-8", "ascii"]}

async def bench_small(): ...

bench_later = make()
# merge this now
"""
REFS = "refs/heads/main\nrefs/remotes/origin/main\n"


def blocks() -> Series:
    """Counts that only the default branch reports."""
    return Series(ALLOC_BLOCKS, 1, (Launch(0, 0, np.array([5.0]), np.empty(0)),))


def test_a_verdict_is_made_and_said_in_every_way(make: Make) -> None:
    fork = make()
    comment = fork.verdict_of(slower())
    first = "### \N{CROSS MARK} Slower: `a` +100\N{NO-BREAK SPACE}%"
    assert comment.startswith(first)
    assert "review it before you rely on them" in comment
    assert marker_in(comment) == mark(
        f"default.{ENVIRONMENT}", head=fork.git.head, run=RUN, attempt=2
    )
    assert fork.stage.summary.startswith(first)
    (posted,) = fork.server.state.comments(HELLO, NUMBER)
    verdict, (url_name, url) = fork.stage.outputs
    assert (url_name, url.rpartition("-")[2]) == ("comment-url", str(posted.id))
    assert verdict == ("verdict", "fail")
    assert fork.stage.lines == ["created a comment"]


def test_a_comment_that_cannot_be_made_does_not_cost_the_verdict(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> str:
        raise IndexError("it is broken")

    monkeypatch.setattr("benchgate.ci.publication.render_comment", broken)
    fork = make()
    comment = fork.verdict_of(slower())
    assert "the verdict is 'fail', but no comment: benchgate itself failed there" in comment
    assert fork.stage.outputs[0] == ("verdict", "fail")


def test_nothing_of_the_pull_request_is_checked_out_or_kept(make: Make) -> None:
    fork = make(head=LAX)
    artifacts = len(fork.server.state.all(Artifact))
    fork.verdict_of(slower())
    checkout = fork.git.checkout
    assert checkout.head_sha() == fork.git.base
    assert checkout.run("status", "--porcelain") == ""
    refs = checkout.run("for-each-ref", "--format=%(refname)")
    assert refs.replace("refs/remotes/origin/HEAD\n", "") == REFS  # not every git writes it
    assert len(fork.server.state.all(Artifact)) == artifacts + 1
    writes = [f"{x.method} {x.path}" for x in fork.server.requests if x.method != "GET"]
    assert writes == [f"POST /repos/octo-org/hello/issues/{NUMBER}/comments"]


def test_the_comment_is_kept_up_to_date(make: Make) -> None:
    fork = make()
    fork.verdict_of(slower())
    fork.leaves(measured({"a": 1e-3}), created_at=START + timedelta(hours=3))
    fork.server.state.remove(fork.server.state.all(Artifact)[-2])
    assert fork.publish(attempt=3) == 0
    (comment,) = fork.comments
    assert "Nothing got slower" in comment.splitlines()[0]


def test_a_base_without_configuration_is_judged_by_that_of_the_default_branch(make: Make) -> None:
    fork = make(base=LAX, head=LAX)
    # Of a branch from before there was a configuration.
    tree = fork.git.origin.run("mktree").strip()
    fork.pull(base_sha=fork.git.origin.run("commit-tree", "-m", "old", tree).strip())
    assert "✅" in fork.verdict_of(slower()).splitlines()[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gate]\nmargni = 3\n", "margni"),
        ("[gate", "is not valid TOML"),
        ("#" * 100_001, "is larger than the limit of 100000 bytes"),
        (
            "[[rule]]\nbenchmark = '*'\nmargin = '3%'\n" * 301,
            "but at most 300 are read",
        ),
    ],
)
@pytest.mark.parametrize("repository", [FORK, HELLO], ids=["fork", "own"])
def test_a_configuration_that_is_not_valid_gives_no_verdict(
    make: Make, text: str, message: str, repository: Known
) -> None:
    comment = make(head=text, repository=repository).verdict_of(slower())
    assert comment.startswith("### \N{BLACK QUESTION MARK ORNAMENT} No verdict: ")
    # What a fork wrote there is not repeated.
    assert (message in comment) is (repository is HELLO)
    is_nameless = "the configuration in the pull request is not valid" in comment
    assert is_nameless is (repository is FORK)


def claims() -> dict[str, Result]:
    """What a run may say of itself so as to pass."""
    document = kept("benchgate.toml", LAX + WAIVED.replace("150%", "900%"))
    fast = {"a": 1e-3, "b": 1e-3}
    stored = StoredRun("main", "the base", arm(fast))
    plain = slower()
    assert plain.base is not None
    return {
        "a policy": replace(
            plain,
            policy=Policy(document, document, Options(margin="900%", rule="classical", alpha=1e-9)),
        ),
        "a base that measured nothing, held against stored runs": replace(
            plain, screening=Screening(arm(fast), (stored,) * 12)
        ),
        "stored runs without a head": replace(plain, screening=Screening(None, (stored,) * 12)),
        "another commit": replace(
            plain,
            head=replace(plain.head, source=Source("c" * 40, "refs/heads/main", why="trust me")),
        ),
    }


@pytest.mark.parametrize("claim", claims())
def test_what_the_run_says_of_itself_is_not_believed(make: Make, claim: str) -> None:
    fork = make(head=LAX + WAIVED.replace("2026-01-02", "2999-01-01"))
    comment = fork.verdict_of(claims()[claim])
    assert "Slower: " in comment.splitlines()[0]
    assert "trust me" not in comment
    assert "stored" not in comment
    assert fork.git.head[:7] in comment
    assert "other open pull requests" not in comment
    assert "as the pull request's run says" in comment
    assert "ccccccc" not in comment


OTHER, ELSEWHERE = "e" * 40, "f" * 40


def lies() -> dict[str, tuple[Result, str]]:
    """What a run may say of itself that GitHub knows better, and what is answered."""
    plain = slower()
    assert plain.base is not None

    def based_on(**source: Any) -> Result:  # noqa: ANN401 - any field of it
        assert plain.base is not None
        return replace(plain, base=replace(plain.base, source=Source(**source)))

    nameless = "does not say which base commit was measured"
    later = replace(plain.head, started="2026-01-05T13:00:00Z")
    return {
        "another day": (
            replace(plain, head=replace(plain.head, started="2024-01-01T00:00:00Z")),
            (
                "the result says that it was measured at 2024-01-01 00:00 UTC, but the run lasted "
                "from 2026-01-05 12:00"
            ),
        ),
        "an hour later": (replace(plain, head=later), "was measured at 2026-01-05 13:00 UTC"),
        "no base": (based_on(sha="--upload-pack=x", why="trust me"), nameless),
        "a commit of no branch": (
            based_on(sha="9" * 40),
            "the result says that 9999999 is the base, but that is not a ",
        ),
        "a commit of another branch": (
            based_on(sha=ELSEWHERE),
            "fffffff is the base, but that is not a ",
        ),
        "a commit from long ago": (
            based_on(sha=OTHER),
            "eeeeeee is the base, but that is older than",
        ),
    }


@pytest.mark.parametrize("lie", lies())
def test_what_github_knows_better_is_refused(make: Make, lie: str) -> None:
    fork = make()
    fork.knows_base(OTHER)  # an ancestor of all that follows
    fork.knows_base(fork.git.base)
    fork.knows_base(ELSEWHERE, merge_base=fork.git.base)
    result, words = lies()[lie]
    comment = fork.verdict_of(result)
    assert "No verdict: the result" in comment.splitlines()[0]
    assert words in comment.replace("&#8203;", "")
    assert "trust me" not in comment


def test_parts_that_an_earlier_attempt_measured_are_no_lie(make: Make) -> None:
    # A re-run of failed jobs joins what the others measured before; each took its own time.
    fork = make()
    dealt = ("a", "b")
    parts = [
        replace(measured({id_: 1e-3}), shard=Shard(n, 2, dealt), duration_s=900.0)
        for n, id_ in enumerate(dealt, start=1)
    ]
    whole = fork.of_this_run(join([(f"part {n}", one) for n, one in enumerate(parts)]), {})
    later = START + timedelta(minutes=15)
    fork.starts_again(2, after=timedelta(minutes=15))
    fork.leaves(as_archive(whole), created_at=later)
    assert fork.publish(attempt=2) == 0
    assert "✅" in fork.comments[0].splitlines()[0]


def test_a_base_that_main_went_on_to_since_is_one(make: Make) -> None:
    # GitHub merges a pull request into what main is when the run begins.
    fork = make()
    fork.knows_base(fork.git.head, merge_base=fork.git.base)
    again = Comparison(
        repository=HELLO.full_name, base=fork.git.head, head="main", merge_base=fork.git.head
    )
    fork.server.state.put(again)
    plain = slower()
    assert plain.base is not None
    newer = replace(plain.base, source=Source(fork.git.head))
    assert "Slower: " in fork.verdict_of(replace(plain, base=newer)).splitlines()[0]


def test_a_base_that_the_configuration_names_is_that_one(make: Make) -> None:
    gate = f'{GATE}[baseline]\nagainst = "v1.2"\n'
    fork = make(base=gate, head=gate)
    comment = fork.verdict_of(slower())
    assert "is the base, but that is not v1.2" in comment
    # The stand-in knows commits by their hashes alone.
    gate = f'{GATE}[baseline]\nagainst = "{fork.git.base}"\n'
    named = make(base=gate, head=gate)
    plain = slower()
    assert plain.base is not None
    base = replace(plain.base, source=Source(fork.git.base))
    named.git.checkout.run("fetch", "--quiet", str(fork.git.origin.root), fork.git.base)
    named.server.state.put(Commit(repository=HELLO.full_name, sha=fork.git.base))
    comment = named.verdict_of(replace(plain, base=base))
    assert "Slower: " in comment.splitlines()[0]


def test_github_has_to_be_asked_for_the_base(make: Make) -> None:
    fork = make()
    fork.leaves(slower())
    fork.server.faults.always("GET /repos/*/compare/*", Fault(status=503))
    with pytest.raises(GitHubError, match="503"):
        fork.publish()
    assert fork.comments == []


@pytest.mark.parametrize("how", ["expired", "damaged", "of another commit", "unlisted"])
def test_nothing_is_new_if_the_default_branchs_results_cannot_be_read(make: Make, how: str) -> None:
    fork = make()
    later: dict[str, Any] = {"created_at": START + timedelta(hours=1)}
    if how == "unlisted":
        fork.server.faults.always("GET /repos/*/actions/runs", Fault(status=503))
    elif how == "of another commit":
        fork.main_leaves("a", of="e" * 40, **later)
    else:
        if how == "expired":
            later["expires_at"] = START
        fork.main_leaves("a", **later)
        (*_, artifact) = fork.server.state.all(Artifact)
        data = b"no archive" if how == "damaged" else artifact.data
        fork.server.state.put(replace(artifact, data=data))
    result = measured({"a": 1e-3}, {"a": 1e-3, "b": 9.0})
    comment = fork.verdict_of(result)
    assert "❓" in comment.splitlines()[0]
    assert "this run says that 1 benchmark is new" in comment
    assert "default branch's newest result is not known" in "".join(fork.stage.lines)


def test_a_workflow_under_another_name_leaves_nothing_out_either(make: Make) -> None:
    on_github = make()
    on_github.main_leaves("a", "b", sha=on_github.git.base)
    for number in range(40):  # of other workflows, which leave nothing
        path, id_ = f".github/workflows/{number % 12}.yml", on_github.server.state.new_id()
        on_github.server.state.put(known_run(on_github.git.base, id=id_, path=path))
    run = on_github.server.state.need(KnownRun, RUN)
    on_github.server.state.put(replace(run, path=".github/workflows/renamed.yml"))
    assert "`b` was removed" in on_github.verdict_of(measured({"a": 1e-3}))


def test_pull_requests_may_measure_less_if_the_second_workflow_says_so(make: Make) -> None:
    fork = make()
    fork.main_leaves("a", "b", sha=fork.git.base, created_at=START + timedelta(hours=1))
    fork.leaves(measured({"a": 1e-3}))
    assert fork.publish(choice=Choice(("a",))) == 0
    assert "✅" in fork.comments[0].splitlines()[0]


def test_functions_of_the_base_are_known_before_there_is_a_baseline(make: Make) -> None:
    fork = make(base="", files={"benchmarks/bench_parse.py": PARSE})
    for artifact in fork.server.state.all(Artifact):
        fork.server.state.remove(artifact)
    known = ("parse/large[n=1000,how=utf-8]", "parse/small", "parse/later")
    unknown = ("parse/large[n=merge this now]", "parse/other", "benchmarks/parse/small", "x")
    comment = fork.verdict_of(measured(dict.fromkeys((*known, *unknown), 1e-3)))
    shown = re.sub("<wbr>|\\\\|</?code>|`", "", comment)
    assert all(f"| {name} |" in shown for name in known)
    assert not any(f"| {name} |" in shown for name in unknown)
    assert "`unnamed benchmark 4`" in comment


def test_suites_that_the_default_branch_never_left_are_not_read(make: Make) -> None:
    fork = make()
    fork.leaves(slower(), "approved-for-merge-by-security-team")
    name = artifact_name(ArtifactKind.RESULT, suite="default", environment="approved-by-security")
    fork.leaves(slower(), name=name)
    fork.leaves(slower())
    assert fork.publish() == 0
    (comment,) = fork.comments
    assert "security" not in comment
    assert "security" not in fork.stage.summary
    (warning,) = [line for line in fork.stage.lines if line.startswith("::warning::")]
    unknown = "of suites that the default branch's runs do not have"
    assert f"run {RUN} left 2 results {unknown}" in warning
    assert "security" not in warning


def test_a_suite_that_the_second_workflow_names_is_known(make: Make) -> None:
    fork = make()
    fork.leaves(slower(), "quick")
    assert fork.publish(suite="quick") == 0
    (comment,) = fork.comments
    assert "quick · Slower" in comment.splitlines()[0]


def test_a_suite_of_the_repositorys_own_pull_request_needs_no_baseline(make: Make) -> None:
    own = make(repository=HELLO)
    own.leaves(measured({"a": 1e-3}, {"a": 1e-3, "brand/new": 1e-3}), "py-314")
    assert own.publish() == 0
    (comment,) = own.comments
    assert "py-314 · Nothing got slower" in comment.splitlines()[0]
    assert "`brand/new`" in comment


def left_out(**more: Any) -> Says:  # noqa: ANN401 - any field
    """A metric that main's runs have, and this one does not."""
    first, said = "a metric that must decide was not measured", ("this run did not report",)
    return Says(first, measured({"a": 1e-3}), said, main=("a",), extra=(blocks(),), **more)


def cut_short(head_s: float) -> Result:
    plain = measured({"a": 1e-3}, {"a": head_s})
    return replace(plain, head=replace(plain.head, complete=False))


def failed_on_the_base() -> Result:
    result = measured({"a": 1e-3, "b": 1e-3})
    assert result.base is not None
    a, b = result.base.benchmarks
    failed = replace(b, status=Status.FAILED, error="it cannot run", series=())
    return replace(result, base=replace(result.base, benchmarks=(a, failed)))


DEALT = ("a", "b")
PARTS = (
    replace(measured({"a": 1e-3}, {"a": 2e-3}), shard=Shard(1, 2, DEALT)),
    replace(measured({"b": 1e-3}), shard=Shard(2, 2, DEALT)),
)
LARGE = ("parse/large[n=10]", "parse/large[n=20]")
WAIVING = {"base": GATE + WAIVED, "head": GATE + WAIVED, "repository": HELLO}
MIN_3 = f"{GATE}min_compared = 3\n"
SAID: dict[str, Says] = {
    "the base decides, and what the head loosens is told": Says(
        "❌", slower(), ("gate.margin", "300 %"), on={"head": LAX}
    ),
    "what the base allows is allowed": Says("✅", slower(), on={"base": LAX}),
    "a head without configuration loosens nothing": Says(
        "❌", slower(), unsaid=("gate.margin",), on={"head": None}
    ),
    "a renamed benchmark is joined as the head says": Says(
        "Slower: ",
        measured({"old": 1e-3}, {"new": 2e-3}),
        on={"head": f'{GATE}[aliases]\nold = "new"\n'},
    ),
    "a tool's metric that decides is left out": left_out(
        on={"base": GATE + 'metrics = ["time", "B/op"]\n'}
    ),
    "a metric that decides is left out": left_out(
        on={"base": GATE + 'metrics = ["time", "alloc_blocks"]\n'}
    ),
    "a metric with a limit is left out": left_out(
        on={"base": GATE + '[[limit]]\nbenchmark = "*"\nmetric = "alloc_blocks"\nmax = 9\n'}
    ),
    "benchmarks that main has cannot be left out": Says(
        "❓.*was removed",
        measured({"a": 1e-3, LARGE[0]: 1e-3}),
        (
            f"`{LARGE[1]}`",
            "did not measure 1 benchmark on the base that the default branch measures",
        ),
        main=("a", *LARGE),
    ),
    "a base that failed in a fork is no pass": Says(
        "❓", failed_on_the_base(), ("this run says that 1 benchmark fails on the base",)
    ),
    "a benchmark that the base has is not new": Says(
        "❓",
        measured({"a": 1e-3}, {"a": 1e-3, "b": 2e-3}),
        ("not&nbsp;comparable",),
        ("[new](",),
        main=("a", "b"),
    ),
    "a name that the base does not know is not repeated": Says(
        "",
        measured({"a": 1e-3}, {"a": 1e-3, "approved/by_security": 1e-3, "merge_it": 1e-3}),
        (
            "`unnamed benchmark 1`",
            "`unnamed benchmark 2`",
            "the base does not know 2 benchmarks of this run",
        ),
        ("security", "merge_it"),
    ),
    "a shard of one is held to the whole suite": Says(
        "❓",
        replace(measured({"a": 1e-3, "b": 1e-3}), shard=Shard(1, 1, DEALT)),
        on={"base": MIN_3, "head": MIN_3},
    ),
    "a waiver holds on its last day": Says(
        "✅", slower(), ("waived",), ("expired",), on=WAIVING, now="2026-01-02T23:59:59Z"
    ),
    "a waiver has expired today": Says(
        "❌", slower(), ("expired",), ("waived",), on=WAIVING, now="2026-01-03T00:00:00Z"
    ),
    "interrupted, and nothing slower": Says(
        "No verdict.*measuring was interrupted", cut_short(1e-3)
    ),
    "interrupted, and slower": Says("Slower: .*measuring was interrupted", cut_short(2e-3)),
    "joined parts are a whole": Says(
        "Slower: ", join([(f"part {i}", one) for i, one in enumerate(PARTS)])
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_what_a_run_left_is_judged_and_said(make: Make, case: str) -> None:
    SAID[case].check(make)


def not_a_number() -> bytes:
    document = json.loads(gzip.decompress(as_file(measured({"a": 1e-3}))))
    document["head"]["benchmarks"][0]["series"][0]["launches"]["per_unit"] = float("nan")
    return json.dumps(document).encode()


UNUSABLE: dict[str, tuple[bytes, str]] = {
    "one arm": (as_archive(replace(slower(), base=None)), "measured only the head"),
    "a part of a suite": (
        as_archive(replace(measured({"a": 1e-3}), shard=Shard(1, 2, ("a", "b")))),
        "the result of one shard",
    ),
    "no zip": (b"no zip", "its zip archive is damaged or cut off"),
    "another file": (zip_of({"verdict.json": b"{}"}), "it must hold one file"),
    "a bomb": (zip_of({MEMBER: bytes(10**7)}), "it unpacks to more than"),
    "half a gzip": (zip_of({MEMBER: as_file(slower())[:200]}), "the gzip data is cut off"),
    "no result": (zip_of({MEMBER: b"[]"}), "benchgate-result.default"),
    "no number": (zip_of({"result.json": not_a_number()}), "this version of benchgate cannot read"),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_what_cannot_be_judged_gives_no_verdict(make: Make, what: str) -> None:
    data, words = UNUSABLE[what]
    fork = make()
    comment = fork.verdict_of(data)
    assert comment.startswith("### \N{BLACK QUESTION MARK ORNAMENT} No verdict: ")
    assert words in comment
    assert fork.git.head[:7] in comment
    assert marker_in(comment) == mark(
        f"default.{ENVIRONMENT}", head=fork.git.head, run=RUN, attempt=2
    )
    assert [name for name, _ in fork.stage.outputs] == ["comment-url"]
    assert words in fork.stage.summary


HOSTILE = "<!-- x --> | @octocat #1 GH-7 [click](https://evil.example) ``` </details> <img src=x>"
MARKER = str(mark(f"default.{ENVIRONMENT}", head="a" * 40, run=99999999999, attempt=1))
SWALLOWING = (
    "`` x` password='",
    "a -----BEGIN PRIVATE KEY-----",
    "' @octocat [click](https://evil.example) <img src=x>",
)


def hostile(*names: str) -> Result:
    """Texts of a stranger in every place that has some."""
    ids = (*names, HOSTILE, MARKER, f"x\n\n{MARKER}\n", "\u202eevil\x1b[2J", "n" * 9000)
    base, head = arm({}), arm({})
    told: dict[str, Any] = {"notes": (HOSTILE, MARKER), "location": f"{HOSTILE}:1"}
    failed: dict[str, Any] = {
        "status": Status.FAILED,
        "error": f"{HOSTILE}\n{MARKER}\n```\n{HOSTILE}\n{MARKER}",
    }
    return replace(
        measured({}),
        base=replace(base, benchmarks=tuple(bench(i, 1e-3, **told) for i in ids)),
        head=replace(
            head,
            benchmarks=(
                *(bench(i, 2e-3, **told) for i in ids),
                bench("broken", 1e-3, rounds=0, **told, **failed),
            ),
            environment=replace(head.environment, os=HOSTILE, cpu_model=MARKER),
            source=Source("a" * 40, HOSTILE),
        ),
        warnings=(HOSTILE, MARKER, f"x\n{MARKER}"),
        tool=HOSTILE,
    )


@pytest.mark.parametrize("value_s", [5e-324, LARGEST / 2])
def test_numbers_beyond_all_measure_are_judged_like_others(make: Make, value_s: float) -> None:
    plain = measured({"a": value_s, "b": value_s}, {"a": 1e-3, "b": value_s})
    far: dict[str, Any] = {"screen_rounds": 2**53, "until_decided": True, "seed": -(2**63)}
    assert plain.base is not None
    result = replace(plain, head=replace(plain.head, **far), base=replace(plain.base, **far))
    comment = make().verdict_of(replace(result, duration_s=1e-300))
    # A screen without end leaves no suspects: its launches tell what became slower all the same.
    became_slower = value_s < 1e-3
    word = "\N{CROSS MARK} Slower: " if became_slower else "\N{WHITE HEAVY CHECK MARK} Nothing "
    assert comment.startswith(f"### {word}")
    assert len(comment.encode()) < COMMENT_BYTES


PLACES = (
    "https://github.com/octo-org/hello/",
    "https://github.com/benchgate/benchgate/blob/main/docs/",
)


@pytest.mark.parametrize("names", [(), SWALLOWING])
def test_what_strangers_write_does_nothing(make: Make, names: tuple[str, ...]) -> None:
    head = f'{GATE}margin = "3%"\n[[waive]]\nbenchmark = {json.dumps(HOSTILE)}\nceiling = "9%"\n'
    fork = make(head=f"{head}until = 2999-01-01\nreason = {json.dumps(MARKER)}\n")
    comment = fork.verdict_of(hostile(*names))
    body, _, last = comment.rstrip().rpartition("\n")
    assert marker_in(comment) == mark(
        f"default.{ENVIRONMENT}", head=fork.git.head, run=RUN, attempt=2
    )
    assert comment.count("<!--") == 1
    assert last.startswith("<!--")
    page = Page(body)
    assert_harmless(page, *PLACES)
    assert {len(set(table)) for table in page.tables} == {1}
    assert_harmless(Page(fork.stage.summary), *PLACES)
    # Nothing hides that all but one of them are slower.
    slower_rows = body.partition("<details>")[0].count("&nbsp;slower<br>")
    assert slower_rows == 5 + len(names)
    assert fork.stage.lines == ["created a comment"]


MARKED = "approved by the security team, merge it @octo-org/all"


def marked(data: bytes) -> bytes:
    """Write a stranger's text wherever the format takes one, fields of tomorrow among them."""
    document = json.loads(data)
    numbers = count(1)

    def places(value: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - any part of JSON
        for key in value if isinstance(value, dict) else range(len(value)):
            if isinstance(value[key], dict | list):
                yield from places(value[key])
            elif key == "new_version_of" and value[key] is None:
                continue  # what it names is left out
            elif key != "sha" and (isinstance(value[key], str) or value[key] is None):
                yield value, key

    found = list(places(document))
    for parent, key in found:
        before = parent[key]
        parent[key] = f"{MARKED} {next(numbers)}"
        try:
            decode_result(json.dumps(document).encode(), "x")
        except FormatError:
            parent[key] = before
    text = json.dumps(document)
    assert text.count(MARKED) > 40
    return text.encode()


def test_no_text_of_a_strangers_file_is_in_the_comment(make: Make) -> None:
    fork = make()
    failed = bench("broken", 1e-3, rounds=0, status=Status.FAILED, error="x")
    plain = fork.of_this_run(slower(warnings=("x",)), {})
    assert plain.base is not None
    told: dict[str, Any] = {"notes": ("x",), "location": "x:1", "display_unit": "ms"}

    def everywhere(run: Run) -> Run:
        rich = tuple(replace(one, **told) for one in run.benchmarks)
        known = replace(run.environment, toolchains={"x": "y"}, governor="x", runner_image="x")
        version = replace(rich[0], id="x", new_version_of="x")
        return replace(run, benchmarks=(*rich, failed, version), environment=known)

    rich = replace(plain, head=everywhere(plain.head), base=everywhere(plain.base))
    document = encode_result(rich, str)
    fork.leaves(zip_of({"result.json": marked(document)}))
    assert fork.publish() == 0
    (comment,) = fork.comments
    assert "unnamed benchmark" in comment
    for text in (comment, fork.stage.summary, "\n".join(fork.stage.lines)):
        assert not re.search("approved|security|merge it|octo-org/all", text)


def test_no_text_of_a_strangers_configuration_is_in_the_comment(make: Make) -> None:
    text = json.dumps(MARKED)
    head = f"""{GATE}fail_on = []
[[rule]]
benchmark = {text}
margin = "9%"
[[waive]]
benchmark = {text}
metric = {text}
ceiling = "9%"
until = 2999-01-01
reason = {text}
[aliases]
{text} = "x"
[[benchmark]]
name = {text}
command = "true"
[baseline]
against = {text}
"""
    result = measured({"a": 1e-3, MARKED: 1e-3}, {"a": 1e-3, "x": 1e-3})
    comment = make(head=head).verdict_of(result)
    assert not re.search("approved|security|merge it|octo-org/all", comment)
    assert "makes its own check less strict" in comment
    assert "up to 9 % until 2999-01-01" in comment
    assert "renamed from unnamed benchmark" in comment


def test_secrets_of_the_job_are_taken_out(make: Make) -> None:
    fork, name = make(repository=HELLO), f"a {SECRET}"
    comment = fork.verdict_of(measured({name: 1e-3}, {name: 2e-3}, warnings=(f"see {SECRET}",)))
    for text in (comment, fork.stage.summary):
        assert Page(text.rpartition("<!--")[0] or text).prose.count("[removed]") == 1
        assert text.count("removed") > 3
        assert "hunter2" not in text


def test_each_suite_has_a_comment_of_its_own_up_to_a_limit(make: Make) -> None:
    fork = make()
    for number in range(MOST_RESULTS + 2):
        fork.main_leaves("a", "b", leg=(f"suite-{number}", ENVIRONMENT))
        fork.leaves(slower(), f"suite-{number}", created_at=START + timedelta(hours=number))
    fork.leaves(b"", name="dist")
    fork.leaves(
        slower(),
        name=artifact_name(ArtifactKind.BASELINE, suite="default", environment=ENVIRONMENT),
    )
    shard = artifact_name(
        ArtifactKind.RESULT, suite="default", environment=ENVIRONMENT, shard=(1, 2)
    )
    fork.leaves(slower(), name=shard)
    assert fork.publish() == 0
    suites = [found.suite for one in fork.comments if (found := marker_in(one))]
    newest_first = [f"suite%2D{n}.linux%2Dx86_64" for n in reversed(range(2, MOST_RESULTS + 2))]
    assert suites == newest_first
    assert [name for name, _ in fork.stage.outputs] == ["verdict", "comment-url"] * MOST_RESULTS
    read = [one.path for one in fork.server.asked("GET /repos/*/artifacts/*/zip")]
    assert len(read) == 2 * MOST_RESULTS  # each result, and what main has of its suite


def test_each_kind_of_machine_has_a_comment_of_its_own_and_names_it(make: Make) -> None:
    fork = make()
    fork.leaves(slower(), created_at=START + timedelta(hours=2))
    fork.main_leaves("a", leg=("fast", ENVIRONMENT))
    for suite in ("default", "fast"):
        name = artifact_name(ArtifactKind.RESULT, suite=suite, environment="macos-arm64")
        fork.leaves(measured({"a": 1e-3}), name=name, created_at=START + timedelta(hours=1))
    broken = artifact_name(ArtifactKind.RESULT, suite="default", environment="linux-aarch64")
    fork.leaves(b"no zip", name=broken)
    assert fork.publish() == 0
    heads = [one.splitlines()[0].removeprefix("### ") for one in fork.comments]
    assert [re.sub(r"^\S+ |(Slower|Nothing|No verdict).+", r"\1", one) for one in heads] == [
        "Slower",
        "fast, macos-arm64 · Nothing",
        "macos-arm64 · Nothing",
        "linux-aarch64 · No verdict",
    ]


def test_one_suite_that_cannot_be_judged_hides_no_other(make: Make) -> None:
    fork = make()
    for suite in ("one", "two"):
        fork.main_leaves("a", "b", leg=(suite, ENVIRONMENT))
    fork.leaves(b"no zip", "one")
    fork.leaves(slower(), "two")
    assert fork.publish() == 0
    lines = sorted(one.splitlines()[0] for one in fork.comments)
    assert [("two · Slower" in x, "one · No verdict" in x) for x in lines] == [
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize(
    ("conclusion", "is_told"),
    [
        ("failure", True),
        ("timed_out", True),
        ("startup_failure", True),
        ("cancelled", False),
        ("success", False),
        ("skipped", False),
        (None, False),
    ],
)
def test_a_run_that_broke_is_told_and_one_that_was_cancelled_is_not(
    make: Make, conclusion: str | None, *, is_told: bool
) -> None:
    fork = make()
    assert fork.publish(conclusion=conclusion) == 0
    assert fork.stage.lines[0] == f"run {RUN} left no result"
    if is_told:
        (comment,) = fork.comments
        assert comment.splitlines()[0].endswith("No verdict: the run left no result")
    else:
        fork.assert_nothing_said()


@pytest.mark.parametrize("conclusion", ["failure", "success"])
def test_a_run_without_result_updates_what_is_said_of_earlier_commits(
    make: Make, conclusion: str
) -> None:
    # What passes and leaves nothing must not let an earlier pass stand.
    fork = make()
    post = client_of(fork.server, TOKEN).post
    of_old, of_this = "a" * 40, fork.git.head
    for suite, head in (("one", of_old), ("two", of_old), ("three", of_this)):
        marker = mark(suite, head=head, run=RUN - 5, attempt=1)
        post(f"/repos/{HELLO.full_name}/issues/{NUMBER}/comments", {"body": f"old\n\n{marker}"})
    assert fork.publish(conclusion=conclusion) == 0
    told = [(one.splitlines()[0], marker_in(one)) for one in fork.comments]
    new = "### \N{BLACK QUESTION MARK ORNAMENT} No verdict: the run left no result"
    assert told == [
        (new, mark("one", head=of_this, run=RUN, attempt=2)),
        (new, mark("two", head=of_this, run=RUN, attempt=2)),
        ("old", mark("three", head=of_this, run=RUN - 5, attempt=1)),
    ]


def test_a_run_that_broke_and_cannot_be_told_fails_the_job(make: Make) -> None:
    fork = make()
    fork.server.faults.always("GET /repos/*/comments", Fault(status=503))
    with pytest.raises(GitHubError, match="503"):
        fork.publish(conclusion="failure")
    assert fork.stage.lines[-1].startswith("::warning::no comment: GET /repos/")


@pytest.mark.parametrize("conclusion", ["success", "failure"])
def test_a_result_that_has_expired_is_none(make: Make, conclusion: str) -> None:
    fork = make()
    fork.leaves(slower(), expires_at=START)
    assert fork.publish(conclusion=conclusion) == 0
    assert len(fork.comments) == (conclusion == "failure")
    assert fork.server.asked("GET /repos/*/artifacts/*/zip") == []


def test_what_an_earlier_attempt_left_is_not_of_this_one(make: Make) -> None:
    fork = make()
    for suite in ("one", "two", "three"):
        fork.main_leaves("a", "b", leg=(suite, ENVIRONMENT))
    fork.leaves(slower(), "one")
    fork.leaves(slower(), "two")
    assert fork.publish() == 0
    fork.starts_again(3, after=timedelta(hours=2))
    fork.leaves(measured({"a": 1e-3}), "three", created_at=START + timedelta(hours=2))
    assert fork.publish(attempt=3) == 0
    found = [
        (marker_in(one), "\N{WHITE HEAVY CHECK MARK}" in one.splitlines()[0])
        for one in fork.comments
    ]
    told = [(one.suite.partition(".")[0], one.attempt, passed) for one, passed in found if one]
    assert sorted(told) == [("one", 2, False), ("three", 3, True), ("two", 2, False)]


def test_an_attempt_that_another_followed_is_told_all_the_same(make: Make) -> None:
    # Of a re-run of the failed jobs alone, the newer attempt leaves no result of the others.
    fork = make()
    fork.leaves(slower())
    fork.starts_again(3, after=timedelta(hours=2))
    assert fork.publish(attempt=2, conclusion="failure") == 0
    (comment,) = fork.comments
    assert "Slower: " in comment.splitlines()[0]
    assert (found := marker_in(comment)) is not None
    assert found.attempt == 2


def test_an_attempt_that_left_nothing_is_not_told_by_the_one_before(make: Make) -> None:
    fork = make()
    fork.leaves(measured({"a": 1e-3}))
    fork.starts_again(3, after=timedelta(seconds=1))
    assert fork.publish(attempt=3, conclusion="failure") == 0
    (comment,) = fork.comments
    assert comment.splitlines()[0].endswith("No verdict: the run left no result")


@pytest.mark.parametrize(
    "changes",
    [
        {"head_sha": "1" * 40},
        {"head_repository": None},
        {"state": "closed"},
        {"head_branch": "other"},
        {"head_repository": HELLO.full_name},  # a branch of the same name, of somebody else
    ],
)
def test_a_pull_request_that_is_another_by_now_is_left_alone(
    make: Make, changes: dict[str, Any]
) -> None:
    fork = make()
    fork.leaves(slower())
    fork.pull(**changes)
    assert fork.publish() == 0
    fork.assert_nothing_said()
    (line,) = fork.stage.lines
    assert line.startswith("nothing to comment on: no open pull request has the head ")


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ({"head_repository": None}, "no open pull request has"),
        ({"head_branch": None}, "no open pull request has"),
        ({"event": "push"}, "the run was triggered by push, not by a pull request"),
        ({"is_completed": False}, "the run has not ended"),
    ],
)
def test_runs_that_are_about_no_pull_request_are_left_alone(
    make: Make, event: dict[str, Any], why: str
) -> None:
    fork = make()
    fork.leaves(slower())
    assert fork.publish(**event) == 0
    fork.assert_nothing_said()
    assert f"nothing to comment on: {why}" in fork.stage.lines[0]


def test_every_pull_request_of_a_head_is_judged_by_its_own_base(make: Make) -> None:
    fork = make(base=GATE, head=GATE)
    lax = make(base=LAX, head=GATE)
    lax.knows_base(lax.git.base, "stable")
    first = lax.server.state.need(Pull, HELLO.key, NUMBER)
    # Of one object store, as on GitHub.
    lax.git.origin.run("fetch", "--quiet", str(fork.git.origin.root), fork.git.base)
    lax.server.state.put(replace(first, number=3, base_branch="stable", base_sha=fork.git.base))
    lax.leaves(slower())
    assert lax.publish() == 0
    (of_lax,) = lax.comments
    (of_strict,) = (one.body for one in lax.server.state.comments(HELLO, 3))
    assert "✅" in of_lax.splitlines()[0]
    assert "❌" in of_strict.splitlines()[0]
    for comment in (of_lax, of_strict):
        assert "other open pull requests have the same head" in comment
    # The result, and what main has of its suite.
    assert len(lax.server.asked("GET /repos/*/artifacts/*/zip")) == 2


def test_no_more_than_some_pull_requests_of_a_head_are_commented_on(make: Make) -> None:
    fork = make()
    for number in range(50, 50 + MOST_PULL_REQUESTS):
        fork.pull(number=number)
    fork.leaves(slower())
    assert fork.publish() == 0
    posts = [one for one in fork.server.requests if one.method == "POST"]
    assert len(posts) == MOST_PULL_REQUESTS
    warning = f"{MOST_PULL_REQUESTS + 1} open pull requests have the head {fork.git.head[:7]}"
    assert fork.stage.lines[0].startswith(f"::warning::{warning}: ")


def test_a_verdict_on_a_newer_head_is_not_overwritten(make: Make) -> None:
    fork = make()
    newer = mark(f"default.{ENVIRONMENT}", head=fork.git.head, run=RUN + 5, attempt=1)
    client_of(fork.server, TOKEN).post(
        f"/repos/{HELLO.full_name}/issues/{NUMBER}/comments", {"body": f"newer\n\n{newer}\n"}
    )
    assert fork.verdict_of(slower()).startswith("newer")
    assert fork.stage.lines[0].startswith("left the comment as it is: ")


def test_commits_that_cannot_be_had_give_no_verdict(make: Make) -> None:
    fork = make()
    fork.pull(base_sha="1" * 40)
    comment = fork.verdict_of(slower())
    assert "No verdict: the base commit 111111111111 cannot be fetched" in comment.splitlines()[0]


def test_a_github_that_is_down_fails_the_job(make: Make) -> None:
    fork = make()
    fork.leaves(slower())
    fork.server.faults.always("*", Fault(status=503))
    with pytest.raises(GitHubError, match="503"):
        fork.publish()
    assert fork.comments == []


def test_a_result_that_cannot_be_downloaded_leaves_the_comment_and_fails_the_job(
    make: Make,
) -> None:
    fork = make()
    fork.main_leaves("a", "b", leg=("other", ENVIRONMENT))
    before = fork.verdict_of(slower())
    fork.leaves(slower(), "other", created_at=START + timedelta(hours=1))
    lost = fork.server.state.all(Artifact)[-2]
    fork.server.faults.always(f"GET /repos/*/{lost.id}/zip", Fault(status=500))
    with pytest.raises(GitHubError, match="500"):
        fork.publish(attempt=3)
    first, other = fork.comments  # what can be read is commented on
    assert first == before
    assert "other · Slower" in other.splitlines()[0]
    assert fork.stage.lines[-1].startswith("::warning::no comment: GET /repos/")


@pytest.mark.parametrize("kind", ["POST *", "PATCH *"])
def test_a_comment_that_cannot_be_written_fails_the_job(make: Make, kind: str) -> None:
    fork = make()
    fork.main_leaves("a", "b", leg=("other", ENVIRONMENT))
    fork.verdict_of(slower())
    fork.leaves(slower(), "other", created_at=START + timedelta(hours=1))
    fork.server.faults.always(kind, Fault(status=500))
    with pytest.raises(GitHubError, match="500"):
        fork.publish(attempt=3)
    attempts = [found.attempt for one in fork.comments if (found := marker_in(one))]
    assert attempts == ([3] if kind == "POST *" else [2, 3])


def test_a_comment_that_is_refused_fails_the_job(make: Make) -> None:
    fork = make()
    fork.leaves(slower())
    with pytest.raises(GitHubError, match="403"):
        fork.publish(token=FORKS_TOKEN)
    (line,) = fork.stage.lines
    assert line.startswith("::warning::no comment: POST ")
    assert fork.stage.outputs == [("verdict", "fail")]
    assert "Slower: " in fork.stage.summary
