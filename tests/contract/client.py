"""The real client, of a stand-in for GitHub, with a clock that costs no time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.github.client import Client
from benchgate.github.transport import Token

if TYPE_CHECKING:
    from tests.contract import records
    from tests.contract.server import GitHubServer


def client_of(server: GitHubServer, token: records.Token, *, limit_s: float = 120.0) -> Client:
    return Client(
        server.api_url,
        Token(token.secret),
        clock=server.clock.time,
        sleep=server.clock.advance,
        draw=lambda: 0.5,
        limit_s=limit_s,
    )
