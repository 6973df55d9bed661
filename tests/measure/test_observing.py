"""How the text of the functions that ran differs between two trees."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import pytest

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.observing.observed import Observed, compared, observe
from benchgate.measure.workers.worker import WorkerFailedError
from benchgate.model.calls import Edit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.measure.workers.worker import Worker
    from benchgate.model.calls import ObservedFunction

CODE = '''\
"""Code."""
import re

WORD = re.compile("a")


@staticmethod
def plain():
    """One."""
    return 1  # one


class Shape:
    def area(self):
        return [x for x in range(3)] or (lambda: 2)()


def outer():
    def inner():
        return 3
    return inner()
'''


class ObservingWorker:
    """A worker that has observed these functions: file, line and name of each."""

    steps = frozenset({"begin", "end", "observe"})

    def __init__(self, arm: Arm, functions: list[tuple[str, int, str]], folder: Path) -> None:
        self.arm = arm
        self.functions = functions
        self.folders = [str(folder), str(folder / "site")]
        self.asked: list[str] = []

    def sample(self) -> None:
        self.asked.append("sample")

    def ask(self, step: str, _: object = "") -> dict[str, Any]:
        self.asked.append(step)
        functions = [[*one, 1000] for one in self.functions]
        return {"functions": functions, "nodes": [[-1, 0, 5]]} if step == "observe" else {}


@pytest.fixture
def arms(tmp_path: Path) -> tuple[Arm, Arm]:
    for name in ("base", "head"):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "src" / "code.py").write_text(CODE)
    return tuple(  # type: ignore[return-value]
        Arm(name, tmp_path / name, tmp_path / f"env-{name}") for name in ArmName
    )


def edit(arm: Arm, old: str, new: str) -> None:
    file = arm.root / "src" / "code.py"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def line_of(arm: Arm, text: str) -> int:
    lines = (arm.root / "src" / "code.py").read_text().splitlines()
    return next((number for number, line in enumerate(lines, 1) if text in line), 0)


def observed(arms: tuple[Arm, Arm], text: str, name: str) -> dict[str, ObservedFunction]:
    """Observe the function that begins at a text, on each side that has it."""
    workers = []
    for arm in arms:
        line = line_of(arm, text)
        file = str(arm.root / "src" / "code.py")
        functions = [(file, line, name)] if line else []
        workers.append(ObservingWorker(arm, functions, arm.root / "src"))
    players = [cast("Worker", one) for one in workers]
    trees = observe(players, "bb", ["time"], loops=5, warms_up=True, limit_s=1)
    assert workers[0].asked == ["open", "loops", "sample", "begin", "observe", "end", "close"]
    found = {arm: one["time"].functions for arm, one in trees.items()}
    return {arm: some[0] for arm, some in found.items() if some}


PLAIN = ("@staticmethod", "plain")


@pytest.mark.parametrize(
    ("old", "new", "edited"),
    [
        ("return 1  # one", "return 1", Edit.NONE),
        ("return 1  # one", "return 2", Edit.EDITED),
        ("@staticmethod", "@staticmethod\n@staticmethod", Edit.EDITED),
        ("return 3", "return 4", Edit.NONE),
        ('compile("a")', 'compile("b")', Edit.BESIDE),
        ("import re", "\n\nimport re", Edit.NONE),
        ('"""Code."""', '"""More code."""', Edit.NONE),
        ('    """One."""', '    """The one."""', Edit.NONE),
        ('    """One."""\n', "", Edit.NONE),
    ],
)
def test_edits(arms: tuple[Arm, Arm], old: str, new: str, edited: Edit) -> None:
    edit(arms[1], old, new)
    found = observed(arms, *PLAIN)
    assert [one.edit for one in found.values()] == [edited, edited]
    assert {one.path for one in found.values()} == {"src/code.py"}
    assert found["head"].is_own
    assert found["head"].own == pytest.approx(1e-6)


def test_code_in_no_file_is_compared_by_itself(arms: tuple[Arm, Arm]) -> None:
    """Decorators of classes write functions, and let Python compile these."""
    replies = (
        {
            "functions": [
                ["<string>", 1, "__eq__", 1000, 0, True, equal],
                ["<string>", 1, "__init__", 1000, 0, True, first],
                ["<string>", 1, "__init__", 1000, 0, True, second],
            ],
            "nodes": [],
        }
        for equal, first, second in (("a", "b", "c"), ("d", "c", "b"))
    )
    sides = [Observed.of(arm, [], reply, 1) for arm, reply in zip(arms, replies, strict=True)]
    for tree in compared(sides).values():
        assert [one.edit for one in tree.functions] == [Edit.EDITED, Edit.NONE, Edit.NONE]


def observe_once(workers: Sequence[ObservingWorker]) -> None:
    players = [cast("Worker", one) for one in workers]
    observe(players, "bb", ["time"], loops=1, warms_up=False, limit_s=1)


class WrongWorker(ObservingWorker):
    """A worker whose reply to `observe` has these nodes."""

    nodes: tuple[Any, ...] = ()

    def ask(self, step: str, _: object = "") -> dict[str, Any]:
        return {**super().ask(step), "nodes": self.nodes}


GO = """\
func weight(n int) int {
	return n * 31
}

func Total(n int) int {
	return weight(n)%s
}
"""


@pytest.mark.parametrize(("outer", "holds"), [("", "weight"), (" + 1", "")])
def test_a_function_holds_an_edited_one_that_was_inlined(
    arms: tuple[Arm, Arm], outer: str, holds: str
) -> None:
    sides = []
    for arm, inner, more in ((arms[0], "31", ""), (arms[1], "37", outer)):
        file = arm.root / "text.go"
        file.write_text(GO.replace("31", inner) % more)
        functions = [[str(file), 1, "weight", 5, 3], [str(file), 5, "Total", 5, 7]]
        reply = {"functions": functions, "nodes": [[-1, 1, 1], [0, 0, 1]], "inlined": [[1, 0]]}
        sides.append(Observed.of(arm, [], reply, 1))
    for tree in compared(sides).values():
        weight, total = tree.functions
        assert (weight.edit, weight.holds) == (Edit.EDITED, "")
        assert (total.edit, total.holds) == (Edit.EDITED if outer else Edit.BESIDE, holds)


@pytest.mark.parametrize("nodes", [[[-1, 9, 1]], [[0, 0, 1]], [[-1]], [7], [["", 0, 1]]])
def test_a_wrong_reply_is_refused(arms: tuple[Arm, Arm], nodes: Any) -> None:  # noqa: ANN401
    workers = [WrongWorker(arm, [("code.py", 1, "plain")], arm.root) for arm in arms]
    workers[0].nodes = nodes
    with pytest.raises(WorkerFailedError, match="its reply to `observe` is not as benchgate"):
        observe_once(workers)


class LargeWorker(ObservingWorker):
    """A worker whose reply to `observe` is larger than any code is."""

    reply: Mapping[str, Any] = MappingProxyType({})

    def ask(self, step: str, _: object = "") -> dict[str, Any]:
        return {**super().ask(step), **self.reply}


@pytest.mark.parametrize(
    "reply",
    [
        {"functions": [["", 1, "f", 0]] * 5_001},
        {"nodes": [[-1, 0, 1]] * 5_001},
        {"functions": [["", 1, "f", 10**400]]},
        {"functions": [["", 1, "f", -1]]},
        {"functions": [["", 1, "f", float("nan")]]},
        {"functions": [["", 1, "f" * 10_001, 0]]},
        {"functions": [["", 1, 7, 0]]},
        {"functions": [["code.py", 1, "f", 0, 2**62]]},
        {"functions": [["code.py", 1, "f", 0, 900_000]] * 2},
        {"functions": [["code.py", -3, "f", 0]]},
        {"functions": 7},
        {"nodes": [[-1, 0, 2**63]]},
        {"operations": 0},
        {"operations": 10**400},
    ],
)
def test_a_reply_is_bounded_before_it_costs_time(
    arms: tuple[Arm, Arm], reply: Mapping[str, Any]
) -> None:
    workers = [LargeWorker(arm, [("code.py", 1, "plain")], arm.root) for arm in arms]
    workers[1].reply = reply
    with pytest.raises(WorkerFailedError, match="its reply to `observe` is not as benchgate") as at:
        observe_once(workers)
    assert len(str(at.value)) < 200


class AllocatingWorker(ObservingWorker):
    """A worker whose reply to `observe_allocations` lacks the functions of a metric."""

    steps = frozenset({"observe_allocations"})

    def ask(self, step: str, _: object = "") -> dict[str, Any]:
        self.asked.append(step)
        return {"alloc_peak": {"nodes": []}, "alloc_blocks": super().ask("observe")}


def test_a_wrong_reply_about_allocations_is_refused(arms: tuple[Arm, Arm]) -> None:
    players = [cast("Worker", AllocatingWorker(arm, [], arm.root)) for arm in arms]
    with pytest.raises(WorkerFailedError, match="is not as benchgate knows it: 'functions'"):
        observe(players, "bb", ["alloc_peak"], loops=1, warms_up=False, limit_s=1)


def test_a_worker_that_does_not_observe_says_so(arms: tuple[Arm, Arm]) -> None:
    workers = [ObservingWorker(arm, [], arm.root) for arm in arms]
    workers[0].steps = frozenset()
    with pytest.raises(WorkerFailedError, match="no step `observe` or `profile`"):
        observe_once(workers)


def test_new_and_gone_functions(arms: tuple[Arm, Arm]) -> None:
    edit(arms[1], "def plain", "def other")
    found = observed(arms, *PLAIN)
    assert [(one.name, one.edit) for one in found.values()] == [
        ("plain", Edit.GONE),
        ("other", Edit.NEW),
    ]


@pytest.mark.parametrize(
    ("text", "name", "full"),
    [
        ("def area", "area", "Shape.area"),
        ("lambda", "<lambda>", "Shape.area.<locals>.<lambda>"),
        ("lambda", "Shape.area.<locals>.<listcomp>", "Shape.area.<locals>.<listcomp>"),
        ("def inner", "inner", "outer.<locals>.inner"),
    ],
)
def test_old_versions_of_python_do_not_know_full_names(
    arms: tuple[Arm, Arm], text: str, name: str, full: str
) -> None:
    assert observed(arms, text, name)["head"].name == full


def test_an_inner_edit_is_one_of_both(arms: tuple[Arm, Arm]) -> None:
    edit(arms[1], "return 3", "return 4")
    assert observed(arms, "def outer", "outer")["head"].edit is Edit.EDITED
    assert observed(arms, "def inner", "inner")["head"].edit is Edit.EDITED


@pytest.mark.parametrize("text", ["def broken(:\n", "\0"])
def test_a_file_that_cannot_be_read_is_not_edited(arms: tuple[Arm, Arm], text: str) -> None:
    for arm, more in zip(arms, ("", text), strict=True):
        (arm.root / "src" / "code.py").write_text(f"@staticmethod\n{more}")
    assert {one.edit for one in observed(arms, *PLAIN).values()} == {Edit.NONE}
