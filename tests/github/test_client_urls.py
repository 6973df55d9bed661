from __future__ import annotations

import pytest

from benchgate.errors import UsageError
from benchgate.github.client import RunUrl, parse_run_url


@pytest.mark.parametrize(
    ("url", "attempt"),
    [
        ("https://github.com/octo-org/hello/actions/runs/12", None),
        ("https://github.com/octo-org/hello/actions/runs/12/", None),
        (" https://GitHub.com/octo-org/hello/actions/runs/12?pr=3\n", None),
        ("https://github.com/octo-org/hello/actions/runs/12/attempts/2", 2),
        ("https://github.com/octo-org/hello/actions/runs/12/job/34?pr=1#step:3:9", None),
        ("https://github.com/octo-org/hello/actions/runs/12/attempts/2/job/34", 2),
    ],
)
def test_addresses_of_runs(url: str, attempt: int | None) -> None:
    assert parse_run_url(url) == RunUrl("https://api.github.com", "octo-org/hello", 12, attempt)


@pytest.mark.parametrize(
    ("server", "api_url"),
    [
        ("https://octo.ghe.com", "https://api.octo.ghe.com"),
        ("https://notghe.com", "https://notghe.com/api/v3"),
        ("https://github.example.org:8443", "https://github.example.org:8443/api/v3"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/api/v3"),
    ],
)
def test_other_servers(server: str, api_url: str) -> None:
    run = parse_run_url(f"{server}/octo-org/he.l-l_o/actions/runs/12")
    assert (run.api_url, run.repository) == (api_url, "octo-org/he.l-l_o")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "12",
        "https://github.com/octo-org/hello",
        "https://github.com/octo-org/hello/actions/runs/",
        "https://github.com/octo-org/hello/actions/runs/twelve",
        "https://github.com/octo-org/hello/actions/runs/12/attempts/",
        "https://github.com/octo-org/hello/actions/runs/12/artifacts/5",
        "https://github.com/octo-org/../actions/runs/12",
        "https://github.com/../hello/actions/runs/12",
        "https://github.com/octo-org/hello/world/actions/runs/12",
        "https://octocat:secret@github.com/octo-org/hello/actions/runs/12",
        "https://github.com\\@example.org/octo-org/hello/actions/runs/12",
        "ftp://github.com/octo-org/hello/actions/runs/12",
        "https://github.com/octo-org/hello/actions/runs/" + "1" * 30,
        "https://github.com/octo-org/hello/actions/runs/\u0661",
    ],
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(UsageError, match="not the URL of a workflow run") as raised:
        parse_run_url(url)
    assert "https://github.com/OWNER/REPOSITORY/actions/runs/" in raised.value.hint


def test_a_hostile_address_is_shown_harmlessly() -> None:
    with pytest.raises(UsageError) as raised:
        parse_run_url("https://\u202egithub\x1b[2J" + "x" * 9999)
    assert raised.value.message.isprintable()
    assert len(raised.value.message) < 400
