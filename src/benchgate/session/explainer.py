"""Words what engines say: names the folders of a side alike, and adds what its build warned of."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from benchgate.measure.processes import with_warnings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.measure.arm import Arm, ArmName
    from benchgate.measure.contract import Discovery, DiscoveryFailure, Observation


_MISSING = re.compile(
    r"no module named|cannot import|no such file|not (?:be )?found|notfound|not installed"
    r"|(?:cannot|can't|could not) (?:find|load|locate|open|run|start)|exited with 127",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Explainer:
    """Words what engines say about the benchmarks of a session.

    Attributes:
        arms: the sides whose folders may be named.
        warnings: what the [build] of each side warned of.
    """

    arms: Sequence[Arm] = ()
    warnings: Mapping[ArmName, Sequence[str]] = field(default_factory=dict)

    def discovery(self, found: Discovery) -> Discovery:
        """Word the notes and failures; what is missing may be why something was not found."""
        return replace(
            found,
            found={
                arm: tuple(replace(one, notes=self._all(arm, one.notes)) for one in definitions)
                for arm, definitions in found.found.items()
            },
            failures=tuple(self._failures(found.failures)),
        )

    def observation(self, one: Observation) -> Observation:
        """Word the notes, and the error, if there is one."""
        error = one.error and self._shown(one.arm, one.error)
        if error and not one.skipped and _MISSING.search(error):
            error = self._with_warnings(one.arm, error)
        return replace(one, error=error, notes=self._all(one.arm, one.notes))

    def _failures(self, failures: Iterable[DiscoveryFailure]) -> Iterable[DiscoveryFailure]:
        suites = set()
        for one in failures:
            error = self._shown(one.arm, one.error)
            if (one.arm, one.suite) not in suites:  # its first benchmark has the details
                error = self._with_warnings(one.arm, error)
            if one.suite:
                suites.add((one.arm, one.suite))
            yield replace(one, error=error)

    def _with_warnings(self, arm: ArmName, error: str) -> str:
        return with_warnings(error, self.warnings.get(arm, ()))

    def _all(self, arm: ArmName, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._shown(arm, text) for text in texts)

    def _shown(self, arm: ArmName, text: str) -> str:
        for one in sorted(self.arms, key=lambda one: one.name is not arm):
            text = one.generalize(text, is_other=one.name is not arm)
        return text
