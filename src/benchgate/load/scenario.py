"""A scenario: a workload under load, as a file describes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchgate.load.tables import Experiment, Load, Script, Service, Step, Target
    from benchgate.model.load import Loop


@dataclass(frozen=True, slots=True)
class Scenario:
    """A checked scenario.

    Attributes:
        name: the first part of its ids.
        targets: one or more; they are loaded one after the other.
        setup, teardown: run before and after each launch; None if there is nothing to run.
        lines: the line of each key in the file, by its dotted path; empty for JSON.
    """

    name: str
    file: str
    targets: tuple[Target, ...]
    load: Load
    experiment: Experiment
    steps: tuple[Step, ...]
    services: tuple[Service, ...]
    setup: Script | None
    teardown: Script | None
    lines: Mapping[str, int]

    @property
    def duration_s(self) -> float:
        """The measured time of a launch."""
        raise NotImplementedError

    @property
    def loop(self) -> Loop:
        """Whether operations begin on a schedule."""
        raise NotImplementedError

    def id_of(self, target: Target, step: Step) -> str:
        """`scenario/step`, or `scenario/target/step` if there are several targets."""
        raise NotImplementedError


def read_scenario(path: Path, name: str) -> Scenario:
    """Read and check a scenario file: TOML, JSON, or YAML with the extra.

    Args:
        name: what messages call the file.

    Raises:
        ConfigError: it is not valid; the message lists everything, with file, line and key.
    """
    raise NotImplementedError


def signature(scenario: Scenario, target: Target) -> Mapping[str, str]:
    """Digests of what the workload consists of, without secrets, by a name for people."""
    raise NotImplementedError
