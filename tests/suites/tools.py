"""The tools of docs/suites.md: what each needs, and what must be read of its files."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "suites.md"
PROJECTS: Final = Path(__file__).parent / "projects"
TOOLS_PYTHON: Final = ROOT / ".venv-suites" / "bin"

_TIME = "time s lower"
_THROUGHPUT = "throughput 1/s higher"
_ERRORS = "error_ratio  lower"
_URL = "http://127.0.0.1:8765/"


@dataclass(frozen=True)
class Tool:
    """A tool, as the section of its name shows it.

    Attributes:
        format: of its files.
        rows: by id the metrics that are read, each with its unit and direction.
        live: ids of what benchgate measures side by side.
        needs: programs, or files with "/", that the machine must have.
        absent: why it cannot be had at all.
        sample: a file of tests/formats/samples, which is read instead.
        not_checked: why its configuration is only validated.
        folder: of its scratch project in `projects`; by default that of the name of the format.
    """

    format: str
    rows: dict[str, tuple[str, ...]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    absent: str = ""
    sample: str = ""
    not_checked: str = ""
    folder: str = ""
    live: frozenset[str] = frozenset()

    @property
    def project(self) -> str:
        """The name of the scratch project."""
        return self.folder or self.format

    def missing(self) -> str:
        """What the machine lacks, and what installs it; "" if there is nothing."""
        if self.absent:
            return self.absent
        lacking = [name for name in self.needs if not _exists(name)]
        return f"{', '.join(lacking)}: not installed; `make tools` installs it" if lacking else ""


def _exists(name: str) -> bool:
    return Path(name).exists() if "/" in name else shutil.which(name) is not None


_TEST = "tests/benchmarks/test_words.py::test_count"
_PYTHON = (str(TOOLS_PYTHON / "python"),)
_NPM = ("node", "npm")
_SERVER = (*_PYTHON, "curl")

# By the heading of the section.
TOOLS: Final = {
    "pytest-benchmark": Tool(
        "pytest-benchmark", {f"{_TEST}[1]": (_TIME,), f"{_TEST}[10]": (_TIME,)}, _PYTHON
    ),
    "pytest-codspeed": Tool(
        "pytest-benchmark", {_TEST: (_TIME,)}, _PYTHON, folder="pytest-codspeed"
    ),
    "asv": Tool("asv", {f"words.Count.time_count({n})": (_TIME,) for n in (1, 10)}, _PYTHON),
    "pyperf": Tool("pyperf", {"count": (_TIME, "peak_rss B lower")}, _PYTHON),
    "Google Benchmark": Tool(
        "google-benchmark",
        {f"Count/{n}": (_TIME, "cpu_time s lower") for n in (1, 100)},
        ("cmake", "g++", "/usr/include/benchmark/benchmark.h"),
        live=frozenset({"bench/Count/1", "bench/Count/100"}),
    ),
    "Catch2": Tool(
        "catch2",
        {"words/count": (_TIME,)},
        ("cmake", "g++", "/usr/include/catch2/catch.hpp"),
        not_checked="it compiles long, and its table is that of Google Benchmark",
    ),
    "BenchmarkDotNet": Tool(
        "benchmarkdotnet",
        absent="it comes from NuGet",
        sample="benchmarkdotnet/built-report-full.json",
    ),
    "go test": Tool(
        "go",
        {"example.org/words.BenchmarkCount": (_TIME, "B/op B lower", "allocs/op  lower")},
        ("go",),
        live=frozenset({"Count"}),
    ),
    "criterion for Haskell": Tool(
        "haskell-criterion",
        absent="GHC and its libraries take a gigabyte",
        sample="haskell-criterion/out.json",
    ),
    "JMH": Tool(
        "jmh",
        absent="it comes from Maven Central",
        sample="jmh/built.json",
    ),
    "tinybench": Tool("tinybench", {"count": (_TIME,)}, _NPM, live=frozenset({"bench/count"})),
    "mitata": Tool("mitata", {"count": (_TIME,)}, _NPM, live=frozenset({"bench/count"})),
    "vitest": Tool(
        "vitest",
        {"words.bench.js > words > count": (_TIME,)},
        _NPM,
        live=frozenset({"words/words/count"}),
    ),
    "benchmark.js": Tool(
        "benchmark.js", {"count": (_TIME,)}, _NPM, live=frozenset({"bench/count"})
    ),
    "deno bench": Tool(
        "deno-bench", {"words.bench.ts > count": (_TIME,)}, (str(TOOLS_PYTHON / "deno"),)
    ),
    "benchmark-ips": Tool("benchmark-ips", {"count": ("throughput i/s higher",)}, ("ruby",)),
    "Criterion.rs": Tool(
        "criterion",
        {"count": (_TIME,)},
        ("cargo", "/usr/share/cargo/registry/criterion-0.3.6"),
        not_checked="its crates compile for a minute on each side",
        live=frozenset({"words/count"}),
    ),
    "divan": Tool("divan", absent="it comes from crates.io", sample="divan/readme.txt"),
    "gungraun": Tool("gungraun", absent="it comes from crates.io", sample="gungraun/first.txt"),
    "`#[bench]` of Rust": Tool("libtest", {"count": (_TIME,)}, ("cargo",)),
    "hyperfine": Tool("hyperfine", {"sort": (_TIME,)}, ("hyperfine",)),
    "wrk": Tool(
        "wrk",
        {
            _URL: (
                _TIME,
                *(f"time_p{percent} s lower" for percent in (50, 75, 90, 99)),
                _THROUGHPUT,
                _ERRORS,
            )
        },
        (*_SERVER, "wrk"),
        folder="server",
    ),
    "ab": Tool("ab", {_URL: (_TIME, _THROUGHPUT, _ERRORS)}, (*_SERVER, "ab"), folder="server"),
    "autocannon": Tool(
        "autocannon", {_URL: (_THROUGHPUT, _ERRORS)}, (*_SERVER, *_NPM), folder="server"
    ),
    "k6": Tool("k6", absent="neither Debian nor npm has it", sample="k6/points.ndjson"),
    "locust": Tool("locust", {"GET /": (_TIME, _THROUGHPUT, _ERRORS)}, _SERVER, folder="server"),
    "pgbench": Tool(
        "pgbench",
        {
            "<builtin: select only>[clients=2,mode=simple,scale=1]": (
                _TIME,
                _THROUGHPUT,
                _ERRORS,
            )
        },
        ("pgbench", "/usr/lib/postgresql"),
    ),
    "Numbers of your own": Tool("customSmallerIsBetter", {"count": (_TIME,)}, folder="own-numbers"),
}
