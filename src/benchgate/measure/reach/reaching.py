"""What an engine does to say which of its benchmarks are affected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from benchgate.measure.contract import Engine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.measure.reach.differences import Differences


@runtime_checkable
class ReachingEngine(Engine, Protocol):
    """An engine that can see what its benchmarks run and read on both sides."""

    def reach(self, ids: Sequence[str], differences: Differences) -> Mapping[str, str]:
        """Run benchmarks that both arms have, in processes of their own.

        Returns:
            For each why it is affected, in a few words that follow its name; "" if it is not.
        """
        ...
