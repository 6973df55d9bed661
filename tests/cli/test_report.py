"""`benchgate report`: which files it takes, and where the page goes."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.results import arm, as_file, measured

from benchgate.model.result import Result

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Call


@pytest.fixture
def result(tmp_path: Path) -> Path:
    path = tmp_path / "result.json.gz"
    path.write_bytes(as_file(measured({"a": 1e-3, "b": 1e-3}, {"a": 1e-3, "b": 2e-3})))
    return path


def test_a_result_of_both_sides_is_judged(call: Call, result: Path) -> None:
    done = call(result.parent, "report", result.name)
    assert (done.code, done.out) == (0, "wrote benchgate-report.html\n")
    page = (result.parent / "benchgate-report.html").read_text("utf-8")
    assert "Slower: <code>b</code> +100\N{NO-BREAK SPACE}%" in page
    assert "Each launch, in order: time" in page
    compared = call(result.parent, "compare", result, "--html", "-")
    assert compared.code == 3
    assert compared.out == page.rstrip("\n") + "\n"


def test_a_result_of_one_side_has_statistics(call: Call, tmp_path: Path) -> None:
    (tmp_path / "run.json.gz").write_bytes(as_file(Result(head=arm({"a": 1e-3}))))
    done = call(tmp_path, "report", "run.json.gz", "--html", "-")
    assert done.code == 0
    assert "there is nothing to compare and no verdict" in done.out
    assert "Each launch, in order: time" in done.out


def test_a_verdict_has_a_page_too(call: Call, result: Path) -> None:
    call(result.parent, "compare", result, "--json", "verdict.json")
    verdict = result.parent / "verdict.json"
    assert json.loads(verdict.read_text())["decision"] == "fail"
    done = call(result.parent, "report", verdict, "--html", "-")
    assert "Slower: " in done.out
    assert "This page was made from a verdict, which holds no samples" in done.out
    assert "Launches of time" not in done.out


def test_the_result_is_not_overwritten(call: Call, result: Path) -> None:
    before = result.read_bytes()
    done = call(result.parent, "report", result, "--html", result)
    assert done.code == 2
    assert "would overwrite the result" in done.err
    assert result.read_bytes() == before


@pytest.mark.parametrize("text", ["", "{}", '{"schema": 1, "rows": 3}', "\x00"])
def test_other_files_are_refused(call: Call, tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)
    done = call(tmp_path, "report", "other.json", "--html", "page.html")
    assert done.code == 2
    assert "other.json" in done.err
    assert not (tmp_path / "page.html").exists()


def test_without_a_check_there_is_nothing_to_report(call: Call, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)  # noqa: S607 - found on PATH
    done = call(tmp_path, "report")
    assert done.code == 2
    assert "nothing has been measured" in done.err
