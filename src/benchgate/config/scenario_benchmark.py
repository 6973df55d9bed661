"""The table [[benchmark]] with `scenario`."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from pydantic import Field

from benchgate.config.benchmark_table import DATA_HELP, TAGS_HELP, BenchmarkTable
from benchgate.config.laxer import dropped, on
from benchgate.tables import fields


class ScenarioBenchmark(BenchmarkTable):
    """A workload under load, as a file of each side describes it."""

    KIND = "scenario"
    LAXER = {"tags": dropped, "data": dropped, "allow_foreign": on}  # noqa: RUF012 - a class variable
    NEUTRAL = frozenset({"scenario", "timeout", "env", "pythonpath"})

    scenario: fields.RelativePath = Field(
        description="The scenario file (TOML, JSON or YAML), relative to the configuration file."
    )
    timeout_s: fields.Duration | None = Field(
        default=None,
        alias="timeout",
        description="Time limit for one launch; by default one that its durations leave room for.",
    )
    env: fields.Environment = Field(
        default_factory=dict,
        description="Variables added to the environment of the load generator and its services.",
    )
    tags: fields.Names = Field(default=(), description=TAGS_HELP)
    data: fields.DataGlobs = Field(default=(), description=DATA_HELP)
    pythonpath: fields.Templates | None = Field(
        default=None,
        description="Folders for `PYTHONPATH`, relative to the configuration file; by default"
        " [those of the side's own code](#whose-code-runs).",
    )
    allow_foreign: bool = Field(
        default=False,
        description="Measure it even if nothing in it depends on the side, so that both sides"
        " load the same target.",
    )

    @property
    def subjects(self) -> tuple[str, ...]:
        """Its file: the ids are known once it has been read."""
        return (self.scenario,)

    def covers(self, subject: str, aliases: Mapping[str, str]) -> bool:  # noqa: ARG002 - of ids
        """Whether it has the same file."""
        return PurePosixPath(subject) == PurePosixPath(self.scenario)
