from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import sync_playwright
from scripts.browser import browser_flags, find_browser
from scripts.pictures import PACKAGES

from benchgate.model.policy import Outcome
from benchgate.model.verdict import Row
from benchgate.report.chart import MOST_BARS, view_chart
from benchgate.report.markdown import render_comment
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.model.verdict import Verdict

CHART = re.compile(r"```mermaid\n(.*?)\n```", re.DOTALL)
MERMAID = PACKAGES / "mermaid" / "dist" / "mermaid.min.js"
CHROMIUM = find_browser()


def rows(*ratios: float | None) -> list[Row]:
    return [Row(f"b{i}", Outcome.REGRESSED, ratio=ratio) for i, ratio in enumerate(ratios)]


def source(*ratios: float | None) -> str:
    chart = view_chart(rows(*ratios))
    assert chart is not None
    return chart.source


def test_every_bar_is_the_head_in_percent_of_the_base() -> None:
    lines = source(1.146, 0.8).splitlines()
    assert lines[1:] == [
        "xychart-beta",
        '    x-axis ["1", "2"]',
        "    y-axis 0 --> 126.1",
        "    bar [114.6, 80.0]",
        "    line [100, 100]",
    ]


def test_the_key_names_the_bars_in_their_order() -> None:
    chart = view_chart(rows(1.2, None, 0.5))
    assert chart is not None
    assert chart.key == (("b0", "+20.0 %"), ("b2", "-50.0 %"))


@pytest.mark.parametrize("ratios", [(), (1.2,), (1.2, None), (1.2, math.nan), (1.2, math.inf)])
def test_too_few_changes_make_no_chart(ratios: Sequence[float | None]) -> None:
    assert view_chart(rows(*ratios)) is None


def test_a_long_bar_leaves_the_others_visible() -> None:
    assert "bar [400.0, 110.0]" in source(26.0, 1.1)


def test_many_rows_are_cut() -> None:
    chart = view_chart(rows(*[1.1] * 500))
    assert chart is not None
    assert len(chart.key) == MOST_BARS


@given(st.lists(st.floats(0, 1e308), min_size=2, max_size=30), st.text())
def test_no_name_gets_into_the_chart(ratios: list[float], name: str) -> None:
    chart = view_chart([Row(name, Outcome.REGRESSED, ratio=ratio) for ratio in ratios])
    assert chart is not None
    assert chart.source == source(*ratios)


@pytest.mark.slow
@pytest.mark.skipif(
    not MERMAID.exists() or CHROMIUM is None,
    reason="needs Chromium, and Mermaid: npm ci --prefix requirements/pictures",
)
def test_mermaid_draws_every_chart(samples: Mapping[str, Verdict]) -> None:
    comments = [render_comment(view_verdict(one)) for one in samples.values()]
    found = [chart for comment in comments for chart in CHART.findall(comment)]
    assert len(found) > 2
    found += [source(0.0, 1e300), source(1.0, 1.0), source(*[1.1] * 100)]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=browser_flags())
        page = browser.new_page()
        page.add_script_tag(path=MERMAID)
        for index, chart in enumerate(found):
            for theme in ("default", "dark"):
                drawn = page.evaluate(
                    f"mermaid.initialize({{startOnLoad: false, theme: '{theme}'}}),"
                    f"mermaid.render('c{index}{theme}', {json.dumps(chart)}).then(one => one.svg)"
                )
                plot = drawn.partition('class="bar-plot-0"')[2].partition("</g>")[0]
                assert plot.count("<rect") == chart.splitlines()[2].count('"') / 2
                assert "#4f8fd0" in plot
        browser.close()
