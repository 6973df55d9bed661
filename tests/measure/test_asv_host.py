"""Suites of asv in the worker; asv is not installed here."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest
from tests.measure.hosted import LOG, described, found, logged
from tests.measure.test_worker import TARGET_NS, calibrated, error_of, launch

from benchgate.measure.workers.worker import WorkerSkippedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.measure.hosted import Hosts

    from benchgate.measure.workers.worker import Worker


@dataclass
class Suite:
    """Starts workers on a suite whose module is `it`; other files are relative to its folder."""

    hosts: Hosts

    def __call__(
        self,
        source: str = "",
        *,
        files: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
        describe: bool = True,
    ) -> Worker:
        every = {"__init__.py": "", "it.py": LOG + dedent(source), **(files or {})}
        self.hosts.write({f"benchmarks/{name}": dedent(text) for name, text in every.items()})
        return self.hosts.start(
            "asv", "benchmarks", path="src", arguments=arguments, describe=describe
        )


@pytest.fixture
def suite(hosts: Hosts) -> Suite:
    return Suite(hosts)


def value_of(worker: Worker, id_: str, times: int = 1) -> list[float]:
    """Let it determine its value, and close it."""
    worker.allow(20)
    worker.ask("open", id_)
    values = [worker.ask("value")["value"] for _ in range(times)]
    worker.ask("close")
    return values


def parts(worker: Worker) -> dict[str, dict[str, str]]:
    return {each["id"]: each["parts"] for each in described(worker)}


def changed(old: dict[str, dict[str, str]], new: dict[str, dict[str, str]]) -> dict[str, set[str]]:
    """Say which parts of which benchmarks differ."""
    return {
        id_: {key for key in {**old[id_], **new[id_]} if old[id_].get(key) != new[id_].get(key)}
        for id_ in old
        if old[id_] != new[id_]
    }


# Discovery


def test_functions_and_methods_are_found_as_asv_names_them(suite: Suite) -> None:
    worker = suite(
        """\
        import abc

        def time_it(): ...
        def TimeIt(): ...
        def timeit(): ...
        def time_(): ...
        def timeraw_it(): ...
        def track_it(): ...
        def peakmem_it(): ...
        def helper(): ...
        def _time_hidden(): ...

        class Abstract(abc.ABC):
            @abc.abstractmethod
            def time_nothing(self): ...

        class Base:
            def time_base(self): ...

        class Derived(Base):
            def time_own(self): ...
            @staticmethod
            def time_static(): ...
            @classmethod
            def time_class(cls): ...

        class _Hidden(Base): ...
        Other = Derived

        def renamed(): ...
        renamed.benchmark_name = "mine.time_renamed"

        def time_skipped(): ...
        time_skipped.skip_benchmark = True
        """
    )
    assert found(worker) == [
        "it.time_it",
        "it.TimeIt",
        "it.timeraw_it",
        "it.track_it",
        "it.peakmem_it",
        "it.Base.time_base",
        "it.Derived.time_base",
        "it.Derived.time_class",
        "it.Derived.time_own",
        "it.Derived.time_static",
        "mine.time_renamed",
    ]


def test_all_modules_of_the_package_are_searched(suite: Suite) -> None:
    worker = suite(
        "def time_a(): ...",
        files={
            "__init__.py": "def time_top(): ...",
            "inner/__init__.py": "from ..it import time_a",
            "inner/deep.py": "def time_b(): ...",
            "folder/alone.py": "def time_c(): ...",
        },
    )
    assert sorted(found(worker)) == ["inner.deep.time_b", "inner.time_a", "it.time_a", "time_top"]


@pytest.mark.parametrize(
    ("params", "ids"),
    [
        ("[1, 20]", ["(1)", "(20)"]),
        ("[[1, 2], ['a']]", ["(1, 'a')", "(2, 'a')"]),
        ("([0.5], (None, 'b'))", ["(0.5, None)", "(0.5, 'b')"]),
        ("[len, int]", ["(<built-in function len>)", "(<class 'int'>)"]),
        ("[object(), object()]", ["(<object object> (0))", "(<object object> (1))"]),
        ("[1, 1, 2]", ["(1 (0))", "(1 (1))", "(2)"]),
        ("range(2)", ["(0)", "(1)"]),
        ("[]", [""]),
    ],
)
def test_params_are_named_as_asv_names_them(suite: Suite, params: str, ids: list[str]) -> None:
    worker = suite(f"def time_a(*args): ...\ntime_a.params = {params}")
    assert found(worker) == [f"it.time_a{each}" for each in ids]


def test_params_that_are_left_out_are_no_benchmarks(suite: Suite) -> None:
    worker = suite("def time_a(n): ...\ntime_a.params = [1, 2]\ntime_a.skip_params = [(1,)]")
    assert found(worker) == ["it.time_a(2)"]


def test_what_is_broken_fails_alone(suite: Suite) -> None:
    worker = suite(
        """\
        class Broken:
            params = 5
            def time_params(self, n): ...

        class Raising:
            def __init__(self):
                raise KeyError("x")
            def time_new(self): ...

        def time_good(): ...
        """,
        files={"missing.py": "import nothing_like_it", "ends.py": "raise SystemExit(2)"},
    )
    hello = worker.ready(30)
    assert [each["id"] for each in hello["benchmarks"]] == ["it.time_good"]
    firsts = {name: text.partition("\n")[0] for name, text in hello["faults"].items()}
    assert firsts == {
        "missing": "ModuleNotFoundError: No module named 'nothing_like_it'",
        "ends": "SystemExit: 2",
        "it.Broken.time_params": "its params are 5: they must be a list, or a list of lists",
        "it.Raising.time_new": "KeyError: 'x'",
    }
    assert launch(worker, "it.time_good")["samples"]


def test_a_folder_that_is_no_package_is_refused(suite: Suite, tmp_path: Path) -> None:
    worker = suite()
    (tmp_path / "tree/benchmarks/__init__.py").unlink()
    error = error_of(lambda: worker.ready(30))
    assert error.startswith("it has no file __init__.py: asv imports the folder as a package")


def test_a_launch_imports_only_what_it_measures(suite: Suite, log: Path) -> None:
    files = {"other.py": f"{LOG}log('other')\ndef time_b(): ..."}
    worker = suite("log('it')\ndef time_a(): ...", files=files, describe=False)
    worker.ready(30)
    launch(worker, "it.time_a")
    assert logged(log) == ["it"]


# What surrounds a benchmark


NESTED = """\
def setup(*args):
    log("module")

def teardown(*args):
    log("/module")

class Suite:
    params = [7]

    def setup(self, n):
        log("class")
        self.n = n

    def Teardown(self, n):
        log("/class")

    def time_it(self, n):
        log(f"call{n}{self.n}")
"""


def test_setups_run_before_each_sample(suite: Suite, log: Path) -> None:
    worker = suite(f"{NESTED}\n    time_it.number = 2\n", arguments=["sample"])
    worker.ready(30)
    worker.allow(20)
    worker.ask("open", "it.Suite.time_it(7)")
    assert logged(log) == ["module", "class"]
    for _ in range(2):
        worker.ask("loops", 2)
        worker.sample()
    worker.ask("close")
    once = ["module", "class", "call77", "call77", "/class", "/module"]
    assert logged(log) == once * 2


def test_setups_run_before_each_call(suite: Suite, log: Path) -> None:
    worker = suite(NESTED, arguments=["call"])
    worker.ready(30)
    worker.allow(20)
    worker.ask("open", "it.Suite.time_it(7)")
    worker.ask("loops", 2)
    worker.sample()
    worker.ask("close")
    assert logged(log) == ["module", "class", "call77", "/class", "/module"] * 2


def test_calibration_says_how_long_the_setups_take(suite: Suite, hosts: Hosts) -> None:
    hosts.have_own_time()
    source = """\
        import time
        class Slow:
            def setup(self):
                time.now_ns += 50_000_000
            def time_it(self):
                time.now_ns += 1_000
        """
    worker = suite(source, arguments=["call"])
    worker.ready(30)
    worker.allow(20)
    found = calibrated(worker, TARGET_NS, worker.ask("open", "it.Slow.time_it"))
    assert found.loops == 1
    assert found.beside_ns >= 50_000_000
    worker.kill()
    worker = suite(source, arguments=["sample"])
    worker.ready(30)
    worker.allow(20)
    found = calibrated(worker, TARGET_NS, worker.ask("open", "it.Slow.time_it"))
    assert found.loops > 1
    # Samples of ten milliseconds share a setup.
    assert found.beside_ns == pytest.approx(50_000_000 * TARGET_NS / 10_000_000, rel=0.3)


def test_samples_share_a_setup_for_as_long_as_asv_has_it(
    suite: Suite, hosts: Hosts, log: Path
) -> None:
    hosts.have_own_time()
    worker = suite(
        """\
        import time
        class Suite:
            sample_time = 0.05
            def setup(self):
                log("setup")
            def time_it(self):
                log("call")
                time.now_ns += 20_000_000
        """,
        arguments=["sample"],
    )
    worker.ready(30)
    worker.allow(20)
    worker.ask("open", "it.Suite.time_it")
    worker.ask("loops", 2)
    for _ in range(4):
        worker.sample()
    assert " ".join(logged(log)).split("setup") == ["", *[" call" * 4 + " ", " call" * 4]]


def test_a_setup_may_set_the_number_of_calls(suite: Suite) -> None:
    worker = suite("""\
        class Suite:
            def setup(self):
                self.number = 3
            def time_it(self):
                log("call")
        """)
    worker.ready(30)
    assert launch(worker, "it.Suite.time_it")["loops"] == 3


def test_a_benchmark_runs_in_a_temporary_folder(suite: Suite, log: Path, tmp_path: Path) -> None:
    worker = suite("""\
        def time_it():
            open("left", "w").close()
            log(os.getcwd())
        """)
    worker.ready(30)
    assert launch(worker, "it.time_it")["changed"] == []
    (folder,) = set(logged(log))
    assert not Path(folder).exists()
    assert not folder.startswith(str(tmp_path / "tree"))


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (
            "class A:\n  def setup(self): raise NotImplementedError('no')\n  def time_a(self): ...",
            "its setup raised NotImplementedError('no')",
        ),
        (
            (
                "class SkipNotImplemented(NotImplementedError): ...\n"
                "class A:\n  def time_a(self): raise SkipNotImplemented('here')"
            ),
            "it raised SkipNotImplemented('here')",
        ),
    ],
)
def test_a_benchmark_may_skip_itself(suite: Suite, source: str, why: str) -> None:
    worker = suite(source)
    worker.ready(30)
    with pytest.raises(WorkerSkippedError) as caught:
        launch(worker, "it.A.time_a")
    assert caught.value.error == why


def test_a_failing_benchmark_shows_the_authors_frames(suite: Suite) -> None:
    worker = suite("class A:\n  def setup(self, n): ...\n  def time_a(self): ...")
    worker.ready(30)
    error = error_of(lambda: launch(worker, "it.A.time_a"))
    assert error.startswith("TypeError: ")
    assert "missing 1 required positional argument" in error


# setup_cache


CACHED = """\
class Base:
    def setup_cache(self):
        log("cache")
        open("beside", "w").close()
        return {"n": [5]}

class A(Base):
    def setup(self, cache):
        log(f"setup{cache['n']}")
        cache["n"].append(6)

    def time_a(self, cache):
        os.stat("beside")

class B(Base):
    def track_b(self, cache):
        return len(cache["n"])
"""


def test_a_cache_is_made_once_and_copied_for_each_benchmark(suite: Suite, log: Path) -> None:
    worker = suite(CACHED)
    assert found(worker) == ["it.A.time_a", "it.B.track_b"]
    for _ in range(2):
        worker.allow(20)
        worker.ask("open", "it.A.time_a")
        worker.ask("close")
    assert value_of(worker, "it.B.track_b") == [1]
    assert logged(log) == ["cache", "setup[5]", "setup[5]"]


def test_a_cache_is_made_by_another_process(suite: Suite) -> None:
    worker = suite("""\
        class A:
            def setup_cache(self):
                A.here = True
                return os.getpid()

            def track_a(self, pid):
                return (pid != os.getpid()) + 10 * hasattr(A, "here")
        """)
    worker.ready(30)
    assert value_of(worker, "it.A.track_a") == [1]


def test_a_cache_that_cannot_be_made_fails_its_benchmarks(suite: Suite) -> None:
    worker = suite("""\
        class A:
            def setup_cache(self):
                raise KeyError("gone")
            def time_a(self, cache): ...
        """)
    worker.ready(30)
    error = error_of(lambda: launch(worker, "it.A.time_a"))
    assert error.startswith("its setup_cache failed: KeyError: 'gone'")
    assert "in setup_cache" in error


def test_a_module_may_make_the_cache(suite: Suite) -> None:
    worker = suite("def setup_cache():\n    return 4\ndef track_a(cache):\n    return cache")
    worker.ready(30)
    assert value_of(worker, "it.track_a") == [4]


# Values


def test_values_are_determined_from_a_fresh_state(suite: Suite) -> None:
    worker = suite("""\
        class A:
            unit = "objects"
            def setup(self):
                self.n = 1
            def track_n(self):
                self.n += 1
                return self.n
        """)
    (about,) = described(worker)
    assert (about["measures"], about["of_unit"]) == ("value", "objects")
    assert value_of(worker, "it.A.track_n", times=2) == [2, 2]


@pytest.mark.parametrize(
    ("returned", "error"),
    [
        ("'many'", "it returned 'many', which is no number"),
        ("None", "it returned 'None', which is no number"),
        ("float('inf')", "it returned inf, which is no finite number"),
        ("float('nan')", "it returned NaN"),
    ],
)
def test_values_that_are_no_numbers_are_refused(suite: Suite, returned: str, error: str) -> None:
    worker = suite(f"def track_a(): return {returned}")
    worker.ready(30)
    assert error_of(lambda: value_of(worker, "it.track_a")).startswith(error)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forgets the peak")
def test_the_peak_holds_what_the_function_needs(suite: Suite) -> None:
    source = "def peakmem_some(): return len(bytearray({}))"
    peaks = []
    for size in (0, 50_000_000):
        worker = suite(source.format(size))
        (about,) = described(worker)
        assert about["measures"] == "peak_rss"
        peaks += value_of(worker, "it.peakmem_some")
    assert peaks[1] - peaks[0] == pytest.approx(50_000_000, rel=0.1)


def test_sizes_need_pympler(suite: Suite) -> None:
    faults = suite("def mem_a(): return []").ready(30)["faults"]
    assert list(faults) == ["it.mem_a"]
    assert faults["it.mem_a"].startswith("pympler, which measures the size of objects, is not ")


def test_only_values_have_a_value(suite: Suite) -> None:
    worker = suite("def time_a(): ...")
    worker.ready(30)
    error = error_of(lambda: value_of(worker, "it.time_a"))
    assert error.startswith("it is measured by its time, and has no value")


# timeraw


def test_code_runs_in_processes_of_its_own(suite: Suite, log: Path) -> None:
    worker = suite("""\
        def timeraw_it():
            return '''
                with open(os.environ["LOG"], "a") as file:
                    file.write(f"{os.getpid()} ")
                print("1 2")
            ''', "import os"
        timeraw_it.number = 2
        """)
    worker.ready(30)
    worker.allow(30)
    opened = worker.ask("open", "it.timeraw_it")
    assert opened["is_inside"] is False
    assert opened["number"] == 2
    before = len(logged(log))
    for _ in range(2):
        worker.ask("loops", 2)
        wall_ns, _ = worker.sample()
        assert 0 < wall_ns < 5_000_000_000
    assert worker.ask("close")["beside"] == []
    ran = logged(log)[before:]
    assert len(ran) == 4
    assert len(set(ran)) == 2
    assert str(worker.pid) not in ran


def test_code_that_fails_is_told(suite: Suite) -> None:
    worker = suite("def timeraw_it(): return 'raise SystemExit(\"enough\")'")
    worker.ready(30)
    error = error_of(lambda: launch(worker, "it.timeraw_it"))
    assert error.startswith("the process that runs its code ended with exit code 1")
    assert "enough" in error


# The work


SUITE = """\
SIZE = 3

def helper(n):
    return n

class Suite:
    params = [1, 20]
    param_names = ["n"]
    timeout = 60
    repeat = 5

    def setup(self, n):
        self.data = helper(n)

    def time_a(self, n):
        sum(range(n))

    def time_b(self, n):
        len(self.data)

def time_c():
    return SIZE
"""


@pytest.mark.parametrize(
    ("old", "new", "benchmarks", "part"),
    [
        ("sum(range(n))", "sum([n])", ["Suite.time_a(1)", "Suite.time_a(20)"], "its function"),
        ("= helper(n)", "= helper(2 * n)", ["Suite.time_a", "Suite.time_b"], "Suite"),
        ("return n", "return 2 * n", ["Suite.time_a", "Suite.time_b"], "helper"),
        ("SIZE = 3", "SIZE = 4", ["time_c"], "SIZE"),
        ("timeout = 60", "timeout = 90", [], ""),
        ("repeat = 5", "repeat = (1, 2, 3)", [], ""),
        ("    repeat = 5", "    pretty_name = 'x'", [], ""),
        ("    repeat = 5", "    number = 4", ["Suite.time_a", "Suite.time_b"], "its number"),
        ("    repeat = 5", "    version = 2", ["Suite.time_a", "Suite.time_b"], "its version"),
        ("def time_c", "def time_d(): ...\ndef time_c", [], ""),
    ],
)
def test_a_change_concerns_those_that_do_the_work(
    suite: Suite, old: str, new: str, benchmarks: list[str], part: str
) -> None:
    found = changed(parts(suite(SUITE)), parts(suite(SUITE.replace(old, new))))
    names = {id_.removeprefix("it.") for id_ in found}
    assert all(any(name.startswith(each) for each in benchmarks) for name in names)
    assert all(any(name.startswith(each) for name in names) for each in benchmarks)
    assert all(part in each for each in found.values())


def test_a_decorator_that_sets_attributes_joins_nothing(suite: Suite) -> None:
    source = """\
        from . import named

        class Suite:
            @named("first")
            def time_a(self):
                return 1

            @named("second")
            def time_b(self):
                return 2
        """
    named = """\
        def named(name):
            def decorate(function):
                function.pretty_name = name
                return function
            return decorate
        """
    before = parts(suite(source, files={"__init__.py": named}))
    again = parts(suite(source.replace("return 1", "return 3"), files={"__init__.py": named}))
    assert changed(before, again) == {"it.Suite.time_a": {"its function"}}


def test_a_new_param_leaves_the_others_alone(suite: Suite) -> None:
    before, after = parts(suite(SUITE)), parts(suite(SUITE.replace("[1, 20]", "[1, 20, 300]")))
    assert {id_: after[id_] for id_ in before} == before
    assert len(after) == len(before) + 2


def test_params_that_show_nothing_count_as_they_are_written(suite: Suite) -> None:
    source = """\
        class Data:
            def __init__(self, n): ...

        class Suite:
            params = [Data(1), Data(2)]
            def time_a(self, data): ...

        def time_b(): ...
        """
    found = changed(parts(suite(source)), parts(suite(source.replace("Data(2)", "Data(3)"))))
    assert len(found) == 2
    assert all(id_.startswith("it.Suite.time_a(<benchmarks.it.Data object>") for id_ in found)


def test_another_module_is_other_work_only_if_it_is_imported(suite: Suite) -> None:
    source = "from .common import helper\ndef time_a(): helper()"
    files = {"common.py": "def helper(): return 1", "other.py": "def time_b(): return 1"}
    before = suite(source, files=files)
    ready = before.ready(30)["benchmarks"]
    after = suite(source, files={"other.py": "def time_b(): return 2"}).ready(30)["benchmarks"]
    assert [each["parts"] for each in ready if "time_a" in each["id"]] == [
        each["parts"] for each in after if "time_a" in each["id"]
    ]
    again = suite(source, files={"common.py": "def helper(): return 3"}).ready(30)["benchmarks"]
    assert [each["parts"] for each in ready if "time_a" in each["id"]] != [
        each["parts"] for each in again if "time_a" in each["id"]
    ]
    assert [each["parts"] for each in after if "time_b" in each["id"]] == [
        each["parts"] for each in again if "time_b" in each["id"]
    ]


def test_when_setups_run_is_work_of_those_that_have_one(suite: Suite) -> None:
    before, after = (parts(suite(SUITE, arguments=[each])) for each in ("call", "sample"))
    found = changed(before, after)
    assert all(each == {"when its setup runs"} for each in found.values())
    assert "it.time_c" not in found
    assert len(found) == 4


@pytest.mark.parametrize(
    ("own", "of_cache", "expected"),
    [(None, None, None), (5, None, 5), (5, 90, 90), (90, 5, 90), (None, 90, 90), (None, 5, 60)],
)
def test_a_limit_leaves_time_for_the_cache(
    suite: Suite, own: int | None, of_cache: int | None, expected: int | None
) -> None:
    worker = suite(f"""\
        class A:
            timeout = {own}
            def setup_cache(self): ...
            setup_cache.timeout = {of_cache}
            def time_a(self): ...
        """)
    assert described(worker)[0]["timeout_s"] == expected


def test_places_and_limits_are_told(suite: Suite) -> None:
    described: list[dict[str, Any]] = suite(f"{SUITE}\ntime_c.timer = len\n").ready(30)[
        "benchmarks"
    ]
    about = {each["id"]: each for each in described}
    assert about["it.Suite.time_a(1)"]["timeout_s"] == 60
    assert about["it.time_c"]["timeout_s"] is None
    assert about["it.time_c"]["location"].startswith("benchmarks/it.py:")
    assert about["it.time_c"]["notes"] == [
        "its `timer` is not used: benchgate measures the wall time and the CPU time"
    ]
