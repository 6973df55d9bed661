"""The environment as both kinds of file hold it."""

from dataclasses import asdict
from typing import Annotated, Any, Self

from pydantic import Field

from benchgate.model.codec_types import Count, Record, Text
from benchgate.model.environment import Environment


class EnvironmentRecord(Record):
    """The machine that a run was measured on; null where it does not tell."""

    os: Text
    kernel: Text
    machine: Text
    cpu_model: Text
    cpu_flags_hash: Text
    cpu_count: Count
    memory_bytes: Count | None
    governor: Text | None
    turbo: bool | None
    virtualisation: Text
    runner_image: Text | None
    load_average: float | None
    python: Text
    toolchains: dict[Text, Text]
    timer_cost_ns: Annotated[float, Field(ge=0)] | None
    timer_resolution_ns: Annotated[float, Field(gt=0)] | None

    @classmethod
    def of(cls, environment: Environment) -> Self:
        """What is written of an environment."""
        return cls(**asdict(environment))

    def environment(self) -> Environment:
        """What was read."""
        return Environment(**self.model_dump())


def add_unknown_timer(environment: dict[str, Any]) -> None:
    """Make the environment of a first version, which recorded no timer, that of a second."""
    environment |= {"timer_cost_ns": None, "timer_resolution_ns": None}
