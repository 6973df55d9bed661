"""`show --plot`: what is drawn, of which benchmarks, and what is said if nothing can be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli.test_details import checked, result

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Call

__all__ = ["checked", "result"]


def test_both_arms_are_drawn_over_each_other(call: Call, checked: Path) -> None:
    done = call(checked.parent, "show", checked, "--plot", "--filter", "sort*")

    done.check(0)
    assert done.out.count("share of samples up to each value") == 2
    assert "o base, 12 launches, 144 samples; x head, 12 launches, 144 samples; * both" in done.out
    assert "parse/large" not in done.out
    assert done.out.count("how to read it") == 1
    assert " 1 µs" in done.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--plot", "histogram", "result.json.gz"),
        ("result.json.gz", "--plot=histogram"),
        ("--plot=histogram", "--metric", "time", "result.json.gz"),
    ],
)
def test_a_histogram_of_a_run_alone(call: Call, result: Path, arguments: tuple[str, ...]) -> None:
    done = call(result.parent, "show", *arguments)

    done.check(0)
    assert done.out.count("share of samples in each bin") == 3
    assert "base" not in done.out
    assert "alloc_blocks" not in done.out


def test_the_file_may_follow_the_option(call: Call, result: Path) -> None:
    done = call(result.parent, "show", "--plot", "result.json.gz")

    done.check(0)
    assert done.out == call(result.parent, "show", "result.json.gz", "--plot", "ecdf").out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--plot", "histgram"), "not 'histgram'; did you mean 'histogram'?"),
        (("--plot", "--detail"), "--plot and --detail cannot be combined"),
        (("--plot", "--json", "-"), "--plot and --json cannot be combined"),
        (("--plot", "--metric", "alloc_blocks"), "'alloc_blocks' cannot be drawn: its values are"),
        (("--plot", "--metric", "tme"), "has a metric 'tme'; did you mean 'time'?"),
        (("--plot", "--filter", "db/*"), "there is nothing to draw"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    call: Call, result: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    done = call(result.parent, "show", result, *arguments)

    done.check(2, sentence)
    assert done.out == ""
