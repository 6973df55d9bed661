"""Lets workers carry out a step of the protocol, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.measure.workers import Worker

# A call that takes this long is a launch: it is neither repeated nor traced. Otherwise 9 rounds
# of it would not fit into the default budget.
_LONG_S = 10.0


def ask(
    workers: Sequence[Worker], timeout_s: float, step: str, argument: object = ""
) -> list[dict[str, Any]]:
    """Let each worker carry out one step, one worker after the other."""
    replies = []
    for worker in workers:
        worker.allow(timeout_s)
        replies.append(worker.ask(step, argument))
    return replies


def can(workers: Sequence[Worker], step: str) -> bool:
    return all(step in worker.steps for worker in workers)


def are_of_python(workers: Sequence[Worker]) -> bool:
    return can(workers, "value")


def ask_if_known(workers: Sequence[Worker], timeout_s: float, step: str) -> list[dict[str, Any]]:
    """Let each worker carry out a step that only some languages have; [] if one has not."""
    return ask(workers, timeout_s, step) if can(workers, step) else []


def long_s(timeout_s: float) -> float:
    """How long a sample takes at least if it is not repeated; repeated ones share a limit."""
    return min(_LONG_S, timeout_s / 3)
