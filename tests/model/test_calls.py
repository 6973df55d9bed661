"""Call trees are checked when they are read: a node leads to a function and to an earlier node."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from benchgate.model.calls import CallTree, ObservedFunction
from benchgate.model.document import first_fault

TREE = TypeAdapter(CallTree)


def read(*nodes: tuple[int, int, int], operations: int = 1) -> CallTree:
    functions = (ObservedFunction("a.py", 1, "a"), ObservedFunction("a.py", 9, "b"))
    return TREE.validate_python(CallTree(operations, functions, nodes))


def test_each_node_is_called_from_an_earlier_one() -> None:
    nodes = ((-1, 0, 1), (0, 1, 5), (-1, 1, 0))
    assert read(*nodes).nodes == nodes


@pytest.mark.parametrize(
    ("node", "fault"),
    [
        ((-1, 2, 1), "nodes[1][1]: there is no function 2"),
        ((-1, -1, 1), "nodes[1][1]: there is no function -1"),
        ((1, 0, 1), "nodes[1][0]: 1 is no node before it"),
        ((-2, 0, 1), "nodes[1][0]: -2 is no node before it"),
        ((0, 0, -1), "nodes[1][2]: -1 is no number of calls"),
        ((0, 0, 2**60), f"nodes[1][2]: {2**60} is no number of calls"),
    ],
)
def test_another_node_is_refused_with_its_place(node: tuple[int, int, int], fault: str) -> None:
    with pytest.raises(ValidationError) as caught:
        read((-1, 0, 1), node)
    assert first_fault(caught.value) == fault


def test_more_operations_than_anybody_counts_are_refused() -> None:
    with pytest.raises(ValidationError) as caught:
        read(operations=10**400)
    assert first_fault(caught.value).endswith("must be at most 9.0072e+15")
