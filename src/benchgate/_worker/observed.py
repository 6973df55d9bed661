"""Observes calls: which functions run, from where and how often, and how long they take.

Both observe what runs between two readings of their clocks: `OpenBenchmark.sample` reads its clock
when a call begins, and when it has ended.
"""

from __future__ import annotations

from sys import setprofile

from .clocks import perf_counter_ns
from .failures import is_own
from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    # A code object, or the module and name of a function that is not written in Python.
    Key = Any


# What a compiler calls from one place may have many more.
MOST_NODES = 5_000
OWN_CALL = "sys", "setprofile"
# Flags of generators, coroutines and asynchronous generators, which go on after each `yield`.
GOES_ON = 0x20 | 0x80 | 0x200


class CallNode:
    """A function in the place that it is called from.

    Attributes:
        path: the functions that it is called from, and itself, each with its node.
    """

    __slots__ = ("calls", "children", "key", "path")

    def __init__(self, key: Key, path: dict[Key, CallNode]) -> None:
        self.key = key
        self.path = {**path, key: self}
        self.children: dict[Key, CallNode] = {}
        self.calls = 0


class CallCounter:
    """Counts the calls of every function in every place that it is called from.

    Recursion is folded: a function that runs already is called again in its first place.

    Args:
        limit_ns: stop to count after this time.

    Attributes:
        is_over: whether it took longer.
    """

    def __init__(self, limit_ns: int) -> None:
        with STANDARD_LIBRARY:
            import threading  # noqa: PLC0415 - only here, outside of every timing

            self.set_for_threads: Callable[[Any], None] = threading.setprofile
        self.deadline_ns = perf_counter_ns() + limit_ns
        self.is_over = self.is_on = False
        self.nodes = 0
        # Where each generator begins: the first instruction that it was seen at.
        self.begins: dict[Key, int] = {}
        self.root = CallNode(None, {})

    def clock(self) -> int:
        """Begin to count, or stop."""
        self.is_on = not self.is_on
        if not self.is_on:
            setprofile(None)
            self.root.children.pop(OWN_CALL, None)
        self.set_for_threads(self.begin_thread if self.is_on else None)
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
                key = frame.f_code if event == "call" else name_of(arg)
                node = node.children.get(key) or self.child_of(node, key)
                node.calls += event == "c_call" or self.is_begun(frame)
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
        first = min(frame.f_lasti, self.begins.get(code, frame.f_lasti))
        self.begins[code] = first
        return frame.f_lasti == first

    def child_of(self, node: CallNode, key: Key) -> CallNode:
        """Find or make the node of a function that another one calls."""
        child = node.path.get(key)
        if child is None:
            is_passed_over = self.nodes >= MOST_NODES or is_own(getattr(key, "co_filename", ""))
            child = node if is_passed_over else CallNode(key, node.path)
            self.nodes += child is not node
        node.children[key] = child
        return child


class Times:
    """Measures how long each function of Python takes itself, with the others that it calls.

    This takes time, too, so functions that take little seem to take more.
    """

    def __init__(self) -> None:
        with STANDARD_LIBRARY:
            from cProfile import Profile  # noqa: PLC0415 - only here, outside of every timing

            self.profiler: Any = Profile()
        self.is_on = False

    def clock(self) -> int:
        """Begin to measure, or stop."""
        self.is_on = not self.is_on
        if self.is_on:
            self.profiler.enable(builtins=False)
        else:
            self.profiler.disable()
        now_ns: int = perf_counter_ns()
        return now_ns

    def by_code(self) -> dict[Key, int]:
        """Return the time of each function, in ns."""
        return {one.code: round(1e9 * one.inlinetime) for one in self.profiler.getstats()}


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
        waiting, seen = [root], set()
        while waiting:
            node = waiting.pop()
            if id(node) in seen:  # folded
                continue
            seen.add(id(node))
            waiting += node.children.values()
            if node.key and not isinstance(node.key, tuple):
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


def described(root: CallNode, times: dict[Key, int]) -> dict[str, Any]:
    """Return a tree of calls as lists: numbers refer to the functions, and to earlier nodes.

    Args:
        times: of the functions, in ns.
    """
    functions: dict[Key, int] = {}
    nodes: list[list[int]] = []
    places = {id(root): -1}
    waiting = [(root, child) for child in root.children.values()]
    while waiting:
        parent, node = waiting.pop()
        if id(node) in places:  # passed over, or folded
            continue
        places[id(node)] = len(nodes)
        number = functions.setdefault(node.key, len(functions))
        nodes.append([places[id(parent)], number, node.calls])
        waiting += [(node, child) for child in node.children.values()]
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
    return digest.hexdigest()[:16]
