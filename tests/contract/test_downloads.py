"""Artifacts are fetched from another host, which wants no token."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from tests.contract.scene import BASELINE

if TYPE_CHECKING:
    from tests.contract.conftest import Client
    from tests.contract.server import GitHubServer

ZIP = f"/actions/artifacts/{BASELINE.id}/zip"


@pytest.fixture
def url(ask: Client) -> str:
    response = ask.hello("GET", ZIP)
    assert (response.status_code, response.content) == (302, b"")
    return response.headers["Location"]


def test_the_archive_is_what_the_listing_says(ask: Client, url: str) -> None:
    response = ask.session.get(url, timeout=20)
    assert response.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert archive.namelist() == ["result.json"]
    (listed,) = ask.hello("GET", "/actions/artifacts").json()["artifacts"]
    assert listed["size_in_bytes"] == len(response.content)
    assert listed["archive_download_url"].endswith(ZIP)


def test_it_is_another_host(github: GitHubServer, url: str) -> None:
    api, other = urlsplit(github.api_url), urlsplit(url)
    assert api.hostname != other.hostname
    assert api.port != other.port


def test_a_token_is_refused_and_fails_the_test(ask: Client, github: GitHubServer, url: str) -> None:
    assert ask("GET", url).status_code == 400
    assert github.violations
    assert "Authorization was sent" in github.violations[0]
    github.violations.clear()


@pytest.mark.parametrize("change", [("sig=", "sig=0"), ("/11?", "/12?")])
def test_an_address_that_was_made_up(
    ask: Client, github: GitHubServer, url: str, change: tuple[str, str]
) -> None:
    assert ask.session.get(url.replace(*change), timeout=20).status_code in {403, 404}
    assert github.violations
    github.violations.clear()


def test_an_expired_artifact_is_gone(ask: Client, github: GitHubServer) -> None:
    github.clock.advance(91 * 86_400)
    response = ask.hello("GET", ZIP)
    assert (response.status_code, response.json()["message"]) == (410, "Artifact has expired")
