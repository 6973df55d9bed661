"""What other tools said, read from their own output, and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.gate.peers import asv, pyperf, pytest_benchmark
from benchmarks.gate.peers.lab import ARMS, laboratory
from benchmarks.gate.peers.lines import peer_lines
from benchmarks.gate.peers.record import PEERS, SESSIONS, plan, record_peers
from benchmarks.gate.peers.sessions import (
    PeerBuild,
    PeerRun,
    Session,
    builds_of,
    read_session,
    write_session,
)
from benchmarks.gate.project import NAMES
from validation.rates import Rate

SAID = Path(__file__).parent / "peers"


def said(name: str) -> str:
    return (SAID / name).read_text(encoding="utf-8")


def saved(name: str) -> Any:  # noqa: ANN401 - a document
    return json.loads(said(name))


def test_pytest_benchmark_says_which_tests_failed_by_which_expression() -> None:
    slower = pytest_benchmark.slower_by(said("pytest_benchmark.txt"))
    assert slower["min:5%"] == ["count_words"]
    assert slower["median:5%"] == ["count_words", "fill_dict", "match"]
    assert len(slower["mean:5%"]) == 7
    assert slower["min:2%"] == sorted({*NAMES} - {"fill_dict", "format_lines", "add_points"})
    assert slower["mean:2%"] == sorted(NAMES)
    assert list(slower) == list(pytest_benchmark.EXPRESSIONS)


def test_a_run_of_pytest_benchmark_that_fails_nothing_is_slower_by_no_expression() -> None:
    quiet = said("pytest_benchmark.txt").split("Performance")[0]
    assert not any(pytest_benchmark.slower_by(quiet).values())


@pytest.mark.parametrize(
    ("name", "slower"),
    [
        ("pyperf.txt", sorted(NAMES)),
        ("pyperf-min-speed.txt", sorted({*NAMES} - {"count_words"})),
        ("pyperf-faster.txt", []),
    ],
)
def test_pyperf_groups_what_is_slower(name: str, slower: list[str]) -> None:
    assert pyperf.slower_in(said(name)) == slower


def test_a_report_of_pyperf_that_cannot_be_read_is_no_clean_build() -> None:
    with pytest.raises(ValueError, match="not a report"):
        pyperf.slower_in("Traceback (most recent call last):\n")
    with pytest.raises(ValueError, match="11 benchmarks are slower, but 10 can be read"):
        pyperf.slower_in(said("pyperf.txt").replace("(10)", "(11)"))


def test_asv_marks_what_is_slower() -> None:
    table = said("asv-compare.txt")
    assert asv.slower_in(table) == ["count_words", "format_lines", "query"]
    assert asv.slower_in(table.replace("| + ", "| - ")) == []


def test_asv_continuous_gives_the_same_table_after_its_progress() -> None:
    table = said("asv-continuous.txt")
    assert asv.slower_in(table) == []
    assert asv.slower_in(table.replace("|          | 190", "| +        | 190")) == ["count_words"]


def test_a_table_of_asv_that_is_empty_or_has_a_failure_is_no_clean_build() -> None:
    with pytest.raises(ValueError, match="not a table"):
        asv.slower_in("BENCHMARKS NOT SIGNIFICANTLY CHANGED.\n")
    with pytest.raises(ValueError, match="not a table"):
        asv.slower_in(said("asv-compare.txt").replace("| + ", "| ! "))


def test_each_tool_keeps_what_it_compares_in_nanoseconds() -> None:
    stats = pytest_benchmark.values_of(saved("pytest_benchmark.json"))
    assert stats["parse_json"] == [175420, 179586, 335898]
    values = pyperf.values_of(saved("pyperf.json"))
    assert {name: len(of_name) for name, of_name in values.items()} == {"parse_json": 9, "sort": 9}
    assert values["parse_json"][:3] == [351410, 362374, 369055]
    samples = asv.values_of(saved("asv.json"))
    assert {name: len(of_name) for name, of_name in samples.items()} == {
        "add_points": 20,
        "count_words": 20,
    }
    assert samples["add_points"][0] == 446710


def run(arm: str, seconds: float, slower: list[str]) -> PeerRun:
    return PeerRun(arm, seconds, {"5%": slower}, {"sort": [round(seconds)], "match": [1]})


def test_every_unchanged_run_is_the_base_of_the_next_one() -> None:
    sequence = [
        run("base", 1.0, []),
        run("same", 2.0, ["match"]),
        run("slower", 4.0, ["sort"]),
        run("base", 8.0, ["sort"]),
        run("same", 16.0, []),
    ]
    clean, slower, last = builds_of(sequence)
    assert clean == PeerBuild(
        is_clean=True,
        seconds=3.0,
        slower={"5%": ["match"]},
        values_ns={"sort": ([1], [2]), "match": ([1], [1])},
    )
    assert (slower.is_clean, slower.seconds, slower.slower) == (False, 6.0, {"5%": ["sort"]})
    assert (last.is_clean, last.seconds, last.slower) == (True, 24.0, {"5%": []})


def session(*, alarm: list[str], found: list[str], seconds: float) -> Session:
    builds = builds_of(
        [run("base", seconds, []), run("same", seconds, alarm), run("slower", seconds, found)]
    )
    return Session({"tool": "a tool"}, builds)


def test_a_session_is_read_as_it_was_written_and_always_in_the_same_bytes(tmp_path: Path) -> None:
    one, other = tmp_path / "one.json.gz", tmp_path / "other.json.gz"
    write_session(one, session(alarm=["sort"], found=[], seconds=1.5))
    write_session(other, read_session(one))
    assert one.read_bytes() == other.read_bytes()
    assert sorted(tmp_path.iterdir()) == [one, other]


def test_false_alarms_are_counted_by_build_and_what_is_found_by_workload(tmp_path: Path) -> None:
    write_session(
        tmp_path / "quick" / "000.json.gz", session(alarm=[], found=["sort"], seconds=1.0)
    )
    write_session(
        tmp_path / "quick" / "001.json.gz", session(alarm=["sort", "match"], found=[], seconds=2.0)
    )
    (line,) = peer_lines(tmp_path)
    assert (line.tool, line.options) == ("a tool", "5%")
    assert line.false_alarms == Rate(1, 2)
    assert line.found == {"sort": Rate(1, 2), "match": Rate(0, 2)}
    assert line.seconds == 3.0


def test_nothing_recorded_gives_no_line(tmp_path: Path) -> None:
    (tmp_path / "quick").mkdir()
    assert peer_lines(tmp_path) == []


def test_the_tools_take_turns_and_each_has_a_place_of_its_own(tmp_path: Path) -> None:
    wanted = list(plan(tmp_path))
    assert [peer for peer, _ in wanted[: len(PEERS)]] == list(PEERS)
    assert len({path for _, path in wanted}) == len(PEERS) * SESSIONS


def test_nothing_is_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.gate.peers.record.ENVIRONMENT", tmp_path)
    for _, path in plan(tmp_path):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    heard: list[str] = []
    record_peers(0.0, heard.append, tmp_path)
    assert heard == ["nothing is missing"]


def test_without_the_tools_it_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.gate.peers.record.ENVIRONMENT", tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="make bench-peers"):
        record_peers(1.0, print, tmp_path)


def test_the_arms_differ_in_work_alone() -> None:
    texts = {}
    with laboratory() as lab:
        for arm in ARMS:
            lab.checkout(arm)
            texts[arm] = (lab.folder / "workloads.py").read_text(encoding="utf-8")
            assert (lab.folder / "test_ten.py").exists()
        assert lab.run("git", "diff", "--name-only", "base", "slower").out == "workloads.py\n"
        with pytest.raises(RuntimeError, match="git no-such-verb failed with 1"):
            lab.run("git", "no-such-verb")
    assert texts["base"] == texts["same"]
    assert texts["slower"] == texts["base"].replace(
        " ".join(["00"] * len(NAMES)), " ".join(["03"] * len(NAMES))
    )
