from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from tests.interpreters import find_interpreter
from tests.measure.benchmarks import TAKEN

from benchgate._worker import PROGRAM
from benchgate._worker.workloads import digest
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.data_files import workload_of
from benchgate.measure.functions.calibration import SampleCalibration, SampleKind
from benchgate.measure.machine.memory_layout import Layout
from benchgate.measure.workers import worker as worker_module
from benchgate.measure.workers.start import WorkerSetting
from benchgate.measure.workers.worker import Worker, WorkerFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchgate.measure.processes.guardian import Guardian

TARGET_NS = 200_000
PLAIN = Layout()
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
TIMED_OUT = (
    "timed out: it took longer than 20 s; `timeout` of [[benchmark]] or [measure] sets the limit"
)


class Start(Protocol):
    def __call__(
        self,
        source: str,
        *,
        files: Mapping[str, str] | None = None,
        path: Sequence[str] = (),
        forbidden: Sequence[Path] = (),
        interpreter: Sequence[str] = (sys.executable,),
        variables: Mapping[str, str] | None = None,
        layout: Layout = ...,
    ) -> Worker: ...


@pytest.fixture
def start(tmp_path: Path, guardian: Guardian) -> Iterator[Start]:
    """Start a worker on a benchmark file; files are relative to the root of its arm."""
    root = tmp_path / "tree"
    workers = []

    def start_worker(
        source: str,
        *,
        files: Mapping[str, str] | None = None,
        path: Sequence[str] = (),
        forbidden: Sequence[Path] = (),
        interpreter: Sequence[str] = (sys.executable,),
        variables: Mapping[str, str] | None = None,
        layout: Layout = PLAIN,
    ) -> Worker:
        for name, text in {"benchmarks/bench_it.py": source, **(files or {})}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        setting = WorkerSetting(
            interpreter=interpreter,
            file=root / "benchmarks" / "bench_it.py",
            path=[str(root / folder) for folder in path],
            cpus=None,
            forbidden=forbidden,
            variables={"PATH": os.environ["PATH"], **(variables or {}), **guardian.variables},
            layout=layout,
        )
        arm = Arm(ArmName.HEAD, root, tmp_path / "env")
        worker = Worker(arm, setting, guardian, describe=True)
        workers.append(worker)
        return worker

    yield start_worker
    for worker in workers:
        worker.kill()


def described(worker: Worker) -> list[dict[str, Any]]:
    benchmarks: list[dict[str, Any]] = worker.ready(20)["benchmarks"]
    return benchmarks


def calibrated(worker: Worker, target_ns: int, opened: Mapping[str, Any]) -> SampleCalibration:
    """Find the loops of the benchmark that is open."""
    kind = SampleKind.of([opened])
    found = SampleCalibration(worker, 20, kind, may_share=False, long_ns=10**10)
    found.find_loops(target_ns)
    return found


def launch(worker: Worker, name: str, *, samples: int = 2) -> dict[str, Any]:
    """Go through all steps; give what all of them replied."""
    worker.allow(20)
    replies = worker.ask("open", name)
    found = calibrated(worker, TARGET_NS, replies)
    replies |= {name: getattr(found, name) for name in ("loops", "sample_ns", "beside_ns")}
    worker.ask("loops", found.loops)
    worker.ask("begin")
    replies["samples"] = [worker.sample() for _ in range(samples)]
    replies |= worker.ask("peak")
    worker.ask("end")
    replies |= worker.ask("allocations")
    return replies | worker.ask("close")


def error_of(act: Callable[[], object]) -> str:
    with pytest.raises(WorkerFailedError) as caught:
        act()
    return caught.value.error


# Discovery


FOUND = {
    "def bench_plain(): ...\ndef other(): ...\nasync def bench_async(): ...": ["plain", "async"],
    "bench_sizes = [1, 2]\nclass bench_kind: ...\n": [],
    "import functools\nbench_part = functools.partial(sorted, [1])": ["part"],
    "class C:\n  def __call__(self): ...\nbench_object = C()": ["object"],
    "def bench_n(n): ...\nbench_n.params = {'n': [1, 20]}": ["n[n=1]", "n[n=20]"],
    "def bench_b(n, s): ...\nbench_b.params = {'n': (1, 2), 's': ['x', None]}": [
        *("b[n=1,s=x]", "b[n=1,s=None]", "b[n=2,s=x]", "b[n=2,s=None]")
    ],
    "def bench_f(f): ...\nbench_f.params = {'f': [sorted, len]}": ["f[f=sorted]", "f[f=len]"],
    "def bench_d(d): ...\nbench_d.params = {'d': [[1], {2: 3}]}": ["d[d=0]", "d[d=1]"],
    "def bench_s(s): ...\nbench_s.params = {'s': ['a,b', 'c]=']}": ["s[s=a_b]", "s[s=c__]"],
    "def bench_t(s): ...\nbench_t.params = {'s': ['a,', 'a=']}": ["t[s=a_~0]", "t[s=a_~1]"],
    "def bench_u(s): ...\nbench_u.params = {'s': ['x' * 99]}": [f"u[s={'x' * 60}~0]"],
    "def bench_r(n): ...\nbench_r.params = {'n': range(2)}": ["r[n=0]", "r[n=1]"],
}
"""Parts of a file, and what is found in each."""


def test_finds_the_functions_of_a_file(start: Start) -> None:
    assert described(start("")) == []
    found = described(start("\n".join(FOUND)))
    assert [each["id"] for each in found] == list(itertools.chain(*FOUND.values()))


WRONG = [
    ("def bench_a(): yield", "bench_a is a generator: calling it would not run its body"),
    ("async def bench_a(): yield", "bench_a is a generator: calling it would not run its body"),
    ("def bench_(): ...", "a function is named bench_: add a name after it"),
    ("{}number = 0", "bench_a.number is 0: it must be a whole number >= 1"),
    ("{}number = '3'", "bench_a.number is '3': it must be a whole number >= 1"),
    ("{}number = True", "bench_a.number is True: it must be a whole number >= 1"),
    ("{}unit = 'sec'", "bench_a.unit is 'sec': it must be one of ns, us, ms, s"),
    ("{}unit = ['s']", "bench_a.unit is ['s']: it must be one of ns, us, ms, s"),
    ("{}parallel = 'no'", "bench_a.parallel is 'no': it must be True or False"),
    ("{}collect_each = 1", "bench_a.collect_each is 1: it must be True or False"),
    ("{}setup = 3", "bench_a.setup is a int: it must be a function"),
    ("{}setup_each = 3", "bench_a.setup_each is a int: it must be a function"),
    ("{}teardown = ''", "bench_a.teardown is a str: it must be a function"),
    (
        "def s(): yield\n{}setup = s",
        "bench_a.setup is a generator: calling it would not run its body",
    ),
    (
        "{}params = [1]",
        "bench_a.params is [1]: it must be a table of lists, such as {'n': [10, 1000]}",
    ),
    (
        "def bench_b(n): ...",
        (
            "bench_b takes n, and nothing sets it: write bench_b.params = {'n': [10, 1000]}, "
            "or return it from bench_b.setup"
        ),
    ),
    (
        "def bench_b(n, *, s, k=1): ...",
        (
            "bench_b takes n and s, and nothing sets them: write bench_b.params = "
            "{'n': [10, 1000], 's': [10, 1000]}"
        ),
    ),
    (
        "def bench_b(state, n): ...\nbench_b.setup = list",
        "bench_b takes n, and nothing sets it: write bench_b.params = {'n': [10, 1000]}",
    ),
    (
        "def bench_b(s, n): ...\nbench_b.setup, bench_b.params = lambda: 1, {{'n': [1]}}",
        "bench_b.params sets n, but bench_b.setup takes no n",
    ),
    ("{}params = {{'n': []}}", "bench_a.params['n'] must be a list with at least one value"),
    ("{}params = {{'n': 'ab'}}", "bench_a.params['n'] must be a list with at least one value"),
    ("{}params = {{'n': 5}}", "bench_a.params['n'] must be a list with at least one value"),
]


def test_says_what_is_wrong_with_each_function(start: Start) -> None:
    """And finds the others of its file all the same."""
    expected, parts = [], []
    for number, (source, error) in enumerate(WRONG):
        whole = source.format("def bench_a(): ...\nbench_a.")
        name = re.compile(r"(?<=bench_[ab])\b")
        parts.append(f"{name.sub(str(number), whole)}\ndef bench_fine{number}(): ...\n")
        expected.append(name.sub(str(number), error))
    hello = start("".join(parts)).ready(20)
    assert list(hello["faults"].values()) == expected
    assert [each["id"] for each in hello["benchmarks"]] == [f"fine{n}" for n in range(len(WRONG))]


MEANT = {
    "params": ("param", "Params"),
    "setup": ("set_up", "setup_function"),
    "teardown": ("tear_down",),
    "parallel": ("paralell",),
    "setup_each": ("setup_iteration",),
    "teardown_each": ("teardown_every_call",),
    "unit": ("units",),
    "number": ("numbr",),
    "data": ("datas",),
}
OTHER_TOOLS = {
    "warmup": (
        ": benchgate warms up by itself; `warmup` in [measure] sets how many samples it discards"
    ),
    "timeout": ": `timeout` in [[benchmark]] or in [measure] sets it",
}
THEIR_OWN = ("pytestmark", "cache_parameters", "retry", "step", "size", "_x")


def test_misspelled_attributes_are_refused(start: Start) -> None:
    said = {wrong: f"; did you mean {one!r}?" for one, each in MEANT.items() for wrong in each}
    said |= OTHER_TOOLS
    names = (*said, *THEIR_OWN)
    hello = start("".join(f"def bench_{n}(): ...\nbench_{n}.{n} = [1]\n" for n in names)).ready(20)
    assert hello["faults"] == {n: f"bench_{n}.{n} has no effect{why}" for n, why in said.items()}
    assert [each["id"] for each in hello["benchmarks"]] == list(THEIR_OWN)


def test_attributes_of_decorators_are_their_own_affair(start: Start) -> None:
    source = """
import functools
@functools.lru_cache(maxsize=None)
def bench_cached(): ...
@functools.singledispatch
def bench_dispatch(*args): ...
class Work:
    def __init__(self): self.param = self.warmup = 1
    def __call__(self): ...
bench_object = Work()
"""
    hello = start(source).ready(20)
    assert hello["faults"] == {}
    assert [each["id"] for each in hello["benchmarks"]] == ["cached", "dispatch", "object"]


def test_describes_a_function(start: Start) -> None:
    source = "import os\n\ndef bench_a(): ...\nbench_a.unit = 'us'\nbench_a.parallel = True\n"
    source += "from platform import node as bench_node\nfrom functools import wraps\n"
    source += "def d(f):\n  @wraps(f)\n  def g(): f()\n  return g\n@d\ndef bench_b(): ..."
    plain, elsewhere, below = described(start(source))
    assert plain["location"] == "benchmarks/bench_it.py:3"
    assert (plain["unit"], plain["parallel"]) == ("us", True)
    assert elsewhere["location"] is None
    assert below["location"] == "benchmarks/bench_it.py:12"


def test_the_workload_is_the_code_and_not_its_layout(start: Start) -> None:
    same = [
        "def bench_a():\n    return 1 + 1\n",
        "x = 1\n\ndef bench_a():\n  # why\n  return 1  +  1\n",
    ]
    others = [
        "async def bench_a():\n    return 1 + 1\n",
        "def bench_a():\n    return 1 + 2\n",
        "def bench_a():\n    return 1 + 1\nbench_a.number = 5\n",
        "def bench_a():\n    return 1 + 1\ndef s(): ...\nbench_a.setup = s\n",
        "def bench_a(n=1):\n    return 1 + 1\nbench_a.params = {'n': [1]}\n",
    ]
    # Their names differ, too: a name is no part of the workload.
    named = (text.replace("bench_a", f"bench_{n}") for n, text in enumerate([*same, *others]))
    found = [workload_of(each["parts"]) for each in described(start("".join(named)))]
    assert found[0] == found[1]
    assert len(set(found)) == len(found) - 1 == 6


# Steps


def test_a_launch_goes_through_all_steps(start: Start) -> None:
    worker = start("def bench_a(): return [0] * 1000\n")
    worker.ready(20)
    done = launch(worker, "a")
    assert done["loops"] > 1
    assert done["sample_ns"] >= TARGET_NS
    for wall_ns, cpu_ns in done["samples"]:
        assert wall_ns > 0
        assert cpu_ns > 0
    assert done["alloc_peak"] >= 8000
    assert done["alloc_blocks"] >= 1
    assert done["peak_rss"] > 2**20
    assert done["changed"] == []


def test_number_sets_the_calls_of_a_sample(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "log"
    worker = start(
        f"def bench_a():\n  with open({str(log)!r}, 'a') as f: f.write('x')\nbench_a.number = 7\n"
    )
    worker.ready(20)
    worker.allow(20)
    assert calibrated(worker, 10**12, worker.ask("open", "a")).loops == 7
    worker.ask("loops", 7)
    before = log.stat().st_size
    worker.sample()
    assert log.stat().st_size == before + 7


LOGGED = """
import gc
def log(*words):
    with open({log!r}, "a") as file:
        print(*words, file=file)
"""


@pytest.fixture
def logged(tmp_path: Path) -> Callable[[], list[str]]:
    def read() -> list[str]:
        return (tmp_path / "log").read_text().splitlines()

    return read


def with_log(tmp_path: Path, source: str) -> str:
    return LOGGED.format(log=str(tmp_path / "log")) + source


KINDS = list(itertools.product(("def", "async def"), repeat=3))
"""Of a function, its setup and its teardown."""


def test_setup_gives_the_first_argument(
    start: Start, tmp_path: Path, logged: Callable[[], list[str]]
) -> None:
    parts = [
        f"""
{function} bench_{i}(state, n): log("call", state, n)
{setup} prepare_{i}(n): return "made for %d" % n
{teardown} clean_{i}(state, n): log("clean", state, n)
bench_{i}.params = {{"n": [{i}]}}
bench_{i}.setup, bench_{i}.teardown = prepare_{i}, clean_{i}
bench_{i}.number = 1
"""
        for i, (function, setup, teardown) in enumerate(KINDS)
    ]
    worker = start(with_log(tmp_path, "".join(parts)))
    worker.ready(20)
    for i, kinds in enumerate(KINDS):
        (tmp_path / "log").write_text("")
        launch(worker, f"{i}[n={i}]")
        assert set(logged()[:-1]) == {f"call made for {i} {i}"}, kinds
        assert logged()[-1] == f"clean made for {i} {i}", kinds


def test_each_call_may_have_a_setup_and_a_teardown_of_its_own(
    start: Start, tmp_path: Path, logged: Callable[[], list[str]]
) -> None:
    parts = [
        f"""
{function} bench_{i}(values, n): log("call", values); values.append(0)
{setup} copied_{i}(values, n): log("set up"); return values * 2
{teardown} clean_{i}(values, n): log("clean", values)
bench_{i}.params = {{"n": [{i}]}}
bench_{i}.setup = lambda n: [n]
bench_{i}.setup_each, bench_{i}.teardown_each = copied_{i}, clean_{i}
bench_{i}.teardown = lambda values, n: log("end", values)
bench_{i}.number = 2
"""
        for i, (function, setup, teardown) in enumerate(KINDS)
    ]
    worker = start(with_log(tmp_path, "".join(parts)))
    worker.ready(20)
    for i, kinds in enumerate(KINDS):
        (tmp_path / "log").write_text("")
        assert launch(worker, f"{i}[n={i}]")["changed"] == [], kinds
        found = logged()
        each = ["set up", f"call [{i}, {i}]", f"clean [{i}, {i}, 0]"]
        assert found == each * (len(found) // 3) + [f"end [{i}]"], kinds
        assert len(found) > 6


@pytest.mark.parametrize("collects", [False, True])
def test_garbage_is_collected_before_each_call_if_asked(
    start: Start,
    tmp_path: Path,
    logged: Callable[[], list[str]],
    collects: bool,  # noqa: FBT001 - a parameter
) -> None:
    source = f"""
import gc, weakref
class Cycle: pass
def bench_a(kept):
    log(len(kept))
    one = Cycle()
    one.own = one
    kept.add(one)
bench_a.setup = weakref.WeakSet
bench_a.collect_each = {collects}
bench_a.number = 3
"""
    worker = start(with_log(tmp_path, source))
    worker.ready(20)
    worker.allow(20)
    assert worker.ask("open", "a")["times_each"] is collects
    worker.ask("begin")
    worker.ask("loops", 3)
    worker.sample()
    worker.sample()
    assert logged()[-6:] == (["0"] * 6 if collects else ["0", "1", "2", "3", "4", "5"])


def test_collecting_is_not_timed(start: Start) -> None:
    source = """
import gc, time
def bench_a(): ...
gc.callbacks.append(lambda phase, info: time.sleep(0.05) if phase == "stop" else None)
bench_a.collect_each = True
"""
    worker = start(source)
    worker.ready(20)
    worker.allow(20)
    assert calibrated(worker, TARGET_NS, worker.ask("open", "a")).beside_ns >= 50_000_000
    assert min(worker.sample()[0] for _ in range(5)) < 50_000_000


def test_what_surrounds_a_call_is_not_timed(start: Start) -> None:
    source = """
import time
def bench_a(state): ...
def prepare(): time.sleep(0.05); return 1
bench_a.setup_each = prepare
bench_a.teardown_each = lambda state: time.sleep(0.05)
"""
    worker = start(source)
    worker.ready(20)
    worker.allow(20)
    opened = worker.ask("open", "a")
    assert opened["times_each"]
    found = calibrated(worker, TARGET_NS, opened)
    assert found.loops == 1, "a sample does not take long only because of its setups"
    assert found.beside_ns >= 100_000_000
    assert min(found.sample_ns, *(worker.sample()[0] for _ in range(5))) < 50_000_000


def test_without_a_result_of_its_setup_a_call_gets_the_state(
    start: Start, tmp_path: Path, logged: Callable[[], list[str]]
) -> None:
    source = """
def bench_a(state): log(len(state)); state.append(1)
bench_a.setup, bench_a.setup_each = list, lambda state: state.clear()
"""
    worker = start(with_log(tmp_path, source))
    worker.ready(20)
    launch(worker, "a")
    assert set(logged()) == {"0"}


def test_a_call_that_fails_is_torn_down(
    start: Start, tmp_path: Path, logged: Callable[[], list[str]]
) -> None:
    source = """
def bench_a(): raise ValueError
bench_a.teardown_each = lambda: log("clean")
"""
    worker = start(with_log(tmp_path, source))
    worker.ready(20)
    assert "ValueError" in error_of(lambda: launch(worker, "a"))
    assert logged() == ["clean"]


def test_allocations_of_its_setup_are_not_those_of_a_call(start: Start) -> None:
    source = """
def bench_a(values): return values.pop()
bench_a.setup_each = lambda: [bytes(1_000_000)]
"""
    worker = start(source)
    worker.ready(20)
    worker.allow(20)
    worker.ask("open", "a")
    assert worker.ask("allocations")["alloc_peak"] < 100_000


def test_a_setup_that_gives_none_adds_no_argument(start: Start) -> None:
    worker = start("def bench_a(): ...\nbench_a.setup = bench_a.teardown = lambda: None\n")
    worker.ready(20)
    assert launch(worker, "a")["samples"]


def test_an_event_loop_is_ended_with_what_still_waits_in_it(
    start: Start, tmp_path: Path, logged: Callable[[], list[str]]
) -> None:
    source = """
import asyncio
def prepare():
    asyncio.get_event_loop()  # there is one, though nothing runs in it
async def wait():
    try: await asyncio.sleep(100)
    finally: log("cancelled")
async def bench_a():
    asyncio.ensure_future(wait())
    await asyncio.sleep(0)
bench_a.number = 1
bench_a.setup = prepare
def bench_b(): ...
"""
    worker = start(with_log(tmp_path, source))
    worker.ready(20)
    assert launch(worker, "a")["changed"] == []
    assert set(logged()) == {"cancelled"}
    launch(worker, "b")


@pytest.mark.parametrize(("before", "after"), [("enable", "True"), ("disable", "False")])
def test_gc_is_off_in_samples_and_then_what_it_was(
    start: Start, tmp_path: Path, logged: Callable[[], list[str]], before: str, after: str
) -> None:
    source = f"""
gc.{before}()
def bench_a(): log(gc.isenabled())
bench_a.teardown = lambda: log(gc.isenabled())
def bench_bad(): log(gc.isenabled()); gc.enable(); raise ValueError
bench_bad.teardown = bench_a.teardown
"""
    worker = start(with_log(tmp_path, source))
    worker.ready(20)
    worker.allow(20)
    worker.ask("open", "a")
    worker.ask("begin")
    worker.sample()
    worker.ask("end")
    worker.sample()
    worker.ask("close")
    assert logged() == ["False", after, after]
    worker.ask("open", "bad")
    worker.ask("begin")
    assert "ValueError" in error_of(worker.sample)
    worker.ask("close")
    assert logged()[3:] == ["False", after]


def test_garbage_of_the_setup_is_collected_before_the_samples(
    start: Start, tmp_path: Path, logged: Callable[[], list[str]]
) -> None:
    source = """
class Cycle:
    def __init__(self): self.me = self
    def __del__(self): log("collected")
def prepare(): Cycle()
def bench_a(): log("called")
bench_a.setup, bench_a.number = prepare, 1
"""
    worker = start(with_log(tmp_path, source))
    worker.ready(20)
    worker.allow(20)
    worker.ask("open", "a")
    worker.ask("begin")
    worker.sample()
    assert logged() == ["collected", "called"]


def test_what_the_user_replaces_does_not_change_the_measuring(start: Start) -> None:
    source = """
import gc, itertools, json, time
def no(*arguments, **more): raise ValueError("replaced")
time.perf_counter_ns = time.process_time_ns = lambda: 5
itertools.repeat = lambda *arguments: []
gc.collect = gc.enable = gc.disable = gc.isenabled = gc.get_threshold = no
json.dumps = json.loads = no
CALLS = []
def bench_a(): CALLS.append(1)
def check():
    if len(CALLS) != 4: raise ValueError(len(CALLS))
bench_a.teardown = check
"""
    worker = start(source)
    worker.ready(20)
    assert worker.timer.error_ns > 0
    worker.allow(20)
    worker.ask("open", "a")
    worker.ask("loops", 4)
    worker.ask("begin")
    assert worker.sample()[0] > 0
    worker.ask("peak")
    worker.ask("end")
    assert worker.ask("close")["changed"] == []


def test_allocations_are_the_same_again(start: Start) -> None:
    source = """
import asyncio
def bench_a(): return [str(i) for i in range(100)]
async def bench_b(): await asyncio.sleep(0); return [str(i) for i in range(100)]
"""
    for name in "ab":
        found = []
        for _ in range(3):
            worker = start(source)
            worker.ready(20)
            done = launch(worker, name)
            found.append(done["alloc_blocks"])
        assert len(set(found)) == 1
        assert found[0] >= 100


def test_memory_is_taken_before_the_users_code_is_imported(start: Start) -> None:
    source = """
import sys
def bench_a(): raise Exception(COUNTS)
frame = sys._getframe()
while frame.f_code.co_name != "serve":
    frame = frame.f_back
taken = frame.f_locals["self"].taken
COUNTS = [[len(row), {sys.getsizeof(o) // 16 for o in row}] for row in taken[:32]]
sizes = [len(chunk) for chunk in taken[32:]]
COUNTS = [taken and len(taken), COUNTS[2], COUNTS[31], sizes[:2], sum(sizes), max(sizes)]
"""
    layout = Layout(1, 100, tuple(range(32)), (512, 640), 4 * 2**20 + 4096)
    worker = start(source, layout=layout)
    worker.ready(20)
    with pytest.raises(WorkerFailedError) as caught:
        launch(worker, "a")
    # Of the gap, the header of each of 32 parts takes a page; one part takes what is left over.
    gap, part = 4 * 2**20 + 4096 - 32 * 4096, 4 * 2**20 // 32
    counted = f"[512, 640], {512 + 640 + gap}, {part}]"
    assert f"[66, [2, {{3}}], [31, {{32}}], {counted}" in caught.value.error


# Failures


@pytest.mark.parametrize(
    ("body", "line", "tail"),
    [
        ("os._exit(7)", "its process exited with code 7", "said before"),
        ("os._exit(0)", "its process exited with code 0", "said before"),
        ("sys.exit(4)", "SystemExit: 4", "said before"),
        ("raise SystemExit", "SystemExit", "in bench_a"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", "in bench_a"),
        ("1 / 0", "ZeroDivisionError: division by zero", "in bench_a"),
        ("ctypes.string_at(0)", "its process was killed by SIGSEGV", "in bench_a"),
        ("os.abort()", "its process was killed by SIGABRT", "in bench_a"),
        (
            "os.kill(os.getpid(), 9)",
            "its process was killed by SIGKILL, possibly because it ran out of memory",
            "said before",
        ),
        pytest.param(
            *("os.kill(os.getpid(), 40)", "its process was killed by signal 40", "said before"),
            marks=ON_LINUX,
        ),
        ("os.closerange(3, 99)", "its process exited with code 1", "OSError"),
        ("scribble()", 'it wrote to the pipe that only benchgate may use: "12 nonsense"', ""),
        (
            "os.fork()",
            "it forked, and the child process returned too: end the child with os._exit",
            "said before",
        ),
        ("raise ValueError('x' * 10**6)", f"ValueError: {'x' * 488}", "xxx"),
        ("raise ValueError('\\udc80')", "ValueError: ?", "in bench_a"),
        ("noted()", "ValueError: it", "a note" if sys.version_info >= (3, 11) else ""),
        ("chained()", "ValueError: outer", "KeyError: 'inner'"),
        ("sys.stdout.close(); print('more')", "ValueError: I/O operation on closed file.", ""),
    ],
)
def test_a_failure_is_described(start: Start, body: str, line: str, tail: str) -> None:
    source = f"""
import ctypes, os, sys
def noted():
    error = ValueError("it")
    if hasattr(error, "add_note"): error.add_note("a note")
    raise error
def chained():
    try: {{}}["inner"]
    except KeyError as error: raise ValueError("outer") from error
def scribble():
    for descriptor in range(3, 99):
        try: os.write(descriptor, b"12 nonsense\\n")
        except OSError: pass
def bench_a():
    print("said before")
    {body}
bench_a.number = 1
"""
    worker = start(source)
    worker.ready(20)
    worker.allow(20)
    worker.ask("open", "a")

    def until_it_fails() -> None:
        for _ in range(50):  # on a busy machine, a forked child may return late
            worker.sample()

    error = error_of(until_it_fails)
    assert error.splitlines()[0] == line
    assert tail in error
    assert len(error) < 20_000
    if "in bench_a" in error and "Fatal Python error" not in error:
        assert "/_worker/" not in error
    worker.close()


WRITE = """
import os
def write(data):
    for descriptor in range(3, 99):
        try: os.write(descriptor, data)
        except OSError: pass
"""


@pytest.mark.parametrize(
    "line", [b"5 5\\n", b"5 5", b'{"benchmarks": []}\\n', b"0" * 16 + b"5 5\\n"]
)
@pytest.mark.parametrize("where", ["bench_a", "bench_a.setup", "bench_a.teardown", "import"])
def test_what_a_benchmark_writes_everywhere_is_its_error(
    start: Start, line: bytes, where: str
) -> None:
    text = line.decode()
    writing = f"write(b'{text}')" if where == "import" else f"{where} = lambda: write(b'{text}')"
    worker = start(f"{WRITE}def bench_a(): pass\n{writing}\n")

    def use() -> None:
        described(worker)
        launch(worker, "a")

    shown = json.dumps(text.partition("\\n")[0])
    found = error_of(use).splitlines()[0]
    problem = "it wrote to the pipe that only benchgate may use: "
    assert found.startswith(f"{problem}{shown}"[:-1])


@pytest.mark.parametrize(
    "line",
    [
        *("nonsense", "[1]", "{}", "1" * 5000 + " 1", f"{2**80} 1", "[" * 9999, '{"error": 3}'),
        *('{"loops": 0, "sample_ns": 1, "first_ns": 1}', '{"loops": 1e999, "sample_ns": 1}'),
    ],
)
@pytest.mark.parametrize("call", [1, 20])
def test_what_has_not_the_form_of_an_answer_is_the_benchmarks_failure(
    start: Start, line: str, call: int
) -> None:
    worker = start(f"""{WRITE}
calls = 0
def bench_a():
    global calls
    calls += 1
    if calls == {call}: write({line.encode()!r} + b"\\n")
bench_a.number = 10
""")
    described(worker)
    error = error_of(lambda: launch(worker, "a"))
    assert error.startswith("it wrote to the pipe that only benchgate may use: ")


def test_the_users_code_sees_nothing_of_the_channel(start: Start) -> None:
    worker = start("""
import json, os, subprocess, sys
import __main__
def bench_a():
    listed = subprocess.run(["ls", "/dev/fd"], close_fds=False, stdout=subprocess.PIPE).stdout
    raise Exception(json.dumps([
        sys.argv[1:], os.read(0, 9).decode(), len(listed.split()) <= 4,
        [name for name in vars(__main__) if not name.startswith("__")]]))
bench_a.number = 1
""")
    described(worker)
    error = error_of(lambda: launch(worker, "a"))
    assert error.splitlines()[0] == 'Exception: [[], "", true, []]'


def test_a_program_that_closes_the_channel_is_told(start: Start) -> None:
    closing = "import os, subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    worker = start("", interpreter=[sys.executable, "-c", closing, sys.executable])
    assert error_of(lambda: worker.ready(20)) == (
        "its process exited with code 1\n"
        "a program that starts Python closed benchgate's pipe: name Python itself"
    )


def test_a_hanging_function_is_ended_and_shown(
    start: Start, skip_time: Callable[[float], str]
) -> None:
    hang = f"{skip_time(100)}; time.sleep(999)"
    worker = start(f"import time\ndef bench_a():\n  print('said')\n  {hang}\n")
    worker.ready(20)
    worker.allow(20)
    worker.ask("open", "a")
    error = error_of(worker.sample)
    assert error == (
        f"{TIMED_OUT}\n"
        "said\n"
        "Traceback (most recent call first):\n"
        '  File "benchmarks/bench_it.py", line 4 in bench_a'
    )


def test_a_crash_shows_only_the_users_frames(start: Start) -> None:
    worker = start("import ctypes\ndef crash(): ctypes.string_at(0)\ndef bench_a(): crash()\n")
    worker.ready(20)
    worker.allow(20)
    worker.ask("open", "a")
    lines = error_of(worker.sample).splitlines()
    assert lines[:2] == [
        "its process was killed by SIGSEGV",
        "Fatal Python error: Segmentation fault",
    ]
    assert lines[-1] == '  File "benchmarks/bench_it.py", line 3 in bench_a'
    assert not any("/_worker/" in line for line in lines)


def test_an_error_is_said_once(start: Start) -> None:
    worker = start("def bench_a(): int('x')\ndef bench_b(): ...\nbench_b.params = {'n': [1]}\n")
    assert worker.ready(20)["faults"] == {"b": "bench_b.params sets n, but bench_b takes no n"}
    worker.allow(20)
    worker.ask("open", "a")
    error = error_of(worker.sample)
    assert error.splitlines()[:3] == [
        "ValueError: invalid literal for int() with base 10: 'x'",
        "Traceback (most recent call last):",
        '  File "benchmarks/bench_it.py", line 1, in bench_a',
    ]
    assert error.count("ValueError") == 1


# As `uv run python` does: it waits for Python, and ends as a shell does.
WRAPPER = ("/bin/sh", "-c", '"$0" "$@"; exit $?', sys.executable)


@pytest.mark.parametrize("place", ["in bench_a", "on import"])
def test_signals_reach_python_and_not_what_starts_it(
    start: Start, skip_time: Callable[[float], str], place: str
) -> None:
    hang = f"import time\ndef hang():\n  {skip_time(100)}; time.sleep(999)\n"
    source = hang + ("hang()\n" if place == "on import" else "def bench_a():\n  hang()\n")
    worker = start(source, interpreter=WRAPPER)
    if place == "in bench_a":
        worker.ready(20)
        worker.allow(20)
        worker.ask("open", "a")
        error = error_of(worker.sample)
    else:
        error = error_of(lambda: worker.ready(20))
    assert error.startswith("timed out")
    assert 'bench_it.py", line 3 in hang' in error


def test_how_python_ended_is_told_through_what_started_it(start: Start) -> None:
    worker = start("import ctypes\ndef bench_a():\n  ctypes.string_at(0)\n", interpreter=WRAPPER)
    worker.ready(20)
    worker.allow(20)
    worker.ask("open", "a")
    error = error_of(worker.sample)
    assert error.startswith("its process was killed by SIGSEGV\n")


def test_a_file_that_cannot_be_imported_says_where(
    start: Start, skip_time: Callable[[float], str]
) -> None:
    error = error_of(lambda: start("x = 1\ndef bench_a(:\n").ready(20))
    assert error.startswith("SyntaxError: ")
    assert 'bench_it.py", line 2' in error
    assert "importlib" not in error
    assert error_of(lambda: start("print('so far')\nimport os; os._exit(3)").ready(20)) == (
        "its process exited with code 3\nso far"
    )
    error = error_of(lambda: start(f"while {skip_time(100)}: ...").ready(20))
    assert error.startswith(f"{TIMED_OUT}\n")
    assert error.endswith('  File "benchmarks/bench_it.py", line 1 in <module>')


def test_megabytes_of_output_are_no_failure(start: Start) -> None:
    source = """
def bench_a(): print("x" * 1_000_000)
bench_a.number = 20
def bench_b(): print("y" * 1_000_000); print("the end"); raise ValueError
"""
    worker = start(source)
    worker.ready(20)
    assert launch(worker, "a")["samples"]
    worker.forget_output()
    worker.allow(20)
    worker.ask("open", "b")
    error = error_of(worker.sample)
    assert error.endswith("y\nthe end")
    assert "\n... y" in error
    assert "x" * 100 not in error


def test_output_without_end_is_a_failure(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "OUTPUT_LIMIT_BYTES", 2**20)
    worker = start("def bench_a():\n  while True: print('again')\n")
    worker.ready(20)
    worker.allow(20)
    worker.ask("open", "a")
    error = error_of(worker.sample)
    problem, cut, *lines, last = error.splitlines()
    assert problem == "it printed more than 1 MB"
    assert cut.startswith("... ")
    assert set(lines) == {"again"}
    # The file may end within a line, because it is still being written to.
    assert "again".startswith(last)


@pytest.mark.parametrize(
    ("body", "remedy"),
    [
        ("def bench_a(): return coro()", "it returns a coroutine that nobody awaits: define it"),
        ("def bench_a(): ...\nbench_a.setup = lambda: coro()", "setup returns a coroutine that"),
    ],
)
def test_a_coroutine_that_nobody_awaits_is_refused(start: Start, body: str, remedy: str) -> None:
    worker = start(f"async def coro(): ...\n{body}")
    worker.ready(20)
    assert error_of(lambda: launch(worker, "a")).startswith(remedy)


def test_a_decorator_decides_whether_a_function_is_async(start: Start) -> None:
    source = """
import asyncio, functools
def in_a_loop(f):
    @functools.wraps(f)
    def run(): return asyncio.run(f())
    return run
@in_a_loop
async def bench_a(): ...
bench_a.number = 1
"""
    worker = start(source)
    worker.ready(20)
    assert launch(worker, "a")["samples"]


def test_an_interpreter_that_is_not_there(start: Start) -> None:
    error = error_of(lambda: start("", interpreter=["/no/such/python"]))
    assert error == "cannot start the interpreter /no/such/python: No such file or directory"


def test_an_interpreter_that_no_build_creates(start: Start, tmp_path: Path) -> None:
    interpreter = [str(tmp_path / "env" / "bin" / "python")]
    error = error_of(lambda: start("", interpreter=interpreter))
    assert error == (
        "cannot start the interpreter {env}/bin/python: no command of [build] creates {env}: add "
        'some, such as command = ["python3 -m venv {env}", "{env}/bin/pip install ."]'
    )


# Whose modules


def test_the_users_modules_keep_their_names(start: Start) -> None:
    names = ["json", "server", "origins", "benchgate_worker", "session", "worker"]
    source = "import sys\n" + "".join(
        f"import {name}; assert {name}.MINE, {name}\n" for name in names
    )
    for folder in ("benchmarks", "src"):
        files = {f"{folder}/{name}.py": f"MINE = {folder!r}\n" for name in names[:3]}
        files |= {f"{folder}/{name}/__init__.py": f"MINE = {folder!r}\n" for name in names[3:]}
        worker = start(source + "def bench_a(): ...\n", files=files, path=["src"])
        worker.ready(20)
        assert launch(worker, "a")["samples"]
        for name in files:
            (worker.arm.root / name).unlink()


LATE = (
    *("asyncio", "difflib", "inspect", "linecache", "resource", "textwrap"),
    *("tokenize", "traceback", "tracemalloc"),
)
SAME_NAMES = f"""
import sys, types
NAMES = {LATE}
"""
IMPORTED = "assert all(__import__(name).MINE for name in NAMES)"
REPLACED = """
for name in (*NAMES, "time", "re", "select", "types"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].MINE = True
"""
NEEDS_THE_STANDARD_LIBRARY = f"""
def make():
    def bench(): return
    return bench
bench_made = make()
bench_made.cost = 1
async def bench_async(): return
def bench_raises(): raise ValueError("as it should")
def bench_users(): {IMPORTED}
"""


@pytest.mark.parametrize("version", ["3.8", "3.13", "3.14"])
@pytest.mark.parametrize(
    "change",
    [
        "",
        IMPORTED,
        REPLACED,
    ],
    ids=["not imported", "imported", "replaced"],
)
def test_modules_of_the_user_are_not_mistaken_for_the_standard_library(
    start: Start, version: str, change: str
) -> None:
    files = {f"src/{name}.py": "MINE = True\n" for name in LATE}
    source = f"{SAME_NAMES}{change}\n{NEEDS_THE_STANDARD_LIBRARY}"
    interpreter = [find_interpreter(version)]
    worker = start(source, files=files, path=["src"], interpreter=interpreter)
    hello = worker.ready(20)
    assert hello["faults"] == {}
    made = hello["benchmarks"][0]
    assert made["parts"]["its code"] != digest("")
    for name in ("made", "async", "users"):
        assert launch(worker, name)["samples"]
    worker.ask("open", "raises")
    error = error_of(worker.sample)
    assert error.startswith("ValueError: as it should\nTraceback ")
    assert 'bench_it.py", line ' in error


def test_an_empty_search_path_hides_nothing(start: Start) -> None:
    error = error_of(lambda: start("import sys\nsys.path.clear()\nimport toy\n").ready(20))
    assert error.startswith(
        f"ModuleNotFoundError: No module named 'toy'. Install it for {sys.executable}, or let "
        "[build] install it into {env}\nTraceback "
    )
    assert 'bench_it.py", line 3' in error


def test_the_user_gets_the_modules_that_the_worker_uses(start: Start) -> None:
    source = """
async def bench_a():
    import asyncio
    assert asyncio.get_running_loop() is asyncio.get_event_loop_policy().get_event_loop()
"""
    worker = start(source)
    worker.ready(20)
    assert launch(worker, "a")["samples"]


def test_no_cache_of_the_user_runs_in_place_of_the_worker(start: Start, tmp_path: Path) -> None:
    ours = PROGRAM.with_name("failures.py")
    theirs = tmp_path / "theirs.py"
    theirs.write_text("raise SystemExit('theirs')\n")
    caches = tmp_path / "caches"
    python = [sys.executable, "-X", f"pycache_prefix={caches}"]
    script = (
        "import importlib.util, py_compile, sys\n"
        "theirs, ours = sys.argv[1:]\n"
        "cache = importlib.util.cache_from_source(ours)\n"
        "mode = py_compile.PycInvalidationMode.UNCHECKED_HASH\n"
        "py_compile.compile(theirs, cache, invalidation_mode=mode)\n"
    )
    subprocess.run([*python, "-c", script, theirs, ours], check=True)
    source = "import sys\ndef bench_a(): ...\nprint(sys.pycache_prefix)\nimport helper\n"
    worker = start(source, files={"src/helper.py": ""}, path=["src"], interpreter=python)
    assert [benchmark["id"] for benchmark in described(worker)] == ["a"]
    assert worker.tail() == str(caches)
    assert list(caches.rglob("helper.*.pyc"))


def test_a_function_imports_what_its_file_could(
    start: Start, tmp_path: Path, logged: Callable[[], list[str]]
) -> None:
    source = """
import os, subprocess, sys, helper
def bench_a():
    import late
    log(helper.NAME, late.NAME, os.environ["PYTHONPATH"] == os.pathsep.join(sys.path[1:3]))
    subprocess.run([sys.executable, "-c", "import late; print(late.NAME)"], check=True)
bench_a.number = 1
"""
    files = {
        "benchmarks/helper.py": "NAME = 'helper'\n",
        "src/late.py": "NAME = 'late'\n",
        "other/x.py": "",
    }
    worker = start(with_log(tmp_path, source), files=files, path=["src", "other"])
    worker.ready(20)
    launch(worker, "a")
    assert set(logged()) == {"helper late True"}


def test_code_of_a_forbidden_tree_is_refused(start: Start, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "theirs.py").write_text("")
    inherited = f"import sys; sys.path.append({str(checkout)!r})\n"
    worker = start(f"{inherited}import theirs\ndef bench_a(): ...", forbidden=[checkout])
    error = error_of(lambda: worker.ready(20))
    assert error.startswith(f"the head imported theirs from {checkout / 'theirs.py'}, not")
    assert "An editable install is in the way" in error
    worker = start(f"{inherited}def bench_a(): import theirs", forbidden=[checkout])
    worker.ready(20)
    assert "imported theirs from" in error_of(lambda: launch(worker, "a"))
    link = tmp_path / "link"
    link.symlink_to(checkout)
    worker = start(f"{inherited}import theirs\ndef bench_a(): ...", forbidden=[link])
    assert "imported theirs from" in error_of(lambda: worker.ready(20))


def test_a_virtual_environment_inside_of_a_forbidden_tree_is_fine(
    start: Start, tmp_path: Path
) -> None:
    checkout = tmp_path / "checkout"
    venv = checkout / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (site,) = venv.glob("lib/*/site-packages")
    (site / "installed.py").write_text("")
    (checkout / "theirs.py").write_text("")
    interpreter = [str(venv / "bin" / "python")]
    source = "import installed\ndef bench_a(): ...\n"
    worker = start(source, forbidden=[checkout], interpreter=interpreter)
    assert len(described(worker)) == 1
    # What `pip install --editable` leaves behind.
    (site / "theirs.pth").write_text(f"{checkout}\n")
    worker = start(f"{source}import theirs\n", forbidden=[checkout], interpreter=interpreter)
    assert "imported theirs from" in error_of(lambda: worker.ready(20))


def test_a_forbidden_tree_inside_of_the_interpreters_folder_is_refused(
    start: Start, tmp_path: Path
) -> None:
    prefix = tmp_path / "usr"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", prefix], check=True)
    checkout = prefix / "src" / "app"
    checkout.mkdir(parents=True)
    (checkout / "theirs.py").write_text("")
    source = f"import sys; sys.path.append({str(checkout)!r})\nimport theirs\n"
    worker = start(source, forbidden=[checkout], interpreter=[str(prefix / "bin" / "python")])
    assert "imported theirs from" in error_of(lambda: worker.ready(20))


# What is left


def living_members(group: int) -> list[str]:
    """Processes of a group, without those that only wait to be reaped."""
    command = ["ps", "-e", "-ww", "-o", "pgid=,stat=,args="]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in table.splitlines()]
    return [row[-1] for row in rows if row[0] == str(group) and not row[1].startswith("Z")]


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("pass", []),
        ("os.chdir('/')", ["folder"]),
        ("os.environ['X'] = 'y'", ["environment"]),
        ("sys.stdout = open(os.devnull, 'w')", ["output"]),
        ("sys.stderr.close()", ["output"]),
        ("os.dup2(os.open(os.devnull, os.O_WRONLY), 1)", ["output"]),
        ("gc.disable()", ["gc"]),
        ("gc.set_threshold(5)", ["gc"]),
        ("threading.Thread(target=time.sleep, args=(99,)).start()", ["threads"]),
        pytest.param("subprocess.Popen(['sleep', '99'])", ["children"], marks=ON_LINUX),
        pytest.param("os.fork() or time.sleep(99)", ["children"], marks=ON_LINUX),
        ("subprocess.run('true')", []),
    ],
)
def test_tells_what_a_benchmark_left_changed(
    start: Start,
    eventually: Callable[[Callable[[], bool]], bool],
    body: str,
    changed: list[str],
) -> None:
    # Done in the teardown, once, because `end` puts the garbage collector right.
    worker = start(
        "import gc, os, subprocess, sys, threading, time\n"
        f"def bench_a(): ...\ndef clean(): {body}\nbench_a.teardown = clean\n"
    )
    worker.ready(20)
    assert launch(worker, "a")["changed"] == changed
    group = worker._process.pid  # noqa: SLF001 - to look whether it has ended
    worker.close()
    assert eventually(lambda: not living_members(group))


@pytest.mark.parametrize(
    ("body", "beside"),
    [
        ("sum(range(10_000))", []),
        (
            "thread = Thread(target=sum, args=[range(100_000)]); thread.start(); thread.join()",
            ["threads"],
        ),
        ("subprocess.run([sys.executable, '-S', '-c', 'pass'], check=True)", ["processes"]),
    ],
)
def test_tells_what_worked_beside_a_benchmark(start: Start, body: str, beside: list[str]) -> None:
    imports = "import subprocess, sys\nfrom threading import Thread\n"
    worker = start(f"{imports}def bench_a(): {body}\nbench_a.number = 1\n")
    described(worker)
    assert launch(worker, "a", samples=20)["beside"] == beside


def test_ends_in_order(start: Start, tmp_path: Path, logged: Callable[[], list[str]]) -> None:
    source = """
import atexit, threading, time
atexit.register(log, "exit handler")
threading.Thread(target=time.sleep, args=(999,)).start()
def bench_a(): raise ValueError
bench_a.teardown = lambda: log("teardown")
"""
    worker = start(with_log(tmp_path, source))
    worker.ready(20)
    worker.allow(20)
    worker.ask("open", "a")
    assert "ValueError" in error_of(worker.sample)
    worker.close()
    assert logged() == ["teardown", "exit handler"]


@pytest.mark.parametrize(
    "left",
    [
        "atexit.register(time.sleep, 999)",
        "atexit.register(os._exit, 3)",
        "bench_a.teardown = lambda: time.sleep(999)",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGABRT, print)",
    ],
)
def test_an_end_that_hangs_is_cut_short(
    start: Start, monkeypatch: pytest.MonkeyPatch, alive: Callable[[int], bool], left: str
) -> None:
    monkeypatch.setattr(worker_module, "_END_WAIT_S", 0.2)
    monkeypatch.setattr(worker_module, "_TRACE_WAIT_S", 0.2)
    worker = start(f"import atexit, os, signal, time\ndef bench_a(): ...\n{left}\n")
    worker.ready(20)
    worker.allow(20)
    worker.ask("open", "a")
    worker.close()
    assert not alive(worker._process.pid)  # noqa: SLF001 - to look whether it has ended


def test_nothing_is_left_of_many_workers(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    descriptors = Path("/dev/fd")

    def work(source: str) -> None:
        worker = start(source)
        try:
            worker.ready(20)
            launch(worker, "a")
        except WorkerFailedError:
            pass
        worker.close()

    sources = [
        "def bench_a(): print('x')",
        "import os\ndef bench_a(): os._exit(1)",
        "def bench_a(): raise ValueError",
        "raise ValueError",
        "import os; os._exit(1)",
    ]
    for source in sources:
        work(source)
    before = len(list(descriptors.iterdir()))
    for source in sources * 4:
        work(source)
    error_of(lambda: start("", interpreter=["/no/such/python"]))
    assert len(list(descriptors.iterdir())) == before
    assert list(scratch.iterdir()) == []


# Interpreters


EVERYTHING = """
import asyncio, os, sys
def bench_plain(): sum(range(100))
def bench_params(state, n): state.append(n)
bench_params.params = {"n": [1, 2]}
bench_params.setup = lambda n: []
bench_params.teardown = lambda state, n: state.clear()
bench_params.unit = "us"
bench_params.setup_each = lambda state, n: list(state)
async def bench_async(lock):
    async with lock: await asyncio.sleep(0)
async def make(): return asyncio.Lock()
async def clean(lock): await asyncio.sleep(0)
bench_async.setup, bench_async.teardown = make, clean
def bench_fails(): raise ValueError("as it should")
bench_fails.number = 1
"""


@pytest.mark.parametrize("version", [f"3.{minor}" for minor in range(8, 14)])
@pytest.mark.parametrize("options", [(), ("-S", "-B"), ("-I",)], ids=["plain", "-S -B", "-I"])
def test_runs_under_every_supported_interpreter(
    start: Start, version: str, options: tuple[str, ...]
) -> None:
    interpreter = find_interpreter(version)
    worker = start(EVERYTHING, interpreter=[interpreter, *options])
    hello = worker.ready(20)
    assert hello["versions"]["cpython"].startswith(f"{version}.")
    assert worker.timer.pairs == 1000
    assert 0 < worker.timer.error_ns < 10**6
    assert [benchmark["id"] for benchmark in hello["benchmarks"]] == [
        *("plain", "params[n=1]", "params[n=2]", "async", "fails")
    ]
    for name in ("plain", "params[n=1]", "async"):
        done = launch(worker, name)
        assert done["changed"] == []
        assert all(wall_ns > 0 for wall_ns, _ in done["samples"])
    assert error_of(lambda: launch(worker, "fails")).startswith("ValueError: as it should\n")


def test_a_clock_that_runs_backwards_is_refused(start: Start, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        f"import itertools, time\ntime.perf_counter_ns = itertools.count(0, -3).__next__\n{TAKEN}"
    )
    worker = start("def bench_x(): ...\n", variables={"PYTHONPATH": str(tmp_path)})
    assert error_of(lambda: worker.ready(20)) == "the clock ran backwards, by 3 ns"


REPLACED = "import itertools, time\ntime.perf_counter_ns = itertools.count(0, 5).__next__\n"


def test_what_runs_before_the_worker_does_not_replace_its_clocks(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(REPLACED)
    worker = start(
        "import time\ndef bench_x(): assert time.perf_counter_ns() % 5 == 0\n",
        variables={"PYTHONPATH": str(tmp_path)},
    )
    worker.ready(20)
    worker.allow(20)
    worker.ask("open", "x")
    worker.ask("loops", 1000)
    worker.ask("begin")
    assert worker.sample()[0] > 10_000, "a thousand calls take longer than 5 ns"


def test_a_clock_that_is_not_pythons_own_is_refused(start: Start, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "from importlib.machinery import BuiltinImporter\n"
        "known = BuiltinImporter.exec_module\n"
        "def replace(module):\n"
        "    known(module)\n"
        "    if module.__name__ == 'time': module.perf_counter_ns = lambda: 5\n"
        "BuiltinImporter.exec_module = staticmethod(replace)\n"
    )
    worker = start("def bench_x(): ...\n", variables={"PYTHONPATH": str(tmp_path)})
    error = error_of(lambda: worker.ready(20))
    assert error == f"the clocks of {sys.executable} are replaced: they are not Python's own"


def test_an_interpreter_that_is_too_old_is_named(start: Start) -> None:
    interpreter = find_interpreter("3.7")
    error = error_of(lambda: start("", interpreter=[interpreter]).ready(20))
    assert error.startswith(f"{interpreter} is Python 3.7.")
    assert error.endswith(": benchgate needs 3.8 or newer")


def test_modules_of_the_standard_library_alone(start: Start) -> None:
    """In the user's process there is nothing of benchgate, and little of anything."""
    source = """
import sys
names = {name.partition(".")[0] for name in sys.modules} - {"bench_it", "__main__"}
allowed = getattr(sys, "stdlib_module_names", names)
print(sorted(names - set(allowed)))
def bench_a(): ...
raise ValueError
"""
    error = error_of(lambda: start(source, interpreter=[sys.executable, "-S"]).ready(20))
    assert error.endswith("\n[]")
