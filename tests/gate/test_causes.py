"""Which function a change comes from, given what both sides call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.browser import samples
from tests.results import arm

from benchgate.config import loads
from benchgate.gate.causes import explain, explained
from benchgate.gate.verdict import judge
from benchgate.model.calls import CallTree, Edit, ObservedFunction
from benchgate.model.policy import Outcome
from benchgate.model.row import Cause, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.model.run import Run

# A node: the depth of indentation is that of the call; name, calls, own time in ns, edit.
Line = tuple[int, str, int, int, Edit]
NONE, EDITED, NEW, GONE, BESIDE = Edit.NONE, Edit.EDITED, Edit.NEW, Edit.GONE, Edit.BESIDE


def tree(*lines: Line, operations: int = 1) -> CallTree:
    """Make a tree, with each function in `m.py`; `sys.` ones are not the project's."""
    functions: dict[str, ObservedFunction] = {}
    nodes: list[tuple[int, int, int]] = []
    above: list[int] = []
    for depth, name, calls, own_ns, edit in lines:
        before = functions.get(name)
        own = own_ns / 1e9 + (before.own if before else 0)
        is_own = not name.startswith("sys")
        path = "m.py" if is_own else "lib/sys.py"
        functions[name] = ObservedFunction(path, len(functions) + 1, name, own, is_own, edit)
        del above[depth:]
        nodes.append((above[-1] if above else -1, list(functions).index(name), calls))
        above.append(len(nodes) - 1)
    return CallTree(operations, tuple(functions.values()), tuple(nodes))


def row(base_ns: float, head_ns: float, outcome: Outcome = Outcome.REGRESSED) -> Row:
    base, head = base_ns / 1e9, head_ns / 1e9
    return Row("b", outcome, "time", "p25", "s", base=base, head=head, ratio=head / base)


def first(base: CallTree, head: CallTree, *, slower: bool = True) -> Cause:
    """The most important cause; both sides take as long as was observed."""
    base_ns, head_ns = (1e9 * sum(one.own for one in side.functions) for side in (base, head))
    assert (head_ns > base_ns) is slower
    return explain(row(base_ns, head_ns), base, head).causes[0]


def named(causes: Sequence[Cause]) -> list[str]:
    return [cause.function for cause in causes]


def test_what_holds_an_inlined_function_is_named_if_that_does_not_explain_the_change() -> None:
    def holding(own_ns: int, edited_ns: int) -> CallTree:
        made = tree(
            (0, "bench", 1, 5, NONE),
            (1, "total", 1, own_ns, NONE),
            (2, "get", 1, edited_ns, EDITED),
        )
        bench, total, get = made.functions
        return replace(made, functions=(bench, replace(total, holds="get"), get))

    cause = first(holding(100, 10), holding(200, 11))
    assert (cause.function, cause.holds) == ("total", "get")
    cause = first(holding(100, 10), holding(150, 60))
    assert (cause.function, cause.holds) == ("get", "")


def test_what_an_edited_function_calls_more_often_counts_for_it() -> None:
    cause = first(
        tree((0, "bench", 1, 10, NONE), (1, "parse", 1, 100, EDITED)),
        tree(
            (0, "bench", 1, 10, NONE),
            (1, "parse", 1, 120, EDITED),
            (2, "sys.compile", 100, 500, NONE),
            (3, "sys.cache", 100, 400, NONE),
        ),
    )
    assert (cause.function, cause.location) == ("parse", "m.py:2")
    assert (cause.callee, cause.calls) == ("lib.sys.sys.compile", (0.0, 100.0))
    assert cause.amount == pytest.approx(900e-9)


def test_a_callee_is_named_only_if_its_time_carries_the_change() -> None:
    base = tree((0, "bench", 1, 10, NONE), (1, "read", 1, 100, EDITED))
    head = tree((0, "bench", 1, 10, NONE), (1, "read", 1, 2900, EDITED), (2, "len", 1, 25, NONE))
    cause = first(base, head)
    assert (cause.function, cause.callee, cause.calls) == ("read", "", None)
    assert cause.amount == pytest.approx(2825e-9)


def test_a_callee_whose_time_others_take_back_is_not_named() -> None:
    """`set.add` went, and `frozenset` takes nearly as long: it is not what made it faster."""
    base = tree((0, "bench", 1, 10, NONE), (1, "read", 1, 500, EDITED), (2, "add", 9, 900, NONE))
    head = tree((0, "bench", 1, 10, NONE), (1, "read", 1, 1300, EDITED))
    cause = first(base, head, slower=False)
    assert (cause.function, cause.callee, cause.calls) == ("read", "", None)
    head = tree((0, "bench", 1, 10, NONE), (1, "read", 1, 700, EDITED))
    assert first(base, head, slower=False).callee == "add"


def test_generator_expressions_are_other_calls() -> None:
    inner = "read.<locals>.<genexpr>"
    base = tree((0, "bench", 1, 10, NONE), (1, "read", 1, 500, EDITED), (2, inner, 9, 90, EDITED))
    head = tree((0, "bench", 1, 10, NONE), (1, "read", 1, 300, EDITED))
    assert not explain(row(600, 310), base, head).same_calls
    assert explain(row(600, 610), base, base).same_calls


def test_more_calls_explain_nothing_that_got_faster() -> None:
    base = tree((0, "bench", 1, 10, NONE), (1, "read", 1, 900, EDITED), (2, "old", 5, 500, NONE))
    head = tree((0, "bench", 1, 10, NONE), (1, "read", 1, 300, EDITED), (2, "old", 9, 90, NONE))
    cause = first(base, head, slower=False)
    assert (cause.function, cause.callee, cause.calls) == ("read", "", None)
    oftener = tree((0, "bench", 1, 10, NONE), (1, "read", 2, 90, EDITED))
    cause = first(base, oftener, slower=False)
    assert cause.calls != (1.0, 2.0)


def test_what_is_called_through_another_language_is_called() -> None:
    def adds(*through: Line) -> CallTree:
        made = tree(
            (0, "bench", 1, 10, NONE),
            (1, "parse", 1, 500 if through else 100, EDITED),
            *through,
            (2 + len(through), "Tag.__hash__", 20, 900 if through else 400, NONE),
        )
        functions = (
            replace(one, path="" if one.name == "set.add" else one.path) for one in made.functions
        )
        return replace(made, functions=tuple(functions))

    cause = first(adds((2, "set.add", 20, 5, NONE)), adds(), slower=False)
    assert (cause.function, cause.callee, cause.calls) == ("parse", "", None)


def test_a_change_without_other_calls_is_in_the_function_itself() -> None:
    cause = first(
        tree((0, "bench", 1, 10, NONE), (1, "work", 1, 100, EDITED), (1, "other", 1, 50, EDITED)),
        tree((0, "bench", 1, 10, NONE), (1, "work", 1, 300, EDITED), (1, "other", 1, 51, EDITED)),
    )
    assert (cause.function, cause.calls) == ("work", None)


def test_a_function_that_runs_more_often_says_so() -> None:
    """Somebody removed its cache."""
    cause = first(
        tree((0, "bench", 1, 10, NONE), (1, "price", 1, 5, EDITED)),
        tree((0, "bench", 1, 10, NONE), (1, "price", 20, 100, EDITED)),
    )
    assert (cause.function, cause.callee, cause.calls) == ("price", "", (1.0, 20.0))


def test_what_a_comprehension_calls_counts_for_the_function_around_it() -> None:
    """Python before 3.12 calls a function for it."""
    cause = first(
        tree((0, "work", 1, 5, EDITED), (1, "add", 1, 50, NONE)),
        tree(
            (0, "work", 1, 5, EDITED),
            (1, "work.<locals>.<listcomp>", 1, 5, EDITED),
            (2, "add", 4, 200, NONE),
        ),
    )
    assert (cause.function, cause.callee, cause.calls) == ("work", "add", (1.0, 4.0))


def uncounted(side: CallTree) -> CallTree:
    """The samples of a profiler instead of calls."""
    return replace(side, functions=tuple(replace(one, is_counted=False) for one in side.functions))


def test_a_call_that_allocates_nothing_is_no_evidence() -> None:
    memory = replace(row(40, 90), metric="alloc_blocks", unit="")
    base = tree((0, "line", 1, 40, EDITED))
    head = tree((0, "line", 1, 90, EDITED), (1, "sys.strip", 800, 0, NONE))
    (cause,) = explain(memory, base, head).causes
    assert (cause.function, cause.callee, cause.calls) == ("line", "", None)
    head = tree((0, "line", 1, 40, EDITED), (1, "sys.copy", 50, 50, NONE))
    (cause,) = explain(memory, base, head).causes
    assert (cause.callee, cause.calls) == ("lib.sys.sys.copy", (0.0, 50.0))


def test_of_what_is_unchanged_only_different_calls_are_listed() -> None:
    same = row(100, 100, Outcome.UNCHANGED)
    base = tree((0, "bench", 1, 10, NONE), (1, "work", 1, 90, EDITED))
    head = tree((0, "bench", 1, 20, NONE), (1, "work", 1, 70, EDITED), (2, "sys.new", 2, 10, NONE))
    explanation = explain(same, base, head)
    assert explanation.causes == ()
    assert [one.function for one in explanation.functions] == ["lib.sys.sys.new"]
    assert not explanation.same_calls
    assert explain(same, base, base).same_calls


def test_numbers_of_samples_are_no_calls() -> None:
    base = tree((0, "bench", 1, 10, NONE), (1, "slug", 3, 30, EDITED), (2, "sum", 5, 50, NONE))
    head = tree((0, "bench", 2, 20, NONE), (1, "slug", 4, 40, EDITED), (2, "sum", 50, 500, NONE))
    explanation = explain(row(90, 560), uncounted(base), uncounted(head))
    cause = explanation.causes[0]
    assert (cause.function, cause.callee, cause.calls) == ("slug", "sum", None)
    assert not cause.is_counted
    assert cause.amount == pytest.approx(460e-9)
    assert [one.calls for one in explanation.functions] == [None] * 3
    assert not explanation.same_calls
    head = tree((0, "bench", 2, 20, NONE), (1, "slug", 40, 400, EDITED), (2, "sum", 5, 50, NONE))
    assert explain(row(90, 470), uncounted(base), uncounted(head)).causes[0].callee == ""


def test_a_function_whose_calls_are_not_counted_calls_others_whose_calls_are() -> None:
    """An asynchronous function counts again each time that it goes on."""
    base = tree((0, "load", 2, 30, EDITED), (1, "sum", 1, 50, NONE))
    head = tree((0, "load", 3, 30, EDITED), (1, "sum", 3, 150, NONE))
    both = (
        replace(one, functions=(replace(one.functions[0], is_counted=False), one.functions[1]))
        for one in (base, head)
    )
    cause = explain(row(80, 180), *both).causes[0]
    assert (cause.function, cause.callee, cause.calls) == ("load", "sum", (1.0, 3.0))


def test_new_and_gone_functions_are_named() -> None:
    plain = tree((0, "bench", 1, 10, NONE), (1, "old", 5, 200, GONE))
    quick = tree((0, "bench", 1, 10, NONE), (1, "new", 1, 20, NEW))
    cause = first(plain, quick, slower=False)
    assert (cause.function, cause.edit, cause.calls) == ("old", GONE, (5.0, 0.0))
    cause = first(
        tree((0, "bench", 1, 10, NONE)), tree((0, "bench", 1, 10, NONE), (1, "new", 3, 60, NEW))
    )
    assert (cause.function, cause.edit, cause.calls) == ("new", NEW, (0.0, 3.0))


@pytest.mark.parametrize("edit", [NEW, GONE])
def test_a_function_that_runs_instead_of_another_is_compared_with_it(edit: Edit) -> None:
    """A new method overrides another one, and that is called no longer: by `sorted`, as often."""
    one = tree((0, "bench", 1, 10, NONE), (1, "order", 1, 50, NONE), (2, "A.__lt__", 9, 900, edit))
    other = tree((0, "bench", 1, 10, NONE), (1, "order", 1, 50, NONE), (2, "B.__lt__", 9, 99, NONE))
    slower = edit is NEW
    cause = first(*((other, one) if slower else (one, other)), slower=slower)
    assert (cause.function, cause.edit, cause.instead_of) == ("A.__lt__", edit, "B.__lt__")
    assert (cause.callee, cause.calls) == ("", None)
    assert abs(cause.amount) == pytest.approx(801e-9)
    # If it is called less often, it is not known for which one.
    other = tree((0, "bench", 1, 10, NONE), (1, "order", 1, 50, NONE), (2, "B.__lt__", 8, 88, NONE))
    cause = first(*((other, one) if slower else (one, other)), slower=slower)
    assert (cause.function, cause.instead_of) == ("A.__lt__", "")


def test_the_most_important_of_several_is_first() -> None:
    base = tree(
        (0, "bench", 1, 10, NONE),
        (1, "a", 1, 100, EDITED),
        (1, "b", 1, 100, EDITED),
        (1, "c", 1, 100, EDITED),
    )
    head = tree(
        (0, "bench", 1, 10, NONE),
        (1, "a", 1, 200, EDITED),
        (1, "b", 1, 400, EDITED),
        (1, "c", 1, 50, EDITED),
    )
    assert named(explain(row(310, 660), base, head).causes) == ["b", "a"]


def test_without_an_edited_function_its_file_is_named_and_then_anything() -> None:
    base = tree((0, "bench", 1, 10, NONE), (1, "match", 1, 100, BESIDE))
    head = tree((0, "bench", 1, 10, NONE), (1, "match", 1, 300, BESIDE))
    assert first(base, head).edit is BESIDE
    base = tree((0, "bench", 1, 10, NONE), (1, "sys.load", 1, 100, NONE))
    head = tree((0, "bench", 1, 10, NONE), (1, "sys.load", 4, 400, NONE))
    cause = first(base, head)
    assert (cause.function, cause.edit) == ("bench", NONE)
    assert (cause.callee, cause.calls) == ("lib.sys.sys.load", (1.0, 4.0))


def test_a_lambda_is_a_part_of_what_it_is_called_from() -> None:
    inner = "parse.<locals>.<genexpr>"
    base = tree((0, "bench", 1, 10, NONE), (1, "parse", 1, 100, EDITED))
    head = tree((0, "bench", 1, 10, NONE), (1, "parse", 1, 100, EDITED), (2, inner, 9, 300, EDITED))
    cause = first(base, head)
    assert (cause.function, cause.callee, cause.calls) == ("parse", inner, (0.0, 9.0))


def test_a_generator_expression_that_others_run_is_a_part_of_its_function() -> None:
    """It is returned, and runs when its function has ended."""
    inner = "windowed.<locals>.<genexpr>"
    base = tree((0, "bench", 1, 10, NONE), (1, "windowed", 1, 340, EDITED))
    head = tree(
        (0, "bench", 1, 10, NONE), (1, "windowed", 1, 20, EDITED), (1, inner, 9, 300, EDITED)
    )
    cause = first(base, head, slower=False)
    assert (cause.function, cause.calls) == ("windowed", None)
    assert cause.amount == pytest.approx(-20e-9)
    head = tree(
        (0, "bench", 1, 10, NONE), (1, "windowed", 1, 20, EDITED), (1, inner, 9, 900, EDITED)
    )
    cause = first(base, head)
    assert (cause.function, cause.callee, cause.calls) == ("windowed", "", None)
    assert cause.amount == pytest.approx(580e-9)


def test_the_same_calls_explain_nothing() -> None:
    base = tree((0, "bench", 1, 10, NONE), (1, "edited", 1, 100, EDITED))
    head = tree((0, "bench", 1, 300, NONE), (1, "edited", 1, 100, EDITED))
    found = explain(row(110, 400), base, head)
    assert (found.causes, found.same_calls) == ((), True)


def test_calls_are_those_of_one_operation() -> None:
    base = tree((0, "bench", 100, 100, NONE), (1, "f", 100, 100, EDITED), operations=100)
    head = tree((0, "bench", 10, 10, NONE), (1, "f", 20, 40, EDITED), operations=10)
    found = explain(row(2, 5), base, head)
    assert found.causes[0].calls == (1.0, 2.0)


@pytest.mark.parametrize(
    ("changes", "is_explained"),
    [
        ({}, True),
        ({"outcome": Outcome.IMPROVED}, True),
        ({"outcome": Outcome.UNCHANGED}, False),
        ({"outcome": Outcome.INCONCLUSIVE}, False),
        ({"statistic": "p95"}, False),
        ({"unit": "B", "metric": "peak_rss"}, False),
        ({"unit": "", "metric": "instructions"}, True),
        ({"benchmark": "unknown"}, False),
        ({"benchmark": "new", "renamed_from": "b"}, True),
    ],
)
def test_only_typical_times_that_changed_are_explained(
    changes: dict[str, Any], *, is_explained: bool
) -> None:
    calls = tree((0, "bench", 1, 10, NONE))
    base = arm({"b": 1e-3})
    head = arm({"b": 1e-3, "new": 1e-3})
    base, head = (
        replace(
            run, benchmarks=tuple(replace(one, calls={"time": calls}) for one in run.benchmarks)
        )
        for run in (base, head)
    )
    (found,) = explained([replace(row(1, 2), **changes)], base, head, pytest.fail)
    assert (found.explanation is not None) is is_explained


@pytest.mark.parametrize(
    ("path", "unobserved"), [("m.py", ("src/_fast.c", "x.pyx")), ("src/other.c", ())]
)
def test_edited_native_code_is_named_if_it_was_not_observed(
    path: str, unobserved: tuple[str, ...]
) -> None:
    files = "setup.py", "src/_fast.c", "x.pyx"
    for edit, expected in ((NONE, unobserved), (EDITED, ())):
        sides: list[Run] = []
        for own_ns in (10, 40):
            made = tree((0, "f", 1, own_ns, edit))
            calls = replace(made, functions=(replace(made.functions[0], path=path),))
            run = arm({"b": 1e-3})
            (one,) = run.benchmarks
            source = replace(run.source, changed_files=files)
            sides.append(
                replace(run, source=source, benchmarks=(replace(one, calls={"time": calls}),))
            )
        (found,) = explained([row(10, 40)], sides[0], sides[1], pytest.fail)
        assert found.explanation
        assert found.explanation.unobserved == expected


def test_what_was_observed_changes_no_verdict() -> None:
    config = loads("", "benchgate.toml")
    seen, unseen = (judge(one, config) for one in (samples.explained(), samples.measured()))
    assert any(one.explanation for one in seen.rows)
    assert [replace(one, explanation=None) for one in seen.rows] == list(unseen.rows)


def test_a_cause_that_cannot_be_found_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    config = loads("", "benchgate.toml")
    whole = judge(samples.explained(), config)

    def broken(*_: object) -> object:
        raise RecursionError("too deep")

    monkeypatch.setattr("benchgate.gate.causes.explain", broken)
    found = judge(samples.explained(), config)
    assert list(found.rows) == [replace(one, explanation=None) for one in whole.rows]
    (warning,) = set(found.warnings) - set(whole.warnings)
    assert warning.startswith("no cause: benchgate itself failed there")
