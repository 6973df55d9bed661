"""How a reader goes through the calls of a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Locator, Page
    from tests.browser.visit import Visit


@pytest.fixture
def page(visit: Callable[..., Visit], page_file: Callable[[str], Path]) -> Page:
    page = visit(page_file("explained")).page
    page.locator("details.bench > summary").first.click()
    return page


def frame(page: Page, name: str) -> Locator:
    return page.locator(".flame:visible g").filter(
        has=page.locator(f"title:text-matches('^{name}:')")
    )


def width(page: Page, name: str) -> float:
    return float(frame(page, name).locator("rect").get_attribute("width") or 0)


def said(page: Page) -> str:
    return (page.locator(".flames output").first.text_content() or "").strip()


def test_a_click_zooms_into_a_function_and_out_again(page: Page) -> None:
    before = width(page, "parse")
    assert before < 1000
    assert frame(page, "compile").locator("text").text_content() == "c"
    frame(page, "compile").click()
    assert width(page, "compile") == width(page, "parse") == 1000
    assert not frame(page, "load").is_visible()
    assert frame(page, "compile").locator("text").text_content() == "compile"
    assert "calls: 0 → 20" in said(page)
    frame(page, "compile").click()
    assert width(page, "parse") == pytest.approx(before)
    assert frame(page, "load").is_visible()


def test_the_keyboard_does_the_same(page: Page) -> None:
    page.locator(".flame:visible").focus()
    steps = [
        ("ArrowDown", "bench"),
        ("ArrowDown", "load"),
        ("ArrowRight", "parse"),
        ("ArrowRight", "parse"),
        ("ArrowDown", "compile"),
        ("ArrowUp", "parse"),
        ("ArrowLeft", "load"),
    ]
    for key, name in steps:
        page.keyboard.press(key)
        assert said(page).startswith(f"{name}:"), key
    before = width(page, "load")
    page.keyboard.press("Enter")
    assert width(page, "load") == 1000
    page.keyboard.press("Escape")
    assert width(page, "load") == pytest.approx(before)
    page.keyboard.press("Tab")
    assert not page.locator(".flame:visible").evaluate("one => one === document.activeElement")


def test_a_pointer_reads_what_is_known(page: Page) -> None:
    frame(page, "load").hover()
    assert said(page).startswith("load: ")
