"""How the calls of a benchmark are laid out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from benchgate.model.calls import CallTree, ObservedFunction
from benchgate.page import flames as flames_module
from benchgate.page.flames import Frame, flames

if TYPE_CHECKING:
    from types import FrameType


def tree(*calls: tuple[int, str, int, float], operations: int = 1) -> CallTree:
    """Make a tree of (the index of the caller, name, calls, own time in us)."""
    functions = tuple(
        ObservedFunction("m.py", 1, name, own_us / 1e6) for _, name, _, own_us in calls
    )
    nodes = tuple((above, index, count) for index, (above, _, count, _) in enumerate(calls))
    return CallTree(operations, functions, nodes)


BASE = tree((-1, "bench", 1, 2), (0, "parse", 1, 4), (1, "old", 3, 2))
HEAD = tree((-1, "bench", 1, 2), (0, "parse", 1, 4), (1, "compile", 20, 10))


def by_name(base: CallTree, head: CallTree, view: int = 0) -> dict[str, Frame]:
    return {one.title.partition(":")[0]: one for one in flames(base, head, str)[view].frames}


def test_the_difference_is_as_wide_as_the_slower_side() -> None:
    assert [view.name for view in flames(BASE, HEAD, str)] == [
        "difference",
        "base",
        "head",
        "callers",
    ]
    found = by_name(BASE, HEAD)
    assert {name: (one.x, one.width, one.y) for name, one in found.items()} == {
        "bench": (0, 1000, 0),
        "parse": (0, 875, 18),
        "compile": (0, 625, 36),
    }
    assert {name: one.side for name, one in found.items()} == dict.fromkeys(found, "more")
    assert found["compile"].title == "compile: 0 µs → 10.00 µs, calls: 0 → 20"
    assert found["compile"].strength == 4
    assert {one.side for one in by_name(HEAD, BASE).values()} == {"less"}


def test_each_side_has_a_drawing_of_its_own() -> None:
    found = by_name(BASE, HEAD, 1)
    assert found.keys() == {"bench", "parse", "old"}
    assert found["old"].width == pytest.approx(250)
    assert {one.side for one in found.values()} == {""}


def test_operations_of_both_sides_may_differ() -> None:
    ten = tree((-1, "bench", 10, 20), operations=10)
    found = by_name(ten, tree((-1, "bench", 1, 2)))
    assert found["bench"].title == "bench: 2.000 µs → 2.000 µs, calls: 1"


def test_frames_are_bounded_in_number_and_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tree(*((index - 1, f"f{index}", 1, 1.0) for index in range(60)))
    assert max(one.y for one in flames(deep, deep, str)[1].frames) < 40 * 18
    monkeypatch.setattr(flames_module, "_MOST_FRAMES", 5)
    assert len(flames(deep, deep, str)[1].frames) == 5


def test_nothing_is_drawn_without_times() -> None:
    empty = tree((-1, "bench", 1, 0))
    assert flames(empty, HEAD, str) == ()
    assert flames(CallTree(1, ()), HEAD, str) == ()


def test_names_are_redacted_and_cut() -> None:
    named = tree((-1, "secret" * 40, 1, 1))
    (view, *_) = flames(named, named, lambda text: text.replace("secret", "[removed]"))
    assert view.frames[0].text.startswith("[removed][removed]")
    assert len(view.frames[0].text) <= 81


def test_callers_are_below_what_they_call() -> None:
    twice = tree((-1, "bench", 1, 2), (0, "parse", 1, 4), (1, "join", 5, 6), (0, "join", 2, 3))
    frames = flames(twice, twice, str)[3].frames
    of_join = next(one for one in frames if one.text == "join")
    assert (of_join.title, of_join.y) == ("join: 9.000 µs → 9.000 µs", 0)
    callers = [one for one in frames if one.y and of_join.x <= one.x < of_join.x + of_join.width]
    assert sorted((one.y // 18, one.title.partition(":")[0], one.width) for one in callers) == [
        (1, "bench", 200.0),
        (1, "parse", 400.0),
        (2, "bench", 400.0),
    ]
    assert sum(one.width for one in frames if not one.y) == pytest.approx(1000)


def test_recursion_has_its_callers() -> None:
    deep = tree((-1, "a", 1, 1), *((at, "a", 1, 1) for at in range(60)))
    assert max(one.y for one in flames(deep, deep, str)[3].frames) < 40 * 18


def bushy(nodes: int, depth: int) -> CallTree:
    """Chains of functions that each begin at the root."""
    return tree(*((at - 1 if at % depth else -1, f"f{at}", 1, 1.0) for at in range(nodes)))


@pytest.mark.parametrize(("nodes", "depth"), [(490, 490), (4_000, 4_000), (5_000, 100)])
def test_deep_trees_are_drawn_in_steps_that_do_not_multiply(nodes: int, depth: int) -> None:
    calls = bushy(nodes, depth)
    steps = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal steps
        steps += event == "call" and frame.f_code.co_filename == flames_module.__file__

    sys.setprofile(count)
    try:
        views = flames(calls, calls, str)
    finally:
        sys.setprofile(None)
    assert views[1].frames[0].width == pytest.approx(1000 / (len(calls.nodes) / depth), abs=0.01)
    assert steps < 500 * len(calls.nodes)
