"""Decides which settings come from the base and which from the head, if the base judges.

A change must not be judged by rules that it brings along, nor choose who judges it. Its own rules
apply once it is merged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchgate.config.resolved import DECIDED_BY, Side, Sides, validated
from benchgate.config.tables import Settings
from benchgate.model.policy import OVERRIDES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.config.measurement import Measure
    from benchgate.config.resolved import Config
    from benchgate.model.policy import Acceptance

_OF_OPTIONS = frozenset(one.table for one in OVERRIDES.values())


def policy_from(base: Config, head: Config) -> Config:
    """Judge by the base's configuration; the head's says what to measure in the head.

    Options of the command line are not part of the change, and override both.

    Args:
        head: with the options of the command line; the result accepts no further options.
    """
    base = with_options(base, head)
    policy = {
        name: getattr(base, name)
        for name, info in Settings.model_fields.items()
        if DECIDED_BY[info.alias or name] is Side.BASE
    }
    policy["measure"] = _at_least_as_careful(base.measure, head.measure)
    return replace(head, **policy, sides=Sides(base, head), base=base)


def _at_least_as_careful(base: Measure, head: Measure) -> Measure:
    """The base's settings, plus the head's additions that cannot weaken the gate.

    The head may allow more time, and it may turn on what removes noise. It may not ask for more
    samples or rounds: these leave less of the same time for everything else.
    """
    added: dict[str, Any] = {
        "pin": base.pin or head.pin,
        "canary": base.canary or head.canary,
        "timeout_s": max(base.timeout_s, head.timeout_s),
    }
    if "budget_s" in head.model_fields_set and head.budget_s > base.limit_s:
        added["budget_s"] = head.budget_s
    return base.model_copy(update={k: v for k, v in added.items() if v != getattr(base, k)})


def with_options(base: Config, head: Config) -> Config:
    """The base's configuration, overridden by the options that override the head's.

    Settings of the base that contradict an option are dropped, as in the head, without an error.
    """
    origin = replace(base.origin, options=head.origin.options)
    settings = validated(origin)
    tables = {table: getattr(settings, table) for table in _OF_OPTIONS}
    return replace(base, **tables, origin=origin)


def with_accepted(config: Config, accepted: Acceptance | None) -> Config:
    """The base's policy, with the head's waivers added if they were accepted.

    A configuration that is not judged by a base has no other waivers, and stays as it is.
    """
    if accepted is None or config.sides is None:
        return config
    return replace(config, sides=replace(config.sides, accepted=accepted))


def old_ids(base: Config, head: Config) -> Mapping[str, str]:
    """The old id of each benchmark that the head renamed, by the new id."""
    return {new: old for old, new in head.aliases.items() if base.aliases.get(old) != new}
