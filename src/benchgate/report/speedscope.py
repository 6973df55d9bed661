"""Writes what both sides called as a profile for speedscope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchgate.model.metrics import TIME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.model.calls import CallTree
    from benchgate.model.result import Result


def speedscope(ids: Sequence[str], result: Result) -> dict[str, Any]:
    """The calls of both sides of some benchmarks, in the format of https://www.speedscope.app.

    What a function takes itself, in ns of one operation, comes before what it calls.
    """
    frames: dict[tuple[str, str, int], int] = {}
    runs = {"base": result.base, "head": result.head}
    profiles = [
        _profile(f"{id_}, {side}", one.calls[TIME.name], frames)
        for id_ in ids
        for side, run in runs.items()
        for one in (run.benchmarks if run else ())
        if one.id == id_ and TIME.name in one.calls
    ]
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": result.tool,
        "shared": {
            "frames": [
                {"name": name, **({"file": path, "line": line} if path else {})}
                for name, path, line in frames
            ]
        },
        "profiles": profiles,
    }


def _profile(name: str, tree: CallTree, frames: dict[tuple[str, str, int], int]) -> dict[str, Any]:
    """Each node opens its frame, and closes it after those below: deep trees have long stacks."""
    calls = [0] * len(tree.functions)
    below: list[list[int]] = [[] for _ in tree.nodes]
    roots: list[int] = []
    for node, (parent, number, count) in enumerate(tree.nodes):
        calls[number] += count
        (below[parent] if parent >= 0 else roots).append(node)
    events: list[dict[str, Any]] = []
    at_ns = 0.0
    todo = [(node, "O") for node in reversed(roots)]
    while todo:
        node, kind = todo.pop()
        _, number, count = tree.nodes[node]
        one = tree.functions[number]
        frame = frames.setdefault((one.name, one.path, one.line), len(frames))
        events.append({"type": kind, "frame": frame, "at": at_ns})
        if kind == "O":
            at_ns += 1e9 * one.own * count / (calls[number] or 1) / tree.operations
            todo += [(node, "C"), *((child, "O") for child in reversed(below[node]))]
    return {
        "type": "evented",
        "name": name,
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": at_ns,
        "events": events,
    }
