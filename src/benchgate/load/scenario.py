"""A scenario: a workload under load, as a file describes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from benchgate.errors import ConfigError
from benchgate.load import parameters
from benchgate.model.load import Loop
from benchgate.tables import fields
from benchgate.tables.fields import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.tables.document import KeyPath


DEFAULT_DURATION_S: Final = 10.0
BRIEF_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Scenario:
    """A checked scenario.

    Attributes:
        name: the first part of its ids.
        file: what messages call its file.
        targets: one or more; they are loaded one after the other.
        setup, teardown: run before and after each launch; None if there is nothing to run.
        lines: the line of each key in the file, by its dotted path.
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
        if self.load.duration_s is not None:
            return self.load.duration_s
        return sum(stage.duration_s for stage in self.load.stages) or DEFAULT_DURATION_S

    @property
    def planned_s(self) -> float:
        """How long the load of a launch lasts."""
        return self.load.warmup_s + self.duration_s

    @property
    def loop(self) -> Loop:
        """Whether operations begin on a schedule."""
        is_open = self.load.rate or any(stage.rate is not None for stage in self.load.stages)
        return Loop.OPEN if is_open else Loop.CLOSED

    @property
    def most_workers(self) -> int:
        """How many workers work at once, at most."""
        return max([self.load.concurrency, *(one.concurrency or 0 for one in self.load.stages)])

    @property
    def most_rate(self) -> float:
        """Operations per second of all workers, at most; 0 for a closed loop."""
        return max([self.load.rate, *(one.rate or 0.0 for one in self.load.stages)])

    def id_of(self, target: Target, step: Step) -> str:
        """`scenario/step`, or `scenario/target/step` if there are several targets."""
        middle = (target.title,) if len(self.targets) > 1 else ()
        return "/".join((self.name, *middle, step.name))

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self.id_of(target, step) for target in self.targets for step in self.steps)

    def tables(self, target: Target | None = None) -> Iterator[tuple[KeyPath, DriverTable]]:
        """The tables that a driver describes, each with its place in the file.

        Args:
            target: leaves out the other targets.
        """
        for index, one in enumerate(self.targets):
            if target is None or one == target:
                yield ("target", index), one
        yield from ((("step", index), one) for index, one in enumerate(self.steps))
        for key, script in (("setup", self.setup), ("teardown", self.teardown)):
            if script is not None:
                yield (key,), script

    def shortened(self) -> Scenario:
        """The same without a warm-up, and with at most a second of its largest load."""
        load = self.load.model_copy(
            update={
                "duration_s": min(self.duration_s, BRIEF_S),
                "warmup_s": 0.0,
                "concurrency": self.most_workers,
                "rate": self.most_rate,
                "stages": (),
            }
        )
        return replace(self, load=load)

    def target(self, title: str) -> Target:
        """Find a target by its title.

        Raises:
            ConfigError: there is none.
        """
        for one in self.targets:
            if one.title == title:
                return one
        raise ConfigError(f"the scenario {self.name} has no target {title!r}")


def _maybe_zero_s(value: object) -> float:
    is_zero = isinstance(value, str) and value.strip() in {"0s", "0ms"}
    return 0.0 if is_zero else fields.duration_s(value)


def _word(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise ValueError("must be one word of letters, digits and _: {NAME_port} is its port")
    return name


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return text


def _path(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError('must be a path on the port of the service, such as "/health"')
    return text


# Each operation that is due is counted, also if no worker could begin it.
_HIGHEST_RATE: Final = 1_000_000

Pattern = Annotated[fields.Text, AfterValidator(_pattern)]
DurationOrZero = Annotated[
    float,
    BeforeValidator(_maybe_zero_s),
    WithJsonSchema({"type": "string", "format": "duration"}),
]
ParameterText = Annotated[str | int | float | bool, BeforeValidator(parameters.check)]
Variables = Mapping[
    Annotated[fields.Text, AfterValidator(fields.variable_name)],
    str,
]


class DriverTable(Table):
    """A table to which each driver adds keys of its own."""

    def texts(self) -> tuple[str, ...]:
        """All its texts in which placeholders are replaced."""
        return ()

    def own_files(self) -> tuple[str, ...]:
        """Files of the arm that it reads, relative to the configuration: code under test."""
        return ()


class Target(DriverTable):
    """What is loaded; each driver adds keys of its own."""

    name: fields.Identifier | None = Field(
        default=None, description="What reports call it; by default the name of its driver."
    )
    driver: fields.Text = Field(default="sqlite", description="How benchgate talks to it.")

    @property
    def title(self) -> str:
        """Its name, or that of its driver."""
        return self.name or self.driver

    @property
    def server(self) -> str | None:
        """The address of the server that is loaded; "" if it is unknown, None for a library."""
        return None


class Step(DriverTable):
    """One kind of operation; each driver adds keys of its own."""

    name: fields.Identifier = Field(description="What reports call it.")
    params: Mapping[str, ParameterText] = Field(
        default_factory=dict,
        description="Values for the operation, or texts such as `random_int(1, 100)`.",
    )
    weight: int = Field(
        default=1,
        ge=1,
        le=1_000_000,
        description="How often it is chosen, in relation to the other steps.",
    )


class Script(DriverTable):
    """[setup] or [teardown]; each driver adds keys of its own."""


class Stage(Table):
    """A part of the measured time in which the load changes evenly."""

    duration_s: fields.Duration = Field(alias="duration", description="How long it takes.")
    rate: float | None = Field(
        default=None,
        ge=0,
        le=_HIGHEST_RATE,
        description="Operations per second at its end, for an open loop.",
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
        le=_HIGHEST_RATE,
        description="Operations per second of all workers together; 0: a closed loop.",
    )
    stages: Annotated[tuple[Stage, ...], BeforeValidator(fields.as_tuple)] = Field(
        default=(), description="A load that changes."
    )
    workers: Literal["thread", "process"] = Field(
        default="thread",
        description="Whether workers are threads of one process, or spread over processes.",
    )
    cluster: fields.Text | None = Field(
        default=None, description="Address of a Dask scheduler, whose workers load the target."
    )
    max_error_rate: float = Field(
        default=0.0, ge=0, le=1, description="A step with a larger share of errors has crashed."
    )


class Experiment(Table):
    """How a launch is repeated."""

    iterations: int | None = Field(
        default=None,
        ge=1,
        description="Launches that `benchgate run` measures, unless `rounds` or `--rounds` says"
        " otherwise.",
    )
    introspect: bool = Field(
        default=False,
        description="Ask the target for its version and settings, as `--introspect` does.",
    )
    seed: int = Field(default=0, ge=0, lt=2**63, description="Where parameters come from.")
    pause_s: DurationOrZero = Field(
        default="0s",
        alias="pause",
        validate_default=True,
        description="Time to wait before each launch.",
    )
    side_by_side: bool = Field(
        default=True,
        description="Whether base and head [take turns](scenarios.md#base-and-head-take-turns)"
        " with the load, if each side has a target of its own.",
    )


class Ready(Table):
    """When a service can be loaded: one of these keys."""

    tcp: bool = Field(default=False, description="Its port accepts connections.")
    http: Annotated[str, AfterValidator(_path)] | None = Field(
        default=None, description="This path answers a GET with `status`, such as `/health`."
    )
    status: int = Field(default=200, ge=100, le=599, description="The status that `http` answers.")
    log: Pattern | None = Field(
        default=None, description="A regular expression that a line of its output matches."
    )
    command: fields.Text | None = Field(default=None, description="A command that exits with 0.")
    timeout_s: fields.Duration = Field(
        default="30s",
        alias="timeout",
        validate_default=True,
        description="After this time it has failed to get ready.",
    )


UNNAMED_SERVICE: Final = "service"
"""The name of a service whose file gives it none."""


class Service(Table):
    """A program that benchgate starts before each launch, and stops after it."""

    name: Annotated[str, AfterValidator(_word)] = Field(
        default=UNNAMED_SERVICE, description="What messages call it; `{NAME_port}` is its port."
    )
    start: fields.Text = Field(description="The command that starts it; it stays in front.")
    ready: Ready = Field(description="When it can be loaded.")
    stop: fields.Text | None = Field(
        default=None, description="The command that stops it; by default SIGTERM."
    )
    stop_timeout_s: fields.Duration = Field(
        default="10s",
        alias="stop_timeout",
        validate_default=True,
        description="After this time it is killed, and the row fails.",
    )
    env: Variables = Field(default_factory=dict, description="Variables added to its environment.")
    cwd: fields.RelativePath = Field(
        default=".", description="Folder to run in, relative to the configuration file."
    )
