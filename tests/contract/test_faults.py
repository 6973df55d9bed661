"""Faults come once each and in their order, and then GitHub is well again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
import requests
from tests.contract.faults import Fault

if TYPE_CHECKING:
    from tests.contract.conftest import Client
    from tests.contract.server import GitHubServer

ARTIFACTS = "GET /repos/*/actions/artifacts"


def test_statuses_in_their_order_and_then_the_answer(ask: Client, github: GitHubServer) -> None:
    page = Fault(status=502, body=b"<html>Unicorn!</html>")
    github.script(ARTIFACTS, [Fault(status=429, headers={"retry-after": "7"}), page])
    first, second, third = (ask.hello("GET", "/actions/artifacts") for _ in range(3))
    assert (first.status_code, first.headers["retry-after"]) == (429, "7")
    assert "secondary rate limit" in first.json()["message"]
    assert (second.status_code, second.content) == (502, b"<html>Unicorn!</html>")
    assert (third.status_code, third.json()["total_count"]) == (200, 1)


def test_only_what_is_like_the_pattern_meets_it(ask: Client, github: GitHubServer) -> None:
    github.script(ARTIFACTS, [Fault(status=500)])
    assert ask.hello("GET", "/pulls").status_code == 200
    assert ask.hello("GET", "/actions/artifacts").status_code == 500


def test_headers_replace_those_of_the_rate(ask: Client, github: GitHubServer) -> None:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1767618000"}
    github.script("*", [Fault(status=403, message="API rate limit exceeded", headers=headers)])
    refused = ask.hello("GET", "/pulls")
    assert refused.json()["message"] == "API rate limit exceeded"
    assert refused.headers["x-ratelimit-remaining"] == "0"


def test_a_dropped_connection(ask: Client, github: GitHubServer) -> None:
    github.script("*", [Fault(drop_connection=True)])
    with pytest.raises(requests.ConnectionError):
        ask.hello("GET", "/pulls")
    assert ask.hello("GET", "/pulls").status_code == 200
    assert len(github.requests) == 2


def test_a_truncated_answer(ask: Client, github: GitHubServer) -> None:
    github.script("*", [Fault(truncate=True)])
    with pytest.raises(requests.exceptions.ChunkedEncodingError, match="IncompleteRead"):
        ask.hello("GET", "/pulls")


def test_a_truncated_download(ask: Client, github: GitHubServer) -> None:
    github.script("GET /artifacts/*", [Fault(truncate=True)])
    url = ask.hello("GET", "/actions/artifacts/11/zip").headers["Location"]
    with pytest.raises(requests.exceptions.ChunkedEncodingError, match="IncompleteRead"):
        ask.session.get(url, timeout=20)


def test_a_late_answer(ask: Client, github: GitHubServer) -> None:
    github.script("*", [Fault(delay_s=0.3)])
    begun = time.monotonic()
    assert ask.hello("GET", "/pulls").status_code == 200
    assert time.monotonic() - begun >= 0.3


def test_a_client_that_does_not_wait(ask: Client, github: GitHubServer) -> None:
    github.script("*", [Fault(delay_s=60)])
    with pytest.raises(requests.ReadTimeout):
        ask.hello("GET", "/pulls", timeout=0.1)
    while github.faults.left():
        time.sleep(0.01)


def test_down_for_good(ask: Client, github: GitHubServer) -> None:
    github.faults.always("*", Fault(status=503))
    assert {ask.hello("GET", "/pulls").status_code for _ in range(3)} == {503}
    github.faults.clear()
    assert ask.hello("GET", "/pulls").status_code == 200


def test_a_fault_that_nobody_met_fails_the_test(github: GitHubServer) -> None:
    github.script("GET /repos/*/pull", [Fault(status=500)])
    with pytest.raises(AssertionError, match=r"a fault nobody met: GET /repos/\*/pull"):
        github.check()
    github.faults.clear()
