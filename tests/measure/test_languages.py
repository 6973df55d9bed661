"""Every adapter with the real tools of its language."""

from __future__ import annotations

import base64
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.measure.benchmarks import sampling

from benchgate.config import loads
from benchgate.config.live_benchmarks import GoBenchmark, NodeBenchmark
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings, StartingEnvironment
from benchgate.measure.functions.engine import FunctionEngine
from benchgate.measure.languages import NotBuiltError, Programs, build_variables, find, parts
from benchgate.measure.languages.go import Go
from benchgate.measure.languages.language import Toolbox, WorkerProgram
from benchgate.measure.languages.node import NodeJs
from benchgate.measure.machine.cpus import available_cpus
from benchgate.measure.machine.memory_layout import Layout
from benchgate.measure.processes.build_commands import build
from benchgate.measure.workers.conformance import Conformance
from benchgate.model.calls import Edit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchgate.measure.contract.found import Discovery
    from benchgate.measure.contract.observation import Observation
    from benchgate.measure.processes.guardian import Guardian

PROJECTS = Path(__file__).with_name("adapters")


@pytest.fixture
def measured(
    tmp_path: Path, guardian: Guardian
) -> Iterator[Callable[..., dict[str, list[Observation]]]]:
    """Measure a round of a project's benchmarks on both sides; give what was seen, by id.

    If one is to be observed, only that is given. A file of the head can be edited.
    """
    engines = []

    def measure(
        project: str,
        table: str,
        *,
        builds: tuple[str, ...] = (),
        rounds: int = 1,
        launch_s: float = 0.005,
        edit: tuple[str, str, str] | None = None,
        observed: str = "",
        metrics: tuple[str, ...] = ("time",),
        **more: Any,  # noqa: ANN401 - settings of an engine
    ) -> dict[str, list[Observation]]:
        arms = []
        config = loads(f"[[benchmark]]\n{table}\n", "benchgate.toml")
        for name in ArmName:
            root = tmp_path / name / "tree"
            shutil.copytree(PROJECTS / project, root)
            if edit and name is ArmName.HEAD:
                file, old, new = edit
                text = (root / file).read_text()
                assert old in text
                (root / file).write_text(text.replace(old, new))
            arm = Arm(name, root, tmp_path / name / "env", variables=guardian.variables)
            commands = [tuple(each.split()) for each in builds]
            variables = build_variables(config.benchmarks, {})
            build(arm, commands, timeout_s=600, variables=variables, guardian=guardian)
            arms.append(arm)
        settings = EngineSettings(
            measure=sampling(5, launch_s),
            cpu=min(available_cpus()),
            outside=StartingEnvironment({**os.environ, **guardian.variables}),
            **more,
        )
        by_arm = {arm.name: config.benchmarks for arm in arms}
        engine = FunctionEngine(by_arm, arms, settings, guardian)  # type: ignore[arg-type]
        engines.append(engine)
        discovery = engine.discover()
        assert discovery.failures == ()
        assert bool(discovery.warnings) == (project == "go" and not go_moves_functions())
        assert discovery.found[ArmName.BASE] == discovery.found[ArmName.HEAD]
        ids = [one.id for one in discovery.found[ArmName.HEAD]]
        seen: dict[str, list[Observation]] = {id_: [] for id_ in ids}
        rng = random.Random(0)  # noqa: S311 - repeatable on purpose
        for index in range(rounds):
            for one in engine.measure_round(ids, rng, index):
                seen[one.benchmark].append(one)
        if observed:
            assert engine.observes(observed)
            return {observed: list(engine.observe(observed, 60.0, metrics))}
        return seen

    yield measure
    for engine in engines:
        engine.close()


def go_moves_functions() -> bool:
    """Whether this Go has a linker that can move functions: from 1.22 on."""
    command = [str(shutil.which("go")), "env", "GOVERSION"]
    asked = subprocess.run(command, check=True, capture_output=True, text=True)
    major, minor, *_ = map(int, re.findall(r"\d+", asked.stdout))
    return (major, minor) >= (1, 22)


def require(*programs: str) -> pytest.MarkDecorator:
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)}: not installed")


def times_s(seen: list[Observation]) -> list[float]:
    """The shortest time of each observation."""
    assert [one.error for one in seen] == [None] * len(seen)
    return [min(one.metrics[0].launches[0].samples) for one in seen]


def error_of(seen: list[Observation]) -> str:
    errors = {one.error for one in seen if one.error}
    assert errors
    return "\n".join(sorted(errors))


def test_modules_inside_of_a_module_need_a_workspace(tmp_path: Path) -> None:
    for name, text in {
        "go.mod": "module example.com/top\n",
        "top_test.go": "func BenchmarkTop(b *testing.B) {\n}\n",
        "tools/go.mod": "module example.com/tools\n",
        "tools/deep/deep_test.go": "func BenchmarkDeep(b *testing.B) {\n}\n",
        "testdata/x_test.go": "func BenchmarkData(b *testing.B) {\n}\n",
        "other/other_test.go": "func TestOther(t *testing.T) {\n}\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    arm = Arm(ArmName.HEAD, tmp_path, tmp_path / "env")
    (table,) = loads('[[benchmark]]\ngo = "."\n', "benchgate.toml").benchmarks
    assert isinstance(table, GoBenchmark)
    assert list(find(arm, table)) == [(".", "")]
    (tmp_path / "unused").mkdir()
    shutil.copy(tmp_path / "top_test.go", tmp_path / "unused")
    (tmp_path / "unused" / "go.mod").write_text("module example.com/unused\n")
    (tmp_path / "go.work").write_text("go 1.20\nuse (\n  .\n  ./tools\n)\n")
    found = [(".", ""), ("tools/deep", "tools/deep")]
    assert list(find(arm, table)) == found
    for pattern in ("./...", "..."):
        assert list(find(arm, table.model_copy(update={"paths": (pattern,)}))) == found
    paths = ("tools/...", "unused")
    assert list(find(arm, table.model_copy(update={"paths": paths}))) == [
        ("tools/deep", "tools/deep"),
        ("unused", "unused"),
    ]


@pytest.mark.parametrize(
    ("constraint", "arguments", "is_found"),
    [
        ("ignore", "", False),
        ("linux || darwin", "", True),
        ("!windows && (go1.18 || never)", "", True),
        ("windows", "", False),
        ("fast", "", False),
        ("fast", "-tags fast,other", True),
        ("fast && !slow", "-tags=slow,fast", False),
        ("&& wrong", "", True),
    ],
)
def test_files_that_go_does_not_build_have_no_benchmarks(
    tmp_path: Path,
    constraint: str,
    arguments: str,
    is_found: bool,  # noqa: FBT001 - a parameter
) -> None:
    text = f"//go:build {constraint}\n\npackage a\n\nfunc BenchmarkA(b *testing.B) {{\n}}\n"
    (tmp_path / "a_test.go").write_text(text)
    arm = Arm(ArmName.HEAD, tmp_path, tmp_path / "env")
    written = f'[[benchmark]]\ngo = "."\narguments = "{arguments}"\n'
    (table,) = loads(written, "benchgate.toml").benchmarks
    assert isinstance(table, GoBenchmark)
    assert bool(list(find(arm, table))) is is_found


def test_a_pattern_stands_for_scripts_that_use_a_tool(tmp_path: Path) -> None:
    for name in ("b/two.js", "b/one.js", "b/helper.js", "b/node_modules/mitata/bench.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('import { run } from "mitata"\n')
    (tmp_path / "b" / "helper.js").write_text("export const run = () => {}\n")
    arm = Arm(ArmName.HEAD, tmp_path, tmp_path / "env")
    (table,) = loads('[[benchmark]]\nnode = ["b/*.js"]\n', "benchgate.toml").benchmarks
    assert isinstance(table, NodeBenchmark)
    assert list(find(arm, table)) == [("b/one.js", "one"), ("b/two.js", "two")]
    everywhere = table.model_copy(update={"paths": ("**/*.js",)})
    assert list(find(arm, everywhere)) == [("b/one.js", "one"), ("b/two.js", "two")]


NEWEST_GO = Path(__file__).parents[2] / ".venv-suites" / "bin"


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(None, marks=require("go"), id="any"),
        pytest.param(NEWEST_GO, marks=[pytest.mark.slow, pytest.mark.nightly], id="newest"),
    ],
)
def test_go(
    measured: Callable[..., dict[str, list[Observation]]],
    monkeypatch: pytest.MonkeyPatch,
    folder: Path | None,
) -> None:
    if folder:
        if not (folder / "go").exists():
            pytest.skip("`make test-nightly` installs the newest Go")
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("GOTOOLCHAIN", "local")
    seen = measured("go", 'go = ["./...", "tools"]', rounds=2)
    loops = ["shapes/Loop"] if folder else []
    assert [id_ for id_ in seen if folder or id_ != "shapes/Loop"] == [
        *loops,
        *("shapes/Parallel", "shapes/Stops", "shapes/Cleans", "shapes/Table/twice"),
        *("shapes/Table/twice#01", 'shapes/Table/a/b_"c"\\é', "shapes/Table/#00"),
        *("shapes/SkipsLater", "shapes/Fixed", "shapes/Garbage"),
        *("text/Checksum", "text/Slug/short", "text/Slug/long_one", "text/Fails", "text/Panics"),
        *("tools/Vendored", "tools/More/prints"),
    ]
    assert error_of(seen.pop("text/Fails")).endswith("it is broken")
    assert "panic: what now" in error_of(seen.pop("text/Panics"))
    assert "does it repeat its work as often" in error_of(seen.pop("shapes/Fixed"))
    assert all(one.skipped for one in seen.pop("shapes/SkipsLater"))
    for id_, found in seen.items():
        assert len(times_s(found)) == 4, id_
    assert min(times_s(seen["text/Slug/long_one"])) > 10 * min(times_s(seen["text/Slug/short"]))
    for round_ in seen["text/Checksum"]:  # the result becomes an interface
        values = {one.metric.name: one.launches[0].samples.tolist() for one in round_.metrics}
        assert values["alloc_peak"] == [4], "in every round"
        assert values["alloc_blocks"] == [1]


@require("go")
@pytest.mark.parametrize("chosen", ["tools", "none of them"])
def test_only_programs_that_may_be_chosen_are_built(
    measured: Callable[..., dict[str, list[Observation]]], tmp_path: Path, chosen: str
) -> None:
    seen = measured("go", 'go = ["text", "tools"]', brief=True, may_want=chosen.__eq__)
    built = {file.name.partition("-")[0] for file in tmp_path.rglob("*.test")}
    assert built == ({"tools"} if chosen == "tools" else {"text", "tools"})
    assert {id_.partition("/")[0] for id_ in seen} == built


@require("go")
def test_what_fails_if_it_is_called_often_fails_in_a_trial(
    measured: Callable[..., dict[str, list[Observation]]],
) -> None:
    seen = measured("go", 'go = "text"', brief=True)
    failed = [id_ for id_, found in seen.items() if any(one.error for one in found)]
    assert failed == ["text/Fails", "text/Panics"]


def test_a_build_that_takes_too_long_names_the_limit(
    tmp_path: Path, guardian: Guardian, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "go").write_text("#!/bin/sh\nsleep 60\n")
    (tmp_path / "go").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    arm = Arm(ArmName.HEAD, tmp_path, tmp_path / "env")
    (table,) = loads('[[benchmark]]\ngo = "."\n', "benchgate.toml").benchmarks
    assert isinstance(table, GoBenchmark)
    with pytest.raises(NotBuiltError, match=r"go env GOROOT was stopped after .*; `timeout` of"):
        Programs(guardian, 0.2).program(arm, table, ".")


def test_two_lanes_that_need_a_program_at_once_build_it_once(
    tmp_path: Path, guardian: Guardian, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = []
    build = NodeJs.build

    def slowly(  # noqa: PLR0917 - as what it replaces
        self: NodeJs, tools: Toolbox, arm: Arm, benchmark: NodeBenchmark, path: str, layout: int
    ) -> WorkerProgram:
        builds.append(path)
        time.sleep(0.1)
        return build(self, tools, arm, benchmark, path, layout)

    monkeypatch.setattr(NodeJs, "build", slowly)
    arm = Arm(ArmName.HEAD, tmp_path, tmp_path / "env")
    (table,) = loads('[[benchmark]]\nnode = "bench.js"\n', "benchgate.toml").benchmarks
    assert isinstance(table, NodeBenchmark)
    programs = Programs(guardian, 600)
    with ThreadPoolExecutor(2) as lanes:
        first, second = lanes.map(lambda _: programs.program(arm, table, "bench.js"), range(2))
    assert first is second
    assert len(builds) == 1


def test_rounds_of_go_take_turns_in_different_orders(
    tmp_path: Path, guardian: Guardian, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Go, "build", lambda *place: WorkerProgram((str(place[-1]),)))
    (table,) = loads('[[benchmark]]\ngo = "."\n', "benchgate.toml").benchmarks
    assert isinstance(table, GoBenchmark)
    programs = Programs(guardian, 600)
    arm = Arm(ArmName.HEAD, tmp_path, tmp_path / "env")
    drawn = [Layout(hash_seed=7 + number % 2, round_index=number // 2) for number in range(26)]
    orders = [programs.program(arm, table, ".", memory).command[0] for memory in drawn]
    assert orders[::2] == orders[1::2]
    assert len(set(orders[:24])) == 12
    assert orders[24] == orders[0]
    assert programs.program(arm, table, ".").command[0] not in orders


@require("go")
def test_go_conforms_to_the_protocol(tmp_path: Path, guardian: Guardian) -> None:
    shutil.copytree(PROJECTS / "go" / "tools", tmp_path / "tree")
    arm = Arm(ArmName.HEAD, tmp_path / "tree", tmp_path / "env", variables=guardian.variables)
    (table,) = loads('[[benchmark]]\ngo = "."\n', "benchgate.toml").benchmarks
    assert isinstance(table, GoBenchmark)
    program = Programs(guardian, 600).program(arm, table, ".")
    variables = {**os.environ, **guardian.variables}
    findings = list(Conformance(arm, program.command, variables, guardian).run())
    assert [one for one in findings if one.problem] == []
    assert sum(one.was_tried for one in findings) == 7


@require("g++", "cmake")
@pytest.mark.skipif(
    not Path("/usr/include/benchmark/benchmark.h").exists(), reason="libbenchmark-dev is missing"
)
def test_cpp(measured: Callable[..., dict[str, list[Observation]]]) -> None:
    seen = measured(
        "cpp",
        'cpp = ["build/bench_text", "build/plain"]',
        builds=("cmake -S . -B build", "cmake --build build"),
    )
    assert list(seen) == [
        "bench_text/BM_Checksum/real_time",
        "bench_text/BM_Fill<int>/8",
        "bench_text/BM_Fill<int>/64",
        "bench_text/Words/Copy",
        "bench_text/BM_fails",
        "bench_text/BM_Wait/same/1/real_time (1)",
        "bench_text/BM_Wait/same/1/real_time (2)",
        "bench_text/BM_Wait/same/1/real_time (3)",
        "bench_text/twice (1)",
        "bench_text/twice (2)",
        "bench_text/twice (3)",
        "plain/copy",
        "plain/fails",
        "plain/twice (1)",
        "plain/twice (2)",
    ]
    for id_ in ("bench_text/BM_fails", "plain/fails"):
        assert error_of(seen.pop(id_)).strip() == "it is broken"
    for id_, found in seen.items():
        assert len(times_s(found)) == 2, id_
    assert min(times_s(seen["bench_text/BM_Checksum/real_time"])) > 1e-6
    waits_s = [
        min(times_s(seen[f"bench_text/BM_Wait/same/1/real_time ({number})"]))
        for number in (1, 2, 3)
    ]
    assert [least_s > 200e-6 for least_s in waits_s] == [False, False, True]


def functions_of(seen: list[Observation]) -> list[dict[str, tuple[Edit, float]]]:
    """For base and head by name how each function differs, and how often it was called."""
    found = []
    for one in sorted(seen, key=lambda one: one.arm is ArmName.HEAD):
        assert one.calls, one.notes
        tree = one.calls["time"]
        calls = Counter[str]()
        for _, number, count in tree.nodes:
            calls[tree.functions[number].name] += count
        found.append(
            {each.name: (each.edit, calls[each.name] / tree.operations) for each in tree.functions}
        )
    return found


@require("g++", "cmake", "valgrind")
@pytest.mark.skipif(
    not Path("/usr/include/benchmark/benchmark.h").exists(), reason="libbenchmark-dev is missing"
)
@pytest.mark.parametrize(
    ("id_", "edit", "name"),
    [
        (
            "bench_text/BM_Fill<int>/8",
            (
                "bench.cc",
                "benchmark::DoNotOptimize(values.data",
                "values.resize(9);  values.data(); benchmark::DoNotOptimize(values.data",
            ),
            "BM_Fill",
        ),
        (
            "plain/copy",
            ("plain.cc", "keep(std::string(text))", "keep(text + text)"),
            "benchgate_loop_copy",
        ),
    ],
)
def test_what_cpp_calls_is_observed(
    measured: Callable[..., dict[str, list[Observation]]],
    id_: str,
    edit: tuple[str, str, str],
    name: str,
) -> None:
    seen = measured(
        "cpp",
        'cpp = ["build/bench_text", "build/plain"]',
        builds=("cmake -S . -B build", "cmake --build build"),
        edit=edit,
        observed=id_,
    )
    base, head = functions_of(seen[id_])
    assert base[name][0] is head[name][0] is Edit.EDITED
    assert {each for each in head if each not in base and head[each][1] == 1}


@require("go")
def test_who_allocates_in_go_is_known_exactly(
    measured: Callable[..., dict[str, list[Observation]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOTOOLCHAIN", "local")
    twice = "range strings.ToLower(s)", 'range strings.Repeat("A", 100) + s'
    seen = measured(
        "go",
        'go = "./..."',
        edit=("text/text.go", *twice),
        observed="text/Slug/long_one",
        metrics=("alloc_peak", "alloc_blocks"),
    )
    for one in seen["text/Slug/long_one"]:
        added = 1 if one.arm is ArmName.HEAD else 0
        for metric, expected in (("alloc_blocks", added), ("alloc_peak", added * 2304)):
            tree = one.calls[metric]
            (slug,) = (each for each in tree.functions if each.name == "text.Slug")
            assert slug.edit is Edit.EDITED
            assert slug.own / tree.operations == expected


@require("go")
def test_what_go_calls_is_profiled(
    measured: Callable[..., dict[str, list[Observation]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOTOOLCHAIN", "local")
    twice = "range strings.ToLower(s)", "range strings.ToLower(strings.ToLower(s))"
    seen = measured(
        "go", 'go = "./..."', edit=("text/text.go", *twice), observed="text/Slug/long_one"
    )
    base, head = functions_of(seen["text/Slug/long_one"])
    assert base["text.Slug"][0] is head["text.Slug"][0] is Edit.EDITED
    assert "strings.ToLower" in base.keys() & head.keys()
    for one in seen["text/Slug/long_one"]:
        functions = one.calls["time"].functions
        assert not any(each.is_counted for each in functions)
        assert not any("testing" in each.name for each in functions)


@require("go")
def test_what_go_does_while_its_timer_is_stopped_or_before_it_is_reset_does_not_count(
    measured: Callable[..., dict[str, list[Observation]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOTOOLCHAIN", "local")
    metrics = "time", "alloc_blocks"
    seen = measured("go", 'go = "shapes"', observed="shapes/Stops", metrics=metrics)
    for one in seen["shapes/Stops"]:
        time_s, blocks = (
            {each.name: each.own for each in one.calls[metric].functions} for metric in metrics
        )
        assert time_s["text.Checksum"] > 0
        operations = one.calls["alloc_blocks"].operations
        assert operations > 100
        # Go records an allocation each time that it goes on on another CPU.
        assert blocks["shapes_test.BenchmarkStops"] == pytest.approx(operations, rel=0.1)
        assert sum(blocks.values()) == pytest.approx(operations, rel=0.1)
        assert not any("Slug" in name or "strings" in name for name in time_s)


COUNTED = """
import { Bench } from "tinybench";

class Text {
  words(text) { return text.split(" ").map((word) => this.clean(word)); }
  clean(word) { return word.trim(); }
}

async function later(text) {
  await null;
  return new Text().words(text);
}

const bench = new Bench();
bench.add("words", () => new Text().words("to be or not to be"));
bench.add("later", async () => await later("to be or not to be"));
await bench.run();
"""


OBSERVING = """
import json, os, pathlib, socket, time

channel = socket.socket(fileno=int(os.environ.pop("BENCHGATE_FD"))).makefile("rwb", buffering=0)
text = pathlib.Path("text.x").resolve()
twice = text.read_text().count("clean")


def reply(message):
    channel.write(json.dumps(message).encode() + b"\\n")


reply({"protocol": 1, "pid": os.getpid()})
loops = 1
for line in channel:
    step, _, argument = line.decode().strip().partition(" ")
    if step == "hello":
        about = {"language": "X", "versions": {}, "clock": "x", "clock_steps_ns": [40] * 1000}
        reply({**about, "steps": ["observe"]})
    elif step == "list":
        reply({"benchmarks": [{"id": "words"}], "faults": {}})
    elif step == "loops":
        loops = int(argument.split()[0])
        reply({})
    elif step == "s":
        channel.write(b"%d %d\\n" % (1000 * loops, 1000 * loops))
    elif step == "observe":
        functions = [[str(text), 1, "words", 500, 2, True], ["", 0, "clean", 500]]
        reply({"functions": functions, "nodes": [[-1, 0, 3], [0, 1, 3 * twice]], "operations": 3})
    else:
        reply({})
"""


def test_what_a_worker_says_that_it_calls(
    measured: Callable[..., dict[str, list[Observation]]], tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "worker.py").write_text(OBSERVING)
    (project / "text.x").write_text("to words:\n  clean\nto others:\n  clean\n")
    table = f'worker = "{sys.executable} worker.py"\npaths = ["worker.py"]'
    edit = "text.x", "to words:\n  clean", "to words:\n  clean clean"
    base, head = functions_of(measured(str(project), table, edit=edit, observed="words")["words"])
    assert (base["words"], head["words"]) == ((Edit.EDITED, 1), (Edit.EDITED, 1))
    assert (base["clean"][1], head["clean"][1]) == (2, 3)


@require("node")
def test_what_node_calls_is_counted(
    measured: Callable[..., dict[str, list[Observation]]], tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "bench.js").write_text(COUNTED)
    (project / "package.json").write_text('{"type": "module"}')
    twice = "this.clean(word))", "this.clean(this.clean(word)))"
    edit = ("bench.js", *twice)
    seen = measured(str(project), 'node = "bench.js"', edit=edit, observed="bench/later")
    base, head = functions_of(seen["bench/later"])
    assert (base["words"], head["words"]) == ((Edit.EDITED, 1), (Edit.EDITED, 1))
    assert (base["clean"], head["clean"]) == ((Edit.BESIDE, 6), (Edit.BESIDE, 12))
    for one in seen["bench/later"]:
        calls = one.calls["time"]
        by_name = {each.name: each for each in calls.functions}
        names = [each.name for each in calls.functions]
        assert not by_name["later"].is_counted
        assert by_name["words"].line == 5
        # V8's profiler may place some samples wrong.
        places = [place for place in calls.nodes if place[1] == names.index("words")]
        parent, *_ = max(places, key=lambda place: place[2])
        assert names[calls.nodes[parent][1]] == "later"


@require("node")
def test_what_node_calls_is_named_where_it_was_written(
    measured: Callable[..., dict[str, list[Observation]]], tmp_path: Path
) -> None:
    """A compiler writes where each line of its output comes from."""
    project = tmp_path / "project"
    project.mkdir()
    written = "type Text = string;\n\n// A word.\nexport function word(t) { return t.trim(); }\n"
    compiled = "export function word(t) { return t.trim(); }\n"
    mapped = {"version": 3, "sources": ["word.ts"], "names": [], "mappings": "AAGA"}
    encoded = base64.b64encode(json.dumps(mapped).encode()).decode()
    place = "//# sourceMappingURL=data:application/json;base64,"
    for name, text in {
        "package.json": '{"type": "module"}',
        "word.ts": written,
        "word.js": f"{compiled}{place}{encoded}\n",
        "bench.js": (
            'import { bench, run } from "mitata";\nimport { word } from "./word.js";\n'
            'bench("word", () => word(" a "));\nawait run();\n'
        ),
    }.items():
        (project / name).write_text(text)
    edit = "word.ts", "t.trim()", "t.trim().trim()"
    seen = measured(str(project), 'node = "bench.js"', edit=edit, observed="bench/word")
    for one in seen["bench/word"]:
        (word,) = (each for each in one.calls["time"].functions if each.name == "word")
        assert (word.path, word.line, word.edit) == ("word.ts", 4, Edit.EDITED)


@require("node")
@pytest.mark.parametrize(
    ("script", "ids"),
    [
        (
            "tinybench.js",
            ["text/checksum (1)", "text/tick", "text/each", "text/fails", "text/checksum (2)"],
        ),
        ("mitata.mjs", ["sums/small", "slice 10", "slice 1000", "made", "fails"]),
        (
            "benchmark.cjs",
            ["first/search (1)", "first/search (2)", "text/index", "text/wait", "text/fails"],
        ),
    ],
)
def test_node(
    measured: Callable[..., dict[str, list[Observation]]], script: str, ids: list[str]
) -> None:
    seen = measured("node", f'node = "{script}"')
    group = script.partition(".")[0]
    assert list(seen) == [f"{group}/{id_}" for id_ in ids]
    (failing,) = (id_ for id_ in seen if id_.endswith("fails"))
    assert error_of(seen.pop(failing)).startswith("Error: it is broken")
    for id_, found in seen.items():
        assert len(times_s(found)) == 2, id_
    if script == "benchmark.cjs":
        # Waiting for the CPU is taken off, and the timer may run out meanwhile.
        for one in seen["benchmark/text/wait"]:
            assert max(one.metrics[0].launches[0].samples) >= 0.001


BURN = """\
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
while os.getppid() == int(sys.argv[2]): pass
"""


@require("node")
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the OS does not tell")
def test_waiting_for_the_cpu_is_no_part_of_the_time_in_node(
    measured: Callable[..., dict[str, list[Observation]]],
) -> None:
    burner = subprocess.Popen(
        [sys.executable, "-c", BURN, str(min(available_cpus())), str(os.getpid())]
    )
    try:
        seen = measured("node_one", 'node = "sum.js"', launch_s=0.04)
    finally:
        burner.kill()
        burner.wait()
    for one in seen["sum/sums/sum"]:
        wall, cpu = (float(metric.launches[0].samples.sum()) for metric in one.metrics[:2])
        assert wall < 1.3 * cpu, "half of the time belonged to another program"


@pytest.mark.slow
@pytest.mark.nightly
@require("node", "npm")
@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_vitest(measured: Callable[..., dict[str, list[Observation]]], version: int) -> None:
    install = f"npm install --no-save vitest@{version}"
    seen = measured("vitest", 'node = "."', builds=(install,), rounds=2)
    assert list(seen) == [
        *("src/words/upper", "src/words/async"),
        *("words/text/words/count", "words/text/words/fails", "words/text/wait"),
    ]
    assert error_of(seen.pop("words/text/words/fails")).startswith("Error: it is broken")
    for id_, found in seen.items():
        assert len(times_s(found)) == 4, id_


def test_a_folder_is_left_to_vitest(tmp_path: Path, guardian: Guardian) -> None:
    for name, text in {
        "src/a.bench.ts": 'import { bench } from "vitest";\n',
        "src/b.benchmark.mjs": "import { measured } from './b';\n",
        "src/c.bench.mjs": 'import { Bench } from "tinybench";\n',
        "special.ts": 'import { bench } from "vitest";\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    arm = Arm(ArmName.HEAD, tmp_path, tmp_path / "env")
    names = ["src", "src/a.bench.ts", "src/b.benchmark.mjs", "src/c.bench.mjs", "special.ts"]
    (table,) = loads(f"[[benchmark]]\nnode = {names}\n", "benchgate.toml").benchmarks
    assert isinstance(table, NodeBenchmark)
    found = list(find(arm, table))
    assert found == list(zip(names, ["", "a", "b", "c.bench", "special"], strict=True))
    programs = Programs(guardian, 600)
    commands = [programs.program(arm, table, name).command for name in names]
    assert ["vitest.mjs" in " ".join(each) for each in commands] == [True, True, True, False, True]


@require("node")
def test_a_script_of_node_has_a_folder_and_arguments_of_its_own(
    measured: Callable[..., dict[str, list[Observation]]],
) -> None:
    arguments = "--stack-size=900 -- --only small"
    seen = measured(
        "node", f'node = "inner/arguments.mjs"\ncwd = "inner"\narguments = "{arguments}"'
    )
    assert list(seen) == ["arguments/--only small in inner, --stack-size=900"]


RUNS_ONE = """\
import { Bench } from "tinybench";
await new Bench().add("one", () => 1).run();
"""


def discovered(
    folder: Path, guardian: Guardian, table: str, tell: Callable[[str], None] = print
) -> Discovery:
    """What is found in one tree."""
    arm = Arm(ArmName.HEAD, folder, folder / "env", variables=guardian.variables)
    config = loads(f"[[benchmark]]\n{table}\n", "benchgate.toml")
    settings = EngineSettings(
        measure=sampling(5, 0.005),
        outside=StartingEnvironment({**os.environ, **guardian.variables}),
        tell=tell,
    )
    engine = FunctionEngine({arm.name: config.benchmarks}, [arm], settings, guardian)  # type: ignore[dict-item]
    try:
        return engine.discover()
    finally:
        engine.close()


def test_what_a_worker_lists_twice_is_left_out_once(tmp_path: Path, guardian: Guardian) -> None:
    listed = '[{"id": "words"}, {"id": "words"}, {"id": "words"}, {"id": "lines"}]'
    text = OBSERVING.replace('[{"id": "words"}]', listed)
    (tmp_path / "text.x").write_text("")
    (tmp_path / "worker.py").write_text(text)
    seen = discovered(tmp_path, guardian, f'worker = "{sys.executable} worker.py"')
    assert [one.id for one in seen.found[ArmName.HEAD]] == ["words", "lines"]
    assert seen.failures == ()
    (warning,) = seen.warnings
    assert warning.endswith(
        "worker.py lists words more than once: only the first of each is measured"
    )


@pytest.mark.parametrize(
    ("listed", "problem"),
    [
        ('[{"id": "a"}] * 10_001', "has more than 10,000 benchmarks"),
        ('[{"id": "a"}] * 3_000_000', "has more than 10,000 benchmarks"),
        ('"x" * (65 << 20)', "is longer than 64 MiB"),
        ("7", "has no list of benchmarks and no object of faults"),
        ("[7]", "has a benchmark whose id is no text, or a fault that is none"),
        ('[{"id": 7}]', "has a benchmark whose id is no text, or a fault that is none"),
        ('[{"id": "a" * 10_001}]', "has an id with more than 10,000 characters"),
    ],
)
def test_a_list_is_bounded(tmp_path: Path, guardian: Guardian, listed: str, problem: str) -> None:
    (tmp_path / "text.x").write_text("")
    (tmp_path / "worker.py").write_text(OBSERVING.replace('[{"id": "words"}]', listed))
    table = f'worker = "{sys.executable} worker.py"\ngroup = "own"'
    (failure,) = discovered(tmp_path, guardian, table).failures
    assert failure.error.partition("\n")[0] == f"its reply to `list` {problem}"


@require("node")
def test_discovery_tells_of_scripts_without_benchmarks(
    tmp_path: Path, guardian: Guardian, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchgate.measure.functions.starting._SLOW_START_S", 0.0)
    told: list[str] = []
    nothing = "the script has ended, and has run no benchmark of tinybench"
    scripts = {
        "other.mjs": ("console.log('nothing to do');\n", nothing),
        "empty.mjs": ("import 'tinybench';\n", nothing),
        "lacks.cjs": (
            "require('benchmark');\nrequire('no-such-package');\n",
            "Error: Cannot find module 'no-such-package'",
        ),
        "late.mjs": (f"{RUNS_ONE}await Promise.reject(new TypeError('x'));\n", "TypeError: x"),
        "slow.mjs": (RUNS_ONE, ""),
    }
    for name, (text, _) in scripts.items():
        (tmp_path / name).write_text(text)
    seen = discovered(tmp_path, guardian, f"node = {[*scripts]}", told.append)
    assert [one.id for one in seen.found[ArmName.HEAD]] == ["slow/one"]
    errors = {failure.id: failure.error for failure in seen.failures}
    whys = {name: why for name, (_, why) in scripts.items() if why}
    assert [*errors] == [Path(name).stem for name in whys]
    assert [text[: len(why)] for text, why in zip(errors.values(), whys.values(), strict=True)] == [
        *whys.values()
    ]
    (slow,) = told
    assert re.fullmatch(r"finding the benchmarks of slow\.mjs took \d+ s on the head", slow)


LOADER = """\
import module from "node:module";
module.register("data:text/javascript," + encodeURIComponent(`
export async function resolve(name, context, next) {
  if (name !== "tinybench") return next(name, context);
  return { url: "data:text/javascript,throw new Error('the real one')", shortCircuit: true };
}`));
"""


@require("node")
def test_the_tools_are_taken_however_they_are_loaded(tmp_path: Path, guardian: Guardian) -> None:
    real = "throw new Error('the real one');\n"
    for name, text in {
        "node_modules/mitata/index.mjs": real,
        "node_modules/benchmark/index.js": real,
        "loader.mjs": LOADER,
        "loaded.mjs": RUNS_ONE,
        "file.mjs": "const url = new URL('node_modules/mitata/index.mjs', import.meta.url);\n"
        "const { bench, run } = await import(url);\nbench('one', () => 1);\nawait run();\n",
        "path.cjs": "const { Suite } = require(require.resolve('benchmark'));\n"
        "new Suite().add('one', () => 1).run();\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    scripts = ["loaded.mjs", "file.mjs", "path.cjs"]
    table = f'node = {scripts}\narguments = "--import ./loader.mjs"'
    seen = discovered(tmp_path, guardian, table)
    assert seen.failures == ()
    assert [one.id for one in seen.found[ArmName.HEAD]] == ["loaded/one", "file/one", "path/one"]


@require("node")
def test_one_of_several_with_one_name_is_other_work_if_there_are_more(
    tmp_path: Path, guardian: Guardian
) -> None:
    suite = "new Suite().add('sum ', () => f(x)).add('{}', () => 1).run();\n"
    begin = "const { Suite } = require('benchmark');\n"
    works = {}
    for count in (1, 2, 3):
        folder = tmp_path / str(count)
        folder.mkdir()
        (folder / "bench.js").write_text(begin + "".join(map(suite.format, range(count))))
        seen = discovered(folder, guardian, 'node = "bench.js"')
        works[count] = {one.id: one.workload for one in seen.found[ArmName.HEAD]}
    assert list(works[1]) == ["bench/sum", "bench/0"]
    assert list(works[2]) == ["bench/sum (1)", "bench/0", "bench/sum (2)", "bench/1"]
    assert works[2]["bench/sum (1)"] != works[3]["bench/sum (1)"]
    assert len({each["bench/0"] for each in works.values()}) == 1


@require("cargo")
def test_rust(measured: Callable[..., dict[str, list[Observation]]]) -> None:
    table = 'rust = ["text", "inner/text"]\nenv = {CARGO_NET_OFFLINE = "true"}'
    seen = measured("rust", table)
    names = ("words", "checksum/100", "checksum/2000", "sort", "fails")
    assert list(seen) == [*(f"text/{name}" for name in names), "inner/text/reads"]
    assert error_of(seen.pop("text/fails")).startswith("it panicked: it is broken")
    for id_, found in seen.items():
        assert len(times_s(found)) == 2, id_
    assert min(times_s(seen["text/checksum/2000"])) > 5 * min(times_s(seen["text/checksum/100"]))


@require("cargo", "valgrind")
def test_what_rust_calls_is_observed(
    measured: Callable[..., dict[str, list[Observation]]],
) -> None:
    seen = measured(
        "rust",
        'rust = "text"\nenv = {CARGO_NET_OFFLINE = "true"}',
        edit=("src/lib.rs", "w.to_lowercase()", "w.to_uppercase().to_lowercase()"),
        observed="text/words",
    )
    base, head = functions_of(seen["text/words"])
    [name] = [each for each in base if each.endswith("::words")]
    assert base[name] == head[name] == (Edit.EDITED, 1)
    [upper] = [each for each in head if each.endswith("to_uppercase")]
    assert upper not in base
    assert head[upper][1] >= 1


_EVERY_CRITERION = [
    *(
        f"batch/{size}/{kind}"
        for size in ("small", "large", "one", "3 batches", "of 7")
        for kind in ("1", "ref")
    ),
    *("input/5", "large drop", "setup", "custom", "twice", "twice #2", "nothing"),
    *("str/slice", "str/2", "ticks ", "ticks/custom", "functions/one", "functions/two"),
    *("several/add/1", "several/add/2", "over/1", "over/2", "fun/named"),
]


@require("cargo")
def test_all_of_criterion(measured: Callable[..., dict[str, list[Observation]]]) -> None:
    seen = measured("rust", 'rust = "every"\nenv = {CARGO_NET_OFFLINE = "true"}')
    assert list(seen) == [f"every/{name}" for name in _EVERY_CRITERION]
    assert "calls no method of Bencher" in error_of(seen.pop("every/nothing"))
    for id_, found in seen.items():
        assert len(times_s(found)) == 2, id_
    assert min(times_s(seen["every/ticks "])) >= 0.001
    assert min(times_s(seen["every/ticks/custom"])) >= 0.001
    assert min(times_s(seen["every/custom"])) == 1


@require("cargo")
@pytest.mark.skipif(
    not Path("/usr/share/cargo/registry/tokio-1.24.2").exists(),
    reason="librust-criterion-dev is missing",
)
def test_criterion_with_async(measured: Callable[..., dict[str, list[Observation]]]) -> None:
    seen = measured("rust_async", 'rust = "wait"')
    names = ("tokio", "handle", "custom", "batched", "batched_ref", "setup")
    assert list(seen) == [f"wait/{name}" for name in names]
    for id_, found in seen.items():
        assert len(times_s(found)) == 2, id_
    assert min(times_s(seen["wait/tokio"])) >= 0.001
    assert min(times_s(seen["wait/custom"])) == 0.001


@require("cargo")
def test_bench_of_rust(measured: Callable[..., dict[str, list[Observation]]]) -> None:
    seen = measured("rust_test", 'rust = ["lib", "sums"]\nenv = {RUSTC_BOOTSTRAP = "1"}')
    assert list(seen) == ["lib/tests::sum", "sums/empty", "sums/fails", "sums/outcome"]
    assert "calls no method" in error_of(seen.pop("sums/empty"))
    assert "it is broken" in error_of(seen.pop("sums/fails"))
    for id_, found in seen.items():
        assert len(times_s(found)) == 2, id_


def test_each_function_of_go_is_work_of_its_own(tmp_path: Path) -> None:
    text = (
        "func BenchmarkOne(b *testing.B) { run(b, 1) }\n"
        "func BenchmarkTwo(b *testing.B) { run(b, func() { two() }) } // {\n"
        "func BenchmarkMany(b *testing.B) {\n\tfor {\n\t}\n}\n"
    )
    arm = Arm(ArmName.HEAD, tmp_path, tmp_path / "env")
    (table,) = loads('[[benchmark]]\ngo = "."\n', "benchgate.toml").benchmarks
    assert isinstance(table, GoBenchmark)

    def works(text: str) -> list[dict[str, str]]:
        (tmp_path / "a_test.go").write_text(text)
        return [parts(arm, table, ".", {"id": id_}) for id_ in ("One", "Two/x", "Many")]

    before = works(text)
    assert len({one["its code"] for one in before}) == 3
    for index, edit in enumerate([("b, 1", "b, 2"), ("two()", "three()"), ("for {", "for x {")]):
        after = works(text.replace(*edit))
        assert [one != other for one, other in zip(before, after, strict=True)] == [
            index == each for each in range(3)
        ]
