"""Results of scenarios from files, as `compare` and `merge` take them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.loads import measured_step

from benchgate.cli.compare import compare
from benchgate.cli.merge import merge
from benchgate.config import loads
from benchgate.model.codec import decode_result, encode_result
from benchgate.model.environment import Environment
from benchgate.model.policy import Outcome
from benchgate.model.result import Result, Shard
from benchgate.model.run import Run, Source
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.model.run import BenchmarkResult
    from benchgate.model.verdict import Verdict

CONFIG = loads("", "benchgate.toml")


def run_of(*steps: BenchmarkResult, started: str = "2025-01-31T09:30:00Z") -> Run:
    return Run(Source(sha="a" * 40), started, Environment(cpu_count=2), steps)


def saved(path: Path, result: Result) -> Path:
    path.write_bytes(encode_result(result, str))
    return path


def outcomes(verdict: Verdict) -> dict[str, Outcome]:
    return {row.metric: row.outcome for row in verdict.rows if row.decides}


def test_both_arms_of_a_result(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    head, base = measured_step(rng, 1.3, rounds=20, failing=3), measured_step(rng, rounds=20)
    path = saved(tmp_path / "r.json", Result(run_of(head), run_of(base)))
    verdict = compare([], [path], CONFIG)
    assert set(outcomes(verdict).values()) == {Outcome.REGRESSED}
    view = view_verdict(verdict)
    assert "Slower: `orders/lookup`" in view.headline
    (shown,) = view.shown
    said = "\n".join((shown.first.measured, shown.note, *shown.about_others))
    assert "closed loop: service time" in said
    assert said.count("closed loop") == 1
    assert "throughput: 101.1/s → 77.47/s" in said
    assert "time_p95: +" in said
    assert "error_ratio: from 0, 0 → 0." in said
    assert "60 of 7,761 operations failed on the head: the database is locked" in said


def test_two_files_are_advisory(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    before = saved(tmp_path / "before.json", Result(run_of(measured_step(rng, rounds=12))))
    later = run_of(measured_step(rng, 1.3, rounds=12), started="2025-02-01T09:30:00Z")
    verdict = compare([[before]], [saved(tmp_path / "after.json", Result(later))], CONFIG)
    assert outcomes(verdict)["throughput"] is Outcome.REGRESSED
    assert all(row.advisory for row in verdict.rows if row.outcome is Outcome.REGRESSED)
    assert verdict.exit_code == 0


def test_other_work_is_incomparable_and_says_what_changed(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    one = measured_step(rng)
    parts = {"its steps": "1", "its load": "2"}
    base = replace(one, parts=parts)
    head = replace(one, workload="other", parts=parts | {"its load": "3"})
    path = saved(tmp_path / "r.json", Result(run_of(head), run_of(base)))
    (row,) = compare([], [path], CONFIG).rows
    assert row.outcome is Outcome.INCOMPARABLE
    assert row.notes[0].endswith("changed: its load")


def test_shards_are_joined_with_their_loads(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    ids = ("orders/lookup", "orders/report")
    paths = []
    for number, id_ in enumerate(ids, 1):
        step = measured_step(rng, id_=id_)
        shard = Result(run_of(step), run_of(step), shard=Shard(number, 2, ids))
        paths.append(saved(tmp_path / f"{number}.json", shard))
    output = tmp_path / "joined.json"
    merge(paths, output, {})
    joined = decode_result(output.read_bytes(), "joined.json")
    loads_of = [one.load for one in joined.head.benchmarks]
    assert [load.step for load in loads_of if load] == ["lookup", "report"]


@pytest.mark.parametrize("name", ["orders/lookup", "=cmd|' /C calc'!A0"])
def test_names_are_shown_as_they_are(tmp_path: Path, name: str) -> None:
    step = measured_step(np.random.default_rng(1), id_=name)
    path = saved(tmp_path / "r.json", Result(run_of(step), run_of(step)))
    assert {row.benchmark for row in compare([], [path], CONFIG).rows} == {name}
