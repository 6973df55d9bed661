"""What an entry of a list of numbers, and an exit code of hyperfine, say themselves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchgate.formats import find_format
from benchgate.formats.any_tool import CUSTOM_BIGGER, CUSTOM_SMALLER, hyperfine
from benchgate.formats.contents import ForeignFile
from benchgate.model.metrics import Better

if TYPE_CHECKING:
    from benchgate.formats.rows import ForeignFormat


def entry(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "unit": "req/s", "value": 2, **more}


def directions(known: ForeignFormat, *entries: dict[str, object]) -> dict[str, Better | str]:
    rows = known.parse(ForeignFile("it", json.dumps(entries).encode())).benchmarks
    return {row.id: row.error or row.series[0].metric.better for row in rows}


def test_an_entry_may_say_whether_more_is_better() -> None:
    mixed = entry("a", better="higher"), entry("b", better="lower"), entry("c")
    said = {"a": Better.HIGHER, "b": Better.LOWER}
    assert directions(CUSTOM_SMALLER, *mixed) == {**said, "c": Better.LOWER}
    assert directions(CUSTOM_BIGGER, *mixed) == {**said, "c": Better.HIGHER}


def test_what_is_neither_higher_nor_lower_fails_its_row() -> None:
    assert directions(CUSTOM_SMALLER, entry("a", better="up"), entry("b", better=1)) == {
        "a": "[0].better: 'up' is neither 'higher' nor 'lower'",
        "b": "[1].better: 1 is not text",
    }


def test_a_file_is_recognized_only_if_every_entry_says_it() -> None:
    def found(*entries: dict[str, object]) -> ForeignFormat | None:
        return find_format(ForeignFile("it", json.dumps(entries).encode()))

    assert found(entry("a", better="higher"), entry("b", better="lower")) is CUSTOM_SMALLER
    assert found(entry("a", better="higher"), entry("b")) is None
    assert found(entry("a", better="higher"), entry("b", better=None)) is None


def test_exit_codes_that_are_expected_fail_no_row_of_hyperfine() -> None:
    def errors(codes: list[Any], ok: tuple[int, ...]) -> str:
        row = {"command": "x", "times": [1.0, 2.0], "exit_codes": codes}
        data = json.dumps({"results": [row]}).encode()
        return hyperfine.parse(ForeignFile("it", data, ok_exit_codes=ok)).benchmarks[0].error or ""

    assert errors([0, 1], (0, 1)) == ""
    assert errors([1, 2], (0, 1)).startswith("it ended with exit code 2 (`ok_exit_codes`")
    assert errors([None, 1], (0, 1)) == "it ended with a signal"
    assert errors([[], 1], (0, 1)).startswith("it ended with exit code []")
