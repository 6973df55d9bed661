"""Lists come in pages, and the pages lead to each other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.contract.paging import page_of
from tests.contract.scene import BASELINE, HELLO

if TYPE_CHECKING:
    from tests.contract.conftest import Client
    from tests.contract.server import GitHubServer


@pytest.mark.parametrize(
    ("count", "query", "shown", "rels"),
    [
        (0, {}, [], {}),
        (30, {}, list(range(30)), {}),
        (31, {}, list(range(30)), {"next": 2, "last": 2}),
        (31, {"page": "2"}, [30], {"prev": 1, "first": 1}),
        (250, {"per_page": "100"}, list(range(100)), {"next": 2, "last": 3}),
        (
            250,
            {"per_page": "100", "page": "2"},
            list(range(100, 200)),
            {"prev": 1, "next": 3, "last": 3, "first": 1},
        ),
        (3, {"per_page": "2", "page": "9"}, [], {"prev": 8, "first": 1}),
    ],
)
def test_pages(count: int, query: dict[str, str], shown: list[int], rels: dict[str, int]) -> None:
    items, headers = page_of(range(count), "http://host/list", query)
    assert list(items) == shown
    links = headers.get("Link", "").split(", ") if headers else []
    assert [link.partition("; ")[2] for link in links] == [f'rel="{rel}"' for rel in rels]
    for link, page in zip(links, rels.values(), strict=True):
        assert link.startswith("<http://host/list?")
        assert f"page={page}>" in link


def test_the_other_pages_are_found_by_the_links_alone(ask: Client, github: GitHubServer) -> None:
    github.state.add(*(replace(BASELINE, id=100 + number) for number in range(249)))
    response = ask.hello("GET", f"/actions/artifacts?name={BASELINE.name}&per_page=100")
    found = []
    while True:
        found += [artifact["id"] for artifact in response.json()["artifacts"]]
        assert response.json()["total_count"] == 250
        if "next" not in response.links:
            break
        # As GitHub's do, they name the repository by its id.
        assert f"{github.api_url}/repositories/{HELLO.id}/" in response.links["next"]["url"]
        response = ask("GET", response.links["next"]["url"])
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 250
    assert len(github.asked("GET /repos/octo-org/hello/actions/artifacts")) == 3
