"""`benchgate validate` and `schema`: check files without running them, and say what they hold."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchgate.cli import options as o
from benchgate.cli.boundary import say
from benchgate.cli.world import configuration, repository_or_none
from benchgate.config import (
    FunctionBenchmarks,
    LiveBenchmarks,
    PythonBenchmark,
    ScenarioBenchmark,
    SuiteBenchmark,
)
from benchgate.config.key_reference import config_schema
from benchgate.config.program_benchmarks import ProgramBenchmark
from benchgate.errors import ConfigError
from benchgate.git.changes import is_ignored
from benchgate.load.driver_reference import scenario_schema
from benchgate.load.scenario_file import read_scenario
from benchgate.load.signature import depends_on_side, own_files
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.sources import (
    BenchSource,
    find_files,
    find_folders,
    find_programs,
    read_source,
    search_of,
)
from benchgate.measure.suites import why_no_filter, why_no_format
from benchgate.model.history_document import HISTORY
from benchgate.model.result import RESULT
from benchgate.model.statistics import STATISTICS
from benchgate.model.verdict import VERDICT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.load.scenario import Scenario


@dataclass(slots=True)
class CheckedScenarios:
    """What was found in scenario files.

    Attributes:
        ids: for each file, the ids of its benchmarks.
        problems: one for each thing that is wrong, with the place; further lines say what to do.
    """

    ids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def read_scenarios(config: Config, arm: Arm, git: Git | None) -> CheckedScenarios:
    """Read all scenario files of a tree.

    Args:
        git: the repository of the tree; None if there is none.
    """
    found = CheckedScenarios()
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


@dataclass(frozen=True, slots=True)
class Validation:
    """What was found in the benchmark files.

    Attributes:
        functions: for each benchmark file or program, the names of its functions.
        unlisted: files that may define more functions when they are imported.
        scenarios: for each scenario file, the ids of its benchmarks.
        problems: one sentence each, with the place; empty if all is well.
    """

    functions: dict[str, tuple[str, ...]]
    unlisted: frozenset[str]
    commands: tuple[str, ...]
    suites: tuple[str, ...]
    scenarios: dict[str, tuple[str, ...]]
    problems: tuple[str, ...]


def validate(config: Config, root: Path, git: Git | None = None) -> Validation:
    """Read every benchmark file of a tree as text and list its functions, and scenario files.

    Args:
        git: the repository with this root; None if there is none.
    """
    arm = Arm(ArmName.HEAD, root, root / ".benchgate-env", inside=config.folder)
    benchmarks: list[FunctionBenchmarks] = [
        one for one in config.benchmarks if isinstance(one, FunctionBenchmarks)
    ]
    if not config.benchmarks:
        benchmarks = [search_of(find_folders([arm]))]
    functions: dict[str, tuple[str, ...]] = {}
    unlisted: set[str] = set()
    problems: list[str] = []
    for benchmark, path in ((each, path) for each in benchmarks for path in each.paths):
        files = find_files(arm, benchmark, path)
        if not files:
            problems.append(f'[[benchmark]] {benchmark.KIND} = "{path}" {benchmark.LACKS}')
        for file in files:
            if (root / file.path).is_dir():
                functions[file.path] = ()
                unlisted.add(file.path)
                continue
            source, wrong = _read(benchmark, root / file.path, file.path)
            functions[file.path] = source.names
            unlisted |= {file.path} if source.makes_more else set()
            problems += wrong
            if git and is_ignored(git, root / file.path):
                problems.append(f"{file.path}: git ignores it, so it is not measured")
    programs, absent = _programs(config, arm)
    functions |= dict.fromkeys(programs, ())
    unlisted |= programs
    scenarios = read_scenarios(config, arm, git)
    problems += [
        *absent,
        *_missing_folders(config, arm),
        *_unknown_formats(config),
        *scenarios.problems,
    ]
    commands = tuple(id_ for one in config.benchmarks for id_ in one.ids)
    suites = tuple(one.title for one in config.benchmarks if isinstance(one, SuiteBenchmark))
    if not (commands or suites or scenarios.ids or functions or problems):
        problems.append("no benchmarks: there is neither a file bench_*.py nor a [[benchmark]]")
    return Validation(
        functions, frozenset(unlisted), commands, suites, scenarios.ids, tuple(problems)
    )


def _programs(config: Config, arm: Arm) -> tuple[set[str], list[str]]:
    """Name the programs in other languages, and those that are not there."""
    found: set[str] = set()
    absent = []
    for one in config.benchmarks:
        if isinstance(one, LiveBenchmarks) and not isinstance(one, FunctionBenchmarks):
            programs = {file.path for file in find_programs(arm, one)}
            found |= programs or set(one.subjects)
            if not programs and not config.build.commands:  # [build] may have to make it
                named = '", "'.join(one.subjects)
                absent.append(f'[[benchmark]] {one.KIND} = "{named}" {one.LACKS}')
    return found, absent


def _missing_folders(config: Config, arm: Arm) -> Iterator[str]:
    """Report folders that do not exist; `[build]` may create those of a tree that is built."""
    for index, one in enumerate(config.benchmarks):
        named = [("pythonpath", folder) for folder in getattr(one, "pythonpath", None) or ()]
        if isinstance(one, ProgramBenchmark):
            named.append(("cwd", one.cwd))
        for key, folder in named:
            is_known = arm.substitute(folder) == folder and not config.build.commands
            if is_known and not (arm.folder / folder).is_dir():
                place = config.origin.place(("benchmark", index, key))
                yield f'{place} = "{folder}": there is no such folder'


def _unknown_formats(config: Config) -> Iterator[str]:
    """Report the formats of suites that do not exist, or that have no filter."""
    for index, one in enumerate(config.benchmarks):
        if not isinstance(one, SuiteBenchmark):
            continue
        if why := why_no_format(one.format):
            place = config.origin.place(("benchmark", index, "format"))
            yield f'{place} = "{one.format}": {why}'
        elif why := why_no_filter(one):
            yield f"{config.origin.place(('benchmark', index, 'suite'))}: {why}"


def _read(benchmark: FunctionBenchmarks, path: Path, name: str) -> tuple[BenchSource, list[str]]:
    """Find the functions in a benchmark file, and what is wrong with the file."""
    try:
        found = read_source(path.read_bytes())
    except SyntaxError as error:
        place = f"{name}:{error.lineno}" if error.lineno else name
        return BenchSource(), [f"{place}: {error.msg}"]
    except (OSError, ValueError) as error:
        return BenchSource(), [f"{name}: {error}"]
    if not isinstance(benchmark, PythonBenchmark):
        return BenchSource(makes_more=True), []  # only the tool knows which functions count
    if not found.names and not found.makes_more:
        return found, [f"{name}: no function named bench_*"]
    return found, [f"{name}:{line}: {problem}" for line, problem in found.problems]


PROBLEM_EXIT_CODE = 2


@click.command("validate")
@o.options(o.CONFIG)
def validate_command(config_file: Path | None) -> int:
    """Check the configuration and the benchmark files without running them.

    \b
    Example:
      benchgate validate

    Exit code 0: all is well, 2: something is wrong; each problem is listed with its place.
    """
    cwd = Path.cwd()
    git = repository_or_none(cwd)
    config = configuration(cwd, git, config_file)
    found = validate(config, git.root if git else cwd, git)
    say(f"{config.source or 'no configuration file, using the defaults'}: valid")
    for file, functions in found.functions.items():
        known = "more once it is imported" if functions else "known once it runs"
        more = (f"{known} (see benchgate list)",) if file in found.unlisted else ()
        say(f"{file}: {', '.join((*functions, *more)) or 'nothing'}")
    for name in found.commands:
        say(f"command: {name}")
    for title in found.suites:
        say(f"suite: {title}")
    for file, ids in found.scenarios.items():
        say(f"{file}: {', '.join(ids)}")
    for problem in found.problems:
        say(f"{click.style('error:', fg='red', bold=True)} {problem}", err=True)
    return PROBLEM_EXIT_CODE if found.problems else 0


_SCHEMAS = {
    "config": config_schema,
    "scenario": scenario_schema,
    "result": RESULT.json_schema,
    "verdict": VERDICT.json_schema,
    "statistics": STATISTICS.json_schema,
    "history": HISTORY.json_schema,
}


@click.command("schema")
@click.argument("kind", type=click.Choice(list(_SCHEMAS)))
def schema_command(kind: str) -> None:
    """Print the JSON schema of a file that benchgate reads or writes.

    \b
    Example:
      benchgate schema config > benchgate.schema.json
    """
    click.echo(json.dumps(_SCHEMAS[kind](), indent=2, ensure_ascii=False))
