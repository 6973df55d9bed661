"""The configuration that the rest of the program gets: checked, complete, and able to say why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from benchgate.config.conflicts import conflicts
from benchgate.config.models import Settings
from benchgate.config.options import overridden
from benchgate.config.problems import config_error, from_validation
from benchgate.config.rules import effective_policy, matches
from benchgate.config.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.config.benchmarks import Benchmark
    from benchgate.config.models import Baseline, Build, Gate, Measure, Rule
    from benchgate.config.origin import Origin
    from benchgate.config.rules import RowPolicy


@dataclass(frozen=True)
class Config:
    """A whole configuration, defaults filled in.

    Attributes:
        benchmarks: in the order in which they are written.
        rules: exceptions from the gate's settings; later ones win.
        aliases: new id of each renamed benchmark by its old one; one step leads to the end.
        origin: where it came from.
    """

    gate: Gate
    measure: Measure
    build: Build
    baseline: Baseline
    benchmarks: tuple[Benchmark, ...]
    rules: tuple[Rule, ...]
    aliases: Mapping[str, str]
    origin: Origin

    @property
    def source(self) -> Path | None:
        """The file it was read from; None for defaults, and for text from elsewhere."""
        return self.origin.path

    def where(self, key: str) -> str:
        """Where a key got its value: file, line and key, or the option, or "(default)".

        Args:
            key: dotted, e.g. `gate.margin` or `benchmark[2].timeout`.
        """
        return self.origin.where(key)

    def effective(self, benchmark_id: str, metric: str | None = None) -> RowPolicy:
        """The margins, statistics and metrics of one benchmark, or of one metric of it.

        Args:
            benchmark_id: its id, `group/name[param=value]`.
            metric: name of a metric; None leaves out the rules that are for some metrics only.
        """
        return effective_policy(self.gate, self.rules, benchmark_id, metric)

    def unmatched_rules(self, ids: Sequence[str]) -> tuple[str, ...]:
        """A warning for each rule that concerns none of the benchmarks that exist.

        Args:
            ids: of all benchmarks, of both arms.
        """
        return tuple(
            f'{self.origin.place(("rule", index, "benchmark"))} = "{rule.benchmark}": '
            f"matches no benchmark{did_you_mean(rule.benchmark.strip('*'), ids)}"
            for index, rule in enumerate(self.rules)
            if not any(matches(rule.benchmark, name) for name in ids)
        )

    def with_overrides(
        self,
        *,
        rule: str | None = None,
        alpha: float | None = None,
        margin: str | None = None,
        fail_on: Sequence[str] = (),
        budget: str | None = None,
        rounds: int | None = None,
        until_decided: bool = False,
        seed: int | None = None,
        against: str | None = None,
        baseline: str | None = None,
    ) -> Config:
        """The same with what the command line says instead; what is None or empty stays.

        Args:
            rule: for [gate], like `alpha`, `margin` and `fail_on`. A [[rule]] that sets a
                margin keeps it.
            alpha: as in the file.
            margin: "3%".
            fail_on: outcomes.
            budget: "10m", for [measure], like `rounds`, `until_decided` and `seed`.
            rounds: as in the file.
            until_decided: takes the place of the rounds and the budget that the file sets.
            seed: as in the file.
            against: a commit; the baseline is then built from git.
            baseline: "auto", "git", "git:REF", "dir:PATH" or "file:PATH".

        Raises:
            ConfigError: naming the option, `--margin`.
        """
        given: dict[tuple[str, str], Any] = {
            ("gate", "rule"): rule,
            ("gate", "alpha"): alpha,
            ("gate", "margin"): margin,
            ("gate", "fail_on"): list(fail_on) or None,
            ("measure", "budget"): budget,
            ("measure", "rounds"): rounds,
            ("measure", "until_decided"): until_decided or None,
            ("measure", "seed"): seed,
        }
        set_keys = {key: value for key, value in given.items() if value is not None}
        origin = overridden(self.origin, set_keys, against=against, baseline=baseline)
        return self if origin is self.origin else resolve(origin)


def resolve(origin: Origin) -> Config:
    """Check a document and fill in the defaults.

    Raises:
        ConfigError: listing everything that is wrong with it.
    """
    try:
        settings = Settings.model_validate(dict(origin.document))
        problems = conflicts(settings)
    except ValidationError as error:
        problems = from_validation(error)
    if problems:
        in_order = sorted(problems, key=lambda problem: origin.line(problem.path) or 0)
        raise config_error(in_order, origin.place)
    return Config(
        gate=settings.gate,
        measure=settings.measure,
        build=settings.build,
        baseline=settings.baseline,
        benchmarks=settings.benchmarks,
        rules=settings.rules,
        aliases=settings.aliases,
        origin=origin,
    )
