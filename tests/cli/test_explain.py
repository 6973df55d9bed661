"""`benchgate explain`: which changes it explains, and what it writes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.results import as_file, measured

from benchgate.model.calls import CallTree, Edit, ObservedFunction
from benchgate.model.run import Status
from benchgate.report.speedscope import speedscope

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Call

    from benchgate.model.run import Run

BENCH = ObservedFunction("benchmarks/bench_a.py", 3, "bench_slow", 1e-6, is_own=True)
EDITED = ObservedFunction("src/a.py", 7, "split", 1e-6, is_own=True, edit=Edit.EDITED)
COMPILE = ObservedFunction("re/__init__.py", 225, "compile", 8e-6)
BASE = CallTree(2, (BENCH, EDITED), ((-1, 0, 2), (0, 1, 4)))
HEAD = CallTree(2, (BENCH, EDITED, COMPILE), ((-1, 0, 2), (0, 1, 4), (1, 2, 40)))


@pytest.fixture
def result(tmp_path: Path) -> Path:
    """Two benchmarks got slower, of which one was observed."""
    found = measured(
        {"slow": 1e-3, "other": 1e-3, "same": 1e-3}, {"slow": 5e-3, "other": 2e-3, "same": 1e-3}
    )

    def observed(run: Run, calls: CallTree) -> Run:
        some = (
            replace(one, calls={"time": calls} if one.id == "slow" else {})
            for one in run.benchmarks
        )
        return replace(run, benchmarks=tuple(some))

    assert found.base
    found = replace(found, base=observed(found.base, BASE), head=observed(found.head, HEAD))
    path = tmp_path / "result.json.gz"
    path.write_bytes(as_file(found))
    return path


@pytest.mark.parametrize("words", [("slow",), ("s*",), ()])
def test_what_was_observed_is_explained(call: Call, result: Path, words: tuple[str, ...]) -> None:
    done = call(result.parent, "explain", *words, result.name)
    assert done.code == 0
    first, said, empty, *table = done.out.splitlines()
    assert first.startswith("slow  +")
    assert said == (
        "  split (edited, src/a.py:7) now calls re.compile 20 times per iteration: "
        "100 % of the change"
    )
    assert empty == ""
    assert [line.split()[0] for line in table] == ["function", "re.compile"]
    assert "re/__init__.py:225" in done.out


def test_all_calls_of_both_sides_can_be_written(call: Call, result: Path) -> None:
    done = call(result.parent, "explain", "slow", result.name, "--speedscope", "-")
    assert done.code == 0
    written = json.loads(done.out)
    names = [frame["name"] for frame in written["shared"]["frames"]]
    base, head = written["profiles"]
    assert [base["name"], head["name"]] == ["slow, base", "slow, head"]
    events = [f"{one['type']} {names[one['frame']]} {one['at']:.0f}" for one in head["events"]]
    assert events == [
        *("O bench_slow 0", "O split 500", "O compile 1000"),
        *("C compile 5000", "C split 5000", "C bench_slow 5000"),
    ]
    assert head["endValue"] == pytest.approx(5000)


def test_a_deep_chain_is_written_at_once() -> None:
    functions = tuple(ObservedFunction("a.py", i + 1, f"f{i}", 1e-6) for i in range(4000))
    tree = CallTree(1, functions, tuple((i - 1, i, 1) for i in range(4000)))
    found = measured({"parse": 1e-3})
    (one,) = found.head.benchmarks
    run = replace(found.head, benchmarks=(replace(one, calls={"time": tree}),))
    assert len(json.dumps(speedscope(["parse"], replace(found, head=run, base=run)))) < 2_000_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("other",), "what other calls was not observed"),
        (("same",), "what same calls was not observed"),
        (("slwo",), "there is no benchmark slwo; did you mean slow?"),
    ],
)
def test_what_is_not_known_is_said(
    call: Call, result: Path, words: tuple[str, ...], said: str
) -> None:
    done = call(result.parent, "explain", *words, result.name)
    assert done.code == 2
    assert said in done.err.replace("'", "")


def test_the_result_is_not_overwritten(call: Call, result: Path) -> None:
    before = result.read_bytes()
    done = call(result.parent, "explain", result.name, "--speedscope", result)
    assert done.code == 2
    assert "would overwrite the result" in done.err
    assert result.read_bytes() == before


def test_what_was_not_measured_has_nothing_to_explain(call: Call, tmp_path: Path) -> None:
    found = measured({"a": 1e-3})
    (one,) = found.head.benchmarks
    run = replace(found.head, benchmarks=(replace(one, series=(), status=Status.SAME_CODE),))
    path = tmp_path / "result.json.gz"
    path.write_bytes(as_file(replace(found, base=run, head=run)))
    done = call(tmp_path, "explain", "a", path.name)
    assert done.code == 2
    assert "what a runs has not changed, so there is nothing to explain" in done.err
