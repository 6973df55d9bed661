"""The tables of a scenario file that do not depend on the driver."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from benchgate.config import fields
from benchgate.config.fields import Table


def _maybe_zero_s(value: object) -> float:
    return 0.0 if value in {"0s", "0ms", "0"} else fields.duration_s(value)


DurationOrZero = Annotated[float, BeforeValidator(_maybe_zero_s)]
ParameterText = str | int | float | bool


class Target(Table):
    """What is loaded; each driver adds keys of its own."""

    name: fields.Identifier | None = Field(
        default=None, description="What reports call it; by default the name of its driver."
    )
    driver: fields.Text = Field(default="sqlite", description="How benchgate talks to it.")

    @property
    def title(self) -> str:
        """Its name, or that of its driver."""
        return self.name or self.driver

    def texts(self) -> tuple[str, ...]:
        """All its texts in which placeholders are replaced."""
        return ()

    def own_files(self) -> tuple[str, ...]:
        """Files of the arm that it runs, relative to the configuration: code under test."""
        return ()


class Step(Table):
    """One kind of operation; each driver adds keys of its own."""

    name: fields.Identifier = Field(description="What reports call it.")
    params: Mapping[str, ParameterText] = Field(
        default_factory=dict,
        description="Parameters of the operation: a literal, `random_int(a, b)`,"
        " `random_choice(a, b, ...)`, or `sequence`.",
    )
    weight: Annotated[int, Field(ge=1)] = Field(
        default=1, description="How often it is chosen, in relation to the other steps."
    )

    def own_files(self) -> tuple[str, ...]:
        """Files of the arm that it reads, relative to the configuration: code under test."""
        return ()


class Script(Table):
    """[setup] or [teardown]; each driver adds keys of its own."""

    def own_files(self) -> tuple[str, ...]:
        """Files of the arm that it reads, relative to the configuration: code under test."""
        return ()


class Stage(Table):
    """A part of the measured time in which the load changes evenly."""

    duration_s: fields.Duration = Field(alias="duration", description="How long it takes.")
    rate: float | None = Field(
        default=None, ge=0, description="Operations per second at its end, for an open loop."
    )
    concurrency: int | None = Field(
        default=None, ge=1, description="Workers at its end, for a closed loop."
    )


class Load(Table):
    """How much load there is."""

    concurrency: int = Field(default=1, ge=1, le=10_000, description="Workers that work at once.")
    duration_s: fields.Duration | None = Field(
        default=None,
        alias="duration",
        description="The measured time of a launch; by default that of the stages, or 10 s.",
    )
    warmup_s: DurationOrZero = Field(
        default="1s",
        alias="warmup",
        validate_default=True,
        description="Time before it in which all workers work, and nothing is recorded.",
    )
    rate: float = Field(
        default=0.0,
        ge=0,
        description="Operations per second of all workers together; 0: each begins the next one"
        " when the one before has ended.",
    )
    stages: tuple[Stage, ...] = Field(default=(), description="A load that changes.")
    workers: Literal["thread", "process"] = Field(
        default="thread",
        description="Whether workers are threads of one process, or spread over processes.",
    )
    cluster: fields.Text | None = Field(
        default=None, description="Address of a Dask scheduler, whose workers load the target."
    )
    max_error_rate: float = Field(
        default=0.0, ge=0, le=1, description="A step with a larger share of errors is failed."
    )


class Experiment(Table):
    """How a launch is repeated."""

    iterations: int | None = Field(
        default=None,
        ge=1,
        description="Launches that `benchgate run` measures, unless `rounds` or `--rounds` says"
        " otherwise. In a check the gate decides.",
    )
    seed: int = Field(default=0, ge=0, lt=2**63, description="Where parameters come from.")
    pause_s: DurationOrZero = Field(
        default="0s",
        alias="pause",
        validate_default=True,
        description="Time to wait before each launch.",
    )


class Ready(Table):
    """When a service can be loaded: one of these keys."""

    tcp: bool = Field(default=False, description="Its port accepts connections.")
    http: fields.Text | None = Field(
        default=None, description="This path answers a GET with `status`, such as `/health`."
    )
    status: int = Field(default=200, ge=100, le=599, description="The status that `http` answers.")
    log: fields.Text | None = Field(
        default=None, description="A regular expression that a line of its output matches."
    )
    command: fields.Text | None = Field(default=None, description="A command that exits with 0.")
    timeout_s: fields.Duration = Field(
        default="30s",
        alias="timeout",
        validate_default=True,
        description="After this time it has failed to get ready.",
    )


class Service(Table):
    """A program that benchgate starts before each launch, and stops after it."""

    name: fields.Identifier = Field(
        default="service", description="What messages call it; `{NAME_port}` is its port."
    )
    start: fields.Text = Field(description="The command that starts it; it stays in front.")
    ready: Ready = Field(default_factory=Ready, description="When it can be loaded.")
    stop: fields.Text | None = Field(
        default=None, description="The command that stops it; by default SIGTERM."
    )
    stop_timeout_s: fields.Duration = Field(
        default="10s",
        alias="stop_timeout",
        validate_default=True,
        description="After this time it is killed, and the row fails.",
    )
    env: fields.Environment = Field(
        default_factory=dict, description="Variables added to its environment."
    )
    cwd: fields.RelativePath = Field(
        default=".", description="Folder to run in, relative to the configuration file."
    )
