"""The table [[benchmark]] with `asv`."""

from typing import Literal

from pydantic import Field

from benchgate.config.function_benchmarks import FunctionBenchmarks
from benchgate.tables import fields


class AsvBenchmark(FunctionBenchmarks):
    """A suite of asv (airspeed velocity); asv itself need not be installed."""

    KIND = "asv"
    BESIDE = ("asv.conf.json", "asv.conf.jsonc")
    OWN_PACKAGE = True
    NEUTRAL = frozenset({"asv", "setup", "interpreter", "pythonpath", "isolate", "timeout", "env"})

    paths: fields.PythonPaths = Field(
        alias="asv",
        description="The folder of the benchmarks of asv (`benchmark_dir` in `asv.conf.json`),"
        " relative to the configuration file.",
    )
    setup: Literal["call", "sample"] | None = Field(
        default=None,
        description="Run `setup` before each `call`, as asv_runner does since version 0.3, or"
        " before each `sample` of asv, as it did before; by default as the installed asv_runner"
        " does, and before each sample if none is installed.",
    )

    @property
    def tool_arguments(self) -> tuple[str, ...]:
        """When setups run."""
        return (self.setup,) if self.setup else ()
