"""Finding valgrind, and reading what it leaves; a script stands in for it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.machine.perf import CounterError
from benchgate.measure.machine.valgrind import (
    Valgrind,
    count_between_marks,
    count_of_program,
    find_valgrind,
    layout_of_round,
    version_of,
)

if TYPE_CHECKING:
    from pathlib import Path


def install(folder: Path, script: str) -> dict[str, str]:
    program = folder / "valgrind"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{folder}:{os.defpath}"}


def test_valgrind_that_works_is_found(tmp_path: Path) -> None:
    environ = install(tmp_path, '[ "$1" = --version ] && echo valgrind-3.99.0; exit 0')
    program = find_valgrind(environ)
    assert program == str(tmp_path / "valgrind")
    assert version_of(program) == "3.99.0"


def test_valgrind_that_is_missing_says_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(CounterError, match=r"not installed: apt-get install valgrind"):
        find_valgrind({"PATH": str(tmp_path)})


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'cannot find ld.so' >&2; echo more >&2; exit 1", "cannot find ld.so$"),
        ("exit 3", "code 3$"),
    ],
)
def test_valgrind_that_does_not_work_says_why(tmp_path: Path, script: str, why: str) -> None:
    with pytest.raises(CounterError, match=f"does not work here: {why}"):
        find_valgrind(install(tmp_path, script))


def test_a_percent_in_a_folder_is_not_a_process_id(tmp_path: Path) -> None:
    valgrind = Valgrind("valgrind", lambda _: True)
    for words in (valgrind.under_cachegrind, valgrind.under_callgrind):
        (out,) = (one for one in words(tmp_path / "10%p") if "-out-file=" in one)
        assert out.endswith("/10%%p/%p")


def test_a_round_is_counted_in_the_same_layout_always() -> None:
    assert layout_of_round(3) == layout_of_round(3) != layout_of_round(4)


def test_the_processes_of_a_program_are_added_up(tmp_path: Path) -> None:
    (tmp_path / "1").write_text("events: Ir\nfn=x\n1 5\nsummary: 1000\n")
    (tmp_path / "2").write_text("x\n" * 10_000 + "summary: 234\n")
    assert count_of_program(tmp_path) == 1234


def test_a_program_without_a_count_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CounterError, match="left no count"):
        count_of_program(tmp_path)
    (tmp_path / "1").write_text("events: Ir\n")
    with pytest.raises(CounterError, match="not written to its end"):
        count_of_program(tmp_path)


def test_what_was_before_the_first_mark_does_not_count(tmp_path: Path) -> None:
    for name, total in {"7.3": 9000, "7.4": 50, "7.10": 1, "8": 20}.items():
        (tmp_path / name).write_text(f"totals: {total}\n")
    assert count_between_marks(tmp_path.iterdir(), 7) == 71


def test_a_process_without_marks_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "7.1").write_text("totals: 1\n")
    with pytest.raises(CounterError, match="does not see"):
        count_between_marks(tmp_path.iterdir(), 7)
