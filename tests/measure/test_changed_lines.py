"""Which functions differ, by their lines."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.measure.observing.changed_lines import edits
from benchgate.model.calls import Edit

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
const LIMIT = 3;
function one() {
  return 1; // the first
}
function two() {
  return 2;
}
"""
RAN = {
    ("a.js", "one"): {("a.js", 2), ("a.js", 3), ("a.js", 4)},
    ("a.js", "two"): {("a.js", 5), ("a.js", 6), ("a.js", 7)},
}
NONE, EDITED, BESIDE = Edit.NONE, Edit.EDITED, Edit.BESIDE


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("base", "head"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.js").write_text(TEXT)
    return tmp_path / "base", tmp_path / "head"


@pytest.mark.parametrize(
    ("old", "new", "one", "two"),
    [
        ("", "", NONE, NONE),
        ("// the first", "// and only", NONE, NONE),
        ("  return 1;", "      return 1;", NONE, NONE),
        ("return 1;", "return 11;", EDITED, BESIDE),
        ("return 2;\n}\n", "return 2 + 0;\n}\n", BESIDE, EDITED),
        ("LIMIT = 3", "LIMIT = 4", BESIDE, BESIDE),
        ("return", "give", EDITED, EDITED),
    ],
)
def test_a_function_is_edited_if_a_line_of_it_is(
    roots: tuple[Path, Path], old: str, new: str, one: Edit, two: Edit
) -> None:
    base, head = roots
    (head / "a.js").write_text(TEXT.replace(old, new))
    found = edits((base, RAN), (head, RAN))
    assert found.get(("a.js", "one"), NONE) is one
    assert found.get(("a.js", "two"), NONE) is two


def test_new_and_gone_functions(roots: tuple[Path, Path]) -> None:
    base, head = roots
    (head / "a.js").write_text(TEXT.replace("function two", "function three"))
    three = {("a.js", "three"): RAN["a.js", "two"]}
    found = edits((base, RAN), (head, three))
    assert (found["a.js", "two"], found["a.js", "three"]) == (Edit.GONE, Edit.NEW)


def test_a_long_file_is_compared_where_it_differs(
    roots: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []

    class Matcher(SequenceMatcher[str]):
        def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - the same
            compared.append(args[1:])
            super().__init__(*args, **options)

    monkeypatch.setattr("benchgate.measure.observing.changed_lines.SequenceMatcher", Matcher)
    base, head = roots
    many = "}\n" * 20_000
    (base / "a.js").write_text(TEXT + many + "x;\n" + many)
    (head / "a.js").write_text(TEXT + many + "y;\n" + many)
    assert set(edits((base, RAN), (head, RAN)).values()) == {BESIDE}
    assert compared == [(["x;"], ["y;"])]
