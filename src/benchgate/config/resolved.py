"""The configuration that the rest of benchgate uses: checked, complete, with its origins."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from pydantic import ValidationError

from benchgate.config.conflicts import conflicts
from benchgate.config.layout import LAYOUT
from benchgate.config.rules import effective_policy, matches
from benchgate.config.tables import Settings
from benchgate.errors import did_you_mean
from benchgate.tables.problems import config_error, from_validation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from benchgate.config.benchmarks import Benchmark
    from benchgate.config.measurement import Build, Measure
    from benchgate.config.origin import Origin
    from benchgate.config.rules import RowPolicy
    from benchgate.config.tables import Accept, Baseline, Gate, HistoryTable, Limit, Rule, Waive
    from benchgate.errors import ConfigError
    from benchgate.model.policy import Acceptance, Options
    from benchgate.tables.problems import Problem


class Side(StrEnum):
    """The commit whose configuration judges."""

    BASE = "base"
    EACH = "each"
    HEAD = "head"


DECIDED_BY: Mapping[str, Side] = {
    "gate": Side.BASE,
    "rule": Side.BASE,
    "limit": Side.BASE,
    "waive": Side.BASE,
    "accept": Side.BASE,
    "baseline": Side.BASE,
    # Except for what makes the measurement more careful: see `precedence.policy_from`.
    "measure": Side.BASE,
    # Each commit is built by its own configuration. What the base has is measured on both sides as
    # the base's says, and the head's adds what only the head has.
    "build": Side.EACH,
    "benchmark": Side.EACH,
    # Only the head knows what it renamed. An alias joins only a benchmark that the base alone has
    # with one that the head alone has, and the base's version of it decides. So it cannot hide a
    # regression, and a new one is shown.
    "aliases": Side.HEAD,
    # It judges nothing.
    "history": Side.HEAD,
}
"""Every table of the configuration."""


@dataclass(frozen=True)
class Sides:
    """The two configurations that one was combined from, both with the command-line options.

    Attributes:
        accepted: why the head's waivers count in addition to the base's; None if they do not.
    """

    base: Config
    head: Config
    accepted: Acceptance | None = None


@dataclass(frozen=True)
class Config:
    """A whole configuration, with defaults filled in.

    Attributes:
        benchmarks: in the order in which they are written.
        rules: exceptions from the gate's settings; later ones override earlier ones.
        limits: values that no benchmark may exceed; of several, the last one counts.
        waivers: regressions and removals that are permitted; one that matches a row is enough.
        accept: how the waivers of a pull request can count before they are merged.
        aliases: old id to new id of each renamed benchmark; there are no chains of aliases.
        history: where the history of the project is kept.
        sides: what it was combined from, if the base commit's configuration judges.
        base: how the base commit is built and measured; None if this configuration applies to it,
            too.
        is_empty: whether nothing is measured, because the commit does not use benchgate yet.
    """

    gate: Gate
    measure: Measure
    build: Build
    baseline: Baseline
    benchmarks: tuple[Benchmark, ...]
    rules: tuple[Rule, ...]
    limits: tuple[Limit, ...]
    waivers: tuple[Waive, ...]
    accept: Accept
    aliases: Mapping[str, str]
    history: HistoryTable
    origin: Origin
    sides: Sides | None = None
    base: Config | None = None
    is_empty: bool = False

    @property
    def source(self) -> Path | None:
        """The file it was read from; None for defaults, and for text from elsewhere."""
        return self.origin.path

    @property
    def folder(self) -> str:
        """The folder that its paths are relative to, relative to the root of the tree."""
        return self.origin.folder

    @property
    def searches(self) -> bool:
        """Whether all benchmark files are measured, because the configuration names none."""
        return not self.benchmarks and not self.is_empty

    def where(self, key: str) -> str:
        """The place that set a key: file, line and key, or the option, or "(default)".

        Args:
            key: dotted, e.g. `gate.margin` or `benchmark[2].timeout`.
        """
        return self._origin_of(key).where(key)

    def effective(self, benchmark_id: str, metric: str | None = None) -> RowPolicy:
        """The margins, statistics and metrics of one benchmark, or of one metric of it.

        Args:
            benchmark_id: its id, `group/name[param=value]`.
            metric: name of a metric; None ignores rules that apply only to some metrics.
        """
        return effective_policy(self.gate, self.rules, benchmark_id, metric)

    def name_in_policy(self, benchmark_id: str, renamed_from: str | None) -> str:
        """The id by which rules and waivers refer to a benchmark.

        Those of the base refer to a benchmark that the head renamed by its old id.

        Args:
            benchmark_id: in the head.
            renamed_from: its id in the base, if an alias joined the two.
        """
        if renamed_from is None or self.sides is None:
            return benchmark_id
        known_to_base = self.sides.base.aliases.get(renamed_from) == benchmark_id
        return benchmark_id if known_to_base else renamed_from

    def unmatched(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Warn of each rule and each waiver that matches no existing benchmark.

        Args:
            ids: of all benchmarks, of both arms.
        """
        return (
            *self._unmatched("rule", self.rules, ids),
            *self._unmatched("limit", self.limits, ids),
            *self._unmatched("waive", self.waivers, ids),
        )

    def _unmatched(
        self, table: str, entries: Iterable[Rule | Limit | Waive], ids: Sequence[str]
    ) -> Iterator[str]:
        for index, entry in enumerate(entries):
            if getattr(entry, "outcome", "") == "missing":
                continue  # once it is merged, there is nothing left that it could match
            if not any(matches(entry.benchmark, name) for name in ids):
                place = self._origin_of(table).place((table, index, "benchmark"))
                meant = did_you_mean(entry.benchmark.strip("*"), ids)
                yield f'{place} = "{entry.benchmark}": matches no benchmark{meant}'

    def expired(self, day: date) -> tuple[str, ...]:
        """Warn of each waiver that has expired.

        Args:
            day: the day to compare with, in UTC.
        """
        return tuple(
            f"{self._origin_of('waive').place(('waive', index))}: the waiver of "
            f'"{waiver.benchmark}" expired on {waiver.until}: delete it, or repair the benchmark'
            for index, waiver in enumerate(self.waivers)
            if waiver.until < day and waiver.ceiling is not None
        )

    def _origin_of(self, key: str) -> Origin:
        """The origin of the table that contains a key."""
        table = re.split(r"[.[]", key, maxsplit=1)[0]
        if self.sides and DECIDED_BY.get(table) is Side.BASE:
            return self.sides.base.origin
        return self.origin

    def with_overrides(self, options: Options) -> Config:
        """This configuration, overridden by the options of the command line.

        A [[rule]] that sets a margin keeps it.

        Raises:
            ConfigError: an option is not valid; the message names it, `--margin`.
            UsageError: two of them contradict each other, or one cannot be parsed.
            ValueError: the base already judges: options must be applied before that.
        """
        if self.sides:
            raise ValueError("options must be applied before the policy of the base commit")
        every = options.over(self.origin.options)
        is_same = every == self.origin.options
        return self if is_same else resolve(replace(self.origin, options=every))


def resolve(origin: Origin) -> Config:
    """Check a document and fill in the defaults.

    Raises:
        ConfigError: something is wrong; the message lists everything.
        UsageError: the options of the command line cannot be parsed.
    """
    settings = validated(origin)
    if problems := conflicts(settings):
        raise _error(problems, origin)
    tables = {name: getattr(settings, name) for name in Settings.model_fields}
    return Config(**tables, origin=origin)


def validated(origin: Origin) -> Settings:
    """Check every key of a document separately, but not whether keys contradict each other.

    Raises:
        As `resolve`.
    """
    document = dict(origin.document)
    try:
        return Settings.model_validate(document)
    except ValidationError as error:
        raise _error(from_validation(error, LAYOUT), origin) from None


def _error(problems: Sequence[Problem], origin: Origin) -> ConfigError:
    in_order = sorted(problems, key=lambda problem: origin.line(problem.path) or 0)
    return config_error(in_order, origin.place)
