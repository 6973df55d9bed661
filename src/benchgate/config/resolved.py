"""The configuration that the rest of the program gets: checked, complete, and able to say why."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from pydantic import ValidationError

from benchgate.config.conflicts import conflicts
from benchgate.config.models import Settings
from benchgate.config.problems import config_error, from_validation
from benchgate.config.rules import effective_policy, matches
from benchgate.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from benchgate.config.benchmarks import Benchmark, Build, Measure
    from benchgate.config.models import Accept, Baseline, Gate, Rule, Waive
    from benchgate.config.origin import Origin
    from benchgate.config.problems import Problem
    from benchgate.config.rules import RowPolicy
    from benchgate.errors import ConfigError
    from benchgate.model.policy import Options
    from benchgate.model.waiver import Acceptance


class Side(StrEnum):
    """The commit whose configuration has the say."""

    BASE = "base"
    EACH = "each"
    HEAD = "head"


DECIDED_BY: Mapping[str, Side] = {
    "gate": Side.BASE,
    "rule": Side.BASE,
    "waive": Side.BASE,
    "accept": Side.BASE,
    "baseline": Side.BASE,
    # But for what makes the measurement more careful: see `precedence.policy_from`.
    "measure": Side.BASE,
    # Each commit is built and measured by its own. So what the base gates is measured in it,
    # whatever the head left out.
    "build": Side.EACH,
    "benchmark": Side.EACH,
    # Only the head knows what it renamed. A line of it joins nothing but a benchmark that the base
    # alone has and one that the head alone has, and they are compared only if they do the same
    # work; so it cannot hide a regression, and a new one is shown.
    "aliases": Side.HEAD,
}
"""Every table of the configuration."""


@dataclass(frozen=True)
class Sides:
    """What a configuration was put together from, both with the options of the command line.

    Attributes:
        accepted: what makes the head's waivers count beside the base's; None where they do not.
    """

    base: Config
    head: Config
    accepted: Acceptance | None = None


@dataclass(frozen=True)
class Config:
    """A whole configuration, defaults filled in.

    Attributes:
        benchmarks: in the order in which they are written.
        rules: exceptions from the gate's settings; later ones win.
        waivers: regressions and removals that are allowed; one that covers a row is enough.
        accept: what makes the waivers of a pull request count before they are merged.
        aliases: new id of each renamed benchmark by its old one; one step leads to the end.
        origin: where it came from.
        sides: of one whose policy is the base commit's, what it was put together from.
        base: what the base commit is built by, and what is measured in it; None where this
            configuration says so, too.
        is_empty: whether nothing is measured: in a commit that benchgate is not used in yet.
    """

    gate: Gate
    measure: Measure
    build: Build
    baseline: Baseline
    benchmarks: tuple[Benchmark, ...]
    rules: tuple[Rule, ...]
    waivers: tuple[Waive, ...]
    accept: Accept
    aliases: Mapping[str, str]
    origin: Origin
    sides: Sides | None = None
    base: Config | None = None
    is_empty: bool = False

    @property
    def source(self) -> Path | None:
        """The file it was read from; None for defaults, and for text from elsewhere."""
        return self.origin.path

    @property
    def searches(self) -> bool:
        """Whether all benchmark files are measured that there are, as none are named."""
        return not self.benchmarks and not self.is_empty

    def where(self, key: str) -> str:
        """Where a key got its value: file, line and key, or the option, or "(default)".

        Args:
            key: dotted, e.g. `gate.margin` or `benchmark[2].timeout`.
        """
        return self._origin_of(key).where(key)

    def effective(self, benchmark_id: str, metric: str | None = None) -> RowPolicy:
        """The margins, statistics and metrics of one benchmark, or of one metric of it.

        Args:
            benchmark_id: its id, `group/name[param=value]`.
            metric: name of a metric; None leaves out the rules that are for some metrics only.
        """
        return effective_policy(self.gate, self.rules, benchmark_id, metric)

    def name_in_policy(self, benchmark_id: str, renamed_from: str | None) -> str:
        """The id under which rules and waivers know a benchmark.

        The base's know one that the head renames by its old id.

        Args:
            benchmark_id: in the head.
            renamed_from: in the base, where an alias joined the two.
        """
        if renamed_from is None or self.sides is None:
            return benchmark_id
        known_to_base = self.sides.base.aliases.get(renamed_from) == benchmark_id
        return benchmark_id if known_to_base else renamed_from

    def unmatched(self, ids: Sequence[str]) -> tuple[str, ...]:
        """A warning for each rule and each waiver that concerns none of the benchmarks that exist.

        Args:
            ids: of all benchmarks, of both arms.
        """
        return (
            *self._unmatched("rule", self.rules, ids),
            *self._unmatched("waive", self.waivers, ids),
        )

    def _unmatched(
        self, table: str, entries: Iterable[Rule | Waive], ids: Sequence[str]
    ) -> Iterator[str]:
        for index, entry in enumerate(entries):
            if getattr(entry, "outcome", "") == "missing":
                continue  # once it is merged, there is nothing left that it could match
            if not any(matches(entry.benchmark, name) for name in ids):
                place = self._origin_of(table).place((table, index, "benchmark"))
                meant = did_you_mean(entry.benchmark.strip("*"), ids)
                yield f'{place} = "{entry.benchmark}": matches no benchmark{meant}'

    def expired(self, day: date) -> tuple[str, ...]:
        """A warning for each waiver that does not hold any more.

        Args:
            day: the one that counts, in UTC.
        """
        return tuple(
            f"{self._origin_of('waive').place(('waive', index))}: the waiver of "
            f'"{waiver.benchmark}" expired on {waiver.until}: delete it, or repair the benchmark'
            for index, waiver in enumerate(self.waivers)
            if waiver.until < day and waiver.ceiling is not None
        )

    def _origin_of(self, key: str) -> Origin:
        """Where the table that a key lies in came from."""
        table = re.split(r"[.[]", key, maxsplit=1)[0]
        if self.sides and DECIDED_BY.get(table) is Side.BASE:
            return self.sides.base.origin
        return self.origin

    def with_overrides(self, options: Options) -> Config:
        """The same with what the command line says instead; what it does not say stays.

        A [[rule]] that sets a margin keeps it.

        Raises:
            ConfigError: naming the option, `--margin`.
            UsageError: two of them contradict each other, or one cannot be read.
            ValueError: the policy of a base commit holds already: options come before it.
        """
        if self.sides:
            raise ValueError("options cannot be laid over the policy of the base commit")
        every = options.over(self.origin.options)
        is_same = every == self.origin.options
        return self if is_same else resolve(replace(self.origin, options=every))


def resolve(origin: Origin) -> Config:
    """Check a document and fill in the defaults.

    Raises:
        ConfigError: listing everything that is wrong with it.
        UsageError: the options of the command line cannot be read.
    """
    settings = validated(origin)
    if problems := conflicts(settings):
        raise _error(problems, origin)
    tables = {name: getattr(settings, name) for name in Settings.model_fields}
    return Config(**tables, origin=origin)


def validated(origin: Origin) -> Settings:
    """Check every key of a document alone, and not whether two contradict each other.

    Raises:
        As `resolve`.
    """
    document = dict(origin.document)
    try:
        return Settings.model_validate(document)
    except ValidationError as error:
        raise _error(from_validation(error), origin) from None


def _error(problems: Sequence[Problem], origin: Origin) -> ConfigError:
    in_order = sorted(problems, key=lambda problem: origin.line(problem.path) or 0)
    return config_error(in_order, origin.place)
