"""Scripts of pyperf in the worker, with the pyperf of this environment."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from tests.measure.hosted import LOG, described, found, logged
from tests.measure.test_worker import error_of, launch

from benchgate.measure.contract.data_files import workload_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.measure.hosted import Hosts

    from benchgate.measure.workers.worker import Worker


FILE = "benchmarks/script.py"
START = f"import sys, time, pyperf; {LOG}"


@dataclass
class Script:
    """Starts workers on a script; other files are relative to the root."""

    hosts: Hosts

    def __call__(
        self,
        source: str,
        *,
        files: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
        describe: bool = True,
    ) -> Worker:
        self.hosts.write({FILE: START + dedent(source), **(files or {})})
        return self.hosts.start("pyperf", FILE, arguments=arguments, describe=describe)


@pytest.fixture
def script(hosts: Hosts) -> Script:
    return Script(hosts)


# Discovery

METHODS = """\
async def coroutine(text):
    log(text)

def timed(loops, text):
    start = pyperf.perf_counter()
    for _ in range(loops):
        log(text)
    return pyperf.perf_counter() - start

if __name__ == "__main__":
    runner = pyperf.Runner()
    runner.bench_func(" function ", log, "function")
    runner.bench_time_func("timed", timed, "timed")
    runner.bench_async_func("async", coroutine, "async")
    runner.timeit("statement", stmt="log('statement')", globals=globals())
    runner.timeit("log('name')", globals=globals())
    runner.bench_command("command", [sys.executable, "-c",
        "import os; open(os.environ['LOG'], 'a').write('command ')"])
"""


def test_ids_are_the_names(script: Script, log: Path) -> None:
    worker = script(METHODS)
    ids = [(each["id"], each["location"]) for each in described(worker)]
    names = ["function", "timed", "async", "statement", "log('name')", "command"]
    assert ids == [(name, f"{FILE}:{line}") for line, name in enumerate(names, 20)]
    assert logged(log) == []


@pytest.mark.parametrize(
    "name", ["function", "timed", "async", "statement", "log('name')", "command"]
)
@pytest.mark.parametrize("describe", [True, False])
def test_every_method_is_measured(script: Script, log: Path, name: str, *, describe: bool) -> None:
    worker = script(METHODS, describe=describe)
    worker.ready(30)
    replies = launch(worker, name)
    assert all(wall_ns > 0 for wall_ns, _ in replies["samples"])
    assert set(logged(log)) == {"name" if "log" in name else name}
    # Calibration, and the samples.
    assert len(logged(log)) > 2 * replies["loops"]
    assert replies["is_inside"] == (name != "command")
    assert replies["beside"] == []


@pytest.mark.parametrize(
    "source",
    [
        "from pyperf import Runner\nRunner(processes=2, warmups=1).bench_func('a', len, '')",
        "class Mine(pyperf.Runner): ...\nMine(metadata={'x': 'y'}).bench_func('a', len, '')",
        "r = pyperf.Runner(loops=3)\nr.parse_args(['--fast'])\nr.bench_func('a', len, '')",
        "r = pyperf.Runner()\nb = r.bench_func('a', len, '')\nprint(b.mean(), b.get_name())",
        "def main():\n    pyperf.Runner().bench_func('a', len, '')\nsys.exit(main())",
        "import textwrap as t\nfor n in 'a':\n    pyperf.Runner().bench_func(n, t.dedent, n)",
    ],
)
def test_a_runner_is_found_however_it_is_made(script: Script, source: str) -> None:
    worker = script(source)
    assert found(worker) == ["a"]
    launch(worker, "a")


ARGUMENTS = """\
def more(cmd, args):
    cmd.append("--size=1")

runner = pyperf.Runner(add_cmdline_args=more)
runner.argparser.add_argument("--size", type=int, default=3)
runner.argparser.add_argument("kind", nargs="?", default="none")
args = runner.parse_args()
assert args.worker == ("--worker" in sys.argv) == (args.loops > 0)
log("worker" if args.worker else "main")
assert __name__ == "__main__" and __file__ == sys.argv[0]
runner.metadata["size"] = str(args.size)
runner.bench_func(f"{args.kind} {runner.args.size}", len, "")
"""


def test_arguments_reach_the_script(script: Script) -> None:
    assert found(script(ARGUMENTS)) == ["none 3"]
    assert found(script(ARGUMENTS, arguments=["some", "--size", "4"])) == ["some 4"]


def test_the_script_runs_as_in_the_processes_of_pyperf(script: Script, log: Path) -> None:
    worker = script(ARGUMENTS)
    worker.ready(30)
    assert logged(log) == ["main"]
    launch(worker, "none 3")
    assert logged(log) == ["main", "worker"]


def test_an_unknown_pyperf_is_an_error(script: Script) -> None:
    source = "__version__ = '9.1'\nclass Runner: ...\n"
    worker = script("", files={"benchmarks/pyperf.py": source})
    assert "benchgate does not know pyperf 9.1" in error_of(lambda: worker.ready(30))


def test_options_of_pyperf_have_no_effect(script: Script, tmp_path: Path) -> None:
    other = tmp_path / "other"
    texts = "--fast --rigorous -p 3 -n 2 -w 1 -l 7 --min-time 2 -v --affinity 0 --tracemalloc"
    texts += f" -o {other}.json --append {other}.more --profile {other}.prof --compare-to python3"
    worker = script(METHODS, arguments=texts.split())
    assert len(found(worker)) == 6
    launch(worker, "function")
    assert not list(tmp_path.glob("other*"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", "has run to its end without a benchmark"),
        ("pyperf.Runner()", "has run to its end without a benchmark"),
        ("pyperf.Runner().parse_args(['-h'])", "has run to its end without a benchmark"),
        ("def main():\n  sys.exit(3)\nmain()", "exits in line 10 of script.py with code 3"),
        ("sys.exit('no data')", "exits in line 9 of script.py with this message: no data"),
        (
            "pyperf.Runner().parse_args(['--nope'])",
            "line 9 of script.py with code 2: it refuses its arguments",
        ),
        ("pyperf.Runner().parse_args(['--nope'])", "unrecognized arguments: --nope"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("1 / 0", 'script.py", line 9, in <module>'),
        ("a b", "SyntaxError: invalid syntax"),
        ("for i in 1, 2: pyperf.Runner()", "only one Runner instance must be created"),
        (
            "r = pyperf.Runner()\nfor n in 'aa': r.bench_func(n, len, '')",
            "duplicated benchmark name: 'a'",
        ),
        ("pyperf.Runner().bench_func(' ', len)", "benchmark name must be a non-empty string"),
        ("pyperf.Runner().bench_func('a', len, b=1)", "unexpected keyword argument 'b'"),
    ],
)
def test_what_cannot_be_run_is_an_error(script: Script, source: str, expected: str) -> None:
    worker = script(source)
    assert expected in error_of(lambda: worker.ready(30))


def test_without_pyperf_the_error_says_where_it_is_missing(script: Script) -> None:
    worker = script("", files={"benchmarks/pyperf.py": "raise ModuleNotFoundError(name='pyperf')"})
    assert f"pyperf is not installed for {sys.executable}" in error_of(lambda: worker.ready(30))


# Measuring


def test_the_script_goes_on_after_the_benchmark(script: Script, log: Path) -> None:
    source = """\
        import contextlib

        @contextlib.contextmanager
        def opened():
            log("open")
            yield
            log("closed")

        runner = pyperf.Runner()
        log("begin")
        for name in ("a", "b"):
            with opened():
                value = runner.bench_func(name, log, name)
            log(str(value and value.mean() > 0))
        log("end")
        """
    worker = script(source, describe=False)
    worker.ready(30)
    launch(worker, "b")
    words = logged(log)
    calls = words.count("b")
    assert calls > 2
    assert words == [
        *("begin", "open", "closed", "None", "open"),
        *["b"] * calls,
        *("closed", "True", "end"),
    ]
    log.unlink()
    launch(worker, "a")
    assert (logged(log)[:3], logged(log)[-5:]) == (
        ["begin", "open", "a"],
        ["True", "open", "closed", "None", "end"],
    )


def test_what_is_open_is_closed_if_benchgate_stops(script: Script, log: Path) -> None:
    source = """\
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            log(folder)
            pyperf.Runner().bench_func("a", len, folder)
            log("never")
        """
    worker = script(source, describe=False)
    worker.ready(30)
    worker.allow(20)
    worker.ask("open", "a")
    worker.close()
    (folder,) = logged(log)
    assert not Path(folder).exists()


def test_the_time_that_a_function_returns_is_the_sample(script: Script) -> None:
    worker = script("""\
        def timed(loops):
            time.sleep(0.01)
            return loops * 3e-3
        pyperf.Runner().bench_time_func("a", timed, inner_loops=30)
        """)
    worker.ready(30)
    replies = launch(worker, "a")
    # The inner loops are the smallest unit.
    assert replies["loops"] == 30
    assert [wall_ns for wall_ns, _ in replies["samples"]] == [3_000_000] * 2


def test_inner_loops_are_counted(script: Script) -> None:
    worker = script("""\
        def timed(loops):
            return loops * 20e-6
        runner = pyperf.Runner()
        runner.bench_time_func("one", timed)
        runner.bench_time_func("two", timed, inner_loops=2)
        runner.timeit("many", "log", duplicate=20, inner_loops=10, globals=globals())
        """)
    worker.ready(30)
    one, two, many = (launch(worker, name) for name in ("one", "two", "many"))
    (one_ns, _), (two_ns, _) = one["samples"][0], two["samples"][0]
    assert one_ns / one["loops"] == 20_000
    assert two_ns / two["loops"] == 10_000
    assert many["loops"] % 200 == 0
    worker.allow(20)
    worker.ask("open", "two")
    worker.ask("loops", 7)
    assert worker.sample()[0] == 70_000


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("bench_func('a', int, 'x')", "ValueError: invalid literal for int()"),
        ("bench_func('a', exit, 3)", "SystemExit: 3"),
        ("bench_func('a', abs, metadata={'unit': 'byte'})", "its unit is byte"),
        ("bench_time_func('a', print)", "its function returned None"),
        ("bench_time_func('a', lambda loops: -1)", "its function returned -1"),
        ("bench_time_func('a', lambda loops: 0.0)", "the time that it returns does not grow"),
        ("bench_command('a', [sys.executable, '-c', 'exit(3)'])", "ended with exit code 3"),
        ("bench_command('a', ['no-such-program'])", "No such file or directory: 'no-such-program'"),
        ("timeit('a', 'no_name')", "NameError: name 'no_name' is not defined"),
    ],
)
def test_what_cannot_be_measured_is_an_error(script: Script, call: str, expected: str) -> None:
    worker = script(f"runner = pyperf.Runner()\nrunner.{call}\n")
    assert found(worker) == ["a"]
    assert expected in error_of(lambda: launch(worker, "a"))


def test_an_error_after_the_benchmark_fails_it(script: Script) -> None:
    worker = script(
        "pyperf.Runner().bench_func('a', len, '')\nassert not sys.argv, 'after'\n", describe=False
    )
    worker.ready(30)
    error = error_of(lambda: launch(worker, "a"))
    assert error.startswith("AssertionError: after")


def test_a_benchmark_that_is_no_longer_reached_is_an_error(script: Script) -> None:
    worker = script("pyperf.Runner().bench_func('a', len, '')\n", describe=False)
    worker.ready(30)
    assert "the script does not reach it each time" in error_of(lambda: launch(worker, "b"))


def test_modules_of_the_tool_are_not_the_work(script: Script) -> None:
    worker = script("pyperf.Runner().bench_func('a', len, '')\n")
    assert worker.ready(30)["packages"] == []


# The work of a benchmark

WORK = """\
import helper

SIZE = 3
OTHER = 4

def first(n):
    return helper.make(n)

def second(n):
    return n

def unused():
    return 1

def main():
    runner = pyperf.Runner()
    if SIZE:
        runner.bench_func("first", first, SIZE)
    runner.bench_func("second", second, OTHER)
    runner.timeit("third", stmt="OTHER", globals={"OTHER": OTHER})

if __name__ == "__main__":
    main()
"""
HELPER = {"benchmarks/helper.py": "def make(n):\n    return [n]\n"}
EVERY = {"first", "second", "third"}


def works(worker: Worker) -> dict[str, str]:
    return {each["id"]: workload_of(each["parts"]) for each in described(worker)}


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("return n\n", "return n  # the same\n", set()),
        ("return 1", "return 2", set()),
        ("SIZE = 3", "SIZE = 5", EVERY),
        ("if SIZE", "if not SIZE or SIZE", EVERY),
        ("pyperf.Runner()", "pyperf.Runner(loops=3)", EVERY),
        ("main()\n", "main()\n    os.getpid()\n", EVERY),
        ("return helper", "n += 1; return helper", {"first"}),
        ("return n\n", "n += 1; return n\n", {"second"}),
        ("second, OTHER)", "second, SIZE)", {"second"}),
        ("second, OTHER)", "second, 4)", {"second"}),
        ("second, OTHER)", "second, OTHER, inner_loops=2)", {"second"}),
        ("second, OTHER)", "lambda: second(OTHER))", EVERY),
        ("second, OTHER)", "second, int(OTHER))", EVERY),
        ('stmt="OTHER"', 'stmt="SIZE"', {"third"}),
        ("    runner.timeit", "    runner.bench_func('new', len, '')\n    runner.timeit", set()),
        ("    runner.timeit", "    result = runner.timeit", EVERY),
    ],
)
def test_only_what_differs_is_other_work(
    script: Script, old: str, new: str, changed: set[str]
) -> None:
    before = works(script(WORK, files=HELPER))
    assert old in WORK
    after = works(script(WORK.replace(old, new), files=HELPER))
    assert {name for name in before if before[name] != after[name]} == changed


def test_a_statement_uses_what_its_text_names(script: Script) -> None:
    source = WORK.replace('stmt="OTHER"', 'stmt="unused()"').replace(
        '{"OTHER": OTHER}', "globals()"
    )
    before = works(script(source, files=HELPER))
    after = works(script(source.replace("return 1", "return 2"), files=HELPER))
    assert {name for name in before if before[name] != after[name]} == EVERY


def test_a_statement_may_import_what_it_uses(script: Script) -> None:
    source = WORK.replace('stmt="OTHER"', "setup='from __main__ import unused'")
    before = works(script(source, files=HELPER))
    after = works(script(source.replace("return 1", "return 2"), files=HELPER))
    assert {name for name in before if before[name] != after[name]} == {"third"}


def test_other_texts_are_no_use_of_names(script: Script) -> None:
    source = WORK.replace('"third"', "'thi' + 'rd'") + "TEXT = 'other'\n"
    before = works(script(source, files=HELPER))
    after = works(script(source.replace("'other'", "'more'"), files=HELPER))
    assert before == after


def test_another_script_beside_it_is_no_work(script: Script) -> None:
    before = works(script(WORK, files=HELPER))
    files = {**HELPER, "benchmarks/other.py": "import pyperf\n"}
    assert works(script(WORK, files=files)) == before


def test_a_module_beside_the_script_is_work(script: Script) -> None:
    before = works(script(WORK, files=HELPER))
    other = {"benchmarks/helper.py": "def make(n):\n    return [n, n]\n"}
    after = works(script(WORK, files=other))
    assert {name for name in before if before[name] != after[name]} == EVERY


DYNAMIC = """\
def one():
    return 1

def two():
    return 2

if __name__ == "__main__":
    runner = pyperf.Runner()
    for function in (one, two):
        runner.bench_func(function.__name__, function)
"""


def test_with_computed_names_the_whole_program_is_work(script: Script) -> None:
    before = works(script(DYNAMIC))
    after = works(script(DYNAMIC.replace("return 2", "return 3")))
    assert before.keys() == {"one", "two"}
    assert all(before[name] != after[name] for name in before)
