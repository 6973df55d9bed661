from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.gate.arms import bench

from benchgate.gate.evidence import files_of, pair

if TYPE_CHECKING:
    from collections.abc import Mapping


# (base, head, aliases, expected: (id, id of the base's side, id of the head's side, renamed from))
CASES = {
    "by id": (["a"], ["a"], {}, [("a", "a", "a", None)]),
    "new": ([], ["a"], {}, [("a", None, "a", None)]),
    "missing": (["a"], [], {}, [("a", "a", None, None)]),
    "head's order, then what is missing": (
        ["a", "b", "c"],
        ["c", "n", "a"],
        {},
        [
            ("c", "c", "c", None),
            ("n", None, "n", None),
            ("a", "a", "a", None),
            ("b", "b", None, None),
        ],
    ),
    "renamed": (["old"], ["new"], {"old": "new"}, [("new", "old", "new", "old")]),
    "alias of what the head still has": (
        ["old"],
        ["old", "new"],
        {"old": "new"},
        [("old", "old", "old", None), ("new", None, "new", None)],
    ),
    "alias to what the base has as well": (
        ["old", "new"],
        ["new"],
        {"old": "new"},
        [("new", "new", "new", None), ("old", "old", None, None)],
    ),
    "alias that concerns neither": (["a"], ["a"], {"x": "y"}, [("a", "a", "a", None)]),
    "nothing": ([], [], {"x": "y"}, []),
}


@pytest.mark.parametrize(("base", "head", "aliases", "expected"), CASES.values(), ids=CASES)
def test_benchmarks_are_joined(
    base: list[str],
    head: list[str],
    aliases: Mapping[str, str],
    expected: list[tuple[str, str | None, str | None, str | None]],
) -> None:
    pairs = pair(map(bench, base), map(bench, head), aliases)
    assert [
        (p.id, p.base and p.base.id, p.head and p.head.id, p.renamed_from) for p in pairs
    ] == expected


@pytest.mark.parametrize(
    ("id_", "file", "expected"),
    [
        ("db/query", "db", True),
        ("db/query[path=a/b]", "db", True),
        ("db/inner/query", "db", False),
        ("dbs/query", "db", False),
        ("db", "db", False),
        ("tests/test_a.py::test_b[1]", "tests/test_a.py", True),
        ("module.Class.time_a(1)", "module", True),
        ("modules.time_a", "module", False),
        ("module.time_a(1, 'x')", "module.time_a", True),
    ],
)
def test_a_file_stands_for_its_benchmarks(id_: str, file: str, expected: bool) -> None:  # noqa: FBT001 - a case
    assert (file in files_of(id_)) is expected
