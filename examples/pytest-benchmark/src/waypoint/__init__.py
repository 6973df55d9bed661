"""Finds the handler of a path such as /users/42/posts."""

from __future__ import annotations

from waypoint.router import NoRouteError, Router

__all__ = ["NoRouteError", "Router"]
