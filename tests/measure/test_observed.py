"""What calls of a benchmark are observed, in this process."""

from __future__ import annotations

import asyncio
import gc
import re
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from benchgate._worker import observed
from benchgate._worker.observed import (
    AllocationWatch,
    CallCounter,
    Costs,
    Times,
    described,
    digest_of,
    label_of,
    nodes_of,
    times_apart,
)

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT_NS = 60_000_000_000


def leaf() -> None: ...


def calls_leaf() -> None:
    leaf()
    leaf()


def even(n: int) -> bool:
    return n == 0 or odd(n - 1)


def odd(n: int) -> bool:
    return n != 0 and even(n - 1)


def generate() -> Any:  # noqa: ANN401 - as a test may
    yield 1
    yield 2


def abs_of(value: int) -> int:
    return value


def fails() -> None:
    raise ValueError


def catches() -> None:
    with pytest.raises(ValueError, match=r"^$"):
        fails()
    leaf()


def in_a_thread() -> None:
    thread = threading.Thread(target=calls_leaf)
    thread.start()
    thread.join()


def closes_before_it_begins() -> None:
    list(generate())
    generate().close()
    list(generate())


def executed() -> None:
    exec("def made():\n    pass\nmade()")  # noqa: S102 - as a test may


async def awaits() -> None:
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    leaf()


def replaced(match: re.Match[str]) -> str:
    leaf()
    return match[0]


def counted(function: Callable[[], Any], times: int = 1) -> dict[tuple[str, ...], int]:
    """Observe calls; return the number of calls by the names on the way to each function."""
    calls = CallCounter(LIMIT_NS)
    gc.disable()  # other tests have left callbacks of it
    calls.clock()
    for _ in range(times):
        function()
    calls.clock()
    gc.enable()
    assert not calls.is_over
    reply = described(calls.root, {})
    found: list[tuple[tuple[str, ...], int]] = []
    for parent, number, count in reply["nodes"]:
        above = found[parent][0] if parent >= 0 else ()
        found.append(((*above, reply["functions"][number][2]), count))
    return dict(found)


def test_every_place_is_counted_by_itself() -> None:
    assert counted(calls_leaf, 3) == {("calls_leaf",): 3, ("calls_leaf", "leaf"): 6}


def test_recursion_is_folded() -> None:
    assert counted(lambda: even(10))[("test_recursion_is_folded.<locals>.<lambda>", "even")] == 6
    names = {names[-1] for names in counted(lambda: even(10))}
    assert {"even", "odd"} <= names
    assert max(map(len, counted(lambda: even(400)))) == 3


def test_functions_that_are_not_of_python_have_their_names() -> None:
    found = {names[-1] for names in counted(lambda: ",".join(sorted(["b", "a"])))}
    assert {"sorted", "str.join"} <= found


@pytest.mark.parametrize(
    ("function", "name", "times"),
    [
        (lambda: list(generate()), "generate", 1),
        (lambda: [*generate(), *generate()], "generate", 2),
        (closes_before_it_begins, "generate", 3 if sys.version_info < (3, 12) else 2),
        (lambda: asyncio.run(awaits()), "awaits", 1),
        (lambda: asyncio.run(awaits()), "leaf", 1),
        (catches, "leaf", 1),
        (in_a_thread, "leaf", 2),
        (executed, "made", 1),
        (lambda: re.sub("a", replaced, "aaa"), "leaf", 3),
    ],
)
def test_kinds_of_calls(function: Callable[[], Any], name: str, times: int) -> None:
    function()
    found = counted(function)
    assert sum(count for names, count in found.items() if names[-1] == name) == times


def test_what_took_too_long_is_told() -> None:
    calls = CallCounter(0)
    calls.clock()
    calls_leaf()
    calls.clock()
    assert calls.is_over
    leaf()
    assert sum(one.calls for one in calls.root.children.values()) == 1, "it observes no longer"


def test_a_tree_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed, "MOST_NODES", 1)
    assert counted(calls_leaf) == {("calls_leaf",): 1}, "its own calls only"


def test_the_time_of_a_function_is_its_own() -> None:
    def spin() -> None:
        for _ in range(100_000):
            pass

    def outer() -> None:
        spin()

    times = Times()
    times.clock()
    outer()
    times.clock()
    by_name = {code.co_name: time_ns for code, time_ns in times.by_code().items()}
    assert by_name["spin"] > 10 * by_name["outer"] >= 0


def keeps() -> list[bytearray]:
    return [bytearray(1000) for _ in range(50)]


def drops() -> int:
    return len(bytearray(400_000))


def sorts() -> int:
    """What it needs most is free again when it returns."""
    return len(sorted(range(50_000)))


def allocated(function: Callable[[], Any]) -> dict[str, dict[str, int]]:
    """Observe what each function has allocated, by metric."""
    calls = CallCounter(LIMIT_NS)
    calls.clock()
    function()
    calls.clock()
    watch = AllocationWatch(LIMIT_NS)
    for _ in range(2):
        tracemalloc.start(1)
        try:
            watch.begin()
            kept = function()
            watch.end()
        finally:
            tracemalloc.stop()
        del kept
    found = watch.by_code(calls.root)
    return {
        metric: {code.co_name: amount for code, amount in own.items()}
        for metric, own in found.items()
    }


def test_the_memory_at_the_peak_and_the_blocks_that_are_kept() -> None:
    def work() -> list[bytearray]:
        drops()
        return keeps()

    found = allocated(work)
    assert found["alloc_peak"]["drops"] == pytest.approx(400_000, rel=0.05)
    assert sum(found["alloc_peak"].values()) == pytest.approx(400_000, rel=0.05)
    blocks = found["alloc_blocks"]
    # Before Python 3.12, a comprehension is a function.
    assert 100 <= blocks.get("keeps", 0) + blocks.get("<listcomp>", 0) <= 110
    assert "drops" not in blocks


def test_memory_that_was_free_before_anybody_could_look_counts_for_who_ran() -> None:
    found = allocated(sorts)
    assert found["alloc_peak"]["sorts"] > 1_000_000


def test_who_allocates_too_long_is_told() -> None:
    watch = AllocationWatch(0)
    tracemalloc.start(1)
    watch.begin()
    calls_leaf()
    watch.end()
    tracemalloc.stop()
    assert watch.is_over


def test_code_in_no_file_has_a_digest_of_what_it_does() -> None:
    def digest(source: str, file: str = "<string>") -> str:
        return digest_of(compile(source, file, "exec").co_consts[0])

    one = digest("def f(a):\n    return [x + 1 for x in a]\n")
    assert one == digest("\n\ndef f(a):  # the same\n    return [x + 1 for x in a]\n")
    assert one != digest("def f(a):\n    return [x + 2 for x in a]\n")
    assert digest("def f(a):\n    return a\n", "code.py") == digest_of(("builtins", "len")) == ""


def counter_of(function: Callable[[], object]) -> CallCounter:
    calls = CallCounter(LIMIT_NS)
    calls.clock()
    function()
    calls.clock()
    return calls


def test_a_function_of_another_language_has_its_own_time() -> None:
    def outer() -> None:
        calls_leaf()
        len(())
        sorted(())

    calls = counter_of(outer)
    costs = Costs()
    costs.called, costs.calling, costs.calling_other = 3, 20, 10
    costs.other, costs.least = 5, 7
    python = {outer.__code__: 1000, calls_leaf.__code__: 500, leaf.__code__: 100}
    other = {"<built-in method builtins.sorted>": 405.0, "<built-in method builtins.len>": 6.0}
    assert times_apart(calls, python, other, costs) == {
        outer.__code__: 1000 - 3 - 20 - 2 * 10 - 400 - 7,
        calls_leaf.__code__: 500 - 3 - 2 * 20,
        leaf.__code__: 100 - 2 * 3,
        ("builtins", "len"): 7,
        ("builtins", "sorted"): 400,
    }


def test_what_measuring_adds_to_generators_and_callbacks_is_taken_off() -> None:
    """A generator of 1,000 values looked five times as slow, `sorted` with a key four times."""

    def outer() -> None:
        sum(generate())
        sorted((1, 2, 3), key=abs_of)

    calls = counter_of(outer)
    costs = Costs()
    costs.called, costs.calling, costs.calling_back = 3, 20, 10
    costs.resumed, costs.resuming = 5, 7
    costs.calling_other = costs.other = costs.least = 0
    python = {outer.__code__: 1000, generate.__code__: 500, abs_of.__code__: 100}
    other = {"<built-in method builtins.sum>": 200.0, "<built-in method builtins.sorted>": 300.0}
    resumptions = 2
    assert times_apart(calls, python, other, costs) == {
        outer.__code__: 1000 - 3 - 200 - 300,
        generate.__code__: 500 - 3 - resumptions * 5,
        abs_of.__code__: 100 - 3 * 3,
        ("builtins", "sum"): 200 - 10 - resumptions * 7,
        ("builtins", "sorted"): 300 - 3 * 10,
    }


def test_a_time_that_nobody_measured_stays_with_the_caller() -> None:
    calls = counter_of(lambda: len(()))
    costs = Costs()
    costs.called = costs.calling_other = 0
    (_, node), *_ = nodes_of(calls.root)
    found = times_apart(calls, {node.key: 90}, {}, costs)
    assert found == {node.key: 90, ("builtins", "len"): 0}


def test_what_measuring_adds_is_known() -> None:
    costs = Costs()
    assert min(costs.called, costs.calling_other, costs.other) >= 0
    assert costs.calling > 0


@pytest.mark.parametrize(
    "function",
    [
        len,
        [].append,
        {}.get,
        "a".join,
        sorted,
        dict.fromkeys,
        int.from_bytes,
        re.compile("a").match,
    ],
)
def test_functions_of_other_languages_are_called_as_the_profiler_does(
    function: Callable[..., Any],
) -> None:
    arguments = (b"a", "big") if function == int.from_bytes else ("a",)
    times = Times(builtins=True)
    times.clock()
    function(*arguments)
    times.clock()
    assert label_of(function) in times.per_call()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python tells no thread that runs already")
def test_threads_that_run_already_are_observed() -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(leaf).result()
        found = counted(lambda: pool.submit(calls_leaf).result())
    assert sum(count for names, count in found.items() if names[-1] == "leaf") == 2
