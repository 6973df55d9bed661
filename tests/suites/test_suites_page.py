"""docs/suites.md says what works: with the real tools, as far as the machine has them."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.docs.conftest import read_page
from tests.formats.cases import SAMPLES
from tests.suites.page import read_sections
from tests.suites.scratch import commit, typed
from tests.suites.tools import PAGE, TOOLS

from benchgate.baselines.any_file import read_any
from benchgate.config import loads
from benchgate.formats import FORMATS
from benchgate.git.repository import Git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.suites.page import Section
    from tests.suites.tools import Tool

    from benchgate.model.result import Result

_VERDICT_CODES = {0, 3, 4}  # which one depends on the machine
# One run of a suite on each side: the one that finds its benchmarks counts.
_ONE_ROUND = "\n[measure]\nrounds = 1\ncommand_warmup = 0\ncanary = false\n"


def test_the_overview_links_to_every_tool_in_order() -> None:
    overview = read_page(PAGE).text.partition("\n## ")[0]
    sections = [section.name for section in read_sections() if section.name in TOOLS]
    assert sorted(sections) == sorted(TOOLS)
    anchors = [re.sub(r"[^a-z0-9 -]", "", name.lower()).replace(" ", "-") for name in sections]
    assert re.findall(r"\(#([\w-]+)\)", overview) == anchors


def test_the_configuration_of_a_tool_is_valid(section: Section) -> None:
    loads(section.configuration, "benchgate.toml")


def test_a_script_can_print_what_the_page_shows(tmp_path: Path) -> None:
    section = next(each for each in read_sections() if each.name == "Numbers of your own")
    found = []
    for name, text in zip((None, "customSmallerIsBetter"), section.texts("json"), strict=True):
        path = tmp_path / "numbers.json"
        path.write_text(text, encoding="utf-8")
        found.append(series_of(read_any([path], name)))
    assert found == [{"count": {"time s lower"}}] * 2


@pytest.mark.slow
def test_the_commands_write_files_that_benchgate_reads(
    section: Section, make_project: Callable[[Tool], Path]
) -> None:
    tool = TOOLS[section.name]
    scratch = make_project(tool)
    for command in section.build:
        typed(command, scratch)
    others = [each for each in section.commands if not each.startswith("benchgate ")]
    for side in ("base-1", "head-1"):
        for command in others:
            typed(command.replace("base-1", side), scratch)
    # So the shell completes `base-*`, as it does for several runs.
    base, head = (sorted(scratch.glob(f"{side}-*")) for side in ("base", "head"))
    named = re.search(r"benchgate .*--format (\S+)", "\n".join(section.commands))
    name = named[1] if named else None
    for files in (base, head):
        found = series_of(read_any(files, name))
        assert found.keys() == tool.rows.keys()
        for id_, metrics in tool.rows.items():
            assert found[id_] >= set(metrics)
    assert any(f"`{id_}`" in section.text for id_ in tool.rows)
    typed(section.comparison, scratch, _VERDICT_CODES)


def series_of(result: Result) -> dict[str, set[str]]:
    """By id the metrics that were read, each with its unit and direction."""
    assert [row.error for row in result.head.benchmarks if row.error] == []
    return {
        row.id: {f"{s.metric.name} {s.metric.unit} {s.metric.better}" for s in row.series}
        for row in result.head.benchmarks
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, tool in TOOLS.items() if tool.sample])
def test_the_file_of_a_tool_that_cannot_be_had_is_compared(name: str, tmp_path: Path) -> None:
    section = next(each for each in read_sections() if each.name == name)
    named = re.search(r"\S*base-1(\.\w+)", "\n".join(section.commands))
    assert named
    for side in ("base", "head"):
        shutil.copy(SAMPLES / TOOLS[name].sample, tmp_path / f"{side}-1{named[1]}")
    found = read_any([tmp_path / f"base-1{named[1]}"]).head.benchmarks
    assert any(f"`{row.id}`" in section.text for row in found)
    typed(section.comparison, tmp_path, _VERDICT_CODES | {5})  # some have failed benchmarks


def test_the_page_and_the_hints_of_benchgate_agree(section: Section) -> None:
    for known in (each for each in FORMATS if TOOLS[section.name].format == each.name):
        options = re.findall(r"(?<= )--?[\w-]+", known.command)
        assert [each for each in options if each not in section.text] == []
        assert ("no samples" in " ".join(section.text.split())) != known.has_samples


@pytest.mark.slow
def test_files_of_several_runs_are_compared(make_project: Callable[[Tool], Path]) -> None:
    section = next(each for each in read_sections() if each.name.startswith("Compare files"))
    (example,) = section.texts("sh")
    printed = typed(example, make_project(TOOLS["hyperfine"]), _VERDICT_CODES)
    assert re.search(r"sort words\.txt \(.+\) looks slower", printed)


@pytest.mark.slow
def test_the_configuration_measures_the_suite(
    section: Section, make_project: Callable[[Tool], Path]
) -> None:
    tool = TOOLS[section.name]
    if tool.not_checked:
        pytest.skip(tool.not_checked)
    scratch = make_project(tool)
    text = section.configuration + _ONE_ROUND
    (scratch / "benchgate.toml").write_text(text, encoding="utf-8")
    commit(Git(scratch))
    typed("benchgate validate", scratch)
    printed = typed("benchgate check --quiet --against HEAD --json -", scratch, _VERDICT_CODES)
    rows = json.loads(printed)["rows"]
    assert {row["error"] for row in rows} == {None}, printed
    assert {row["benchmark"] for row in rows} >= tool.rows.keys() | tool.live
    assert not tool.live or any(f"`{id_}`" in section.text for id_ in tool.live)
