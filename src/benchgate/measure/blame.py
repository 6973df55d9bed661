"""Decides whose failure it is if the base fails: a head can disturb it, but not before it ran."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.measure.engine import ArmName

if TYPE_CHECKING:
    from benchgate.measure.engine import Discovery, DiscoveryFailure, Observation

_WHY = "the base fails now, but did not fail before the head was built or run"


@dataclass(frozen=True, slots=True)
class BaseTrial:
    """What the base did before anything of the head was built or run.

    Attributes:
        failed: ids, as the base has them, of what failed then; None if it was not tried, and
            every failure counts.
    """

    failed: frozenset[str] | None = None

    def of_discovery(self, discovery: Discovery) -> Discovery:
        """Give what was found, with each failure attributed to the arm that caused it."""
        return replace(discovery, failures=tuple(map(self._unread, discovery.failures)))

    def of_launch(self, failed: Observation, own_id: str) -> Observation:
        """Attribute a failed launch of a benchmark of both arms to the arm that caused it.

        Args:
            own_id: the benchmark, as the arm has it.
        """
        if not self._is_doubted(failed.arm, own_id):
            return failed
        return replace(failed, arm=ArmName.HEAD, error=f"{_WHY}: {failed.error}")

    def _unread(self, failure: DiscoveryFailure) -> DiscoveryFailure:
        if not self._is_doubted(failure.arm, failure.id):
            return failure
        return replace(failure, arm=ArmName.HEAD, error=f"{_WHY}: {failure.error}")

    def _is_doubted(self, arm: ArmName, id_: str) -> bool:
        return arm is ArmName.BASE and self.failed is not None and id_ not in self.failed
