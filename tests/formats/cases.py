"""What each genuine file holds, for the conformance test: one list for each format."""

from __future__ import annotations

from tests.formats.case import Case
from tests.formats.cases_benchmark_ips import BENCHMARK_IPS
from tests.formats.cases_benchmarkdotnet import BENCHMARKDOTNET
from tests.formats.cases_catch2 import CATCH2
from tests.formats.cases_criterion import CRITERION
from tests.formats.cases_go import GO
from tests.formats.cases_google_benchmark import GOOGLE_BENCHMARK
from tests.formats.cases_haskell_criterion import HASKELL_CRITERION
from tests.formats.cases_javascript import BENCHMARK_JS, DENO_BENCH, MITATA, TINYBENCH, VITEST
from tests.formats.cases_jmh import JMH
from tests.formats.cases_libtest import LIBTEST
from tests.formats.cases_load import AB, AUTOCANNON, K6, LOCUST, PGBENCH, WRK
from tests.formats.cases_python import ASV, PYPERF
from tests.formats.cases_rust import CRITERION_TEXT, DIVAN, GUNGRAUN
from tests.formats.cases_services import BENCHER, CUSTOM

PYTEST_BENCHMARK = [
    Case(
        "pytest-benchmark",
        "pytest-benchmark/full.json",
        "pytest-benchmark 5.3.1",
        {
            "test_demo.py::test_sort[1000]": ("time s lower sampled 1x20 loops=1 5.047e-06",),
            "test_demo.py::test_json": ("time s lower sampled 1x20 loops=20 3.46e-06",),
        },
    ),
    Case(
        "pytest-benchmark",
        "pytest-benchmark/saved.json",
        "pytest-benchmark 5.3.1",
        {
            "test_demo.py::test_sort[10]": ("time s lower summary 1x1 loops=1 1.75e-07",),
            "test_demo.py::test_sort[1000]": ("time s lower summary 1x1 loops=1 4.662e-06",),
            "test_demo.py::test_sha": ("time s lower summary 1x1 loops=1 2.819e-06",),
            "test_demo.py::test_json": ("time s lower summary 1x1 loops=1 1.575e-06",),
            "test_demo.py::TestX::test_in_class": ("time s lower summary 1x1 loops=1 4.63e-06",),
        },
    ),
]
HYPERFINE = [
    Case(
        "hyperfine",
        "hyperfine/two-commands.json",
        "hyperfine",
        {
            "true": ("time s lower sampled 1x15 loops=1 0.0007484",),
            "ls": ("time s lower sampled 1x15 loops=1 0.001075",),
        },
    ),
    Case(
        "hyperfine",
        "hyperfine/failing-exit.json",
        "hyperfine",
        {
            "true": ("time s lower sampled 1x4 loops=1 9.979e-06",),
            "false": (
                "it ended with exit code 1 "
                "(`ok_exit_codes` of the suite permits it, and so does --ok-exit-code)"
            ),
        },
    ),
]

CASES = [
    *PYTEST_BENCHMARK,
    *HYPERFINE,
    *PYPERF,
    *ASV,
    *GO,
    *GOOGLE_BENCHMARK,
    *LIBTEST,
    *CRITERION,
    *CRITERION_TEXT,
    *DIVAN,
    *GUNGRAUN,
    *CATCH2,
    *JMH,
    *BENCHMARKDOTNET,
    *HASKELL_CRITERION,
    *BENCHMARK_IPS,
    *TINYBENCH,
    *VITEST,
    *MITATA,
    *DENO_BENCH,
    *BENCHMARK_JS,
    *K6,
    *LOCUST,
    *WRK,
    *AB,
    *AUTOCANNON,
    *PGBENCH,
    *CUSTOM,
    *BENCHER,
]
