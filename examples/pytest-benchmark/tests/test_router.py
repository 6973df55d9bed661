"""What the router finds."""

from __future__ import annotations

import pytest
from waypoint import NoRouteError, Router


def test_find() -> None:
    router = Router()
    router.add("/users", "users")
    router.add("/users/:id", "user")
    assert router.find("/users") == ("users", {})
    assert router.find("/users/42") == ("user", {"id": "42"})
    with pytest.raises(NoRouteError):
        router.find("/posts")
