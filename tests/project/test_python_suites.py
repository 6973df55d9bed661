from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.project.conftest import Find

PYTEST = "def test_a(benchmark):\n    benchmark(sorted, [1])\n"
PLAIN = "def test_plain(): ...\n"
RUNNER = "import pyperf\n\nrunner = pyperf.Runner()\nrunner.bench_func('a', sorted, [1])\n"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (PYTEST, "1 test"),
        (
            "class TestIt:\n    def test_a(self, benchmark): ...\n    def help(self): ...\n",
            "1 test",
        ),
        ("import pytest\n\n@pytest.mark.benchmark\ndef test_a(): ...\n", "1 test"),
        ("import pytest\n\n@pytest.mark.benchmark(group='x')\ndef test_a(): ...\n", "1 test"),
        (
            (
                "from pytest import mark\n\n@mark.benchmark\nclass TestIt:\n"
                "    def test_a(self): ...\n    def test_b(self): ...\n"
            ),
            "2 tests",
        ),
        ("import pytest\npytestmark = pytest.mark.benchmark\ndef test_a(): ...\n", "1 test"),
        ("import pytest\npytestmark = [pytest.mark.benchmark]\ndef test_a(): ...\n", "1 test"),
        (
            (
                "import pytest\n\n@pytest.fixture\ndef timed(benchmark): ...\n\n"
                "def test_a(timed): ...\ndef test_b(other): ...\n"
            ),
            "1 test",
        ),
        ("async def test_a(*, benchmark): ...\n", "1 test"),
    ],
)
def test_tests_with_the_benchmark_fixture(find: Find, text: str, count: str) -> None:
    (suite,) = find({"tests/test_a.py": text}).suites
    assert suite.found == f"{count} with the benchmark fixture in tests"
    assert suite.table == {"pytest": "tests"}


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "def helper(benchmark): ...\n",
        "class Base:\n    def test_a(self, benchmark): ...\n",
        "import pytest\n\n@pytest.fixture\ndef benchmark(): ...\n\n" + PYTEST,
    ],
)
def test_other_tests_are_no_suite(find: Find, text: str) -> None:
    assert find({"tests/test_a.py": text}).suites == ()


@pytest.mark.parametrize(
    ("files", "places"),
    [
        ({"tests/benchmarks/test_a.py": PYTEST, "tests/test_b.py": PLAIN}, "tests/benchmarks"),
        ({"tests/test_a.py": PYTEST, "tests/test_b.py": PLAIN}, "tests/test_a.py"),
        ({"tests/test_a.py": PYTEST, "tests/deep/test_b.py": PYTEST}, "tests"),
        ({"a/test_a.py": PYTEST, "b/test_b.py": PYTEST}, ("a", "b")),
        ({"test_a.py": PYTEST}, "test_a.py"),
        ({f"tests/test_{n}.py": PYTEST for n in range(9)} | {"tests/test_x.py": PLAIN}, "tests"),
        # pytest does not look into files with another name, unless they are named to it.
        ({"bench/bench_a.py": PYTEST, "bench/test_b.py": PYTEST}, ("bench", "bench/bench_a.py")),
        (
            {"bench/bench_a.py": PYTEST, "pytest.ini": "[pytest]\npython_files = bench_*.py\n"},
            "bench",
        ),
    ],
)
def test_a_folder_is_named_if_it_holds_nothing_else(
    find: Find, files: dict[str, str], places: str | tuple[str, ...]
) -> None:
    (suite,) = find(files).suites
    assert suite.table == {"pytest": places}


def test_what_its_files_import_is_known(find: Find) -> None:
    files = {
        "tests/bench/test_a.py": f"import numpy.linalg\nfrom pkg.for_msgspec import b\n{PYTEST}",
        "tests/conftest.py": "import hypothesis\nfrom . import more\n",
        "src/pkg/for_msgspec.py": "import msgspec\n\ndef f():\n    import rarely\n",
        "src/pkg/other.py": "import unused\n",
        "pyproject.toml": "",
    }
    (suite,) = find(files).suites
    assert suite.python is not None
    assert suite.python.imports == {"numpy", "pkg", "hypothesis", "msgspec"}


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("pyproject.toml", "[tool.pytest.ini_options]\npython_functions = ['bench_*']\n"),
        ("setup.cfg", "[tool:pytest]\npython_functions = bench_ check_\n"),
        ("tox.ini", "[pytest]\npython_functions = bench_*\n"),
    ],
)
def test_the_settings_of_pytest_say_what_a_test_is(find: Find, name: str, settings: str) -> None:
    files = {"tests/test_a.py": "def bench_a(benchmark): ...\n"}
    assert find(files).suites == ()
    (suite,) = find({**files, name: settings}).suites
    assert suite.found.startswith("1 test")


@pytest.mark.parametrize("options", ["-m 'not benchmark'", "-q -m 'not slow and not benchmark'"])
def test_a_deselection_is_undone(find: Find, options: str) -> None:
    files = {"tests/test_a.py": PYTEST, "pytest.ini": f"[pytest]\naddopts = {options}\n"}
    (suite,) = find(files).suites
    assert suite.table["arguments"] == "-m ''"


def test_projects_in_one_repository_are_suites_of_their_own(find: Find) -> None:
    files = {"a/tests/test_a.py": PYTEST, "b/tests/test_b.py": PYTEST}
    projects = {"a/pyproject.toml": "", "b/setup.py": ""}
    suites = find(files | projects).suites
    assert [suite.table["pytest"] for suite in suites] == ["a/tests", "b/tests"]


@pytest.mark.parametrize(
    ("configuration", "folder"),
    [
        ("{}", "benchmarks"),
        ('// of asv\n{"benchmark_dir": "speed", /* more */ "repo": "https://x//y",}', "speed"),
        ('{"version": 1,\n // "benchmark_dir": "wrong",\n "benchmark_dir": "speed"}', "speed"),
    ],
)
def test_a_suite_of_asv_is_known_by_its_configuration(
    find: Find, configuration: str, folder: str
) -> None:
    text = "class Suite:\n    def time_a(self): ...\n    def peakmem_b(self): ...\n"
    files = {f"asv/{folder}/suite.py": text, "asv/asv.conf.json": configuration}
    (suite,) = find(files).suites
    assert suite.found == f"2 benchmarks of asv in asv/{folder} (asv/asv.conf.json)"
    assert suite.table == {"asv": f"asv/{folder}"}


def test_what_asv_installs_is_required(find: Find) -> None:
    matrix = '{"matrix": {"req": {"numpy": ["1.26", "2.0"], "pip+scipy": [], "six": null}}}'
    (suite,) = find({"asv.conf.json": matrix, "benchmarks/a.py": "def time_a(): ...\n"}).suites
    assert suite.python is not None
    assert suite.python.runs == ("numpy==1.26", "scipy")


def test_a_folder_of_asv_without_its_configuration(find: Find) -> None:
    (suite,) = find({"benchmarks/suite.py": "def time_a(): ...\n"}).suites
    assert suite.found == "1 benchmark of asv in benchmarks"


@pytest.mark.parametrize(
    "files",
    [
        {"benchmarks/helpers.py": "def time_a(): ...\n", "benchmarks/test_a.py": PYTEST},
        {"tools/helpers.py": "def time_a(): ...\n"},
    ],
)
def test_a_function_with_such_a_name_is_no_suite_of_asv(find: Find, files: dict[str, str]) -> None:
    assert [suite.table for suite in find(files).suites if "asv" in suite.table] == []


@pytest.mark.parametrize("name", ["docs/bench.py", "perf/test_runner.py"])
def test_examples_and_tests_are_no_scripts(find: Find, name: str) -> None:
    assert find({name: RUNNER}).suites == ()


def test_scripts_of_pyperf(find: Find) -> None:
    (suite,) = find({"perf/a.py": RUNNER, "perf/b.py": "import pyperf\n"}).suites
    assert suite.found == "1 script of pyperf in perf/a.py"
    assert suite.table == {"pyperf": "perf/a.py"}


def test_of_very_many_scripts_the_first_are_named(find: Find) -> None:
    found = find({f"perf/s{n:02}.py": RUNNER for n in range(30)})
    (suite,) = found.suites
    assert len(suite.table["pyperf"]) == 20  # type: ignore[arg-type] # several are a tuple
    assert "Of 30 scripts of pyperf, the configuration names the first." in found.sentences
