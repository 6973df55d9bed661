"""Decides who caused a failure of the base: the head can, but only after it was built or run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.measure.engine import ArmName

if TYPE_CHECKING:
    from benchgate.measure.engine import Discovery, DiscoveryFailure, Observation

_WHY = "the base fails now, but did not fail before the head was built or run"


@dataclass(frozen=True, slots=True)
class BaseTrial:
    """How the base behaved before anything of the head was built or run.

    Attributes:
        failed: the base's ids of benchmarks that failed then; None if it was not tried, so that
            every failure counts as its own.
    """

    failed: frozenset[str] | None = None

    def of_discovery(self, discovery: Discovery) -> Discovery:
        """Return the discovery, with each failure attributed to the arm that caused it."""
        return replace(discovery, failures=tuple(map(self._unread, discovery.failures)))

    def of_launch(self, failed: Observation, own_id: str) -> Observation:
        """Attribute a failed launch to the arm that caused it; both arms have the benchmark.

        Args:
            own_id: the benchmark's id in the arm itself.
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
