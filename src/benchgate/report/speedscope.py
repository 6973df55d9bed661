"""Writes what both sides called as a profile for speedscope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchgate.model.run import TIME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.model.calls import CallTree
    from benchgate.model.result import Result


def speedscope(ids: Sequence[str], result: Result) -> dict[str, Any]:
    """The calls of both sides of some benchmarks, in the format of https://www.speedscope.app.

    The weight of a stack is the time of its last function, in ns of one operation.
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
    calls = [0] * len(tree.functions)
    for _, function, count in tree.nodes:
        calls[function] += count
    stacks: list[list[int]] = []
    weights = []
    for parent, number, count in tree.nodes:
        one = tree.functions[number]
        frame = frames.setdefault((one.name, one.path, one.line), len(frames))
        stacks.append([*(stacks[parent] if parent >= 0 else ()), frame])
        weights.append(1e9 * one.own * count / (calls[number] or 1) / tree.operations)
    return {
        "type": "sampled",
        "name": name,
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": sum(weights),
        "samples": stacks,
        "weights": weights,
    }
