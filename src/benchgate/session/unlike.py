"""What differs between the arms of a session, beside the change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.config import SuiteBenchmark
from benchgate.measure.arm import ArmName
from benchgate.measure.sources import installed_versions
from benchgate.model.run import PYTHON
from benchgate.session.engines import config_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.config import Config
    from benchgate.session.choice import Choice
    from benchgate.session.session import Session

_BUILT_BY_THEIR_OWN = (
    "base and head have different [build] tables, and each was built with its own: "
    "this may cause a difference"
)


def unlike_arms(config: Config, toolchains: Mapping[ArmName, Mapping[str, str]]) -> tuple[str, ...]:
    """Describe how the arms differ apart from their code: each follows its own configuration.

    Args:
        toolchains: versions by tool.
    """
    said = []
    base, head = (config_in(arm, config).build for arm in (ArmName.BASE, ArmName.HEAD))
    if (base.commands, base.env) != (head.commands, head.env):
        said.append(_BUILT_BY_THEIR_OWN)
    before, after = (toolchains[arm] for arm in (ArmName.BASE, ArmName.HEAD))
    for tool in sorted(before.keys() & after.keys()):
        if before[tool] != after[tool]:
            old, new = (_with_version(tool, side[tool]) for side in (before, after))
            said.append(f"the base uses {old}, the head {new}: this may cause a difference")
    return tuple(said)


def unlike_packages(base: Iterable[str], head: Iterable[str]) -> tuple[str, ...]:
    """Warn of installed packages that have other versions on the two sides.

    Args:
        base, head: as `packages_in` returns them.
    """
    before, after = installed_versions(base), installed_versions(head)
    differ = [one for one in sorted(before | after) if before.get(one) != after.get(one)]
    if not differ:
        return ()
    said = [f"{one} {before.get(one, 'none')}, here {after.get(one, 'none')}" for one in differ]
    named = "; ".join(said[:_PACKAGES])
    more = f"; and {len(said) - _PACKAGES} more" if len(said) > _PACKAGES else ""
    return (f"the base has other packages ({named}{more}): this may cause a difference",)


_PACKAGES = 5


def _with_version(tool: str, version: str) -> str:
    """Name a tool with its version, which often names the tool itself: "rustc 1.75.0"."""
    names_itself = tool == PYTHON or version.startswith(f"{tool} ")
    return version if names_itself else f"{tool} {version}"


def unmatched(config: Config, choice: Choice, session: Session) -> tuple[str, ...]:
    """Warn of waivers that match nothing, unless a suite that did not run may match."""
    suites = any(isinstance(one, SuiteBenchmark) for one in config.benchmarks)
    if suites and not choice.is_everything:
        return ()
    return config.unmatched(session.known_ids)
