"""How a reader finds a benchmark among many: find, outcomes, order, links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.browser.visit import PHONE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page
    from tests.browser.visit import Visit


@pytest.fixture
def page(visit: Callable[..., Visit], page_file: Callable[[str], Path]) -> Page:
    return visit(page_file("measured")).page


def names(page: Page) -> list[str]:
    """The benchmarks in the table, as they are shown."""
    return page.locator("#table tbody:visible tr:first-child .name a").all_text_contents()


def sections(page: Page) -> list[str]:
    return page.locator(".bench:visible > summary .name").all_text_contents()


def test_a_phone_shows_the_change_and_its_drawing_without_scrolling(
    visit: Callable[..., Visit], page_file: Callable[[str], Path]
) -> None:
    page = visit(page_file("measured"), width=PHONE).page
    for row in page.locator("#table tbody tr").all():
        for part in (row.locator(".name"), row.locator(".change"), row.locator("svg")):
            box = part.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["width"] > 0
            assert box["x"] + box["width"] <= PHONE
    outside = page.evaluate(
        "[...document.querySelectorAll('#table, #table *')]"
        ".some((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)"
    )
    assert not outside


def test_find_leaves_what_has_every_word_and_says_how_many(page: Page) -> None:
    page.locator("#find").fill("PARSE sm")

    assert names(page) == sections(page) == ["parse/small"]
    assert page.locator("#found").text_content() == "1 of 4 benchmarks"
    assert page.locator("#found").get_attribute("aria-live") == "polite"
    page.locator("#find").fill("")
    assert len(names(page)) == 4


def test_outcomes_are_switched_off_and_on(page: Page) -> None:
    chip = page.locator("#filter [data-outcome=unchanged]")
    chip.click()

    assert chip.get_attribute("aria-pressed") == "false"
    assert names(page) == sections(page) == ["parse/large", "template"]
    assert page.locator("#found").text_content() == "2 of 4 benchmarks"
    chip.click()
    assert len(names(page)) == 4


@pytest.mark.parametrize(
    ("key", "first"),
    [
        ("name", ["parse/large", "parse/small", "sort[n=1000]", "template"]),
        ("change", None),
    ],
)
def test_a_title_sorts_and_says_so(page: Page, key: str, first: list[str] | None) -> None:
    button = page.locator(f"#table [data-sort={key}]")
    button.click()
    title = page.locator("#table th[aria-sort]")
    ascending = names(page)

    assert title.count() == 1
    assert title.get_attribute("aria-sort") == "ascending"
    if first:
        assert ascending == first
    else:
        assert (ascending[0], ascending[-1]) == ("parse/large", "template")
    assert sections(page) == ascending
    button.click()
    assert title.get_attribute("aria-sort") == "descending"
    assert names(page) == sections(page) == ascending[::-1]


def test_a_name_leads_to_its_benchmark_and_opens_it(page: Page) -> None:
    page.get_by_role("link", name="template").click()

    opened = page.locator(".bench[open]").last
    assert opened.locator("summary .name").first.text_content() == "template"
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.locator("#close-all").click()
    assert page.locator(".bench[open]").count() == 0
