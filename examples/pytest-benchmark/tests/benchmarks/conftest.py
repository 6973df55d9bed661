"""A router as large applications have it."""

from __future__ import annotations

import pytest
from waypoint import Router


@pytest.fixture
def router(size: int) -> Router:
    """Make a router with as many fixed paths as patterns."""
    made = Router()
    for number in range(size):
        made.add(f"/pages/{number}", f"page {number}")
        made.add(f"/teams/{number}/members/:name", f"member of {number}")
    return made


@pytest.fixture(params=[10, 200])
def size(request: pytest.FixtureRequest) -> int:
    """Return how many paths and patterns there are."""
    return int(request.param)
