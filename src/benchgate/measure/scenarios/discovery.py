"""Reads the scenario files of every arm, and joins what both have."""

from __future__ import annotations

import itertools
import posixpath
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.errors import ConfigError
from benchgate.load.scenario_file import read_scenario
from benchgate.load.signature import depends_on_side, signature
from benchgate.measure.arm import ArmName
from benchgate.measure.contract import Definition, DiscoveryFailure, workload_of
from benchgate.model.load import LoadResult
from benchgate.model.run import Tier, renamed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from benchgate.config import ScenarioBenchmark
    from benchgate.load.scenario import Scenario, Target
    from benchgate.measure.arm import Arm
    from benchgate.measure.contract import DataFiles


_REMEDY = (
    "Let it use what is the side's own: a [[service]], files of the tree, such as "
    '`files = ["schema.sql"]` in [setup], or {root}, {env} or {sha} in a text. If the target is '
    "meant to be the same, set `allow_foreign = true` in [[benchmark]]."
)


@dataclass(frozen=True, slots=True, eq=False)
class ArmScenario:
    """A scenario with one of its targets, as one arm has it; its steps are measured together.

    Attributes:
        arm: the arm.
        benchmark: what the arm's configuration says about it.
        own_ids: the arm's own id of each step, by the name of the step.
        ids: the id that both arms share, by the name of the step.
    """

    arm: Arm
    benchmark: ScenarioBenchmark
    scenario: Scenario
    target: Target
    own_ids: Mapping[str, str]
    ids: Mapping[str, str]

    @property
    def title(self) -> str:
        """What its ids begin with."""
        return next(iter(self.own_ids.values())).rpartition("/")[0]


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """What a round measures as a whole: a scenario with one of its targets.

    Attributes:
        title: what people call it.
        arms: the scenario in the arms that have it.
    """

    title: str
    arms: tuple[ArmScenario, ...]

    def steps(self, arm: ArmName) -> Mapping[str, str]:
        """The names of the steps of an arm by their ids; empty if it has none."""
        found = (one for one in self.arms if one.arm.name is arm)
        return {id_: step for one in found for step, id_ in one.ids.items()}

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its steps in any arm."""
        return tuple(dict.fromkeys(id_ for one in self.arms for id_ in one.ids.values()))


@dataclass(frozen=True, slots=True)
class ScenarioFiles:
    """What the scenario files of all arms say.

    Attributes:
        read: the scenarios by arm, with one entry for each target.
        failures: the files that cannot be read.
    """

    read: Mapping[ArmName, tuple[ArmScenario, ...]]
    failures: tuple[DiscoveryFailure, ...]

    @classmethod
    def of(
        cls, benchmarks: Mapping[ArmName, Sequence[ScenarioBenchmark]], arms: Sequence[Arm]
    ) -> Self:
        """Read them. If only the base lacks a file, the scenario is new in the head.

        Args:
            benchmarks: the scenarios that each arm's own configuration defines.
        """
        read: dict[ArmName, tuple[ArmScenario, ...]] = {}
        errors: dict[tuple[ArmName, str], str] = {}
        for arm in arms:
            found: list[ArmScenario] = []
            for benchmark in benchmarks.get(arm.name, ()):
                path = arm.folder / benchmark.scenario
                if arm.name is ArmName.BASE and len(arms) > 1 and not path.exists():
                    continue
                try:
                    scenario = read_scenario(path, benchmark.scenario)
                    _require_unique(scenario, found)
                except ConfigError as error:
                    hint = f"\n{error.hint}" if error.hint else ""
                    errors[arm.name, benchmark.scenario] = f"{error.message}{hint}"
                else:
                    found += _by_target(arm, benchmark, scenario)
            read[arm.name] = tuple(found)
        alike = _alike(read)
        left_out = {one.title for one in alike}
        kept = {
            arm: tuple(one for one in each if one.title not in left_out)
            for arm, each in read.items()
        }
        return cls(kept, (*_failures(errors, read), *itertools.chain(*map(_refused, alike))))

    def units(self, aliases: Mapping[str, str], unable: Collection[str] = ()) -> tuple[Unit, ...]:
        """Join the scenarios of both arms, in the head's order.

        Args:
            aliases: for each benchmark that the head renamed, its new id by its old id.
            unable: ids and files that are left out of the base.
        """
        base, head = (self.read.get(arm, ()) for arm in (ArmName.BASE, ArmName.HEAD))
        new_ids = renamed(_ids(base), _ids(head), aliases)
        units = {one.title: Unit(one.title, (one,)) for one in head}
        title_of = {id_: one.title for one in head for id_ in one.ids.values()}
        for one in (_renamed(one, new_ids, unable) for one in base):
            if one.ids and one.benchmark.scenario not in unable:
                titles = [title_of[id_] for id_ in one.ids.values() if id_ in title_of]
                title = titles[0] if titles else one.title
                joined = units.get(title, Unit(title, ()))
                units[title] = replace(joined, arms=(one, *joined.arms))
        return tuple(units.values())


def definition_of(unit: Unit, one: ArmScenario, step: str, data: DataFiles) -> Definition:
    """Describe a step of a unit as a benchmark of one arm.

    Raises:
        DataFilesError: a data file cannot be read.
    """
    own_id, id_ = one.own_ids[step], one.ids[step]
    scenario, benchmark = one.scenario, one.benchmark
    parts = {**signature(scenario, one.target), **data.parts(one.arm.name, benchmark.data)}
    return Definition(
        id=id_,
        workload=workload_of(parts),
        tier=Tier.INTERLEAVED,
        kind=benchmark.KIND,
        tags=benchmark.tags,
        location=_location(one, step),
        parts=parts,
        renamed_from=None if own_id == id_ else own_id,
        suite=unit.title,
        load=_load_of(one, step),
        rounds=scenario.experiment.iterations,
    )


def _ids(scenarios: Iterable[ArmScenario]) -> list[str]:
    return [id_ for one in scenarios for id_ in one.own_ids.values()]


def _require_unique(scenario: Scenario, others: Sequence[ArmScenario]) -> None:
    for other in others:
        if other.scenario.name == scenario.name:
            raise ConfigError(
                f"{scenario.file} and {other.scenario.file} both have the name {scenario.name}",
                hint="Give one of them another `name`.",
            )


def _by_target(arm: Arm, benchmark: ScenarioBenchmark, scenario: Scenario) -> Iterator[ArmScenario]:
    for target in scenario.targets:
        ids = {step.name: scenario.id_of(target, step) for step in scenario.steps}
        yield ArmScenario(arm, benchmark, scenario, target, ids, ids)


def _renamed(one: ArmScenario, new_ids: Mapping[str, str], unable: Collection[str]) -> ArmScenario:
    """Give the steps of the base the ids of the head; leave out those that do not run there."""
    ids = {step: new_ids.get(id_, id_) for step, id_ in one.own_ids.items() if id_ not in unable}
    return replace(one, ids=ids)


def _failures(
    errors: Mapping[tuple[ArmName, str], str], read: Mapping[ArmName, Sequence[ArmScenario]]
) -> Iterator[DiscoveryFailure]:
    """Report files that cannot be read.

    If another arm's file shows which benchmarks there are, each of them failed.
    """
    for (arm, file), error in errors.items():
        others = [one for each in read.values() for one in each if one.benchmark.scenario == file]
        ids = [id_ for one in others if one.arm.name is not arm for id_ in one.own_ids.values()]
        first, *rest = ids or [file]
        yield DiscoveryFailure(arm, first, error, suite=file)
        line = error.partition("\n")[0]
        for id_ in rest:
            short = f"{line}\n{first} has the details"
            yield DiscoveryFailure(arm, id_, short, suite=file)


def _alike(read: Mapping[ArmName, Sequence[ArmScenario]]) -> tuple[ArmScenario, ...]:
    """The scenarios of the head that would load the same target as those of the base."""
    base = {one.title: one for one in read.get(ArmName.BASE, ())}
    pairs = [(base[one.title], one) for one in read.get(ArmName.HEAD, ()) if one.title in base]
    return tuple(
        pair[1]
        for pair in pairs
        if not any(
            one.benchmark.allow_foreign or depends_on_side(one.scenario, one.target) for one in pair
        )
    )


def _refused(one: ArmScenario) -> Iterator[DiscoveryFailure]:
    error = (
        f"nothing in {one.scenario.file} depends on the side: base and head would load the same "
        f"target {one.target.title} in the same way\n{_REMEDY}"
    )
    for id_ in one.own_ids.values():
        yield DiscoveryFailure(one.arm.name, id_, error, of_all=True)


def _load_of(one: ArmScenario, step: str) -> LoadResult:
    return LoadResult(
        scenario=one.scenario.name,
        target=one.target.title,
        step=step,
        loop=one.scenario.loop,
        workers=one.scenario.most_workers,
        rate=one.scenario.most_rate,
    )


def _location(one: ArmScenario, step: str) -> str:
    file = posixpath.normpath(posixpath.join(one.arm.inside, one.benchmark.scenario))
    index = next(i for i, each in enumerate(one.scenario.steps) if each.name == step)
    line = one.scenario.lines.get(f"step[{index}]")
    return file if line is None else f"{file}:{line}"
