"""What genuine files of tools say about the machine, the runtime, the build and the commit."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.formats.case import SAMPLES
from tests.formats.cases import CASES
from tests.formats.test_conformance import read

from benchgate.formats.contents import ForeignFile
from benchgate.model.environment import Environment
from benchgate.model.run import Source

if TYPE_CHECKING:
    from tests.formats.case import Case

XEON = "Intel(R) Xeon(R) Processor"
KERNEL = "6.18.44-fc-v669"
CACHES = "caches of 48.00 KiB, 64.00 KiB, 2.000 MiB, 480.0 MiB"
PYTEST = Environment(
    os="Linux",
    kernel=KERNEL,
    machine="x86_64",
    cpu_model=XEON,
    cpu_count=2,
    toolchains={"python": "CPython 3.11.7"},
)
ORIGINS = {
    "google-benchmark/repetitions.json": Environment(
        cpu_model=f"the CPU of vm with {CACHES}",
        cpu_count=2,
        toolchains={"build type": "debug"},
    ),
    "pytest-benchmark/full.json": PYTEST,
    "pytest-benchmark/saved.json": PYTEST,
    "asv/alone.json": replace(PYTEST, toolchains={"python": "3.11"}),
    "pyperf/suite.json": replace(
        PYTEST,
        kernel=f"{KERNEL}-x86_64-with-glibc2.36",
        machine="",
        toolchains={"python": "cpython 3.11.7 (64-bit)"},
    ),
    "benchmarkdotnet/built-report-full.json": Environment(
        os="Debian GNU/Linux 12",
        machine="X64",
        cpu_model="AMD EPYC",
        cpu_count=2,
        toolchains={".NET": ".NET 8.0.1 (8.0.123.58001)", "build type": "RELEASE"},
    ),
    "jmh/built.json": Environment(
        toolchains={"JDK": "17.0.9", "VM": "OpenJDK 64-Bit Server VM 17.0.9+9"}
    ),
    "mitata/samples.json": Environment(
        machine="x64-linux", cpu_model="AMD EPYC", toolchains={"runtime": "node 20.20.2"}
    ),
    "deno-bench/two-files.json": Environment(
        machine="x86_64-unknown-linux-gnu",
        cpu_model="AMD EPYC",
        toolchains={"runtime": "Deno 2.9.6"},
    ),
    "go/count3.txt": Environment(
        os="linux", machine="amd64", cpu_model=XEON, toolchains={"GOMAXPROCS": "2"}
    ),
    "go/json.ndjson": Environment(
        os="linux", machine="amd64", cpu_model=XEON, toolchains={"GOMAXPROCS": "2"}
    ),
}
COMMITS = {
    "pytest-benchmark/full.json": Source("bffc14cf5c6b4472060bdd433f8de9bbb8f48b89"),
    "asv/alone.json": Source("2c9867cb789c14d85afa6879afaf20c15a4af3c4"),
}


def origin(source: ForeignFile, name: str) -> Environment:
    known = Environment()
    for one in read(source, name).environments:
        assert not known.differences(one)
        known = known.completed(one)
    return known


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path)
def test_a_genuine_file_names_one_machine_at_most(case: Case) -> None:
    found = origin(case.source(), case.format)
    if case.path in ORIGINS:
        assert found == ORIGINS[case.path]
    if case.path in COMMITS:
        assert read(case.source(), case.format).commits == (COMMITS[case.path],)


GO = "goos: linux\ngoarch: amd64\npkg: p\ncpu: {cpu}\nBenchmarkA-{procs} 100 12 ns/op\n"
CARGO = "   Finished {profile} target(s) in 1.2s\nfib 20   time:   [26.0 us 26.2 us 26.5 us]\n"
CSV = 'name,iterations,real_time,cpu_time,time_unit\n"A",1,2,2,ns\n'


@pytest.mark.parametrize(
    ("name", "text", "other", "unlike"),
    [
        ("go", GO.format(cpu="A", procs=8), GO.format(cpu="B", procs=8), ["CPU: 'A' and 'B'"]),
        (
            "go",
            GO.format(cpu="A", procs=8),
            GO.format(cpu="A", procs=4),
            ["GOMAXPROCS: '8' and '4'"],
        ),
        (
            "go",
            GO.format(cpu="A", procs=8),
            GO.format(cpu="A", procs=1).replace("-1", ""),
            ["GOMAXPROCS: '8' and '1'"],
        ),
        ("go", GO.format(cpu="A", procs=8), GO.format(cpu="A", procs=8).replace("cpu", "x"), []),
        (
            "criterion",
            CARGO.format(profile="`bench` profile [optimized + debuginfo]"),
            CARGO.format(profile="dev [unoptimized + debuginfo]"),
            ["build type: 'optimized' and 'unoptimized'"],
        ),
        ("criterion", CARGO.format(profile="release [optimized]"), CARGO[40:], []),
        (
            "google-benchmark",
            f"Run on (8 X 2400 MHz CPU s)\n{CSV}",
            f"Run on (4 X 2600 MHz CPU s)\n***WARNING*** Library was built as DEBUG.\n{CSV}",
            ["cores: '8' and '4'", "build type: 'release' and 'debug'"],
        ),
        ("google-benchmark", CSV, f"Run on (4 X 2600 MHz CPU s)\n{CSV}", []),
    ],
)
def test_texts_tell_machine_and_build(name: str, text: str, other: str, unlike: list[str]) -> None:
    one, two = (origin(ForeignFile("f", each.encode()), name) for each in (text, other))
    assert list(one.differences(two)) == unlike
    assert list(one.differences(one)) == []


def google_benchmark(**context: Any) -> Environment:  # noqa: ANN401
    document = json.loads((SAMPLES / "google-benchmark/repetitions.json").read_bytes())
    document["context"] |= context
    return origin(ForeignFile("f", json.dumps(document).encode()), "google-benchmark")


@pytest.mark.parametrize(
    "context",
    [
        {"date": "2027-01-01T00:00:00+00:00", "load_avg": [9.0], "executable": "./other/b"},
        {"mhz_per_cpu": 3243, "cpu_scaling_enabled": True, "library_version": "v1.9.5"},
        {"host_name": None, "num_cpus": None, "caches": None, "library_build_type": None},
    ],
)
def test_load_date_and_clock_rate_make_no_other_machine(context: dict[str, Any]) -> None:
    assert google_benchmark().differences(google_benchmark(**context)) == ()


def test_a_container_is_no_machine_of_its_own() -> None:
    first, second = (google_benchmark(host_name=name) for name in ("3f2a9c0d1e4b", "77aa0c5d9b12"))
    assert first.cpu_model == f"a CPU with {CACHES}"
    assert first.differences(second) == ()
    assert google_benchmark(host_name="build-7").differences(first) != ()


def repr_of(value: object) -> str:
    return repr(value)[:20]


@pytest.mark.parametrize(
    "value", [None, [], 7, {}, True, "x" * 10_000, [{"size": "x"}, 3]], ids=repr_of
)
@pytest.mark.parametrize(
    ("name", "path", "key"),
    [
        ("google-benchmark", "google-benchmark/single.json", ("context", "caches")),
        ("google-benchmark", "google-benchmark/single.json", ("context", "num_cpus")),
        ("pytest-benchmark", "pytest-benchmark/saved.json", ("machine_info", "cpu")),
        ("pytest-benchmark", "pytest-benchmark/saved.json", ("commit_info", "id")),
        ("asv", "asv/alone.json", ("params", "os")),
        ("asv", "asv/alone.json", ("requirements",)),
        ("mitata", "mitata/no-samples.json", ("context", "cpu")),
        ("deno-bench", "deno-bench/two-files.json", ("cpu",)),
        ("pyperf", "pyperf/command.json", ("metadata", "platform")),
    ],
)
def test_damage_there_costs_no_benchmark(
    name: str, path: str, key: tuple[str, ...], value: object
) -> None:
    document = json.loads((SAMPLES / path).read_bytes())
    expected = read(ForeignFile("f", json.dumps(document).encode()), name)
    place = document
    for each in key[:-1]:
        place = place[each]
    place[key[-1]] = value
    found = read(ForeignFile("f", json.dumps(document).encode()), name)
    assert [(one.id, one.error) for one in found.benchmarks] == [
        (one.id, one.error) for one in expected.benchmarks
    ]
