"""What identifies the work of a scenario."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final

from benchgate.load.placeholders import PORT, placeholders_in
from benchgate.load.scenario import Scenario, Script, Step, Target
from benchgate.model.redact import Redactor, redacted
from benchgate.tables.fields import PLACEHOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_REDACT: Final = Redactor({})
# A server that listens there is a service of the scenario.
_OWN: Final = (PORT, "scratch")


def signature(scenario: Scenario, target: Target) -> Mapping[str, str]:
    """Digests of what the workload consists of, without secrets, by a name for people.

    Addresses, passwords and services are no part of it, and neither are the contents of files.
    """
    load = scenario.load.model_dump(mode="json", exclude={"cluster"})
    parts: dict[str, object] = {
        "its load": {**load, "duration_s": scenario.duration_s, "loop": scenario.loop.value},
        "its target": _without_address(target),
        "its seed": scenario.experiment.seed,
        "its setup": _dumped(scenario.setup),
        "its teardown": _dumped(scenario.teardown),
    }
    for step in scenario.steps:
        parts[f"its step {step.name}"] = _dumped(step)
    return {name: _digest(part) for name, part in parts.items()}


def depends_on_side(scenario: Scenario, target: Target) -> tuple[str, ...]:
    """Say what of a target differs between base and head, such as "its service api".

    Returns:
        One phrase for each reason; empty if both sides load the same target in the same way.
    """
    return tuple(dict.fromkeys(_reasons(scenario, target)))


def may_be_elsewhere(target: Target) -> bool:
    """Whether a target may be a server that is no service of the scenario."""
    address = target.server
    own = (name.endswith(_OWN) for name in placeholders_in(address or ""))
    return address is not None and not any(own)


def own_files(scenario: Scenario) -> tuple[str, ...]:
    """The files of the arm that it names, relative to the configuration: code under test."""
    return tuple(dict.fromkeys(file for _, one in scenario.tables() for file in one.own_files()))


def _reasons(scenario: Scenario, target: Target) -> Iterator[str]:
    yield from (f"its service {one.name}" for one in scenario.services)
    for path, table in scenario.tables(target):
        name = f"its step {table.name}" if isinstance(table, Step) else f"its {path[0]}"
        yield from (f"{file} of {name}" for file in table.own_files())
        for text in table.texts():
            for placeholder in placeholders_in(text):
                if placeholder in PLACEHOLDERS or placeholder.endswith(PORT):
                    yield f"{{{placeholder}}} of {name}"


def _dumped(table: Script | Step | None) -> object:
    return table.model_dump(mode="json") if table is not None else None


def _without_address(target: Target) -> Mapping[str, object]:
    """What of a target is no address: other texts, such as headers, only lack their secrets.

    Of an address only its placeholders count: with {port} it leads to the arm's own service, and
    without to what may be the same for both arms, or anything else.
    """
    dumped = target.model_dump(mode="json", exclude={"name"})
    texts = set(target.texts())
    work: dict[str, object] = {}
    for key, value in dumped.items():
        values = value if isinstance(value, list) else [value]
        if isinstance(value, dict) or texts.isdisjoint(values):
            work[key] = value
        elif named := sorted({name for text in values for name in placeholders_in(str(text))}):
            work[key] = [f"{{{name}}}" for name in named]
    return work


def _digest(value: object) -> str:
    text = json.dumps(redacted(value, _REDACT), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
