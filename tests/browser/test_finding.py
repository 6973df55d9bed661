"""How a reader finds a benchmark among many: what changed, find, outcomes, order, links."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from tests.browser.samples import judged, measured
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
    """The benchmarks in the list, as they are shown."""
    return page.locator(".bench:visible > summary .name:not(.quiet)").all_text_contents()


def test_the_page_opens_on_what_changed(page: Page) -> None:
    first, second = page.locator(".changes li").all()

    for one, said in ((first, ("slower", "parse/large")), (second, ("faster", "template"))):
        text = " ".join((one.text_content() or "").split())
        assert all(word in text for word in (*said, "12 rounds", " to "))
    assert first.locator(".change").text_content() == "+19.7 % +19.2 to +20.2 %"
    box = second.bounding_box()
    assert box is not None
    assert box["y"] < 300


def test_a_phone_shows_the_change_and_its_drawing_without_scrolling(
    visit: Callable[..., Visit], page_file: Callable[[str], Path]
) -> None:
    page = visit(page_file("measured"), width=PHONE).page
    assert page.locator(".changes li").last.bounding_box()["y"] < 844  # type: ignore[index]
    for row in page.locator(".bench > summary").all():
        for part in (row.locator(".name"), row.locator(".change"), row.locator("svg")):
            box = part.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["width"] > 0
            assert box["x"] + box["width"] <= PHONE
    outside = page.evaluate(
        "[...document.querySelectorAll('.changes, .changes *, summary, summary *:not(svg *)')]"
        ".some((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)"
    )
    assert not outside


def test_all_rows_have_the_same_scale(page: Page) -> None:
    places = page.locator(".bench .drawing").evaluate_all(
        "all => all.map((one) => [one.getBoundingClientRect().x, one.getAttribute('viewBox')])"
    )
    assert len({str(one) for one in places}) == 1
    ticks = page.locator(".heads text").evaluate_all(
        "all => all.map((one) => [parseFloat(one.textContent), Number(one.getAttribute('x'))])"
    )
    steps = {round((b[1] - a[1]) / (b[0] - a[0]), 1) for a, b in pairwise(ticks)}
    assert len(steps) == 1, "it is linear"


def test_find_leaves_what_has_every_word_and_says_how_many(page: Page) -> None:
    page.locator("#find").fill("PARSE sm")

    assert names(page) == ["parse/small"]
    assert page.locator("#found").text_content() == "1 of 4 benchmarks"
    assert page.locator("#found").get_attribute("aria-live") == "polite"
    page.locator("#find").fill("")
    assert len(names(page)) == 4


def test_outcomes_are_switched_off_and_on(page: Page) -> None:
    chip = page.locator("#filter [data-outcome=unchanged]")
    chip.click()

    assert chip.get_attribute("aria-pressed") == "false"
    assert names(page) == ["parse/large", "template"]
    assert page.locator("#found").text_content() == "2 of 4 benchmarks"
    chip.click()
    assert len(names(page)) == 4


def test_an_order_is_chosen(page: Page) -> None:
    usual = names(page)
    page.locator("#order").select_option("name")
    assert names(page) == ["parse/large", "parse/small", "sort[n=1000]", "template"]
    page.locator("#order").select_option("change")
    assert (names(page)[0], names(page)[-1]) == ("parse/large", "template")
    page.locator("#order").select_option("rank")
    assert names(page) == usual


def test_a_name_leads_to_its_benchmark_and_opens_it(page: Page) -> None:
    page.get_by_role("link", name="template").click()

    opened = page.locator(".bench[open]").last
    assert opened.locator("summary .name").first.text_content() == "template"
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.locator("#close-all").click()
    assert page.locator(".bench[open]").count() == 0


def test_outliers_are_shown_when_the_reader_asks(
    visit: Callable[..., Visit], tmp_path: Path
) -> None:
    result = measured()
    (large, *_) = result.head.benchmarks
    launches = list(large.series[0].launches)
    launches[4] = replace(launches[4], samples=10 * launches[4].samples)
    series = (replace(large.series[0], launches=tuple(launches)),)
    head = replace(result.head, benchmarks=(replace(large, series=series),))
    (tmp_path / "page.html").write_text(judged(replace(result, head=head)), encoding="utf-8")
    page = visit(tmp_path / "page.html").page
    page.get_by_role("link", name="parse/large").click()
    figure = page.locator(".bench[open] figure").first
    figure.locator("text.tick").first.wait_for()

    def greatest() -> float:
        return max(
            float(one.replace(",", "")) for one in figure.locator("text.tick").all_text_contents()
        )

    assert "1 round lies beyond the axis" in (figure.locator("figcaption").text_content() or "")
    assert greatest() < 100
    figure.get_by_role("button", name="Show all").click()
    assert greatest() > 400
    figure.get_by_role("button", name="Hide outliers").click()
    assert greatest() < 100
