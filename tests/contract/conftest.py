"""A GitHub of octo-org/hello, and a client that sends what GitHub wants to see in requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import requests
from tests.contract.scene import SCENE, TOKEN
from tests.contract.server import GitHubServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.contract.records import Token

HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
HELLO_PATH = "/repos/octo-org/hello"


class Client:
    """Asks a server with a token; a None among the headers is one that is left out."""

    def __init__(self, server: GitHubServer) -> None:
        self._server = server
        self.session = requests.Session()
        self.session.trust_env = False

    def __call__(
        self,
        method: str,
        path: str,
        *,
        token: Token = TOKEN,
        headers: dict[str, str | None] | None = None,
        timeout: float = 20,
        **more: Any,  # noqa: ANN401 - what requests takes
    ) -> requests.Response:
        sent = {**HEADERS, "Authorization": f"Bearer {token.secret}", **(headers or {})}
        url = path if path.startswith("http") else f"{self._server.api_url}{path}"
        return self.session.request(
            method, url, headers=sent, timeout=timeout, allow_redirects=False, **more
        )

    def hello(self, method: str, path: str, **more: Any) -> requests.Response:  # noqa: ANN401
        return self(method, f"{HELLO_PATH}{path}", **more)


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    """Fails the test where a request or an answer is does not match GitHub's API."""
    with GitHubServer(*SCENE) as server:
        yield server


@pytest.fixture
def ask(github: GitHubServer) -> Iterator[Client]:
    client = Client(github)
    with client.session:
        yield client
