"""Every page in a browser: quiet, harmless, within the window, and not too large."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.browser.samples import HOSTILE, LONG, PAGES, judged, many
from tests.browser.visit import PHONE, WIDE, open_file
from tests.report.page import STATES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser
    from tests.browser.visit import Visit

EVERY = (*STATES, *(name for name in PAGES if name != "thousand"))


@pytest.mark.parametrize("name", EVERY)
def test_a_page_is_quiet_and_fits_the_window(
    visit: Callable[..., Visit], page_file: Callable[[str], Path], name: str
) -> None:
    for width in (WIDE, PHONE):
        opened = visit(page_file(name), width=width)
        assert opened.overflow_px() == 0
        if name not in {"nothing", "many"}:
            opened.open_benchmark()
            assert opened.overflow_px() == 0


def test_names_are_shown_as_they_are(
    visit: Callable[..., Visit], page_file: Callable[[str], Path]
) -> None:
    page = visit(page_file("hostile-names")).page
    names = page.locator(".bench > summary .name:not(.quiet)").all_text_contents()

    assert set(HOSTILE) <= set(names)
    assert "<U+202E>gnp.exe<U+2066>a<U+200B>b<U+00AD><U+FEFF>" in names
    (long,) = (name for name in names if name.startswith("xxx"))
    assert len(long) < len(LONG) / 10
    assert set(page.locator(".changes a.name").all_text_contents()) <= set(names)


def test_texts_of_a_verdict_are_shown_as_they_are(
    visit: Callable[..., Visit], page_file: Callable[[str], Path]
) -> None:
    page = visit(page_file("hostile-verdict")).page
    warnings = page.locator(".notice p").all_text_contents()

    for text in HOSTILE:
        assert text.replace("`", "") in [one.replace("\u200b", "") for one in warnings]


def test_the_policy_lets_nothing_else_run(
    browser: Browser, page_file: Callable[[str], Path]
) -> None:
    visit = open_file(browser, page_file("fail"))
    visit.page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "alert('script')";
          const image = document.createElement("img");
          image.setAttribute("onerror", "alert('handler')");
          image.src = "https://example.org/x.png";
          const style = document.createElement("style");
          style.textContent = "body { display: none }";
          document.body.append(script, image, style);
        }"""
    )
    visit.page.wait_for_timeout(100)

    assert visit.executed() == []
    assert visit.page.locator("h1").is_visible()
    for directive in ("script-src-elem", "style-src-elem", "img-src"):
        assert any(f"policy: {directive}" in fault for fault in visit.faults)
    assert not any(fault.startswith("request:") for fault in visit.faults)
    visit.page.context.close()


def test_a_thousand_benchmarks_draw_nothing_before_they_are_asked(
    visit: Callable[..., Visit], page_file: Callable[[str], Path]
) -> None:
    """How long that takes depends on the machine: benchmarks/report_page.py measures it."""
    path = page_file("thousand")
    assert path.stat().st_size <= 8_000_000
    opened = visit(path)
    page = opened.page

    assert page.locator(".bench").count() == 1000
    assert page.locator("svg.chart").count() == 0
    nodes = page.evaluate("document.getElementsByTagName('*').length")
    assert nodes <= 40_000
    assert opened.overflow_px() == 0
    assert page.locator(".inside").count() == 0, "nothing is open"
    opened.open_benchmark(500)
    assert 1 <= page.locator("svg.chart").count() <= 12


def test_a_page_of_ten_benchmarks_is_small() -> None:
    assert len(judged(many(10)).encode()) <= 2_500_000


def test_without_scripts_everything_but_the_figures_is_there(
    visit: Callable[..., Visit], page_file: Callable[[str], Path]
) -> None:
    with_scripts = visit(page_file("hostile-names")).open_benchmark()
    page = visit(page_file("hostile-names"), java_script_enabled=False).page
    first = page.locator(".bench").first

    assert page.locator(".bench").count() == page.locator(".bench .numbers").count()

    page = visit(page_file("measured"), java_script_enabled=False).page
    assert page.locator(".changes li:visible").count() == 2
    assert page.locator(".bench > summary:visible").count() == 4
    first.locator("> summary").click()
    assert first.locator(".numbers tbody tr").first.is_visible()
    assert first.locator(".numbers").inner_text() == with_scripts.locator(".numbers").inner_text()
