"""Suites of pytest in the worker, which runs the pytest of this environment."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from tests.measure.hosted import LOG, described, found, logged
from tests.measure.test_worker import error_of, launch

from benchgate.measure.contract.data_files import workload_of
from benchgate.measure.workers.worker import WorkerSkippedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.measure.hosted import Hosts

    from benchgate.measure.workers.worker import Worker


FILE = "tests/test_it.py"
INI = "[pytest]\nmarkers = mine\n"


@dataclass
class Suite:
    """Starts workers on a suite with one file; other files are relative to the root."""

    hosts: Hosts

    def __call__(
        self, source: str, *, files: Mapping[str, str] | None = None, arguments: Sequence[str] = ()
    ) -> Worker:
        text = f"import pytest; {LOG}{dedent(source)}"
        self.hosts.write({"pytest.ini": INI, FILE: text, **(files or {})})
        return self.hosts.start("pytest", "tests", arguments=arguments)


@pytest.fixture
def suite(hosts: Hosts) -> Suite:
    return Suite(hosts)


# Discovery


def test_ids_are_those_of_pytest(suite: Suite) -> None:
    worker = suite("""\
        @pytest.mark.parametrize("n", [1, 20], ids=["few", "many"])
        def test_many(benchmark, n): ...

        class TestGroup:
            def test_one(self, benchmark): ...

        def test_plain(): ...
        """)
    assert found(worker) == [
        f"{FILE}::test_many[few]",
        f"{FILE}::test_many[many]",
        f"{FILE}::TestGroup::test_one",
    ]


def test_arguments_reach_pytest(suite: Suite) -> None:
    source = "def test_a(benchmark): ...\ndef test_b(benchmark): ...\n"
    assert found(suite(source, arguments=["-k", "test_b"])) == [f"{FILE}::test_b"]


def test_options_that_run_tests_elsewhere_have_no_effect(suite: Suite) -> None:
    ini = f"{INI}addopts = -n 2 --maxfail=1 --timeout=1\n"
    source = """\
        def test_bad(benchmark):
            assert False

        def test_good(benchmark):
            benchmark(log, "called")
        """
    worker = suite(source, files={"pytest.ini": ini})
    assert len(found(worker)) == 2
    assert error_of(lambda: launch(worker, f"{FILE}::test_bad")).startswith(
        "AssertionError: assert False"
    )
    launch(worker, f"{FILE}::test_good")


def test_a_marked_test_is_measured_as_a_whole(suite: Suite, log: Path) -> None:
    worker = suite("""\
        @pytest.fixture
        def word():
            log("fixture")
            return "whole"

        @pytest.mark.benchmark
        def test_whole(word):
            log(word)
        """)
    assert found(worker) == [f"{FILE}::test_whole"]
    launch(worker, f"{FILE}::test_whole")
    assert logged(log)[0] == "fixture"
    assert logged(log).count("fixture") == 1
    assert logged(log).count("whole") > 2


def test_a_file_that_cannot_be_imported_leaves_the_others(suite: Suite) -> None:
    worker = suite(
        "def test_a(benchmark): ...\n",
        files={"tests/test_broken.py": "import no_such_module_at_all\n"},
    )
    hello = worker.ready(30)
    assert [each["id"] for each in hello["benchmarks"]] == [f"{FILE}::test_a"]
    assert hello["faults"].keys() == {"tests/test_broken.py"}
    assert "no_such_module_at_all" in hello["faults"]["tests/test_broken.py"]


def test_wrong_arguments_of_pytest_are_an_error(suite: Suite) -> None:
    worker = suite("def test_a(benchmark): ...\n", arguments=["--no-such-option"])
    error = error_of(lambda: worker.ready(30))
    assert "pytest collected no tests: it ended with exit code 4; its output says why" in error
    assert "unrecognized arguments: --no-such-option" in error


# Measuring


def test_the_callable_is_sampled_inside_of_the_test(suite: Suite, log: Path) -> None:
    worker = suite("""\
        def test_it(benchmark, tmp_path):
            log("before")
            result = benchmark(log, text="call")
            assert result is None
            log("after")
        """)
    worker.ready(30)
    replies = launch(worker, f"{FILE}::test_it", samples=3)
    assert len(replies["samples"]) == 3
    assert all(wall_ns > 0 for wall_ns, _ in replies["samples"])
    words = logged(log)
    assert (words[0], words[-1]) == ("before", "after")
    assert set(words[1:-1]) == {"call"}
    # Calibration, three samples, the traced calls, and one for the result.
    assert len(words) > 3 * replies["loops"]


def test_a_decorated_function_is_called(suite: Suite, log: Path) -> None:
    worker = suite("""\
        def test_it(benchmark):
            @benchmark
            def result():
                log("call")
                return 3
            assert result == 3
        """)
    worker.ready(30)
    launch(worker, f"{FILE}::test_it")
    assert set(logged(log)) == {"call"}


def test_what_the_fixture_of_the_tools_offers_is_there(suite: Suite) -> None:
    worker = suite("""\
        @pytest.mark.benchmark(group="mine")
        @pytest.mark.parametrize("n", [7])
        def test_it(benchmark, n):
            assert benchmark.name == "test_it[7]"
            assert benchmark.fullname.endswith("::test_it[7]")
            assert (benchmark.group, benchmark.param, benchmark.params) == ("mine", "7", {"n": 7})
            benchmark.extra_info["size"] = n
            benchmark.group = "other"
            assert benchmark(lambda: n) == 7
            if benchmark.enabled:
                assert benchmark.stats.stats.mean < 1
        """)
    worker.ready(30)
    launch(worker, f"{FILE}::test_it[7]")


def test_pedantic_sets_up_before_each_sample(suite: Suite, log: Path) -> None:
    worker = suite("""\
        def test_it(benchmark):
            def setup():
                log("setup")
                return ("call",), {}

            def teardown(text):
                log("teardown")

            benchmark.pedantic(log, setup=setup, teardown=teardown, rounds=5)
        """)
    worker.ready(30)
    assert launch(worker, f"{FILE}::test_it", samples=4)["loops"] == 1
    words = logged(log)
    assert words == ["setup", "call", "teardown"] * (len(words) // 3)
    assert len(words) // 3 > 4


def test_a_slow_setup_is_known_to_the_plan(suite: Suite) -> None:
    worker = suite("""\
        import time

        def test_it(benchmark):
            benchmark.pedantic(len, setup=lambda: time.sleep(0.02) or (("",), {}))
        """)
    worker.ready(30)
    assert launch(worker, f"{FILE}::test_it")["beside_ns"] > 15_000_000


def test_pedantic_iterations_are_the_calls_of_a_sample(suite: Suite, log: Path) -> None:
    worker = suite("""\
        def test_it(benchmark):
            benchmark.pedantic(log, args=("call",), iterations=3, rounds=2)
        """)
    worker.ready(30)
    assert launch(worker, f"{FILE}::test_it")["loops"] == 3
    assert set(logged(log)) == {"call"}


def test_an_assertion_after_the_benchmark_fails_it(suite: Suite) -> None:
    worker = suite("""\
        def test_wrong(benchmark):
            assert benchmark(lambda: 2) == 3, "two is not three"

        def test_right(benchmark):
            benchmark(lambda: 2)
        """)
    worker.ready(30)
    error = error_of(lambda: launch(worker, f"{FILE}::test_wrong"))
    assert error.startswith("AssertionError: two is not three")
    assert f"{FILE}:10: AssertionError" in error


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("pass", "the test does not call its `benchmark` fixture"),
        ("benchmark(len, ''); benchmark(len, '')", "uses its `benchmark` fixture twice"),
        ("benchmark.weave(len)", "benchgate cannot measure `benchmark.weave`"),
        ("benchmark(other)", "the function that it measures is async"),
        ("benchmark(lambda: 1 / 0)", "ZeroDivisionError: division by zero"),
        ("benchmark(exit, 3)", "SystemExit: 3"),
        ("benchmark.pedantic(len, setup=list, iterations=2)", "more than 1 `iterations`"),
    ],
)
def test_what_cannot_be_measured_is_an_error(suite: Suite, body: str, expected: str) -> None:
    worker = suite(f"async def other(): ...\n\ndef test_it(benchmark):\n    {body}\n")
    worker.ready(30)
    assert expected in error_of(lambda: launch(worker, f"{FILE}::test_it"))


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.skip(reason='not here')\ndef test_it(benchmark): ...\n",
        "def test_it(benchmark):\n    pytest.skip('not here')\n",
        "@pytest.fixture\ndef f():\n    pytest.skip('not here')\ndef test_it(benchmark, f): ...\n",
    ],
)
def test_a_skipped_test_has_not_failed(suite: Suite, source: str) -> None:
    worker = suite(source)
    worker.ready(30)
    with pytest.raises(WorkerSkippedError) as caught:
        launch(worker, f"{FILE}::test_it")
    assert caught.value.error == "not here"


def test_a_test_that_is_no_longer_collected_is_an_error(suite: Suite) -> None:
    worker = suite("def test_it(benchmark): ...\n")
    worker.ready(30)
    assert "pytest does not collect it each time" in error_of(lambda: launch(worker, "tests/x"))


# Fixtures


def test_fixtures_live_as_long_as_pytest_lets_them(suite: Suite, log: Path) -> None:
    source = """\
        @pytest.fixture(scope="module")
        def of_module():
            log("module+")
            yield 1
            log("module-")

        @pytest.fixture
        def of_test(of_module):
            log("test+")
            yield 1
            log("test-")

        def test_a(benchmark, of_test):
            benchmark(len, "")

        def test_b(benchmark, of_test):
            benchmark(len, "")
        """
    other = "def test_c(benchmark):\n    log('other')\n    benchmark(len, '')\n"
    worker = suite(source, files={"tests/test_other.py": LOG + other})
    worker.ready(30)
    for id_ in (f"{FILE}::test_a", f"{FILE}::test_b", "tests/test_other.py::test_c"):
        launch(worker, id_)
    worker.close()
    assert logged(log) == ["module+", "test+", "test-", "test+", "test-", "module-", "other"]


def test_a_fixture_of_the_user_may_wrap_the_fixture(suite: Suite, log: Path) -> None:
    worker = suite(
        "def test_it(benchmark):\n    benchmark(log, benchmark.group)\n",
        files={
            "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef benchmark(benchmark):\n"
            "    benchmark.group = 'wrapped'\n    return benchmark\n"
        },
    )
    worker.ready(30)
    launch(worker, f"{FILE}::test_it")
    assert set(logged(log)) == {"wrapped"}


# The work of a test

CONFTEST = """\
import pytest

@pytest.fixture
def size():
    return 3

@pytest.fixture
def unused():
    return 5
"""
WORK = """\
SIZE = 3

@pytest.fixture
def data(size):
    return [size] * SIZE

@pytest.mark.parametrize("n", [1, 2])
def test_it(benchmark, n, data):
    benchmark(sorted, data)

class TestGroup:
    kind = "x"

    def setup_method(self):
        self.data = [1]

    def test_it(self, benchmark):
        benchmark(sorted, self.data)

    def test_next(self, benchmark):
        benchmark(len, self.data)
"""


MORE = "def test_more(self, benchmark): ...\n\n    def test_next"
ADDED = {MORE: {"TestGroup::test_more"}, "[1, 2, 3]": {"test_it[3]"}}


def works(worker: Worker) -> dict[str, str]:
    return {each["id"].partition("::")[2]: workload_of(each["parts"]) for each in described(worker)}


FIRST, SECOND = "test_it[1]", "test_it[2]"
ONE, TWO = "TestGroup::test_it", "TestGroup::test_next"


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("SIZE = 3", "SIZE = 4", {FIRST, SECOND}),
        ("benchmark(sorted, data)", "benchmark(list, data)", {FIRST, SECOND}),
        ("[1, 2]", "[1, 2, 3]", set()),
        ("benchmark(len, self.data)", "benchmark(sum, self.data)", {TWO}),
        ("self.data = [1]", "self.data = [2]", {ONE, TWO}),
        ("return [size] * SIZE", "return [size] * SIZE * 2", {FIRST, SECOND}),
        ("SIZE = 3", "SIZE = 3  # three", set()),
        ("return 3\n", "return 4\n", {FIRST, SECOND, ONE, TWO}),
        ("def test_next", MORE, set()),
    ],
)
def test_a_change_concerns_the_tests_that_it_changes(
    suite: Suite, old: str, new: str, changed: set[str]
) -> None:
    before = works(suite(WORK, files={"tests/conftest.py": CONFTEST}))
    assert (old in WORK) != (old in CONFTEST)
    files = {"tests/conftest.py": CONFTEST.replace(old, new)}
    after = works(suite(WORK.replace(old, new), files=files))
    assert {id_ for id_ in before if before[id_] != after[id_]} == changed
    assert after.keys() - before.keys() == ADDED.get(new, set())


def test_another_file_of_the_suite_is_no_work(suite: Suite) -> None:
    was = works(suite(WORK, files={"tests/conftest.py": CONFTEST, "tests/test_more.py": LOG}))
    more = f"{LOG}def test_more(benchmark): ...\n"
    now = works(suite(WORK, files={"tests/conftest.py": CONFTEST, "tests/test_more.py": more}))
    assert {id_: now[id_] for id_ in was} == was
    assert now.keys() - was.keys() == {"test_more"}


def test_nothing_is_written_into_the_tree(suite: Suite, tmp_path: Path) -> None:
    worker = suite("def test_it(benchmark):\n    benchmark(len, '')\n")
    worker.ready(30)
    launch(worker, f"{FILE}::test_it")
    worker.close()
    names = {p.name for p in (tmp_path / "tree").rglob("*")} - {"__pycache__"}
    assert {n for n in names if not n.endswith(".pyc")} == {"tests", "test_it.py", "pytest.ini"}


# What real projects have

COVERAGE = """\
import pytest

def pytest_addoption(parser):
    parser.addoption("--cov", action="append", default=[], dest="cov_source")

@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    print("traced:", early_config.known_args_namespace.cov_source)
    assert not early_config.known_args_namespace.cov_source
"""


def test_coverage_is_not_measured(suite: Suite) -> None:
    ini = f"{INI}addopts = -p tracing --cov=words\n"
    worker = suite(
        "def test_it(benchmark):\n    benchmark(len, '')\n",
        files={"pytest.ini": ini, "tracing.py": COVERAGE},
    )
    assert found(worker) == [f"{FILE}::test_it"]
    launch(worker, f"{FILE}::test_it")


def test_options_of_the_cache_have_no_effect(suite: Suite) -> None:
    ini = f"{INI}addopts = --lf --ff --sw --nf\n"
    worker = suite("def test_it(benchmark):\n    benchmark(len, '')\n", files={"pytest.ini": ini})
    assert found(worker) == [f"{FILE}::test_it"]
    launch(worker, f"{FILE}::test_it")


def test_tests_that_are_no_benchmarks_are_no_work(suite: Suite) -> None:
    unit = "def test_unit():\n    assert 1\n"
    before = works(suite(WORK, files={"tests/conftest.py": CONFTEST, "tests/test_unit.py": unit}))
    files = {"tests/test_unit.py": unit + unit, "tests/test_new.py": unit}
    assert works(suite(WORK, files=files)) == before


@pytest.mark.parametrize(
    ("hook", "in_conftest"),
    [
        ("def setup_module():\n    log('{}')\n", False),
        ("def setup_function(function):\n    log('{}')\n", False),
        ("def pytest_generate_tests(metafunc):\n    len('{}')\n", False),
        ("def pytest_runtest_setup(item):\n    len('{}')\n", True),
    ],
)
def test_what_pytest_calls_by_its_name_is_work(
    suite: Suite, hook: str, *, in_conftest: bool
) -> None:
    def with_hook(text: str) -> dict[str, str]:
        more = hook.format(text)
        conftest = CONFTEST + more if in_conftest else CONFTEST
        source = WORK if in_conftest else WORK + more
        return works(suite(source, files={"tests/conftest.py": conftest}))

    before, after = with_hook("a"), with_hook("b")
    assert {id_ for id_ in before if before[id_] != after[id_]} == set(before)


def test_an_inherited_test_has_the_work_of_its_class(suite: Suite) -> None:
    source = """\
        DATA = {}

        class TestBase:
            def test_it(self, benchmark):
                benchmark(range, DATA)

        class TestDerived(TestBase):
            pass
        """
    before, after = works(suite(source.format(1))), works(suite(source.format(2)))
    assert before.keys() == {"TestBase::test_it", "TestDerived::test_it"}
    assert all(before[id_] != after[id_] for id_ in before)


def test_a_test_that_is_expected_to_fail_has_not_failed(suite: Suite) -> None:
    worker = suite("""\
        @pytest.mark.xfail
        def test_after(benchmark):
            benchmark(len, "")
            assert False

        @pytest.mark.xfail(run=False)
        def test_never(benchmark):
            benchmark(len, "")
        """)
    worker.ready(30)
    launch(worker, f"{FILE}::test_after")
    with pytest.raises(WorkerSkippedError):
        launch(worker, f"{FILE}::test_never")


def test_a_failed_teardown_names_the_test_before(suite: Suite) -> None:
    source = """\
        @pytest.fixture(scope="module")
        def broken():
            yield 1
            raise RuntimeError("no teardown")

        def test_a(benchmark, broken):
            benchmark(len, "")
        """
    other = "def test_b(benchmark):\n    benchmark(len, '')\n"
    worker = suite(source, files={"tests/test_other.py": other})
    worker.ready(30)
    launch(worker, f"{FILE}::test_a")
    error = error_of(lambda: launch(worker, "tests/test_other.py::test_b"))
    assert f"what {FILE}::test_a and earlier tests have set up cannot be torn down" in error
