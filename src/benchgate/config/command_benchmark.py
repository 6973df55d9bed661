"""The table [[benchmark]] with `command`."""

from pydantic import Field, ValidationInfo, field_validator

from benchgate.config.benchmark_table import BenchmarkTable
from benchgate.config.laxer import less
from benchgate.config.program_benchmark import ProgramBenchmark
from benchgate.tables import fields
from benchgate.tables.fields import shell_of


class _Named(BenchmarkTable):
    """Puts `name` before the keys of all programs: the reference lists keys in this order."""

    name: fields.Identifier = Field(description="The benchmark's id, stable across commits.")


class CommandBenchmark(ProgramBenchmark, _Named):
    """A command; each execution of it is a new process."""

    KIND = "command"
    LAXER = {**ProgramBenchmark.LAXER, "executions": less}  # noqa: RUF012 - a class variable
    NEUTRAL = ProgramBenchmark.NEUTRAL | {"name"}
    MEASURE_KEYS = ("executions",)

    executions: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="Executions per side and round; by default `executions` of `[measure]`.",
    )

    @property
    def ids(self) -> tuple[str, ...]:
        """Its name."""
        return (self.name,)

    @field_validator("command", mode="before")
    @classmethod
    def _split(cls, value: object, info: ValidationInfo) -> tuple[str, ...]:
        return fields.argv(value, in_shell=shell_of(info))
