"""The table [[benchmark]] with `command`."""

from pydantic import Field, ValidationInfo, field_validator

from benchgate.config.benchmark_table import IN_TURN_HELP, BenchmarkTable
from benchgate.config.laxer import less, on
from benchgate.config.program_benchmark import ProgramBenchmark
from benchgate.tables import fields
from benchgate.tables.fields import shell_of


class _Named(BenchmarkTable):
    """Puts `name` before the keys of all programs: the reference lists keys in this order."""

    name: fields.Identifier = Field(description="The benchmark's id, stable across commits.")


class CommandBenchmark(ProgramBenchmark, _Named):
    """A command; each execution of it is a new process."""

    KIND = "command"
    LAXER = {  # noqa: RUF012 - a class variable
        **ProgramBenchmark.LAXER,
        "executions": less,
        "parallel": on,
        "in_turn": on,
    }
    NEUTRAL = ProgramBenchmark.NEUTRAL | {"name"}
    MEASURE_KEYS = ("executions",)

    executions: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="Executions per side and round; by default `executions` of `[measure]`.",
    )
    parallel: bool = Field(
        default=False,
        description="Its processes or threads run side by side: measure it without pinning.",
    )
    in_turn: bool = Field(default=False, description=IN_TURN_HELP)

    @property
    def ids(self) -> tuple[str, ...]:
        """Its name."""
        return (self.name,)

    @field_validator("command", mode="before")
    @classmethod
    def _split(cls, value: object, info: ValidationInfo) -> tuple[str, ...]:
        return fields.argv(value, in_shell=shell_of(info))
