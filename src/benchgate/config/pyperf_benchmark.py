"""The table [[benchmark]] with `pyperf`."""

from pathlib import PurePath

from pydantic import Field

from benchgate.config.function_benchmarks import FunctionBenchmarks
from benchgate.tables import fields


class PyperfBenchmark(FunctionBenchmarks):
    """Scripts that are written for pyperf's Runner; they run with the project's own pyperf."""

    KIND = "pyperf"
    LACKS = "is not a file"
    IN_FOLDERS = False
    NEUTRAL = frozenset(
        {"pyperf", "arguments", "group", "interpreter", "pythonpath", "isolate", "timeout", "env"}
    )

    paths: fields.Paths = Field(
        alias="pyperf",
        description="Scripts that use `pyperf.Runner`, relative to the configuration file.",
    )
    arguments: fields.Arguments = Field(
        default=(),
        description="Arguments of each script. Options of pyperf itself, such as `--fast`, have"
        " no effect.",
    )
    group: fields.Identifier | None = Field(
        default=None,
        description="Prefix of each id, for scripts that give benchmarks the same names.",
    )
    isolate: bool = Field(
        default=True, description="Give each benchmark a process of its own, as pyperf does."
    )

    @property
    def tool_arguments(self) -> tuple[str, ...]:
        """Arguments of each script."""
        return self.arguments

    @property
    def prefix(self) -> str:
        """The group."""
        return self.group or ""

    def may_hold(self, file: PurePath) -> bool:
        """Whether a file may be one of them, whatever its name ends with."""
        return len(file.parts) == 1
