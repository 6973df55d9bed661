from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchgate.errors import UsageError
from benchgate.github.step_outputs import (
    OUTPUT,
    SUMMARY,
    SUMMARY_BYTES,
    write_outputs,
    write_summary,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def read(text: str) -> Mapping[str, str]:
    """A file of outputs as the runner reads it."""
    found, lines = {}, iter(text.split("\n"))
    for line in lines:
        if heredoc := re.fullmatch(r"([^=<]+)<<(.+)", line):
            value = []
            while (part := next(lines)) != heredoc[2]:
                value.append(part)
            found[heredoc[1]] = "\n".join(value)
        elif line:
            name, equals, value_ = line.partition("=")
            assert equals
            found[name] = value_
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "set_output_1"
    path.touch()
    return path


def test_outputs_are_what_the_runner_expects(file: Path) -> None:
    said = write_outputs({"verdict": "fail", "regressions": "2"}, {OUTPUT: str(file)}, lambda: "d0")

    assert said == ""
    assert file.read_text() == "verdict<<d0\nfail\nd0\nregressions<<d0\n2\nd0\n"


def test_what_is_there_stays_and_its_last_line_is_ended(file: Path) -> None:
    file.write_text("earlier=1")
    write_outputs({"verdict": "pass"}, {OUTPUT: str(file)}, lambda: "d0")
    assert read(file.read_text()) == {"earlier": "1", "verdict": "pass"}


def test_a_value_that_holds_the_delimiter_gets_another_one(file: Path) -> None:
    words = iter(("dead", "beef", "f00d"))
    value = "dead\nverdict=pass\nxbeefx"
    write_outputs({"verdict": value}, {OUTPUT: str(file)}, lambda: next(words))
    assert read(file.read_text()) == {"verdict": value}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\r\n<=a0"), max_size=40))
def test_the_runner_reads_what_was_written(file: Path, value: str) -> None:
    file.write_bytes(b"")
    write_outputs({"report": value, "verdict": "fail"}, {OUTPUT: str(file)}, lambda: "a0a0a0a0")
    assert read(file.read_bytes().decode()) == {"report": value, "verdict": "fail"}


def test_a_path_that_is_no_text_keeps_its_bytes(file: Path) -> None:
    write_outputs({"report": os.fsdecode(b"r\xff.json")}, {OUTPUT: str(file)}, lambda: "d0")
    assert file.read_bytes() == b"report<<d0\nr\xff.json\nd0\n"


@pytest.mark.parametrize("environ", [{}, {OUTPUT: "", SUMMARY: ""}])
def test_without_the_variable_nothing_is_written_and_that_is_said(
    environ: Mapping[str, str],
) -> None:
    assert write_outputs({"verdict": "pass"}, environ, lambda: "d0") == (
        "GITHUB_OUTPUT is not set, so nothing was written to it"
    )
    assert write_summary(lambda _: pytest.fail("rendered"), environ) == (
        "GITHUB_STEP_SUMMARY is not set, so nothing was written to it"
    )


def test_what_cannot_be_written_is_an_error_that_names_the_variable(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there/x, which GITHUB_OUTPUT names: No such file"):
        write_outputs({"verdict": "pass"}, {OUTPUT: str(tmp_path / "there" / "x")}, lambda: "d0")
    with pytest.raises(UsageError, match="GITHUB_STEP_SUMMARY names: Is a directory"):
        write_summary(lambda _: "x\n", {SUMMARY: str(tmp_path)})


def test_a_summary_is_added_on_lines_of_its_own(file: Path) -> None:
    file.write_text("# Earlier")
    assert write_summary(lambda _: "### pass\n", {SUMMARY: str(file)}) == ""
    assert file.read_text() == "# Earlier\n### pass\n"


def test_a_file_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    write_summary(lambda _: "### pass\n", {SUMMARY: str(tmp_path / "new.md")})
    assert (tmp_path / "new.md").read_text() == "### pass\n"


def test_a_device_may_stand_for_the_file() -> None:
    assert write_summary(lambda _: "### pass\n", {SUMMARY: os.devnull}) == ""


@pytest.mark.parametrize("used", [0, 1, 1000, SUMMARY_BYTES - 2000])
def test_the_room_is_what_others_leave_in_bytes(file: Path, used: int) -> None:
    file.write_bytes(b"\n" * used)
    write_summary(lambda room: "\N{GREEK SMALL LETTER MU}" * (room // 2), {SUMMARY: str(file)})
    assert SUMMARY_BYTES - 1100 < file.stat().st_size < SUMMARY_BYTES


def test_ending_an_unfinished_line_counts_towards_the_limit(file: Path) -> None:
    sizes = []
    for earlier in (b"# Earlier\n", b"# Earlier:"):
        file.write_bytes(earlier)
        write_summary(lambda room: "x" * room, {SUMMARY: str(file)})
        sizes.append(file.stat().st_size)
    assert sizes[0] == sizes[1] < SUMMARY_BYTES


@pytest.mark.parametrize("used", [SUMMARY_BYTES - 1500, SUMMARY_BYTES - 10, SUMMARY_BYTES + 10])
def test_a_summary_without_room_is_left_out_and_that_is_said(file: Path, used: int) -> None:
    file.write_bytes(b"\n" * used)
    said = write_summary(lambda _: "\N{GREEK SMALL LETTER MU}" * 300, {SUMMARY: str(file)})
    assert said == f"GITHUB_STEP_SUMMARY is full: it already holds {used} bytes"
    assert file.stat().st_size == used
