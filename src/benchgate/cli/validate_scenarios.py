"""What `benchgate validate` checks in scenario files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.config import ScenarioBenchmark
from benchgate.errors import ConfigError
from benchgate.git.changes import is_ignored
from benchgate.load.scenario import depends_on_side, own_files
from benchgate.load.scenario_file import read_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.load.scenario import Scenario
    from benchgate.measure.engine import Arm


@dataclass(slots=True)
class ScenarioFiles:
    """What was found in scenario files.

    Attributes:
        ids: for each file, the ids of its benchmarks.
        problems: one for each thing that is wrong, with the place; further lines say what to do.
    """

    ids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def read_scenarios(config: Config, arm: Arm, git: Git | None) -> ScenarioFiles:
    """Read all scenario files of a tree.

    Args:
        git: the repository of the tree; None if there is none.
    """
    found = ScenarioFiles()
    first_in: dict[str, str] = {}
    for index, one in enumerate(config.benchmarks):
        if not isinstance(one, ScenarioBenchmark):
            continue
        place = config.origin.place(("benchmark", index, "scenario"))
        if not (arm.folder / one.scenario).is_file():
            found.problems.append(f'{place} = "{one.scenario}": there is no such file')
            continue
        try:
            scenario = read_scenario(arm.folder / one.scenario, one.scenario)
        except ConfigError as error:
            # The hint for several problems is to call this command.
            hint = f"\nhint: {error.hint}" if error.hint and "\n" not in error.message else ""
            found.problems.append(f"{error.message}{hint}")
            continue
        found.ids[one.scenario] = scenario.ids
        for id_ in scenario.ids:
            if first_in.setdefault(id_, one.scenario) != one.scenario:
                found.problems.append(
                    f"{one.scenario}: {first_in[id_]} has a benchmark {id_}, too: give the"
                    " scenario another name"
                )
        found.problems += _unfit(one, scenario, config, arm, git)
    return found


def _unfit(
    benchmark: ScenarioBenchmark, scenario: Scenario, config: Config, arm: Arm, git: Git | None
) -> Iterator[str]:
    """Say why a scenario cannot be measured in this tree."""
    files = own_files(scenario)
    for file in files:
        # [build] may create files of a tree that is built; words of a command need not be files.
        may_lack = config.build.commands or file in _words(scenario)
        if not may_lack and not (arm.folder / file).is_file():
            yield f"{benchmark.scenario}: there is no file {file}, which it names"
    for file in (benchmark.scenario, *files):
        path = arm.folder / file
        if git and path.is_file() and is_ignored(git, path):
            yield f"{file}: git ignores it, so the base does not have it"
    for target in scenario.targets:
        if not benchmark.allow_foreign and not depends_on_side(scenario, target):
            yield (
                f"{benchmark.scenario}: nothing in it depends on the side, so base and head would"
                f" load the same target {target.title} in the same way: use a [[service]], files"
                " of the tree, or {root}, or set `allow_foreign = true` in [[benchmark]]"
            )


def _words(scenario: Scenario) -> frozenset[str]:
    """The words of the texts in which targets name what they run."""
    return frozenset(
        word for one in scenario.targets for text in one.texts() for word in text.split()
    )
