"""What files of tools say about the machine, the runtime, the build and the commit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.formats.cases import SAMPLES
from tests.formats.test_conformance import read

from benchgate.formats.contents import ForeignFile
from benchgate.model.environment import Environment

CACHES = "caches of 48.00 KiB, 64.00 KiB, 2.000 MiB, 480.0 MiB"


def origin(source: ForeignFile, name: str) -> Environment:
    known = Environment()
    for one in read(source, name).environments:
        assert not known.differences(one)
        known = known.completed(one)
    return known


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
