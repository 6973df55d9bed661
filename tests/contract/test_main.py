"""The server as a process of its own, as act's runs need it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import requests
from tests.contract.conftest import HEADERS
from tests.contract.records import Repository, Run, Token
from tests.contract.scene import zip_of
from tests.contract.statefile import records_of
from tests.patience import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STATE = {
    "tokens": [{"secret": "ghs_x", "permissions": {"actions": "read", "pull-requests": "write"}}],
    "repositories": [{"id": 1, "full_name": "octo-org/hello"}],
    "runs": [
        {
            "id": 101,
            "repository": "octo-org/hello",
            "head_repository": "octo-org/hello",
            "event": "push",
            "head_branch": "main",
            "head_sha": "6dcb09b5b57875f334f61aebed695e2e4193db5e",
            "created_at": "2099-01-01T00:00:00Z",
        }
    ],
    "pulls": [
        {
            "number": 7,
            "repository": "octo-org/hello",
            "head_repository": None,
            "head_branch": "faster",
            "head_sha": "7fd1a60b01f91b314f59955a4e4d4e80d8edf11d",
            "base_sha": "6dcb09b5b57875f334f61aebed695e2e4193db5e",
        }
    ],
}
HELLO = "repos/octo-org/hello"
ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "tests.contract"]


@pytest.fixture
def session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.trust_env = False
        session.headers.update(HEADERS | {"Authorization": "Bearer ghs_x"})
        yield session


def test_a_state_file_holds_records() -> None:
    token, repository, run, _ = records_of(json.dumps(STATE))
    assert token == Token("ghs_x", {"actions": "read", "pull-requests": "write"})
    assert repository == Repository(id=1, full_name="octo-org/hello")
    assert isinstance(run, Run)
    assert run.created_at.year == 2099


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"token": [{}]}, "no kind of record: token"),
        ({"repositories": [{"name": "hello"}]}, "no keys of repositories: name"),
        ({"repositories": [{"id": "x", "full_name": "octo-org/hello"}]}, "valid integer"),
    ],
)
def test_a_state_file_that_is_wrong(state: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        records_of(json.dumps(state))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    """Start the server, and give the process and the address that it publishes."""
    started: list[subprocess.Popen[str]] = []
    state, address = tmp_path / "state.json", tmp_path / "port"
    state.write_text(json.dumps(STATE))

    def run(*more: str) -> tuple[subprocess.Popen[str], str]:
        command = [*COMMAND, "--state", str(state), "--port-file", str(address), *more]
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
        started.append(process)
        assert eventually(lambda: address.exists() or process.poll() is not None)
        assert address.exists(), process.stderr and process.stderr.read()
        return process, address.read_text()

    yield run
    for process in started:
        process.kill()
        process.communicate()


def test_it_serves_until_it_is_told_to_end(
    start: Callable[..., tuple[subprocess.Popen[str], str]],
    session: requests.Session,
    tmp_path: Path,
) -> None:
    archive = tmp_path / "artifacts" / "101" / "baseline" / "baseline.zip"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(zip_of({"result.json": b"{}"}))
    log = tmp_path / "requests.jsonl"
    process, url = start("--artifacts", str(tmp_path / "artifacts"), "--log", str(log))
    comments = f"{url}/{HELLO}/issues/7/comments"
    assert session.post(comments, json={"body": "Slower."}, timeout=20).status_code == 201
    assert [one["body"] for one in session.get(comments, timeout=20).json()] == ["Slower."]
    listed = session.get(f"{url}/{HELLO}/actions/artifacts", timeout=20).json()["artifacts"]
    assert [artifact["name"] for artifact in listed] == ["baseline"]
    zipped = session.get(listed[0]["archive_download_url"], timeout=20)
    assert zipped.content == archive.read_bytes()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 0
    asked = [json.loads(line)["request"] for line in log.read_text().splitlines()]
    assert [(one["host"], one["method"]) for one in asked] == [
        ("api", "POST"),
        ("api", "GET"),
        ("api", "GET"),
        ("api", "GET"),
        ("downloads", "GET"),
    ]
    assert "ghs_x" not in log.read_text()


def test_it_fails_where_a_request_was_wrong(
    start: Callable[..., tuple[subprocess.Popen[str], str]], session: requests.Session
) -> None:
    process, url = start()
    assert session.get(f"{url}/nowhere", timeout=20).status_code == 404
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 1
    assert said == "GET /nowhere: no operation that is known here\n"


def test_it_ends_after_its_time(
    start: Callable[..., tuple[subprocess.Popen[str], str]],
) -> None:
    process, _ = start("--seconds", "0.1")
    assert process.wait(timeout=20) == 0


def test_it_ends_with_its_parent(session: requests.Session, tmp_path: Path) -> None:
    state, address = tmp_path / "state.json", tmp_path / "port"
    state.write_text(json.dumps(STATE))
    command = [*COMMAND, "--state", str(state), "--port-file", str(address)]
    parent = f"import subprocess, time; subprocess.Popen({command!r}); time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", parent], cwd=ROOT)
    assert eventually(address.exists)
    url = address.read_text()
    process.kill()
    process.wait()

    def has_ended() -> bool:
        try:
            session.get(f"{url}/nowhere", timeout=20)
        except requests.ConnectionError:
            return True
        return False

    assert eventually(has_ended)
