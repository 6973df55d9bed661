"""The page of a history: what it says without being drawn, and what it does not let in."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from tests.histories import history_of, runs_of, sha_of, trend_of

from benchgate.page.charts import compare_address
from benchgate.page.history_page import render_history_page
from benchgate.report.history_table import view_history

REPOSITORY = "https://github.com/octo-org/hello"
HOSTILE = '"/></script><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}'


class _Read(HTMLParser):
    """What stands in a page, tags and texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._skips = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._skips = tag in {"script", "style"}

    def handle_endtag(self, tag: str) -> None:
        self._skips &= tag not in {"script", "style"}

    def handle_data(self, data: str) -> None:
        self.text += "" if self._skips else data

    def links(self) -> list[str]:
        return [str(attrs.get("href")) for tag, attrs in self.tags if tag == "a"]


def test_each_change_is_told_in_words_and_linked_to_its_commits() -> None:
    page = _Read(
        render_history_page(history_of(trend_of([(8, 0.010), (8, 0.012)])), repository=REPOSITORY)
    )
    said = " ".join(page.text.split())
    assert "1 benchmark: 1 got slower" in said
    assert said.count("got slower at 7000cba..8000cba by 20.0 %, and stayed (2026-01-09, ") == 2
    assert "10.00 ms to 12.00 ms; first run after it: 8000cba Change number 8 (A. Developer" in said
    assert re.search(r"To find the commit: benchgate bisect \S+ --good 7000cba --bad 8000cba", said)
    assert "About two of three runs lie within 0.8 % of their level" in said
    assert f"{REPOSITORY}/compare/{sha_of(7)}...{sha_of(8)}" in page.links()


def test_the_sentence_is_that_of_the_terminal_and_both_its_ends_are_links() -> None:
    history = history_of(trend_of([(8, 0.010), (8, 0.012), (8, 0.010)]))
    page = _Read(render_history_page(history, repository=REPOSITORY))
    told = view_history(history).machines[0].benchmarks[0].first.told
    assert told
    assert told.sentence in " ".join(page.text.split())
    assert f"{REPOSITORY}/compare/{sha_of(7)}...{sha_of(8)}" in page.links()
    assert f"{REPOSITORY}/compare/{sha_of(15)}...{sha_of(16)}" in page.links()


def test_without_a_repository_commits_are_no_links() -> None:
    page = _Read(render_history_page(history_of(trend_of([(8, 0.010), (8, 0.012)]))))
    assert page.links() == ["#main"]
    assert "7000cba..8000cba" in page.text


@pytest.mark.parametrize(
    ("before", "after", "address"),
    [
        ("a" * 40, "b" * 40, f"/compare/{'a' * 40}...{'b' * 40}"),
        ("", "b" * 40, f"/commit/{'b' * 40}"),
        ("b" * 40, "b" * 40, f"/commit/{'b' * 40}"),
        ("a" * 40, "", None),
        ("../../evil", "javascript:alert(1)", None),
        ("a" * 40, "b" * 40 + "?x", None),
        ("", "", None),
    ],
)
def test_only_commits_are_linked(before: str, after: str, address: str | None) -> None:
    found = compare_address(REPOSITORY, before, after)
    assert found == (REPOSITORY + address if address else "")
    assert not compare_address("", before, after)


def test_texts_from_outside_stay_texts() -> None:
    trend = trend_of([(8, 0.010), (8, 0.012)], HOSTILE, metric=HOSTILE, unit=HOSTILE)
    shifts = tuple(replace(one, also=(HOSTILE,)) for one in trend.shifts)
    history = history_of(
        replace(trend, machine=HOSTILE, shifts=shifts),
        runs=runs_of(16, machine=HOSTILE, subject=HOSTILE),
        suite=HOSTILE,
        notes=(HOSTILE,),
    )
    text = render_history_page(history, repository=REPOSITORY)
    page = _Read(text)
    assert [tag for tag, _ in page.tags].count("script") == 3
    assert "img" not in {tag for tag, _ in page.tags}
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert "{{ 7*7 }}" in page.text


def test_the_page_needs_no_network() -> None:
    text = render_history_page(history_of(trend_of([(8, 0.010)])))
    assert "default-src &#39;none&#39;" in text
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text)


def test_a_tail_is_within_its_benchmark() -> None:
    page = _Read(
        render_history_page(
            history_of(trend_of([(8, 0.010)]), trend_of([(8, 0.020)], statistic="p95"))
        )
    )
    trends = [attrs for tag, attrs in page.tags if tag == "details"]
    assert [attrs["class"] for attrs in trends] == ["trend", "other"]
    assert "1 benchmark: 1 unchanged" in page.text


def test_a_large_history_stays_small_and_says_so() -> None:
    trends = [trend_of([(700, 0.01), (300, 0.02)], f"parse/{index}") for index in range(200)]
    text = render_history_page(history_of(*trends))
    assert len(text.encode()) < 6_000_000
    assert "Of 1,000 runs, " in text
