"""Who asks, and whether they may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.contract.answers import Problem
from tests.contract.records import Token

if TYPE_CHECKING:
    from tests.contract.records import Level
    from tests.contract.state import State

Need = tuple[str, "Level"]


def token_of(authorization: str | None, state: State) -> Token:
    """Find whose request it is.

    Raises:
        Problem: 401, there is no Authorization, or its token is not known.
    """
    if authorization is None:
        raise Problem(401, "Requires authentication")
    scheme, _, secret = authorization.partition(" ")
    token = state.get(Token, secret) if scheme.lower() in {"bearer", "token"} else None
    if token is None:
        raise Problem(401)
    return token


def require(token: Token, needs: tuple[Need, ...]) -> None:
    """Let a token pass that has one of the permissions.

    GitHub asks none of those that read a public repository; here they are always asked, since
    a workflow has to work in private ones too.

    Raises:
        Problem: 403, with the header that names what would do.
    """
    if not needs or any(_has(token, name, level) for name, level in needs):
        return
    kind = "integration" if token.author.type == "Bot" else "personal access token"
    accepted = "; ".join(f"{name.replace('-', '_')}={level}" for name, level in needs)
    raise Problem(
        403,
        f"Resource not accessible by {kind}",
        headers={"x-accepted-github-permissions": accepted},
    )


def _has(token: Token, name: str, level: Level) -> bool:
    return token.permissions.get(name) in {level, "write"}
