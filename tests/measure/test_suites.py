"""Suites of other tools, as small scripts that print what such tools print."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.measure.engines import Making
from tests.patience import limited

from benchgate.config import Measure, SuiteBenchmark
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings, StartingEnvironment
from benchgate.measure.suites.engine import PART_FAILED, SuiteEngine
from benchgate.model.metrics import Better, Kind
from benchgate.model.run import Tier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchgate.measure.contract.found import Discovery, DiscoveryFailure
    from benchgate.measure.contract.observation import Observation
    from benchgate.measure.processes.guardian import Guardian

BASE, HEAD = ArmName.BASE, ArmName.HEAD
RUNS = "n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n > n; "
"""The number of this run of the script in its arm, from 1."""


def go(**lines: str) -> str:
    """What `go test -bench` prints."""
    results = "".join(f"Benchmark{name}-2 100 {values}\n" for name, values in lines.items())
    return f"goos: linux\npkg: example.com/x\n{results}PASS\nok  example.com/x 1.0s\n"


def hyperfine(**times: Sequence[float]) -> str:
    results = [
        {"command": name, "times": list(each), "exit_codes": [0] * len(each)}
        for name, each in times.items()
    ]
    return json.dumps({"results": results})


@pytest.fixture
def told() -> list[str]:
    return []


@dataclass
class MakeEngine(Making):
    """Makes engines on trees with these files; `head` is the head's own command."""

    told: list[str]

    def __call__(
        self,
        suite: str,
        files: Mapping[str, str] | None = None,
        *,
        head: str | None = None,
        head_files: Mapping[str, str] | None = None,
        arms: Sequence[ArmName] = tuple(ArmName),
        aliases: Mapping[str, str] | None = None,
        warmup: int = 1,
        checkout: Path | None = None,
        **keys: Any,  # noqa: ANN401 - of any type
    ) -> SuiteEngine:
        trees, suites = [], {}
        for name in arms:
            root = self.folder / f"{name}-tree"
            root.mkdir(exist_ok=True)
            own = (head_files if name is HEAD and head_files is not None else files) or {}
            for file, text in own.items():
                (root / file).write_text(text)
            trees.append(Arm(name, root, self.folder / f"{name}-env", str(name)))
            command = head if name is HEAD and head is not None else suite
            document = {"shell": True, "allow_foreign": True, **keys, "suite": command}
            suites[name] = SuiteBenchmark.model_validate(document)
        return self.keep(
            SuiteEngine(
                suites,
                trees,
                self.guardian,
                EngineSettings(
                    Measure(command_warmup=warmup),
                    aliases=aliases or {},
                    outside=StartingEnvironment(checkout=checkout),
                    tell=self.told.append,
                ),
            )
        )


@pytest.fixture
def make_engine(tmp_path: Path, guardian: Guardian, told: list[str]) -> Iterator[MakeEngine]:
    making = MakeEngine(tmp_path, guardian, told)
    yield making
    making.close()


def ids(discovery: Discovery, arm: ArmName = HEAD) -> list[str]:
    return [one.id for one in discovery.found[arm]]


def failures(discovery: Discovery) -> dict[tuple[ArmName, str], DiscoveryFailure]:
    return {(one.arm, one.id): one for one in discovery.failures}


def measure(engine: SuiteEngine, chosen: Sequence[str], round_index: int = 0) -> list[Observation]:
    return list(engine.measure_round(chosen, random.Random(0), round_index))  # noqa: S311 - unused


def values(observations: Sequence[Observation], metric: str = "time") -> dict[Any, list[float]]:
    return {
        (one.arm, one.benchmark): list(each.launches[0].samples)
        for one in observations
        for each in one.metrics
        if each.metric.name == metric
    }


def test_results_larger_than_the_limit_are_refused_with_the_key_that_permits_more(
    make_engine: MakeEngine,
) -> None:
    engine = make_engine("cat out.json; head -c 2000000 /dev/zero", max_mib=1)
    errors = {one.error for one in engine.discover().failures}
    assert len(errors) == 1
    first, second = errors.pop().split("\n")[:2]
    assert first == "the standard output is larger than the limit of 1 MiB"
    assert "`max_mib`" in second


def test_results_that_are_no_gzip_although_they_begin_so_are_refused(
    make_engine: MakeEngine,
) -> None:
    engine = make_engine(r"printf '\037\213xx' > {output}")
    (first, _) = engine.discover().failures
    assert "gzip" in first.error


def test_exit_codes_of_the_suite_are_also_those_that_hyperfine_reports(
    make_engine: MakeEngine,
) -> None:
    row = {"command": "a", "times": [1.0, 2.0], "exit_codes": [1, 1]}
    files = {"out.json": json.dumps({"results": [row]})}
    engine = make_engine("cat out.json", files, ok_exit_codes=[0, 1])
    assert [one.id for one in engine.discover().found[HEAD]] == ["a"]


def test_what_npm_and_a_program_print_beside_the_results_does_not_matter(
    make_engine: MakeEngine,
) -> None:
    log = r"printf '\n> pkg@1.0.0 bench\n> node x\n\ncaf\351\n'"
    engine = make_engine(f"{log}; cat out.json", {"out.json": hyperfine(a=[1.0, 3.0, 2.0])})
    found = engine.discover()
    assert [one.id for one in found.found[HEAD]] == ["a"]
    assert found.failures == ()


def test_each_run_gives_one_value_of_each_benchmark(make_engine: MakeEngine) -> None:
    text = hyperfine(fast=[1.0, 3.0, 2.0], slow=[9.0])
    engine = make_engine("echo run >> runs; cat out.json", {"out.json": text})
    found = engine.discover()
    assert not found.failures
    for arm in ArmName:
        assert ids(found, arm) == ["fast", "slow"]
        assert {one.tier for one in found.found[arm]} == {Tier.SUITE}
        assert {one.suite for one in found.found[arm]} == {"echo run >> runs; cat out.json"}
    seen = measure(engine, ["slow", "fast"])
    assert [(one.benchmark, one.order) for one in seen] == [
        *(("slow", 0), ("slow", 1), ("fast", 0), ("fast", 1))
    ]
    assert values(seen) == {
        (arm, id_): [value] for arm in ArmName for id_, value in (("fast", 2.0), ("slow", 9.0))
    }
    for one in seen:
        assert [(each.loops, each.metric.kind) for each in one.metrics] == [(1, Kind.SAMPLED)]


def test_a_run_measures_everything_and_each_round_is_one_run(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    engine = make_engine("echo run >> runs; cat out.json", {"out.json": hyperfine(a=[1], b=[2])})
    engine.discover()
    measure(engine, ["a", "b"], 0)
    measure(engine, ["b"], 1)
    for arm in ArmName:
        assert (tmp_path / f"{arm}-tree/runs").read_text().count("run") == 3
    assert measure(engine, [], 2) == []


def test_several_values_in_one_run_are_one_launch(make_engine: MakeEngine) -> None:
    lines = "".join(f"BenchmarkSort-2 100 {value} ns/op\n" for value in (10, 30, 20))
    engine = make_engine("cat out", {"out": f"pkg: example.com/x\n{lines}PASS\n"})
    (id_,) = ids(engine.discover())
    for samples in values(measure(engine, [id_])).values():
        assert samples == pytest.approx([20e-9])


def test_other_metrics_keep_their_unit_and_direction(make_engine: MakeEngine) -> None:
    engine = make_engine("cat out", {"out": go(Read="50 ns/op 20.0 MB/s 7 allocs/op 3 rows")})
    (id_,) = ids(engine.discover())
    (seen, _) = measure(engine, [id_])
    metrics = {each.metric.name: each.metric for each in seen.metrics}
    assert metrics["throughput"].better is Better.HIGHER
    assert {metric.kind for metric in metrics.values()} <= {Kind.SAMPLED, Kind.EXACT}
    assert {"time", "throughput", "rows"} <= metrics.keys()


def test_a_summary_becomes_a_value_of_each_launch(make_engine: MakeEngine) -> None:
    custom = json.dumps([{"name": "size", "unit": "ms", "value": 12.5}])
    engine = make_engine("cat out", {"out": custom}, format="customSmallerIsBetter")
    assert ids(engine.discover()) == ["size"]
    for one in measure(engine, ["size"]):
        assert [each.metric.kind for each in one.metrics] == [Kind.SAMPLED]


@pytest.mark.parametrize(
    ("suite", "keys"),
    [
        ("cat out", {}),
        ("cat out; echo noise >&2", {}),
        ("echo noise; cp out {output}", {}),
        ("mkdir {output}; cp out {output}/results.json", {}),
        ("cp out {output}.json", {}),
        ("cp out results.json", {"output": "results.json"}),
        ("mkdir -p here; cp out here/results.json", {"output": "here/results.json"}),
    ],
)
def test_results_are_read_wherever_they_are(
    make_engine: MakeEngine, suite: str, keys: dict[str, Any]
) -> None:
    engine = make_engine(suite, {"out": hyperfine(a=[1.0])}, **keys)
    found = engine.discover()
    assert (found.failures, ids(found)) == ((), ["a"])
    assert len(values(measure(engine, ["a"]))) == 2


SAMPLES = Path(__file__).parents[1] / "formats" / "samples"


@pytest.mark.parametrize(
    ("suite", "keys", "name"),
    [
        (
            "mkdir -p target; cp -r {}/criterion/target-criterion target/criterion",
            {"output": "target/criterion"},
            "criterion",
        ),
        ("cp {}/pyperf/suite.json {{output}}", {}, "pyperf"),
        ("cat {}/google-benchmark/single.csv", {}, "google-benchmark"),
        ("cat {}/libtest/bench.txt", {}, "libtest"),
        ("cat {}/catch2/fib.xml", {}, "catch2"),
        ("cp {}/vitest/v4.json {{output}}", {}, "vitest"),
    ],
)
def test_what_tools_really_write_is_read(
    make_engine: MakeEngine, suite: str, keys: dict[str, Any], name: str
) -> None:
    engine = make_engine(suite.format(SAMPLES), **keys)
    found = engine.discover()
    assert found.found[HEAD], found.failures
    assert {one.parts["its tool"] for one in found.found[HEAD]} == {name}
    chosen = ids(found)
    seen = measure(engine, chosen)
    assert not any(one.error for one in seen)
    assert {(one.arm, one.benchmark) for one in seen} == {
        (arm, id_) for arm in ArmName for id_ in chosen
    }
    assert {each.launches[0].samples.shape for one in seen for each in one.metrics} == {(1,)}
    assert Kind.SUMMARY not in {each.metric.kind for one in seen for each in one.metrics}


def test_results_of_an_earlier_run_are_never_read(make_engine: MakeEngine) -> None:
    out = hyperfine(a=[1.0])
    engine = make_engine(
        f"{RUNS} test $n -gt 1 || cp out old.json", {"out": out, "old.json": out}, output="old.json"
    )
    assert ids(engine.discover()) == ["a"]
    for one in measure(engine, ["a"]):
        assert one.error == "its suite failed: it wrote nothing to old.json"


def test_outputs_of_runs_are_removed(make_engine: MakeEngine, tmp_path: Path) -> None:
    engine = make_engine("echo {output} >> paths; cp out {output}", {"out": hyperfine(a=[1.0])})
    engine.discover()
    measure(engine, ["a"])
    paths = [(tmp_path / f"{arm}-tree/paths").read_text().split() for arm in ArmName]
    assert len({path for each in paths for path in each}) == 4
    assert len({len(path) for each in paths for path in each}) == 1
    engine.close()
    for each in paths:
        assert not any((tmp_path / path).parent.parent.exists() for path in each)


def test_the_format_can_be_named(make_engine: MakeEngine) -> None:
    engine = make_engine("cat out", {"out": hyperfine(a=[1.0])}, format="pyperf")
    found = failures(engine.discover())
    error = found[HEAD, "cat out"].error
    assert "read as pyperf" in error
    assert '{"results"' in error


@pytest.mark.parametrize(
    ("suite", "first_line", "more"),
    [
        ("true", "it wrote nothing to the standard output", ""),
        ("true {output}", "it wrote nothing to {output}", ""),
        ("echo why; true {output}", "it wrote nothing to {output}", "it printed:\nwhy"),
        ("echo what is this", "the standard output is in no format that benchgate", "what is this"),
        ("echo oops >&2; exit 3", "exited with 3 (allowed: 0)", "oops"),
        ("echo '{\"results\": [' ; exit 4", "exited with 4 (allowed: 0)", '{"results": ['),
        ("echo so far; kill -9 $$", "killed by SIGKILL", "so far"),
        ("no-such-command-here", "exited with 127", "not found"),
        (
            'echo \'{"results": [{"command"\'',
            "the standard output: ",
            'it begins with:\n{"results"',
        ),
    ],
)
def test_a_suite_that_cannot_be_read_says_why(
    make_engine: MakeEngine, suite: str, first_line: str, more: str
) -> None:
    found = make_engine(suite).discover()
    assert found.found == {BASE: (), HEAD: ()}
    assert set(failures(found)) == {(BASE, suite), (HEAD, suite)}
    for failure in found.failures:
        assert failure.error.startswith(first_line)
        assert more in failure.error


def test_a_suite_that_takes_too_long_is_ended(make_engine: MakeEngine, tmp_path: Path) -> None:
    found = limited(
        lambda limit_s: make_engine(
            "echo begun; : > begun; sleep 300", timeout=f"{limit_s}s"
        ).discover(),
        lambda: all((tmp_path / f"{arm}-tree/begun").exists() for arm in ArmName),
    )
    assert {one.error.partition(":")[0] for one in found.failures} == {"timed out"}
    assert all("`timeout` of [[benchmark]] sets the limit" in one.error for one in found.failures)
    assert all("begun" in one.error for one in found.failures)


def test_failed_benchmarks_are_failed_rows_and_the_others_stand(make_engine: MakeEngine) -> None:
    text = json.dumps(
        {"results": [{"command": "bad", "times": []}, {"command": "good", "times": [1.0]}]}
    )
    engine = make_engine("cat out; exit 1", {"out": text})
    found = engine.discover()
    assert set(failures(found)) == {(BASE, "bad"), (HEAD, "bad")}
    assert ids(found) == ["good"]
    assert len(values(measure(engine, ["good"]))) == 2


def test_an_unexplained_exit_code_is_a_failed_row_of_its_own(make_engine: MakeEngine) -> None:
    engine = make_engine("cat out; echo boom >&2; exit 1", {"out": hyperfine(a=[1.0])})
    found = engine.discover()
    assert ids(found) == ["a"]
    assert set(failures(found)) == {
        (BASE, "cat out; echo boom >&2; exit 1"),
        (HEAD, "cat out; echo boom >&2; exit 1"),
    }
    for one in found.failures:
        assert one.error.startswith("exited with 1 (allowed: 0)")
        assert "boom" in one.error
    assert len(values(measure(engine, ["a"]))) == 2


def test_an_exit_code_of_the_base_alone_is_a_note(make_engine: MakeEngine) -> None:
    engine = make_engine("cat out; exit 1", {"out": hyperfine(a=[1.0])}, head="cat out", group="g")
    found = engine.discover()
    assert not found.failures
    (base,), (head,) = found.found[BASE], found.found[HEAD]
    assert base.notes == ("its suite on the base: exited with 1 (allowed: 0)",)
    assert head.notes == ()
    assert len(values(measure(engine, ["g/a"]))) == 2


def test_an_exit_code_can_be_allowed(make_engine: MakeEngine) -> None:
    engine = make_engine("cat out; exit 1", {"out": hyperfine(a=[1.0])}, ok_exit_codes=[0, 1])
    assert not engine.discover().failures


def test_an_exit_code_that_only_a_later_run_has_is_a_failure(make_engine: MakeEngine) -> None:
    engine = make_engine(f"{RUNS} cat out; test $n -lt 3", {"out": hyperfine(a=[1.0])})
    assert not engine.discover().failures
    assert len(values(measure(engine, ["a"], 0))) == 2
    for one in measure(engine, ["a"], 1):
        assert (one.error or "").startswith("its suite failed: exited with 1")


def test_a_failure_without_a_row_fails_the_run(make_engine: MakeEngine) -> None:
    good = go(Sort="50 ns/op", Find="20 ns/op")
    crash = "BenchmarkOther-2 \tpanic: concurrent map writes\nexit status 2\nFAIL\texample.com/x\n"
    engine = make_engine(
        f"{RUNS} test $n = 1 && cat good || {{ cat crash; exit 1; }}",
        {"good": good, "crash": f"goos: linux\npkg: example.com/x\n{crash}"},
    )
    found = ids(engine.discover())
    errors = {each.benchmark: each.error or "" for each in measure(engine, found)}
    assert len(errors) == 2
    assert all(error.startswith("its suite failed: exited with 1") for error in errors.values())


def test_a_benchmark_that_one_side_reports_late_is_not_new(make_engine: MakeEngine) -> None:
    both, one = hyperfine(a=[1.0], b=[2.0]), hyperfine(b=[2.0])
    engine = make_engine(
        f"{RUNS} test $n = 1 && cat one || cat both", {"both": both, "one": one}, head="cat both"
    )
    engine.discover()
    errors = {(each.arm, each.benchmark): each.error for each in measure(engine, ["a", "b"])}
    assert errors.pop((HEAD, "a")) == (
        "the suite of the base reports it now, but its first run did not: it must report the same "
        "benchmarks in every run"
    )
    assert set(errors.values()) == {None}


def test_each_side_may_have_units_of_its_own(make_engine: MakeEngine) -> None:
    text = go(Sort="50 ns/op 3 rows")
    engine = make_engine(
        "cat base", {"base": text, "head": f"Unit rows better=higher\n{text}"}, head="cat head"
    )
    (id_, *_) = ids(engine.discover())
    assert not any(each.error for each in measure(engine, [id_]))


def test_if_one_side_fails_each_of_its_benchmarks_has(make_engine: MakeEngine) -> None:
    out = {"out": hyperfine(a=[1.0], b=[2.0])}
    engine = make_engine("cat out", out, head_files={})
    found = engine.discover()
    assert (ids(found, BASE), ids(found, HEAD)) == (["a", "b"], [])
    failed = failures(found)
    assert set(failed) == {(HEAD, "a"), (HEAD, "b")}
    assert failed[HEAD, "a"].error.startswith("its suite failed: exited with 1")
    assert "No such file" in failed[HEAD, "a"].error
    assert failed[HEAD, "b"].error.endswith("\na has the details")


def test_a_benchmark_of_one_side_is_measured_there(make_engine: MakeEngine) -> None:
    engine = make_engine(
        "cat out",
        {"out": hyperfine(a=[1.0], old=[2.0])},
        head_files={"out": hyperfine(a=[1.0], new=[2.0])},
    )
    found = engine.discover()
    assert (ids(found, BASE), ids(found, HEAD)) == (["a", "old"], ["a", "new"])
    assert set(values(measure(engine, ["a", "old", "new"]))) == {
        *((BASE, "a"), (HEAD, "a"), (BASE, "old"), (HEAD, "new"))
    }


def test_a_renamed_benchmark_has_its_new_id(make_engine: MakeEngine) -> None:
    engine = make_engine(
        "cat out",
        {"out": hyperfine(old=[1.0])},
        head_files={"out": hyperfine(new=[2.0])},
        aliases={"old": "new"},
    )
    found = engine.discover()
    (before,), (after,) = found.found[BASE], found.found[HEAD]
    assert (before.id, before.renamed_from, after.id, after.renamed_from) == (
        *("new", "old", "new", None),
    )
    assert before.workload == after.workload
    assert values(measure(engine, ["new"])) == {(BASE, "new"): [1.0], (HEAD, "new"): [2.0]}


def test_a_benchmark_that_is_missing_now_and_then_lacks_rounds(make_engine: MakeEngine) -> None:
    both, one = hyperfine(a=[1.0], b=[2.0]), hyperfine(a=[1.0])
    engine = make_engine(
        f"{RUNS} test $((n % 3)) = 0 && cat one || cat both", {"both": both, "one": one}
    )
    engine.discover()
    counts = []
    for index in range(6):
        seen = measure(engine, ["a", "b"], index)
        assert not any(each.error for each in seen)
        counts.append(len(values(seen)))
    assert counts == [4, 2, 4, 4, 2, 4]


def test_a_benchmark_that_is_mostly_missing_has_failed(make_engine: MakeEngine) -> None:
    files = {"1": hyperfine(a=[1.0], b=[2.0]), "2": hyperfine(a=[1.0], late=[2.0])}
    engine = make_engine(f"{RUNS} test $n = 1 && cat 1 || cat 2", files)
    assert ids(engine.discover()) == ["a", "b"]
    seen = [each for index in range(2) for each in measure(engine, ["a", "b"], index)]
    assert not any(each.error for each in seen)
    late = "its suite reports what its first run did not, and that is left out: late"
    assert [each.benchmark for each in seen if late in each.notes] == ["a", "a", "b", "b"]
    errors = {each.benchmark: each.error for each in measure(engine, ["a", "b"], 2)}
    assert errors["a"] is None
    assert (errors["b"] or "").startswith("its suite reported it in only 0 of 3 runs")


def test_a_metric_that_changes_its_direction_is_a_failure(make_engine: MakeEngine) -> None:
    lower = go(Sort="50 ns/op 3 rows")
    files = {"2": lower, "3": f"Unit rows better=higher\n{lower}"}
    engine = make_engine(f"{RUNS} cat $n || cat 2", files)
    (id_,) = ids(engine.discover())
    assert not any(each.error for each in measure(engine, [id_]))
    errors = {each.error for each in measure(engine, [id_], 1)}
    assert errors == {"rows changed its unit, direction or kind between two runs"}


def test_benchmarks_of_one_name_fail(make_engine: MakeEngine) -> None:
    text = json.dumps({"results": [{"command": "a", "times": [1.0]}] * 2})
    found = make_engine("cat out", {"out": text}).discover()
    assert set(failures(found)) == {(BASE, "a"), (HEAD, "a")}


def test_ids_have_the_group_and_no_folder_of_an_arm(make_engine: MakeEngine) -> None:
    engine = make_engine(
        "sed s,ROOT,{root},g out", {"out": hyperfine(**{"ROOT/tool -x": [1.0]})}, group="cli"
    )
    found = engine.discover()
    assert ids(found, BASE) == ids(found, HEAD) == ["cli/{root}/tool -x"]
    assert len(values(measure(engine, ["cli/{root}/tool -x"]))) == 2


def test_another_command_is_other_work(make_engine: MakeEngine) -> None:
    engine = make_engine("cat out", {"out": hyperfine(a=[1.0])}, head="cat  out", group="g")
    found = engine.discover()
    (before,), (after,) = found.found[BASE], found.found[HEAD]
    assert before.id == after.id
    assert before.workload != after.workload
    assert before.parts["its tool"] == after.parts["its tool"] == "hyperfine"


def test_data_files_are_part_of_the_work(make_engine: MakeEngine) -> None:
    out = hyperfine(a=[1.0])
    engine = make_engine(
        "cat out", {"out": out, "x.rs": "1"}, head_files={"out": out, "x.rs": "2"}, data=["*.rs"]
    )
    found = engine.discover()
    assert found.found[BASE][0].workload != found.found[HEAD][0].workload


def test_data_files_that_do_not_exist_are_a_failure(make_engine: MakeEngine) -> None:
    found = make_engine("cat out", {"out": hyperfine(a=[1.0])}, data=["*.rs"]).discover()
    assert set(failures(found)) == {(BASE, "cat out"), (HEAD, "cat out")}
    assert "there is no such file" in found.failures[0].error


def test_a_reserved_name_is_refused(make_engine: MakeEngine) -> None:
    out = hyperfine(**{"benchgate/canary/loop": [1.0], "a": [1.0]})
    found = make_engine("cat out", {"out": out}).discover()
    assert ids(found) == ["a"]
    assert {one.id for one in found.failures} == {"hyperfine/benchgate/canary/loop"}
    assert all("set `group`" in one.error for one in found.failures)


def test_the_first_run_counts_if_nothing_is_discarded(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    engine = make_engine("echo run >> runs; cat out", {"out": hyperfine(a=[1.0])}, warmup=0)
    engine.discover()
    seen = measure(engine, ["a"])
    assert len(values(seen)) == 2
    assert all(one.once_s < 0 for one in seen)
    assert (tmp_path / "head-tree/runs").read_text() == "run\n"
    measure(engine, ["a"], 1)
    assert (tmp_path / "head-tree/runs").read_text() == "run\nrun\n"


def test_prepare_and_cleanup_run_around_it(make_engine: MakeEngine, tmp_path: Path) -> None:
    engine = make_engine(
        "echo suite >> log; cat out",
        {"out": hyperfine(a=[1.0])},
        prepare="echo prepare >> log",
        cleanup="echo cleanup >> log",
    )
    engine.discover()
    measure(engine, ["a"])
    for arm in ArmName:
        log = (tmp_path / f"{arm}-tree/log").read_text().split()
        assert log == ["prepare", "suite", "cleanup"] * 2


def test_a_failed_cleanup_is_a_failure(make_engine: MakeEngine) -> None:
    engine = make_engine("cat out", {"out": hyperfine(a=[1.0])}, cleanup=f"{RUNS} test $n = 1")
    assert not engine.discover().failures
    for one in measure(engine, ["a"]):
        assert (one.error or "").startswith("its suite failed: cleanup: exited with 1")


def test_a_suite_that_runs_no_code_of_its_side_is_refused(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    (tmp_path / "out").write_text(hyperfine(a=[1.0]))
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    engine = make_engine(f"cat {tmp_path}/out", checkout=checkout, allow_foreign=False)
    found = engine.discover()
    assert found.found == {BASE: (), HEAD: ()}
    assert all(one.of_all and "no file of its own tree" in one.error for one in found.failures)


def test_a_suite_of_one_arm_runs_there_alone(make_engine: MakeEngine) -> None:
    engine = make_engine("cat out", {"out": hyperfine(a=[1.0])}, arms=[HEAD])
    assert ids(engine.discover()) == ["a"]
    assert values(measure(engine, ["a"])) == {(HEAD, "a"): [1.0]}


FILTERING = """\
import json, re, sys

print(sys.argv[1], file=open("filters", "a"))
code = 0
if len(sys.argv) > 2 and sys.argv[1] != ".":
    exec(sys.argv[2])
names = [line.strip() for line in open("names")]
row = {"iterations": 1, "real_time": 1.0, "cpu_time": 1.0, "time_unit": "ns"}
rows = [{"name": name, **row} for name in names if re.search(sys.argv[1], name)]
print(json.dumps({"context": {}, "benchmarks": rows}))
sys.exit(code)
"""
"""A tool that runs what a filter selects; its second argument breaks runs of a part."""


@pytest.fixture
def make_filtering(make_engine: MakeEngine, tmp_path: Path) -> Callable[..., SuiteEngine]:
    """Make an engine with benchmarks of these names, whose suite has a filter."""
    (tmp_path / "tool.py").write_text(FILTERING)

    def make(names: str, breaks: str = "", **keys: Any) -> SuiteEngine:  # noqa: ANN401 - any type
        return make_engine(
            f"{sys.executable} {tmp_path}/tool.py {{filter}} {breaks}",
            {"names": names.replace(" ", "\n")},
            **{"shell": False, "format": "google-benchmark", **keys},
        )

    return make


def filters(tmp_path: Path, arm: ArmName = HEAD) -> list[str]:
    return (tmp_path / f"{arm}-tree/filters").read_text().split()


def test_a_round_of_some_benchmarks_runs_only_these(
    make_filtering: Callable[..., SuiteEngine], tmp_path: Path
) -> None:
    engine = make_filtering("a b c", group="g")
    assert ids(engine.discover()) == ["g/a", "g/b", "g/c"]
    for chosen in (["g/c", "g/b", "g/a"], ["g/c", "g/a"]):
        seen = measure(engine, chosen)
        assert [one.error for one in seen] == [None] * 2 * len(chosen)
        assert not any(one.notes for one in seen)
        assert len(values(seen)) == 2 * len(chosen)
    for arm in ArmName:
        assert filters(tmp_path, arm) == [".", ".", "^(a|c)$"]


def test_what_was_not_run_is_neither_missing_nor_failed(
    make_filtering: Callable[..., SuiteEngine],
) -> None:
    engine = make_filtering("a b")
    engine.discover()
    for index in range(5):
        measure(engine, ["a"], index)
    for one in measure(engine, ["a", "b"], 5):
        assert (one.error, one.notes, len(one.metrics)) == (None, (), 2)


def test_both_sides_get_the_same_filter_although_a_name_has_changed(
    make_filtering: Callable[..., SuiteEngine], tmp_path: Path
) -> None:
    engine = make_filtering("old b", head_files={"names": "new\nb\nadded"}, aliases={"old": "new"})
    engine.discover()
    assert set(values(measure(engine, ["new"]))) == {(BASE, "new"), (HEAD, "new")}
    assert set(values(measure(engine, ["new", "b"]))) == {
        (arm, id_) for arm in ArmName for id_ in ("new", "b")
    }
    for arm in ArmName:
        assert filters(tmp_path, arm) == [".", "^(new|old)$", "^(b|new|old)$"]


@pytest.mark.parametrize(
    "breaks",
    ["sys.exit(3)", "code = 4", "sys.argv[1] = 'no'", "sys.argv[1] = 'b'"],
)
def test_a_suite_that_does_not_run_what_is_selected_runs_as_a_whole(
    make_filtering: Callable[..., SuiteEngine], tmp_path: Path, breaks: str
) -> None:
    engine = make_filtering("a b c", f'"{breaks}"')
    engine.discover()
    for index in range(2):
        seen = measure(engine, ["a"], index)
        assert [(one.error, len(one.metrics)) for one in seen] == [(None, 2)] * 2
        said = [note for one in seen for note in one.notes]
        assert said == (2 * [PART_FAILED] if index == 0 else [])
    assert filters(tmp_path) == [".", "^(a)$", ".", "."]


def test_both_sides_run_as_a_whole_if_one_has_no_filter(
    make_filtering: Callable[..., SuiteEngine], tmp_path: Path
) -> None:
    engine = make_filtering("a b", head=f"{sys.executable} {tmp_path}/tool.py .", group="g")
    engine.discover()
    assert len(values(measure(engine, ["g/a"]))) == 2
    for arm in ArmName:
        assert filters(tmp_path, arm) == [".", "."]


def test_what_cannot_be_read_is_a_note(make_engine: MakeEngine) -> None:
    events = ['{"Action": "output", "Package": "x", "Output": "BenchmarkA-2 1 5 ns/op\\n"}']
    out = "\n".join([*events, *(f"noise {index}" for index in range(3)), '{"Action": "pass"}'])
    engine = make_engine("cat out", {"out": out})
    (one,) = engine.discover().found[HEAD]
    assert [note for note in one.notes if note.startswith("its suite: not read: line 2")]


def test_what_it_costs_is_said_before_the_first_round(
    make_engine: MakeEngine, told: list[str]
) -> None:
    make_engine("cat out", {"out": hyperfine(a=[1.0])}).discover()
    assert told[0] == "running the suite cat out on both sides to find its benchmarks"
    assert told[1].startswith("the suite cat out has 1 benchmark; this run took ")


def test_ctrl_c_ends_the_suite_and_what_it_started(
    make_engine: MakeEngine,
    tmp_path: Path,
    alive: Callable[[int], bool],
    eventually: Callable[[Callable[[], bool]], bool],
) -> None:
    engine = make_engine("sleep 300 & echo $! > pid; echo $$ >> pid; wait", arms=[HEAD])
    pids = tmp_path / "head-tree/pid"

    def begun() -> bool:
        return pids.exists() and len(pids.read_text().split()) == 2

    def interrupt() -> None:
        assert eventually(begun)
        os.kill(os.getpid(), signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        engine.discover()
    interrupter.join()
    assert eventually(lambda: not any(alive(int(pid)) for pid in pids.read_text().split()))
