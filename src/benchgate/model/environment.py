"""The machine and the runtime that something was measured on."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from benchgate.json_object import (
    Count,
    JsonObject,
    NotNegative,
    Text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Environment(JsonObject):
    """The machine that a run was measured on. What the OS does not tell is null or empty.

    Attributes:
        os: name and release of the distribution or OS, e.g. "Debian GNU/Linux 12".
        kernel: e.g. "Linux 6.1.0".
        machine: the architecture, such as "x86_64".
        cpu_model: as the OS names it.
        cpu_flags_hash: short hash of the CPU's feature flags.
        cpu_count: logical CPUs that this process may use.
        memory_bytes: physical memory.
        governor: CPU frequency governor of the first CPU.
        turbo: whether the CPU may exceed its base clock.
        virtualization: name of the hypervisor or container; "" if none was detected.
        runner_image: image of the hosted CI runner.
        load_average: of the last minute before the run started.
        busy_elsewhere: how many of the CPUs other programs kept busy, on average, while the run
            was measured.
        python: version of the interpreter that runs benchgate.
        toolchains: versions of the user's tools by name, such as {"python": "3.12.1"}.
        timer_cost_ns: time to read the clock in the interpreter that runs Python benchmarks; if
            there are several, in the slowest. None if there is none.
        timer_resolution_ns: smallest step seen of that clock; None also if no step was seen.
    """

    os: Text = ""
    kernel: Text = ""
    machine: Text = ""
    cpu_model: Text = ""
    cpu_flags_hash: Text = ""
    cpu_count: Count = 0
    memory_bytes: Count | None = None
    governor: Text | None = None
    turbo: bool | None = None
    virtualization: Text = ""
    runner_image: Text | None = None
    load_average: float | None = None
    busy_elsewhere: NotNegative | None = None
    python: Text = ""
    toolchains: dict[Text, Text] = field(default_factory=dict)
    timer_cost_ns: NotNegative | None = None
    timer_resolution_ns: Annotated[float, Field(gt=0)] | None = None

    def differences(self, other: Environment) -> tuple[str, ...]:
        """Why two runs cannot be compared: one phrase for each of CPU, cores, OS and toolchain."""
        return (*self.other_machine(other), *self.other_tools(other))

    def other_machine(self, other: Environment) -> tuple[str, ...]:
        """How the machines differ, in what both environments tell."""
        return _unlike(
            ("CPU", self.cpu_model, other.cpu_model),
            ("architecture", self.machine, other.machine),
            ("cores", str(self.cpu_count or ""), str(other.cpu_count or "")),
            ("OS", self.os, other.os),
            ("runner image", self.runner_image or "", other.runner_image or ""),
        )

    def other_tools(self, other: Environment) -> tuple[str, ...]:
        """How the toolchains differ, in those that both environments have."""
        both = sorted(self.toolchains.keys() & other.toolchains.keys())
        return _unlike(*((name, self.toolchains[name], other.toolchains[name]) for name in both))

    def completed(self, other: Environment) -> Environment:
        """The same machine, with what only the other description of it tells."""
        told = {
            one.name: getattr(self, one.name) or getattr(other, one.name)
            for one in fields(Environment)
        }
        return Environment(**told | {"toolchains": other.toolchains | self.toolchains})


def _unlike(*compared: tuple[str, str, str]) -> tuple[str, ...]:
    return tuple(f"{what}: {a!r} and {b!r}" for what, a, b in compared if a and b and a != b)


def in_common(environments: Sequence[Environment]) -> Environment:
    """The values on which all environments (at least one) agree; the rest becomes unknown."""
    first, *others = environments
    agreed = {
        one.name: getattr(first, one.name)
        for one in fields(Environment)
        if all(getattr(other, one.name) == getattr(first, one.name) for other in others)
    }
    toolchains = {
        name: version
        for name, version in first.toolchains.items()
        if all(other.toolchains.get(name) == version for other in others)
    }
    return Environment(**agreed | {"toolchains": toolchains})
