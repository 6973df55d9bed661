"""The page of a history and the overview of a site, in a browser."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.browser.accessibility import violations
from tests.browser.samples import HOSTILE, LONG, UNSEEN
from tests.browser.visit import PHONE, WIDE
from tests.histories import history_of, runs_of, sha_of, trend_of

from benchgate.page.history_page import Site, render_history_page, site_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page
    from tests.browser.visit import Visit

    from benchgate.model.history_document import History

REPOSITORY = "https://github.com/octo-org/hello"


def usual() -> History:
    return history_of(
        trend_of([(10, 0.010), (10, 0.012)]),
        trend_of([(5, 2e-5), (15, 1e-5)], "parse/small"),
        trend_of([(20, 1e-3)], "text/slug"),
        trend_of([(20, 2e-3)], "text/slug", statistic="p95"),
        notes=("a note",),
    )


def hostile() -> History:
    trends = [
        trend_of([(6, 0.010), (6, 0.012)], name, metric=name[:60], unit=name[:60])
        for name in (*HOSTILE, LONG, UNSEEN)
    ]
    shifts = tuple(replace(one, also=HOSTILE) for one in trends[0].shifts)
    trends[0] = replace(trends[0], shifts=shifts)
    runs = runs_of(12, subject=HOSTILE[0], url="javascript:alert(1)")
    return history_of(*trends, runs=runs, notes=HOSTILE)


HISTORIES = {"usual": usual, "hostile": hostile}


@pytest.fixture(params=HISTORIES)
def pages(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    """The overview and the history."""
    site = Site("octo-org/hello", REPOSITORY, (), HISTORIES[request.param]())
    for name, data in site_files(site, str).items():
        (tmp_path / name).write_bytes(data)
    return [tmp_path / "index.html", tmp_path / "history.html"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_they_are_quiet_fit_the_window_and_axe_finds_nothing(
    visit: Callable[..., Visit], pages: list[Path], axe: str, width: int, scheme: str
) -> None:
    for path in pages:
        opened = visit(path, width=width, color_scheme=scheme)
        for summary in opened.page.locator(".trend > summary:visible").all()[:3]:
            summary.click()
        assert opened.overflow_px() == 0, path.name
        assert violations(opened.page, axe) == []


@pytest.fixture
def history_page(tmp_path: Path) -> Path:
    path = tmp_path / "history.html"
    path.write_text(render_history_page(usual(), repository=REPOSITORY), "utf-8")
    return path


def test_a_chart_is_drawn_when_its_trend_is_opened(
    visit: Callable[..., Visit], history_page: Path
) -> None:
    page = visit(history_page).page
    assert page.locator("svg.chart").count() == 0
    page.locator(".trend > summary").first.press("Enter")
    page.locator("svg.chart").wait_for()
    assert page.locator(".mark.strong").count() == 1
    page.locator("svg.chart").press("ArrowLeft")
    assert "Change number 19 (A. Developer), 2026-01-20: " in page.locator(".readout").inner_text()
    page.locator("svg.chart").press("+")
    page.get_by_role("button", name="Show all").click()
    assert page.get_by_role("button", name="Show all").is_hidden()


@pytest.fixture
def drawn(visit: Callable[..., Visit], history_page: Path) -> Page:
    """The page with its first chart; what it opens is not loaded, but noted in the page."""
    page = visit(history_page).page
    page.evaluate(
        """() => document.addEventListener("click", (event) => {
          const link = event.target.closest("a");
          if (!link) return;
          event.preventDefault();
          window.opened = [...(window.opened ?? []), link.href];
        })"""
    )
    page.locator(".trend > summary .name").first.click()
    page.locator("svg.chart").wait_for()
    return page


def test_a_click_on_a_point_and_enter_open_its_commit(drawn: Page) -> None:
    chart = drawn.locator("svg.chart")
    box = chart.bounding_box()
    assert box
    chart.click(position={"x": box["width"] - 12, "y": 100})
    chart.press("Home")
    chart.press("Enter")
    opened = drawn.evaluate("window.opened")
    assert opened == [f"{REPOSITORY}/commit/{sha_of(19)}", f"{REPOSITORY}/commit/{sha_of(0)}"]


def test_a_part_that_is_marked_opens_nothing(drawn: Page) -> None:
    chart = drawn.locator("svg.chart")
    box = chart.bounding_box()
    assert box
    drawn.mouse.move(box["x"] + 300, box["y"] + 100)
    drawn.mouse.down()
    drawn.mouse.move(box["x"] + 600, box["y"] + 100)
    drawn.mouse.up()
    assert drawn.get_by_role("button", name="Show all").is_visible()
    assert drawn.evaluate("window.opened") is None


def test_the_axis_has_commits_and_a_finger_gets_a_link(
    visit: Callable[..., Visit], history_page: Path
) -> None:
    page = visit(history_page, width=PHONE, has_touch=True).page
    page.locator(".trend > summary .name").first.tap()
    chart = page.locator("svg.chart")
    assert "0000cba" in chart.locator(".tick").all_text_contents()
    chart.tap(position={"x": 60, "y": 100})
    link = page.locator(".readout a")
    assert str(link.get_attribute("href")).startswith(f"{REPOSITORY}/commit/")
    assert page.url.startswith("file:")


def test_trends_are_found_and_hidden(visit: Callable[..., Visit], history_page: Path) -> None:
    page = visit(history_page).page
    shown = page.locator(".trend:visible")
    assert shown.count() == 3
    page.get_by_role("button", name="unchanged").click()
    assert shown.count() == 2
    page.get_by_role("searchbox").fill("SMALL parse")
    assert shown.count() == 1
    assert page.locator("#found").inner_text() == "1 of 3 benchmarks"
    page.get_by_role("searchbox").fill("nothing")
    assert page.locator(".machine:visible").count() == 0


def test_a_link_opens_its_trend(visit: Callable[..., Visit], history_page: Path) -> None:
    page = visit(history_page).page
    page.evaluate("location.hash = 't4'")
    page.wait_for_selector("#t4[open] svg.chart")


def test_paper_has_what_is_open(visit: Callable[..., Visit], history_page: Path) -> None:
    page = visit(history_page, color_scheme="dark").page
    page.locator(".trend > summary").first.click()
    page.locator("svg.chart").wait_for()
    page.emulate_media(media="print")
    assert page.locator("svg.chart").is_visible()
    assert page.locator("#filter").is_hidden()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


def test_the_label_of_a_change_keeps_its_sign_on_a_phone(
    visit: Callable[..., Visit], history_page: Path
) -> None:
    page = visit(history_page, width=PHONE).page
    page.locator(".trend > summary").first.click()
    left_px = page.locator(".mark-label").evaluate(
        "label => label.getBBox().x - Number(label.closest('svg').getAttribute('x'))"
    )
    assert left_px >= 0
