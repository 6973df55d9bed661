"""Whose configuration decides what, where a change is judged by its base.

A change must not judge itself by rules that it brings along, nor choose what it is judged by. What
it says of them holds once it is merged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from benchgate.config.models import Settings, field_of
from benchgate.config.options import GIVES_WAY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.config.benchmarks import Measure
    from benchgate.config.resolved import Config
    from benchgate.model.verdict import Acceptance


class Side(StrEnum):
    """The commit whose configuration has the say."""

    BASE = "base"
    EACH = "each"
    HEAD = "head"


DECIDED_BY: Mapping[str, Side] = {
    "gate": Side.BASE,
    "rule": Side.BASE,
    "waive": Side.BASE,
    "accept": Side.BASE,
    "baseline": Side.BASE,
    # But for what makes the measurement more careful: see `_at_least_as_careful`.
    "measure": Side.BASE,
    # Each commit is built and measured by its own. So what the base gates is measured in it,
    # whatever the head left out.
    "build": Side.EACH,
    "benchmark": Side.EACH,
    # Only the head knows what it renamed. A line of it joins nothing but a benchmark that the base
    # alone has and one that the head alone has, and they are compared only if they do the same
    # work; so it cannot hide a regression, and a new one is shown.
    "aliases": Side.HEAD,
}
"""Every table of the configuration."""


@dataclass(frozen=True)
class Sides:
    """What a configuration was put together from, both with the options of the command line.

    Attributes:
        accepted: what makes the head's waivers count beside the base's; None where they do not.
    """

    base: Config
    head: Config
    accepted: Acceptance | None = None


def policy_from(base: Config, head: Config) -> Config:
    """Judge by the base's configuration what both say is to be measured.

    An option of the command line is no part of the change, and holds over both.

    Args:
        base: of the base commit.
        head: with the options of the command line, which cannot be laid over the outcome any more.
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
    """Give the base's settings, with what the head adds to them that cannot weaken the gate.

    It may give more time, and it may switch on what removes noise. More samples or rounds are not
    among that: in the same time they leave less for everything else.
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
    """Give the base's configuration with the options that were laid over the head's."""
    options = head.origin.options
    given = [*options, *((t, gone) for t, key in options for gone in GIVES_WAY.get((t, key), ()))]
    changed: dict[str, dict[str, Any]] = {}
    for table, key in given:
        values = getattr(head, table)
        name = field_of(type(values), key)
        changed.setdefault(table, {})[name] = getattr(values, name)
    tables = {name: getattr(base, name).model_copy(update=new) for name, new in changed.items()}
    return replace(base, **tables, origin=replace(base.origin, options=options))


def with_accepted(config: Config, accepted: Acceptance | None) -> Config:
    """Give the base's policy under which the head's waivers count, too, if they were accepted.

    A configuration that is not judged by a base has no other waivers, and stays as it is.
    """
    if accepted is None or config.sides is None:
        return config
    return replace(config, sides=replace(config.sides, accepted=accepted))


def old_ids(base: Config, head: Config) -> Mapping[str, str]:
    """The old id of each benchmark that the head says it renamed, by the new one."""
    return {new: old for old, new in head.aliases.items() if base.aliases.get(old) != new}
