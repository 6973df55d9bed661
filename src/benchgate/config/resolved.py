"""The configuration that the rest of the program gets: checked, complete, and able to say why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from benchgate.config.conflicts import conflicts
from benchgate.config.models import Settings
from benchgate.config.options import overridden
from benchgate.config.policy import DECIDED_BY, Side
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
    from benchgate.config.policy import Sides
    from benchgate.config.rules import RowPolicy


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
            baseline: "auto", "artifact", "git", "git:REF", "dir:PATH" or "file:PATH".

        Raises:
            ConfigError: naming the option, `--margin`.
            ValueError: the policy of a base commit holds already: options come before it.
        """
        if self.sides:
            raise ValueError("options cannot be laid over the policy of the base commit")
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
        waivers=settings.waivers,
        accept=settings.accept,
        aliases=settings.aliases,
        origin=origin,
    )
