"""What people need who use a keyboard, a screen reader, strong colors or paper."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pytest
from pypdf import PdfReader
from tests.browser.accessibility import violations
from tests.browser.samples import first_charts, measured, scenario, verdict_of
from tests.browser.visit import PHONE, WIDE

from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.browser.visit import Visit

    from benchgate.model.result import Result
    from benchgate.page.charts import Plotted

# The benchmark that the focus is in, and the control that has it.
_FOCUSED = """() => {
  const at = document.activeElement;
  const control = at.id || at.dataset.sort || at.dataset.outcome || at.tagName;
  return `${at.closest(".bench")?.id ?? ""}|${control}`;
}"""


@pytest.mark.parametrize(
    "window", [("light", WIDE), ("light", PHONE), ("dark", WIDE), ("dark", PHONE)]
)
@pytest.mark.parametrize(
    "name", ["measured", "scenario", "alone", "hostile-verdict", "failed", "several", "detailed"]
)
def test_axe_finds_nothing(
    visit: Callable[..., Visit],
    page_file: Callable[[str], Path],
    axe: str,
    name: str,
    window: tuple[str, int],
) -> None:
    scheme, width = window
    opened = visit(page_file(name), width=width, color_scheme=scheme)
    opened.open_benchmark()
    for summary in opened.page.locator(".as-table > summary:visible").all():
        summary.click()
    opened.page.wait_for_function(
        "[...document.querySelectorAll('.as-table[open]')].every((x) => x.querySelector('table'))"
    )

    assert violations(opened.page, axe) == []


def test_the_keyboard_reaches_everything(
    visit: Callable[..., Visit], page_file: Callable[[str], Path]
) -> None:
    page = visit(page_file("several")).page
    page.evaluate("document.querySelectorAll('.bench').forEach((one) => { one.open = false; })")
    reached = []
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(_FOCUSED))
        visible = page.evaluate(
            "() => { const s = getComputedStyle(document.activeElement);"
            " return document.activeElement === document.body"
            " || (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2); }"
        )
        assert visible, f"the focus on {reached[-1]} is not seen"

    assert reached[0] == "|A", "the first one skips to the content"
    for control in ("theme", "find", "slower", "order"):
        assert f"|{control}" in reached
    ids = [one.get_attribute("id") for one in page.locator(".bench").all()]
    order = [one.partition("|")[0] for one in reached if re.fullmatch(r"b\d+\|SUMMARY", one)]
    assert order[: len(ids)] == ids


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_key_opens_a_benchmark_and_its_figures_are_read_by_keys(
    visit: Callable[..., Visit], page_file: Callable[[str], Path], key: str
) -> None:
    page = visit(page_file("measured")).page
    last = page.locator(".bench").last
    last.locator("summary").first.focus()
    page.keyboard.press(key)
    chart = last.locator("svg.chart").nth(1)
    chart.focus()
    page.keyboard.press("Home")
    readout = last.locator(".readout").nth(1)
    first = readout.text_content()
    page.keyboard.press("ArrowRight")

    assert first
    assert re.fullmatch(r"round 1: base [\d.]+ µs \(.* to .*\); head [\d.]+ µs \(.*\)", first)
    assert readout.text_content() not in {first, ""}
    page.keyboard.press("Escape")
    assert readout.text_content() == ""


def told(series: Plotted) -> list[list[float]]:
    """What the table of a figure says of each x: its last value, and the ends around that."""
    low = series.low or (None,) * len(series.y)
    high = series.high or (None,) * len(series.y)
    last = {x: values for x, *values in zip(series.x, series.y, low, high, strict=True)}
    return [
        [y, *(end for end in ends if end is not None and None not in ends)]
        for y, *ends in last.values()
        if y is not None
    ]


def numbers(cell: str) -> list[float]:
    return [float(one) for one in re.findall(r"-?[\d.]+(?:e[+-]\d+)?", cell)]


@pytest.mark.parametrize(("name", "result"), [("scenario", scenario), ("measured", measured)])
def test_each_figure_says_what_it_shows_and_has_its_values(
    visit: Callable[..., Visit],
    page_file: Callable[[str], Path],
    name: str,
    result: Callable[[], Result],
) -> None:
    expected = first_charts(result())
    opened = visit(page_file(name))
    bench = opened.open_benchmark()
    figures = bench.locator("figure:visible").all()

    assert len(figures) >= 3
    for figure in figures:
        chart = expected[figure.get_attribute("data-chart") or ""]
        label = figure.locator("svg.chart").get_attribute("aria-label") or ""
        caption = figure.locator("figcaption").text_content() or ""
        assert len(caption) > 20
        assert caption == chart.caption
        assert label.startswith(f"{chart.title}. {caption}")
        figure.locator(".as-table > summary").click()
        table = figure.locator("table.data")
        table.wait_for()
        titles = table.locator("th").all_text_contents()
        places = sorted({x for series in chart.series for x in series.x})
        assert table.locator("tbody tr").count() == len(places)
        assert len(titles) == 1 + len(chart.series)
        for column, series in enumerate(chart.series, start=2):
            cells = table.locator(f"tbody td:nth-child({column})").all_text_contents()
            assert [numbers(text) for text in cells if text] == [
                pytest.approx(known, rel=2e-3, abs=1e-9) for known in told(series)
            ]


def test_the_dark_theme_changes_figures_too(
    visit: Callable[..., Visit], page_file: Callable[[str], Path]
) -> None:
    opened = visit(page_file("measured"), color_scheme="light")
    opened.open_benchmark()
    page = opened.page
    look = (
        "['body', 'svg.chart text', '.line.base, .thread.base', '.dot.head'].map((one) => {"
        " const s = getComputedStyle(document.querySelector(one));"
        " return [s.color, s.backgroundColor, s.fill, s.stroke].join(); })"
    )
    light = page.evaluate(look)
    page.locator("#theme").click()
    dark = page.evaluate(look)

    assert all(one != other for one, other in zip(light, dark, strict=True))
    assert page.locator("#theme").text_content() == "Light theme"
    page.locator("#theme").click()
    assert page.evaluate(look) == light


def test_nothing_moves_for_those_who_want_no_motion(
    visit: Callable[..., Visit], page_file: Callable[[str], Path]
) -> None:
    behavior = "getComputedStyle(document.documentElement).scrollBehavior"
    still = visit(page_file("measured"), reduced_motion="reduce").page

    assert still.evaluate(behavior) == "auto"
    assert still.evaluate("document.getAnimations().length") == 0


def test_forced_colors_keep_outcomes_and_figures_apart(
    visit: Callable[..., Visit], page_file: Callable[[str], Path]
) -> None:
    opened = visit(page_file("measured"), forced_colors="active")
    opened.open_benchmark()

    # Outcomes are words, and arms differ by their shapes.
    assert "slower" in (opened.page.locator(".badge").first.text_content() or "")
    assert opened.page.locator("circle.dot.base").count() > 0
    assert opened.page.locator("path.dot.head").count() > 0


def test_paper_has_every_row_and_the_figures_that_are_open(
    visit: Callable[..., Visit], page_file: Callable[[str], Path]
) -> None:
    opened = visit(page_file("measured"), color_scheme="dark", width=720)  # of A4
    opened.open_benchmark()
    page = opened.page
    page.emulate_media(media="print", color_scheme="light")

    for part in (".badge", ".change", ".name", ".drawing", ".values"):
        assert page.locator(f".bench > summary > {part}:visible").count() == 4
    assert page.locator(".changes li:visible").count() == 2
    assert opened.overflow_px() == 0
    assert page.locator("#filter").is_hidden()
    assert page.locator("#theme").is_hidden()
    assert page.evaluate("getComputedStyle(document.body).color") != "rgb(228, 232, 236)"
    assert page.locator("svg.chart:visible").count() >= 4


def test_paper_says_the_verdict_and_every_change(
    visit: Callable[..., Visit], page_file: Callable[[str], Path]
) -> None:
    page = visit(page_file("measured")).page
    whole = PdfReader(io.BytesIO(page.pdf(format="A4")))
    text = " ".join(" ".join(sheet.extract_text() for sheet in whole.pages).split())
    view = view_verdict(verdict_of(measured()))

    assert view.sentence in text
    assert {"slower", "faster"} <= {row.word for row in view.rows}
    for row in (one.first for one in view.shown):
        said = f"{row.word} {row.change} {row.interval} {row.benchmark} {row.values}"
        assert text.count(said) == 2, "among what changed, and among all benchmarks"
