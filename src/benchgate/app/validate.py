"""`benchgate validate`: the configuration and the benchmark files, without running anything."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.config import CommandBenchmark, PythonBenchmark
from benchgate.measure.benchfiles import PythonSpec, find_files, find_folders
from benchgate.measure.engine import Arm, ArmName

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.config import Config

_PREFIX = "bench_"


@dataclass(frozen=True, slots=True)
class Validation:
    """What was found.

    Attributes:
        functions: for each benchmark file the names of its functions.
        problems: a sentence each, with the place; empty when all is well.
    """

    functions: dict[str, tuple[str, ...]]
    commands: tuple[str, ...]
    problems: tuple[str, ...]


def validate(config: Config, root: Path) -> Validation:
    """Read every benchmark file of a tree as text and list its functions."""
    arm = Arm(ArmName.HEAD, root, root / ".benchgate-env")
    specs = [PythonSpec(b.paths) for b in config.benchmarks if isinstance(b, PythonBenchmark)]
    if not config.benchmarks:
        specs = [PythonSpec(find_folders([arm]))]
    functions: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for spec, path in ((each, path) for each in specs for path in each.paths):
        files = find_files(arm, spec, path)
        if not files:
            problems.append(f'[[benchmark]] python = "{path}": there is no file bench_*.py')
        for file in files:
            names, problem = _read(root / file.path, file.path)
            functions[file.path] = names
            problems += [problem] if problem else []
    commands = tuple(b.name for b in config.benchmarks if isinstance(b, CommandBenchmark))
    if not commands and not functions and not problems:
        problems.append("no benchmarks: neither a file bench_*.py nor a [[benchmark]]")
    return Validation(functions, commands, tuple(problems))


def _read(path: Path, name: str) -> tuple[tuple[str, ...], str | None]:
    """Give the benchmark functions of a file, or what is wrong with it."""
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError as error:
        place = f"{name}:{error.lineno}" if error.lineno else name
        return (), f"{place}: {error.msg}"
    except (OSError, ValueError) as error:
        return (), f"{name}: {error}"
    names = tuple(
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith(_PREFIX)
    )
    return names, None if names else f"{name}: no function named {_PREFIX}*"
