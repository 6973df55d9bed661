"""Observes calls: which functions run, from where and how often, and how long they take.

Both observe what runs between two readings of their clocks: `OpenBenchmark.sample` reads its clock
when a call begins, and when it has ended.
"""

from __future__ import annotations

import sys
from sys import setprofile

from .clocks import perf_counter_ns
from .failures import is_own
from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    # A code object, or the module and name of a function that is not written in Python.
    Key = Any


# What a compiler calls from one place may have many more.
MOST_NODES = 5_000
OWN_CALL = "sys", "setprofile"
OWN_CALL_IN_THREADS = "sys", "_setprofileallthreads"
# Flags of generators, coroutines and asynchronous generators, which go on after each `yield`.
METHOD = type(str.join)
GOES_ON = 0x20 | 0x80 | 0x200


class CallNode:
    """A function in the place that it is called from.

    Attributes:
        path: the functions that it is called from, and itself, each with its node.
        resumptions: how often it went on, if it is a generator.
    """

    __slots__ = ("calls", "children", "key", "path", "resumptions")

    def __init__(self, key: Key, path: dict[Key, CallNode]) -> None:
        self.key = key
        self.path = {**path, key: self}
        self.children: dict[Key, CallNode] = {}
        self.calls = self.resumptions = 0


class CallCounter:
    """Counts the calls of every function in every place that it is called from.

    Recursion is folded: a function that runs already is called again in its first place.

    Args:
        limit_ns: stop to count after this time.

    Attributes:
        is_over: whether it took longer.
        labels: what `cProfile` calls each function that is not written in Python.
        events: how many calls were counted.
    """

    def __init__(self, limit_ns: int) -> None:
        with STANDARD_LIBRARY:
            import threading  # noqa: PLC0415 - only here, outside of every timing
            from opcode import opmap  # noqa: PLC0415 - only here, outside of every timing

            self.set_for_threads: Callable[[Any], None] = getattr(
                threading,
                "setprofile_all_threads",  # since 3.12: those that run already, too
                threading.setprofile,
            )
        self.labels: dict[Key, str] = {}
        self.events = 0
        self.deadline_ns = perf_counter_ns() + limit_ns
        self.is_over = self.is_on = False
        self.nodes = 0
        self.resume: int | None = opmap.get("RESUME")
        # Where each generator begins: its first `RESUME`, or, before Python 3.11, the first
        # instruction that it was seen at.
        self.begins: dict[Key, int] = {}
        self.root = CallNode(None, {})

    def clock(self) -> int:
        """Begin to count, or stop."""
        self.is_on = not self.is_on
        if not self.is_on:
            setprofile(None)
        self.set_for_threads(self.begin_thread if self.is_on else None)
        if self.is_on:
            setprofile(None)  # it may have been set for this thread, too
        else:
            for own in (OWN_CALL, OWN_CALL_IN_THREADS):
                self.root.children.pop(own, None)
        now_ns: int = perf_counter_ns()
        if self.is_on:
            setprofile(self.counting())
        return now_ns

    def begin_thread(self, frame: FrameType, event: str, arg: Any) -> None:
        count = self.counting()
        setprofile(count)
        count(frame, event, arg)

    def counting(self) -> Callable[[FrameType, str, Any], None]:
        """Return what Python calls whenever a function begins or ends in a thread."""
        node = self.root
        callers: list[CallNode] = []

        def count(frame: FrameType, event: str, arg: Any) -> None:
            nonlocal node
            if event in {"call", "c_call"}:
                callers.append(node)
                self.events += 1
                key: Key = frame.f_code if event == "call" else name_of(arg)
                if event == "c_call" and key not in self.labels:
                    self.labels[key] = label_of(arg)
                node = node.children.get(key) or self.child_of(node, key)
                if node.key != key:  # passed over
                    pass
                elif event == "c_call" or self.is_begun(frame):
                    node.calls += 1
                else:
                    node.resumptions += 1
                if perf_counter_ns() > self.deadline_ns:
                    self.is_over = True
                    setprofile(None)
            elif callers:
                node = callers.pop()

        return count

    def is_begun(self, frame: FrameType) -> bool:
        """Whether a function begins, and not a generator goes on."""
        code = frame.f_code
        if not code.co_flags & GOES_ON:
            return True
        first = self.begins.get(code, frame.f_lasti)
        if self.resume is None:
            first = min(frame.f_lasti, first)
        elif code not in self.begins:
            first = 2 * code.co_code[::2].find(self.resume)
        self.begins[code] = first
        return bool(frame.f_lasti <= first)  # less if it is closed before it begins

    def child_of(self, node: CallNode, key: Key) -> CallNode:
        """Find or make the node of a function that another one calls.

        What calls a function that is passed over stands for it.
        """
        child = node.path.get(key)
        if child is None:
            is_passed_over = self.nodes >= MOST_NODES or is_own(getattr(key, "co_filename", ""))
            child = node if is_passed_over else CallNode(key, node.path)
            self.nodes += child is not node
        node.children[key] = child
        return child


class Times:
    """Measures how long each function of Python takes itself, with the others that it calls.

    This takes time, too, so functions that take little seem to take more; see `Costs`.

    Args:
        builtins: whether to measure functions that are not written in Python by themselves.
    """

    def __init__(self, *, builtins: bool = False) -> None:
        with STANDARD_LIBRARY:
            from cProfile import Profile  # noqa: PLC0415 - only here, outside of every timing

            self.profiler: Any = Profile()
        self.builtins = builtins
        self.is_on = False

    def clock(self) -> int:
        """Begin to measure, or stop."""
        self.is_on = not self.is_on
        if self.is_on:
            self.profiler.enable(builtins=self.builtins)
        else:
            self.profiler.disable()
        now_ns: int = perf_counter_ns()
        return now_ns

    def by_code(self) -> dict[Key, int]:
        """Return the time of each function, in ns, by its code or its label."""
        return {one.code: round(1e9 * one.inlinetime) for one in self.profiler.getstats()}

    def per_call(self) -> dict[Key, float]:
        """Return the time of a call of each function, in ns, by its code or its label."""
        return {one.code: 1e9 * one.inlinetime / one.callcount for one in self.profiler.getstats()}


CALIBRATING_CALLS = 1000
CALIBRATIONS = 3


def nothing() -> None:
    pass


def only_loop(calls: int) -> None:
    for _ in range(calls):
        pass


def call_python(calls: int) -> None:
    for _ in range(calls):
        nothing()


def of_one(_: int) -> None:
    pass


def call_through_other(calls: int) -> None:
    any(map(of_one, range(calls)))


def resumed(calls: int) -> Any:
    for _ in range(calls):
        yield


def resume(calls: int) -> None:
    for _ in resumed(calls):
        pass


def call_other(calls: int) -> None:
    call, value = len, ()
    for _ in range(calls):
        call(value)


class Costs:
    """What measuring adds to each call, in ns, by calls whose true time is known.

    Attributes:
        called: added to a function of Python that is called.
        calling: added to what calls it.
        calling_back: the same if that is not written in Python.
        resumed, resuming: the same for each time that a generator goes on.
        calling_other: added to what calls a function that is not written in Python.
        other: added to that function, if it is measured by itself.
        least: what a call of it takes that does nothing.
    """

    def __init__(self) -> None:
        loop = plain_ns(only_loop)
        python, self.least = plain_ns(call_python) - loop, plain_ns(call_other) - loop
        measured = measured_ns(call_python)
        self.called = max(0.0, measured[nothing.__code__] - python)
        self.calling = max(0.0, measured[call_python.__code__] - loop)
        generator = max(0.0, plain_ns(resume) - loop)
        measured = measured_ns(resume)
        self.resumed = max(0.0, measured[resumed.__code__] - generator)
        self.resuming = max(0.0, measured[resume.__code__] - loop)
        measured = measured_ns(call_other)
        self.calling_other = max(0.0, measured[call_other.__code__] - loop - self.least)
        measured = measured_ns(call_other, builtins=True)
        self.other = max(0.0, measured[label_of(len)] - self.least)
        through = max(0.0, plain_ns(call_through_other) - python)
        measured = measured_ns(call_through_other, builtins=True)
        self.calling_back = max(0.0, measured[label_of(any)] - through)


def plain_ns(function: Callable[[int], None]) -> float:
    times_ns = []
    for _ in range(CALIBRATIONS):
        start_ns = perf_counter_ns()
        function(CALIBRATING_CALLS)
        times_ns.append(perf_counter_ns() - start_ns)
    return float(min(times_ns)) / CALIBRATING_CALLS


def measured_ns(function: Callable[[int], None], *, builtins: bool = False) -> dict[Key, float]:
    """Return the time of each function for a call, as measured."""
    found: dict[Key, float] = {}
    for _ in range(CALIBRATIONS):
        times = Times(builtins=builtins)
        times.clock()
        function(CALIBRATING_CALLS)
        times.clock()
        for code, time_ns in times.by_code().items():
            each_ns = time_ns / CALIBRATING_CALLS
            found[code] = min(each_ns, found.get(code, each_ns))
    return found


def times_apart(
    calls: CallCounter, python: dict[Key, int], other: dict[Key, float], costs: Costs
) -> dict[Key, int]:
    """Return the time of each function itself, without what measuring adds to it.

    Args:
        python: the time of each function of Python, with the others that it calls, in ns.
        other: the time of a call of each of the others, by its label, in ns.
    """
    found: dict[Key, float] = dict(python)
    for caller, node in nodes_of(calls.root):
        is_back = isinstance(caller.key, tuple)
        if isinstance(node.key, tuple):
            measured_ns = other.get(calls.labels.get(node.key))
            each_ns = 0.0
            if measured_ns is not None:
                each_ns = max(costs.least, measured_ns - costs.other)
            found[node.key] = found.get(node.key, 0) + node.calls * each_ns
            taken_ns = 0.0 if is_back else node.calls * (costs.calling_other + each_ns)
        else:
            added_ns = node.calls * costs.called + node.resumptions * costs.resumed
            found[node.key] = found.get(node.key, 0) - added_ns
            calling_ns = costs.calling_back if is_back else costs.calling
            taken_ns = node.calls * calling_ns + node.resumptions * costs.resuming
        if caller.key in found:
            found[caller.key] -= taken_ns
    return {key: max(0, round(time_ns)) for key, time_ns in found.items()}


def nodes_of(root: CallNode) -> list[tuple[CallNode, CallNode]]:
    """Return each node of a tree, behind the one that calls it."""
    found, seen = [], {id(root)}
    waiting = [(root, child) for child in root.children.values()]
    while waiting:
        caller, node = waiting.pop()
        if id(node) in seen:  # passed over, or folded
            continue
        seen.add(id(node))
        found.append((caller, node))
        waiting += [(node, child) for child in node.children.values()]
    return found


class AllocationWatch:
    """Finds the lines that have allocated what a call holds at its peak, and when it returns.

    It watches two calls. The first one tells at which event the peak is: when a function begins or
    ends. In the second one, it looks at the memory then.

    Args:
        limit_ns: stop to watch after this time.

    Attributes:
        is_over: whether it took longer.
    """

    def __init__(self, limit_ns: int) -> None:
        with STANDARD_LIBRARY:
            import tracemalloc  # noqa: PLC0415 - only here, outside of every timing

        self.traced: Callable[[], tuple[int, int]] = tracemalloc.get_traced_memory
        self.snapshot: Callable[[], Any] = tracemalloc.take_snapshot
        self.deadline_ns = perf_counter_ns() + limit_ns
        self.is_over = False
        self.events = self.peak_event = self.peak = 0
        # By file and line, bytes at the peak and blocks at the end.
        self.bytes: dict[tuple[str, int], int] = {}
        self.blocks: dict[tuple[str, int], int] = {}

    def begin(self) -> None:
        self.events = 0
        setprofile(self.look if self.peak_event else self.find)

    def end(self) -> None:
        setprofile(None)
        if self.peak_event:
            found = self.snapshot().statistics("lineno")
            self.blocks = {place_of(one): one.count for one in found}
            self.bytes = self.bytes or {place_of(one): one.size for one in found}

    def find(self, frame: FrameType, event: str, arg: Any) -> None:
        """Look for the peak in the first call."""
        self.events += 1
        peak = self.traced()[1]
        if peak > self.peak:
            self.peak, self.peak_event = peak, self.events
        if perf_counter_ns() > self.deadline_ns:
            self.is_over = True
            setprofile(None)

    def look(self, frame: FrameType, event: str, arg: Any) -> None:
        """Look at the memory at the peak of the second call."""
        self.events += 1
        if self.events != self.peak_event:
            return
        found = self.snapshot().statistics("lineno")
        self.bytes = {place_of(one): one.size for one in found}
        # Some of it may be free again already.
        last = frame.f_back if event == "call" and frame.f_back else frame
        place = last.f_code.co_filename, last.f_lineno
        missing = self.peak - sum(self.bytes.values())
        self.bytes[place] = self.bytes.get(place, 0) + max(0, missing)

    def by_code(self, root: CallNode) -> dict[str, dict[Key, int]]:
        """Return by metric what each of the functions that were called has allocated."""
        with STANDARD_LIBRARY:
            from dis import findlinestarts  # noqa: PLC0415 - only here, outside of every timing

        codes: dict[tuple[str, int], Key] = {}
        for _, node in nodes_of(root):
            if not isinstance(node.key, tuple):
                for _, line in findlinestarts(node.key):
                    codes.setdefault((node.key.co_filename, line), node.key)
        found: dict[str, dict[Key, int]] = {}
        for metric, places in (("alloc_peak", self.bytes), ("alloc_blocks", self.blocks)):
            own = found[metric] = {}
            for place, amount in places.items():
                if place in codes:
                    own[codes[place]] = own.get(codes[place], 0) + amount
        return found


def place_of(statistic: Any) -> tuple[str, int]:
    return statistic.traceback[0].filename, statistic.traceback[0].lineno


def name_of(function: Any) -> tuple[str, str]:
    return (
        str(getattr(function, "__module__", None) or ""),
        str(getattr(function, "__qualname__", function)),
    )


def label_of(function: Any) -> str:
    """Return what `cProfile` calls a function that is not written in Python."""
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, type(sys)):
        module = getattr(function, "__module__", None)
        return f"<built-in method {module + '.' if module else ''}{name}>"
    method = getattr(type(owner), name, None)
    return repr(method) if type(method) is METHOD else f"<built-in method {name}>"


def described(root: CallNode, times: dict[Key, int]) -> dict[str, Any]:
    """Return a tree of calls as lists: numbers refer to the functions, and to earlier nodes.

    Args:
        times: of the functions, in ns.
    """
    functions: dict[Key, int] = {}
    nodes: list[list[int]] = []
    places = {id(root): -1}
    for parent, node in nodes_of(root):
        places[id(node)] = len(nodes)
        number = functions.setdefault(node.key, len(functions))
        nodes.append([places[id(parent)], number, node.calls])
    return {
        "functions": [
            [*of_key(key), times.get(key, 0), 0, True, digest_of(key)] for key in functions
        ],
        "nodes": nodes,
    }


def of_key(key: Key) -> tuple[str, int, str]:
    """Return the file, line and name of a function; the file is empty if it is not of Python."""
    if isinstance(key, tuple):
        module, name = key
        return "", 0, name if module in {"", "builtins"} else module + "." + name
    return key.co_filename, key.co_firstlineno, getattr(key, "co_qualname", key.co_name)


def digest_of(key: Key) -> str:
    """Return a digest of code that is in no file, such as that of a `dataclass`."""
    if isinstance(key, tuple) or not key.co_filename.startswith("<"):
        return ""
    with STANDARD_LIBRARY:
        from hashlib import sha256  # noqa: PLC0415 - only here, outside of every timing

    return digest_by(sha256, key)


def digest_by(sha256: Any, key: CodeType) -> str:
    digest = sha256()
    waiting = [key]
    while waiting:
        code = waiting.pop()
        digest.update(code.co_code)
        digest.update(repr((code.co_names, code.co_varnames, code.co_freevars)).encode())
        for each in code.co_consts:
            if isinstance(each, type(key)):
                waiting.append(each)
            else:
                digest.update(repr(each).encode())
    found: str = digest.hexdigest()[:16]
    return found
