"""Suites in other languages than Python: what is found, how it is built, and how it is run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from benchgate.config import SuiteBenchmark
from benchgate.config.live_benchmarks import LiveBenchmarks
from benchgate.config.load import loads
from benchgate.project.proposal import propose

if TYPE_CHECKING:
    from pathlib import Path

    from tests.project.conftest import Find

    from benchgate.project.build_steps import Value


@dataclass(frozen=True)
class Case:
    """A project with one suite.

    Attributes:
        build: commands of [build].
        to_edit: how each sentence begins that says what is left to do.
    """

    files: dict[str, str]
    found: str
    table: dict[str, Value]
    build: list[str]
    to_edit: list[str] = field(default_factory=list)


GO = "package a\n\nfunc BenchmarkA(b *testing.B) {\n}\nfunc Benchmarks(b *testing.B) {}\n"
CRITERION = "[package]\nname = 'a'\n[dev-dependencies]\ncriterion = '0.5'\n"
BENCH = "[[bench]]\nname = 'parse'\nharness = false\n"
CARGO_ENV = {"CARGO_TARGET_DIR": "{root}/target"}
VITEST = '{"devDependencies": {"vitest": "3"}}'
TINYBENCH = "import { Bench } from 'tinybench'\nawait bench.run()\n"
MITATA = 'import { run } from "mitata";\nawait run({ format: "json" });\n'
CMAKE = [
    "cmake -S . -B build/benchgate -DCMAKE_BUILD_TYPE=Release",
    "cmake --build build/benchgate --parallel",
]
DENO = "Deno.bench('a', () => f())\n"
IPS = 'require "benchmark/ips"\nBenchmark.ips do |x|\n'
JMH = "<dependency><artifactId>jmh-core</artifactId></dependency>"
SHADE = "<artifactId>maven-shade-plugin</artifactId>"
JMH_OPTIONS = "-f 1 -wi 3 -i 10 -w 100ms -r 100ms -rf json -rff {output}"


def scripts_of(library: str, command: str) -> str:
    """A package.json that names its benchmarks."""
    return json.dumps({"devDependencies": {library: "1"}, "scripts": {"bench": command}})


CASES = {
    "go": Case(
        {"go.mod": "module a\n", "a_test.go": GO, "sub/b_test.go": GO, "_old/c_test.go": GO},
        "2 benchmarks of Go in 2 packages",
        {"go": "."},
        [],
    ),
    "go in a workspace": Case(
        {"go.work": "go 1.22\nuse (\n\t.\n\t./sub\n)\n", "go.mod": "module a\n"}
        | {"sub/go.mod": "module b\n", "a_test.go": GO, "sub/b_test.go": GO},
        "2 benchmarks of Go in 2 packages",
        {"go": "."},
        [],
    ),
    "go in a folder": Case(
        {"my tools/go.mod": "module a\n", "my tools/a_test.go": GO},
        "1 benchmark of Go in 1 package",
        {"go": "my tools"},
        [],
    ),
    "criterion": Case(
        {"Cargo.toml": CRITERION + BENCH, "benches/other.rs": "", "benches/own.rs": "fn main() {}"},
        "the Criterion benchmarks parse, other",
        {"rust": ("parse", "other")},
        [],
    ),
    "criterion with a main of its own": Case(
        {"Cargo.toml": CRITERION + BENCH, "benches/parse.rs": "use criterion;"},
        "the Criterion benchmarks parse",
        {"suite": "cargo bench", "output": "target/criterion", "env": CARGO_ENV},
        ["cargo bench --no-run"],
    ),
    "criterion with features": Case(
        {"Cargo.toml": CRITERION + BENCH + "required-features = ['std', 'fast']\n"},
        "the Criterion benchmarks parse",
        {"rust": "parse", "arguments": "--features std,fast"},
        [],
    ),
    "a workspace": Case(
        {
            "inner/Cargo.toml": "[workspace]\nmembers = ['a', 'b']\n",
            "inner/a/Cargo.toml": CRITERION + BENCH,
            "inner/a/benches/big/main.rs": "criterion_main!(a);",
            "inner/b/Cargo.toml": "[package]\nname = 'b'\n[[bench]]\nname = 'not_of_criterion'\n",
        },
        "the Criterion benchmarks parse, big in inner",
        {"rust": ("inner/a/parse", "inner/a/big")},
        [],
    ),
    "libtest": Case(
        {
            "Cargo.toml": "[package]\n",
            "src/lib.rs": "#![feature(test)]\n    #[bench]\nfn a() {}\n",
            "benches/b.rs": "#[bench]\nfn b() {}\n#[bench]\nfn c() {}\n",
        },
        "3 functions with #[bench]",
        {"rust": ("b", "lib"), "env": {"RUSTC_BOOTSTRAP": "1"}},
        [],
    ),
    "libtest with a toolchain": Case(
        {"Cargo.toml": "[package]\n", "rust-toolchain": "nightly", "src/lib.rs": "#[bench]\n"},
        "1 function with #[bench]",
        {"rust": "lib"},
        [],
    ),
    "libtest in a program": Case(
        {"Cargo.toml": "[package]\n", "src/main.rs": "#[bench]\n"},
        "1 function with #[bench]",
        {"suite": "cargo +nightly bench", "env": CARGO_ENV},
        ["cargo +nightly bench --no-run"],
    ),
    "vitest": Case(
        {"package.json": VITEST, "package-lock.json": "", "src/a.bench.ts": "", "b.bench.js": ""},
        "2 files with benchmarks of vitest",
        {"node": "."},
        ["npm ci"],
    ),
    "vitest in a workspace": Case(
        {
            "package.json": VITEST,
            "pnpm-lock.yaml": "",
            "packages/a/package.json": '{"name": "a"}',
            "packages/a/a.bench.ts": "",
        },
        "1 file with benchmarks of vitest in packages/a",
        {"node": "packages/a", "cwd": "packages/a", "group": "packages/a"},
        ["pnpm install --frozen-lockfile"],
    ),
    "tinybench": Case(
        {
            "package.json": '{"devDependencies": {"tinybench": "6"}, "scripts": '
            '{"all": "rm x && node bench/a.ts", "bench": "tsx bench/a.ts", "build": "tsc"}}',
            "bench/a.ts": TINYBENCH,
        },
        "the script bench/a.ts with benchmarks of tinybench",
        {"node": "bench/a.ts", "arguments": "--import tsx"},
        ["npm install --no-package-lock", "npm run build"],
    ),
    "mitata": Case(
        {
            "package.json": '{"dependencies": {"mitata": "1"}}',
            "bench.mjs": MITATA,
            "x.mjs": "run()",
        },
        "the script bench.mjs with benchmarks of mitata",
        {"node": "bench.mjs"},
        ["npm install --no-package-lock"],
    ),
    "benchmark.js": Case(
        {
            "tool/package.json": '{"devDependencies": {"benchmark": "2"}}',
            "tool/perf/run.js": "const B = require('benchmark');\ns.run();\n",
        },
        "the script tool/perf/run.js with benchmarks of benchmark.js",
        {"node": "tool/perf/run.js", "cwd": "tool"},
        ["sh -c 'cd tool && npm install --no-package-lock'"],
    ),
    "benchmark.js in a package in a package": Case(
        {
            "package.json": '{"devDependencies": {"terser": "4"}, "scripts": {"build": "node x"}}',
            "bench/package.json": '{"devDependencies": {"benchmark": "2"}}',
            "bench/index.js": "const B = require('benchmark');\ns.run();\n",
        },
        "the script bench/index.js with benchmarks of benchmark.js",
        {"node": "bench/index.js", "cwd": "bench"},
        [
            "npm install --no-package-lock",
            "npm run build",
            "sh -c 'cd bench && npm install --no-package-lock'",
        ],
    ),
    "a script in a workspace": Case(
        {
            "package.json": '{"workspaces": ["a"], "devDependencies": {"mitata": "1"}}',
            "a/package.json": '{"dependencies": {"b": "1"}}',
            "a/bench.mjs": MITATA,
        },
        "the script a/bench.mjs with benchmarks of mitata",
        {"node": "a/bench.mjs", "cwd": "a"},
        ["npm install --no-package-lock"],
    ),
    "the script that package.json names": Case(
        {
            "package.json": scripts_of(
                "tinybench", "cd perf && NODE_ENV=production node --expose-gc ."
            ),
            "perf/index.js": "import './tasks.js'\n",
            "perf/tasks.js": TINYBENCH,
            "perf/another.js": "parentPort.postMessage(1)\n" + TINYBENCH,
        },
        "the script perf/index.js with benchmarks of tinybench",
        {
            "node": "perf/index.js",
            "arguments": "--expose-gc",
            "cwd": "perf",
            "env": {"NODE_ENV": "production"},
        },
        ["npm install --no-package-lock"],
    ),
    "benchmarks in worker threads": Case(
        {
            "package.json": scripts_of("benchmark", "node ./perf/run.js"),
            "perf/run.js": "const worker = new Worker('./perf/thread.js')\n",
            "perf/thread.js": "require('benchmark'); parentPort.on('message', () => s.run())\n",
        },
        "the script perf/run.js with benchmarks of benchmark.js",
        {"suite": "node ./perf/run.js"},
        ["npm install --no-package-lock"],
        ["perf/run.js must print each result, by suite.on('cycle'"],
    ),
    "benchmarks in worker threads and without": Case(
        {
            "package.json": scripts_of("tinybench", "node a.js && node b.js"),
            "a.js": "new Worker('./thread.js', { workerData: 1 })\n",
            "thread.js": TINYBENCH + "parentPort.postMessage(1)\n",
            "b.js": TINYBENCH,
        },
        "the script b.js with benchmarks of tinybench",
        {"node": "b.js"},
        ["npm install --no-package-lock"],
    ),
    "a script with an option of tsx": Case(
        {
            "package.json": scripts_of("tinybench", "pnpm exec tsx --tsconfig b.json b.ts"),
            "b.ts": TINYBENCH,
        },
        "the script b.ts with benchmarks of tinybench",
        {"node": "b.ts", "arguments": "--import tsx", "env": {"TSX_TSCONFIG_PATH": "b.json"}},
        ["npm install --no-package-lock"],
    ),
    "vitest with a configuration for benchmarks": Case(
        {
            "package.json": '{"devDependencies": {"vitest": "3"}, '
            '"scripts": {"bench": "vitest bench --run --config bench.config.ts"}}',
            "a.bench.ts": "",
            "tiny.bench.ts": TINYBENCH,
        },
        "1 file with benchmarks of vitest",
        {"node": ".", "arguments": "--config bench.config.ts"},
        ["npm install --no-package-lock"],
    ),
    "a script with arguments": Case(
        {"package.json": scripts_of("mitata", "node bench.mjs --all"), "bench.mjs": MITATA},
        "the script bench.mjs with benchmarks of mitata",
        {"node": "bench.mjs", "arguments": "-- --all"},
        ["npm install --no-package-lock"],
    ),
    "a script that several programs run": Case(
        {
            "package.json": '{"devDependencies": {"mitata": "1"}, "scripts": {"x": "node b.mjs", '
            '"bench:bun": "bun --bun b.mjs", "bench:node": "node --expose-gc b.mjs"}}',
            "b.mjs": MITATA,
        },
        "the script b.mjs with benchmarks of mitata",
        {"node": "b.mjs", "arguments": "--expose-gc"},
        ["npm install --no-package-lock"],
    ),
    "deno bench": Case(
        {"deno.json": '{"tasks": {"bench": "deno bench -A src/"}}', "src/a.bench.ts": DENO},
        "1 file with benchmarks of deno bench",
        {"suite": "deno bench --json -A src/"},
        [],
    ),
    "deno bench without a task": Case(
        {"x/deno.json": "{}", "x/my_bench.ts": DENO, "x/benchmarks.ts": DENO},
        "2 files with benchmarks of deno bench in x",
        {"suite": "deno bench --json benchmarks.ts my_bench.ts", "cwd": "x"},
        [],
    ),
    "benchmark-ips": Case(
        {"bench/a.rb": IPS + "  x.json! ARGV.fetch(0)\n", "lib/a.rb": ""},
        "the script bench/a.rb with benchmarks of benchmark-ips",
        {"suite": "ruby -Ilib bench/a.rb {output}"},
        [],
    ),
    "benchmark-ips with bundler": Case(
        {"bench/a.rb": IPS + "  x.json!('out.json')\n", "Gemfile": "gem 'benchmark-ips'\n"},
        "the script bench/a.rb with benchmarks of benchmark-ips",
        {
            "suite": "bundle exec ruby bench/a.rb",
            "output": "out.json",
            "env": {"BUNDLE_PATH": "{env}/bundle"},
        },
        ["bundle install"],
    ),
    "benchmark-ips that writes nothing": Case(
        {"bench/a.rb": IPS},
        "the script bench/a.rb with benchmarks of benchmark-ips",
        {"suite": "ruby bench/a.rb {output}"},
        [],
        ["bench/a.rb must write its results: x.json! ARGV.fetch(0)"],
    ),
    "google benchmark": Case(
        {
            "CMakeLists.txt": 'option(X_BUILD_BENCHMARKS "x (y)" OFF)\n'
            "option(BENCHMARK_ENABLE_X 'of the tool' OFF)\nadd_subdirectory(bench)\n",
            "bench/CMakeLists.txt": "add_executable(speed # comment\n speed.cc)\n"
            "target_link_libraries(speed PRIVATE lib benchmark::benchmark_main)\n",
        },
        "the program speed with benchmarks of Google Benchmark in bench",
        {"cpp": "build/benchgate/bench/speed"},
        [f"{CMAKE[0]} -DX_BUILD_BENCHMARKS=ON", CMAKE[1]],
    ),
    "google benchmark by its header": Case(
        {
            "CMakeLists.txt": "set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\n"
            "link_libraries(benchmark::benchmark)\nadd_executable(speed src/speed.cpp)\n"
            "add_executable(other src/other.cpp)\n",
            "src/speed.cpp": "#include <benchmark/benchmark.h>\n",
        },
        "the program speed with benchmarks of Google Benchmark",
        {"cpp": "build/benchgate/bin/speed"},
        CMAKE,
    ),
    "catch2": Case(
        {
            "CMakeLists.txt": "add_executable(tests t.cpp)\nadd_executable(plain p.cpp)\n"
            "target_link_libraries(tests Catch2::Catch2WithMain)\n"
            "target_link_libraries(plain Catch2::Catch2WithMain)\n",
            "t.cpp": 'TEST_CASE("a", "[!benchmark]") { BENCHMARK("b") { return f(); }; }\n',
            "p.cpp": 'TEST_CASE("a") {}\n',
        },
        "the program tests with benchmarks of Catch2",
        {"suite": "build/benchgate/tests [!benchmark] --reporter xml"},
        CMAKE,
    ),
    "jmh with maven": Case(
        {"pom.xml": f"<project>{JMH}{SHADE}</project>"},
        "benchmarks of JMH (pom.xml)",
        {"suite": f"java -jar target/benchmarks.jar {JMH_OPTIONS}"},
        ["mvn -q -DskipTests package"],
    ),
    "jmh in a module": Case(
        {
            "pom.xml": f"<dependencyManagement>{JMH}</dependencyManagement><!-- {JMH} -->",
            "mvnw": "",
            "perf/pom.xml": f"{JMH}<uberjar.name>speed</uberjar.name>",
        },
        "benchmarks of JMH in perf (pom.xml)",
        {"suite": f"java -jar target/speed.jar {JMH_OPTIONS}", "cwd": "perf"},
        ["./mvnw -q -DskipTests -pl perf -am package"],
        ["perf/pom.xml does not say how its jar is built"],
    ),
    "jmh with gradle": Case(
        {"gradlew": "", "perf/build.gradle.kts": 'plugins { id("me.champeau.jmh") }\n'},
        "benchmarks of JMH in perf (Gradle)",
        {
            "suite": f"java -jar build/libs/*-jmh.jar {JMH_OPTIONS}",
            "cwd": "perf",
            "shell": True,
        },
        ["./gradlew --quiet :perf:jmhJar"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_suite_is_found(find: Find, name: str) -> None:
    case = CASES[name]
    (suite,) = find(case.files).suites
    assert suite.found == case.found
    assert suite.table == case.table
    assert list(suite.build.commands) == case.build
    assert len(suite.to_edit) == len(case.to_edit)
    for sentence, beginning in zip(suite.to_edit, case.to_edit, strict=True):
        assert sentence.startswith(beginning)


@pytest.mark.parametrize("name", CASES)
def test_the_configuration_that_is_written_is_valid(find: Find, tmp_path: Path, name: str) -> None:
    find(CASES[name].files)
    proposal = propose(tmp_path, tmp_path, is_ignored=lambda _: False, can_call=lambda _: True)
    (benchmark,) = loads(proposal.files["benchgate.toml"], "benchgate.toml").benchmarks
    assert isinstance(benchmark, SuiteBenchmark | LiveBenchmarks)


@pytest.mark.parametrize(
    "files",
    [
        {"go.mod": "module a\n", "a_test.go": "func TestA(t *testing.T) {}\n"},
        {"a_test.go": GO},
        {"Cargo.toml": CRITERION},
        {"Cargo.toml": "[package]\n" + BENCH},
        {"package.json": VITEST, "a.test.ts": ""},
        {"package.json": "{}", "a.bench.ts": "", "bench.mjs": MITATA},
        {"CMakeLists.txt": "add_executable(a a.cc)\ntarget_link_libraries(a my-benchmark)\n"},
        {"pom.xml": "<project/>", "build.gradle": "plugins { id 'java' }\n"},
    ],
)
def test_a_project_without_a_suite(find: Find, files: dict[str, str]) -> None:
    assert find(files).suites == ()


def test_modules_of_go_are_searched_each(find: Find) -> None:
    found = find(
        {"go.mod": "module a\n", "a/a_test.go": GO, "perf/go.mod": "module b\n"}
        | {"perf/b_test.go": GO}
    )
    assert [suite.table for suite in found.suites] == [{"go": (".", "perf")}]
    found = find({"go.work": "use .\n"})
    assert [suite.table for suite in found.suites] == [{"go": "."}]
    assert found.tree.notes == ["go.work does not use the Go module in perf: it is left out."]


def test_scripts_with_the_same_name_get_a_group(find: Find) -> None:
    package = '{"dependencies": {"mitata": "1"}}'
    found = find({"package.json": package, "a/bench.mjs": MITATA, "b/bench.mjs": MITATA})
    assert [suite.table for suite in found.suites] == [
        {"node": "a/bench.mjs", "group": "a"},
        {"node": "b/bench.mjs", "group": "b"},
    ]


@pytest.mark.parametrize(
    ("crate", "tool"),
    [("divan", "divan"), ("iai-callgrind", "gungraun"), ("gungraun", "gungraun")],
)
def test_finds_benchmarks_of_rust_that_print_a_table(find: Find, crate: str, tool: str) -> None:
    manifest = f"[package]\n[dev-dependencies]\n{crate} = '0.1'\n{BENCH}"
    (suite,) = find({"Cargo.toml": manifest, "benches/b.rs": ""}).suites
    assert suite.table["format"] == tool
    assert str(suite.table["suite"]).endswith(" --bench parse --bench b")


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (
            {"Cargo.toml": "[package]\n[dev-dependencies]\niai = '0.1'\n"},
            "benchgate does not read what iai prints.",
        ),
        (
            {"CMakeLists.txt": "target_link_libraries(${name} benchmark::benchmark)\n"},
            "CMake builds programs with Google Benchmark, but their names are not plain text",
        ),
        (
            {"package.json": '{"dependencies": {"mitata": "1"}}'}
            | {f"{number}/b.mjs": MITATA for number in range(7)},
            "Left out: 5/b.mjs, 6/b.mjs, because they are too many.",
        ),
        (
            {"package.json": scripts_of("mitata", "node a.mjs"), "a.mjs": MITATA, "b.mjs": MITATA},
            "Left out: b.mjs, because package.json does not name them as benchmarks; `node =",
        ),
        (
            {"CMakeLists.txt": "".join(f"add_executable(p{n} a.cc)\n" for n in range(9))}
            | {"a.cc": "#include <benchmark/benchmark.h>\n"},
            "Left out: the program p8 with benchmarks of Google Benchmark.",
        ),
    ],
)
def test_what_is_left_out_is_said(find: Find, files: dict[str, str], sentence: str) -> None:
    assert sentence in " ".join(find(files).sentences)


def test_scripts_that_run_alike_are_one_table(find: Find) -> None:
    files = {"package.json": '{"dependencies": {"mitata": "1"}}'}
    files |= {f"benchmarks/b{number}.mjs": MITATA for number in range(7)}
    found = find(files)
    (suite,) = found.suites
    assert suite.table == {"node": tuple(f"benchmarks/b{number}.mjs" for number in range(7))}
    assert found.sentences == ("Found 7 scripts with benchmarks of mitata in benchmarks.",)


def test_a_script_that_is_named_may_import_what_has_the_benchmarks(find: Find) -> None:
    suites = find(
        {
            "package.json": scripts_of("mitata", "node bench/run.mjs"),
            "bench/run.mjs": 'import "./all/index.mjs";\n',
            "bench/all/index.mjs": 'export * from "../one.mjs";\n',
            "bench/one.mjs": MITATA,
        }
    ).suites
    assert [one.table for one in suites] == [{"node": "bench/run.mjs"}]


OWN_PROJECT = "cmake_minimum_required(VERSION 3.11)\nproject(p LANGUAGES CXX)\n"
OF_GOOGLE = "add_executable(words w.cc)\ntarget_link_libraries(words benchmark::benchmark)\n"


def test_benchmarks_may_be_a_project_of_cmake_by_themselves(find: Find) -> None:
    files = {"CMakeLists.txt": OWN_PROJECT, "bench/CMakeLists.txt": OWN_PROJECT + OF_GOOGLE}
    (suite,) = find(files).suites
    assert suite.table == {"cpp": "build/benchgate/words"}
    assert suite.build.commands[0].startswith("cmake -S bench -B build/benchgate ")
    added = files | {"CMakeLists.txt": f"{OWN_PROJECT}add_subdirectory(bench)\n"}
    (suite,) = find(added).suites
    assert suite.table == {"cpp": "build/benchgate/bench/words"}
    assert suite.build.commands[0].startswith("cmake -S . -B build/benchgate ")


def test_several_projects_of_cmake_are_built_apart(find: Find) -> None:
    here = OWN_PROJECT + OF_GOOGLE.replace("words", "here")
    suites = find({"CMakeLists.txt": here, "b/CMakeLists.txt": OWN_PROJECT + OF_GOOGLE}).suites
    assert [one.table["cpp"] for one in suites] == [
        "build/benchgate/here",
        "build/benchgate/b/words",
    ]
    assert suites[1].build.commands == (
        "cmake -S b -B build/benchgate/b -DCMAKE_BUILD_TYPE=Release",
        "cmake --build build/benchgate/b --parallel",
    )
