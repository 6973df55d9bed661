from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.baselines.conftest import GitHub, sha

from benchgate.baselines import artifacts
from benchgate.baselines.artifacts import ArtifactRequests, read_artifacts
from benchgate.errors import FormatError, GitHubError
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.result import Result
from benchgate.model.run import Run, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from benchgate.gate.stored import StoredResults
    from benchgate.github.objects import Artifact

HERE = Environment(os="Debian", cpu_count=2)
HEAD = Run(Source(sha(900)), "2026-02-01T00:00:00Z", HERE, ())


def content(number: int, **changes: Any) -> bytes:  # noqa: ANN401 - fields of a run
    run = Run(Source(sha(number), "main"), "2026-01-01T00:00:00Z", HERE, (), seed=number)
    return encode_result(Result(replace(run, **changes), base=run), str)


def found(
    github: GitHub,
    contents: Mapping[int, bytes | Exception],
    *,
    limit: int = 10,
    counts: Callable[[Run], bool] = lambda _: True,
    listed: Iterable[Artifact] | None = None,
    asked: list[int] | None = None,
) -> StoredResults:
    """What comes of artifacts that hold this, or whose download fails so."""

    def fetch(artifact: Artifact) -> bytes:
        if asked is not None:
            asked.append(artifact.id)
        given = contents[artifact.id]
        if isinstance(given, Exception):
            raise given
        return given

    return read_artifacts(
        [github.listed(number) for number in contents] if listed is None else listed,
        github.wanted,
        ArtifactRequests(lambda run_id: github.run(run_id - 7000), fetch),
        limit=limit,
        counts=counts,
    )


def numbers(found: StoredResults) -> list[str | None]:
    return [one.run.source.sha for one in found.earlier]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_results_come_in_the_order_of_preference(
    github: GitHub, pack: Callable[[bytes], bytes]
) -> None:
    given = found(github, {number: pack(content(number)) for number in (48, 60, 50)})
    assert given.source == "artifact"
    assert numbers(given) == [sha(50), sha(48), sha(60)]
    assert [one.why.partition(" (")[0] for one in given.earlier] == [
        "the base commit's own run",
        "the run of an ancestor of the base, 2 commits before it",
        "a run of main that is not a known ancestor of the head",
    ]
    assert given.earlier[0].name == "artifact 50 of run 7050"
    assert (given.skipped, given.warnings) == ((), ())


def test_what_github_knows_counts_and_not_what_the_file_says(github: GitHub) -> None:
    lies = Source(None, "release", dirty=True, why="trust me")
    data = content(50, source=lies, started="2099-01-01T00:00:00Z")
    (one,) = found(github, {50: data}).earlier
    assert one.run.source == Source(sha(50), "main", dirty=True)
    assert one.run.started == "2026-01-01T00:50:00Z"
    assert one.result.base is None
    undated = [github.listed(50, created_at=None)]
    (one,) = found(github, {50: data}, listed=undated).earlier
    assert one.run.started == "2099-01-01T00:00:00Z"


def changed(document: bytes, **changes: Any) -> bytes:  # noqa: ANN401 - any JSON
    return json.dumps(json.loads(document) | changes).encode()


GOOD = content(1)
HOSTILE = {
    "empty": (b"", "the file is empty"),
    "of another commit": (
        content(1, source=Source(sha(2))),
        f"it measured {sha(2)}, but its run was for {sha(1)}",
    ),
    "interrupted": (content(1, complete=False), "its measurement was interrupted"),
    "a bomb": (gzip.compress(b"[" * 2_000_000), "nested too deeply at line 1 column 20"),
    "a bomb of bombs": (gzip.compress(gzip.compress(b" " * 1_000_000)), "not valid JSON: "),
    "a large bomb": (gzip.compress(b" " * 5_000_000), "is larger than the limit of 4000000 bytes"),
    "cut off": (gzip.compress(GOOD)[:-9], "the gzip data is cut off"),
    "damaged": (gzip.compress(GOOD)[:-8] + b"\0" * 8, "not valid gzip: "),
    "an archive": (b"PK\x03\x04" + b"\0" * 40, "not valid JSON: "),
    "NaN": (changed(GOOD, duration_s=float("nan")), "duration_s: NaN is not a finite number"),
    "infinity": (
        changed(GOOD, duration_s=float("inf")),
        "duration_s: Infinity is not a finite number",
    ),
    "a huge number": (changed(GOOD, duration_s=10**400), "duration_s: 1000000"),
    "another kind of file": (b'{"schema": 1, "rows": []}', "holds no `tool`"),
    "a later version": (changed(GOOD, schema=99), "schema: version 99 was written by a newer"),
    "another type": (changed(GOOD, warnings={"a": 1}), "warnings: an object is not an array"),
    "a long text": (changed(GOOD, tool="x" * 200_000), 'tool: "xxx'),
    "two of one key": (GOOD.replace(b"{", b'{"schema": 1, ', 1), None),
    "no UTF-8": (GOOD.replace(b"Debian", b"\xff"), "not UTF-8 at line 1 column "),
}


@pytest.mark.parametrize(("data", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_artifact_is_skipped_with_its_reason(
    github: GitHub, monkeypatch: pytest.MonkeyPatch, data: bytes, reason: str | None
) -> None:
    monkeypatch.setattr(artifacts, "MOST_BYTES", 4_000_000)
    given = found(github, {1: data, 50: content(50)})
    if reason is None:  # the last of them counts, as in every reader of JSON
        assert numbers(given) == [sha(50), sha(1)]
        return
    assert numbers(given) == [sha(50)]
    (skipped,) = given.skipped
    assert skipped.what == "artifact 1 of run 7001"
    assert skipped.reason.startswith(reason)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_damage_ends_the_job(github: GitHub, data: st.DataObject) -> None:
    file = bytearray(data.draw(st.sampled_from([GOOD, gzip.compress(GOOD, mtime=0)])))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(file) - 1))
        file[at : at + data.draw(st.integers(0, 5))] = data.draw(
            st.binary(max_size=3) | st.sampled_from([b"NaN", b"[", b"{", b"1e999", b'"'])
        )
    given = found(github, {1: bytes(file)})
    assert len(given.earlier) + len(given.skipped) == 1
    assert numbers(given) in ([], [sha(1)])


@given(st.binary(max_size=60))
def test_nothing_else_is_a_result(data: bytes) -> None:
    given = found(GitHub(), {1: data})
    assert given.earlier == ()
    assert given.skipped[0].reason


def test_all_together_are_bounded(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    size_bytes = len(content(50))
    monkeypatch.setattr(artifacts, "MAX_FILE_BYTES", size_bytes + 5)
    given = found(github, {50: content(50), 49: content(49)})
    assert numbers(given) == [sha(50)]
    assert [one.reason for one in given.skipped] == ["is larger than the limit of 5 bytes"]


def test_no_more_are_asked_for_than_are_wanted(github: GitHub) -> None:
    asked: list[int] = []
    contents = {number: content(number) for number in range(1, 60)}
    given = found(github, contents, limit=5, asked=asked)
    assert asked == [50, 49, 48, 59, 58]
    assert len(given.earlier) == 5
    assert given.skipped == ()


def test_the_requests_are_bounded_whatever_is_in_them(github: GitHub) -> None:
    asked: list[int] = []
    given = found(github, dict.fromkeys(range(1, 60), b"{}"), asked=asked)
    assert len(asked) == len(given.skipped) == artifacts.MOST_TRIED


def test_results_of_other_machines_need_not_count(github: GitHub) -> None:
    other = replace(HERE, cpu_count=4)
    contents = {
        number: content(number, environment=other if number % 2 else HERE)
        for number in range(1, 20)
    }
    given = found(github, contents, limit=4, counts=lambda run: run.environment == HERE)
    cores = [one.run.environment.cpu_count for one in given.earlier]
    assert cores == [4, 2, 4, 2, 4, 2, 4, 2]


def test_a_run_that_proves_nothing_is_not_even_fetched(github: GitHub) -> None:
    def fetch(artifact: Artifact) -> bytes:
        raise AssertionError(artifact)

    given = read_artifacts(
        [github.listed(50)],
        github.wanted,
        ArtifactRequests(lambda _: github.run(50, event="workflow_run"), fetch),
        limit=1,
    )
    assert (
        given.skipped[0].reason
        == "its run was triggered by workflow_run, which may run untrusted code"
    )


def test_what_is_gone_meanwhile_is_skipped(github: GitHub) -> None:
    contents: dict[int, bytes | Exception] = {
        number: GitHubError("artifact has expired", status=410) for number in range(1, 9)
    }
    contents[3] = FormatError("artifact 'x': it is encrypted")
    contents[2] = content(2)
    given = found(github, contents)
    assert numbers(given) == [sha(2)]
    reasons = [one.reason for one in given.skipped]
    assert reasons.count("artifact has expired") == 6
    assert "artifact 'x': it is encrypted" in reasons
    assert given.warnings == ()


def test_where_github_fails_again_and_again_no_more_is_asked_for(github: GitHub) -> None:
    asked: list[int] = []
    contents: dict[int, bytes | Exception] = {
        number: GitHubError("GitHub answers 502", status=502) for number in range(1, 9)
    }
    contents[8] = content(8)
    given = found(github, contents, asked=asked)
    assert asked == [8, 7, 6, 5]
    assert numbers(given) == [sha(8)]
    assert given.warnings == ("GitHub failed 3 times, so no more stored results were read",)
