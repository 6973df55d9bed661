from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchgate.baselines.stored_files import read_result
from benchgate.files.writing import write_atomic
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Metric
from benchgate.model.result import Result, Shard, ids_of
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Tier

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Call

SUITE = ("parse", "sort", "write")


def arm(sha: str, ids: tuple[str, ...], factor: float) -> Run:
    rng = np.random.default_rng(3)
    benchmarks = []
    for id_ in ids:
        values = factor * np.exp(rng.uniform(-0.001, 0.001, (12, 5)))
        launches = tuple(Launch(i, 0, x, np.empty(0)) for i, x in enumerate(values))
        series = (Series(Metric("time", "s"), 1, launches),)
        benchmarks.append(BenchmarkResult(id_, "w", Tier.LOCKSTEP, series))
    return Run(Source(sha), "2026-01-01T00:00:00Z", Environment(), tuple(benchmarks))


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    """Two shards of a suite, of which `sort`, in the second, takes a tenth longer."""
    paths = []
    for number in (1, 2):
        ids = SUITE[number - 1 :: 2]
        result = Result(
            arm("a" * 40, ids, 1.1 if number == 2 else 1.0),
            arm("b" * 40, ids, 1.0),
            warnings=("with \x1b[31mcolour",) if number == 2 else (),
            shard=Shard(number, 2, SUITE),
        )
        paths.append(tmp_path / f"shard-{number}.json.gz")
        write_atomic(paths[-1], encode_result(result, str))
    return paths


def test_the_joined_result_has_one_verdict(call: Call, shards: list[Path], tmp_path: Path) -> None:
    done = call(tmp_path, "merge", *reversed(shards), "--output", "suite.json.gz")
    done.check(0, "warning: shard 2: with colour")
    assert done.out == "suite.json.gz: 3 benchmarks of 2 shards\n"
    assert ids_of(read_result(tmp_path / "suite.json.gz")) == list(SUITE)
    verdict = json.loads(call(tmp_path, "compare", "suite.json.gz", "--json", "-").out)
    assert (verdict["decision"], verdict["exit_code"]) == ("fail", 3)
    regressed = {r["benchmark"] for r in verdict["rows"] if r["outcome"] == "regressed"}
    assert regressed == {"sort"}
    shown = call(tmp_path, "show", "suite.json.gz")
    shown.check(0)
    assert all(id_ in shown.out for id_ in SUITE)


def test_secrets_of_this_job_are_removed_too(
    call: Call, shards: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "colour")
    done = call(tmp_path, "merge", *shards, "--output", "suite.json")
    done.check(0)
    assert "colour" not in (tmp_path / "suite.json").read_text()


def test_what_is_not_a_whole_suite_is_refused(
    call: Call, shards: list[Path], tmp_path: Path
) -> None:
    def refused(*arguments: str | Path) -> str:
        done = call(tmp_path, "merge", *arguments, "--output", "suite.json")
        done.check(2, "hint:")
        assert done.out == ""
        assert not (tmp_path / "suite.json").exists()
        return done.err

    assert "shard-2.json.gz is one of 2 shards, and there is no result of shard 1" in refused(
        shards[1]
    )
    assert "both shard 1 of 2" in refused(shards[0], *shards)
    plain = tmp_path / "plain.json"
    write_atomic(plain, encode_result(Result(arm("a", SUITE, 1.0)), str))
    assert "plain.json is not the result of a shard" in refused(*shards, plain)
    plain.write_text("{")
    assert "plain.json" in refused(plain)
    assert "missing.json" in refused(tmp_path / "missing.json")


def test_nothing_is_overwritten_that_is_read(
    call: Call, shards: list[Path], tmp_path: Path
) -> None:
    before = shards[0].read_bytes()
    done = call(tmp_path, "merge", *shards, "--output", shards[0])
    done.check(2, "would overwrite the result that this command reads")
    assert shards[0].read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("merge", "--output", "x.json"), ("missing argument", "RESULT")),
        (("merge", "x.json"), ("missing option", "--output")),
        (("merge", "x.json", "--output", "no/such/x.json"), ("no folder", "mkdir -p")),
        (("check", "--shard", "3/2"), ("--shard 3/2: there is no such shard", "hint: Write it")),
        (("run", "--shard", "x"), ("--shard 'x' is not a shard", "such as 2/8")),
    ],
)
def test_wrong_arguments(
    call: Call, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    call(tmp_path, *arguments).check(2, *words)
