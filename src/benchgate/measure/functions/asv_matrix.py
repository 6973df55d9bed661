"""The matrix of asv: its variables that have one value, and what is left out."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from benchgate.config.live_benchmarks import AsvBenchmark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.config.live_benchmarks import FunctionBenchmarks
    from benchgate.measure.arm import Arm


CONFIGURATIONS: Final = AsvBenchmark.BESIDE
_VARIABLES = ("env", "env_nobuild")
_COMBINED = ("include", "exclude")
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*[\]}])', re.DOTALL)


def without_comments(text: str) -> str:
    """Leave out what asv allows in JSON: comments, and a comma before a closing bracket."""
    return _JSON_TOKEN.sub(lambda found: found[0] if found[0].startswith('"') else "", text)


def packages_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The packages that asv installs beside the project: their versions by their names."""
    matrix = document.get("matrix")
    matrix = matrix.get("req", matrix) if isinstance(matrix, dict) else None
    if not isinstance(matrix, dict):
        return {}
    return {
        name: versions for name, versions in matrix.items() if name not in {*_VARIABLES, "@env"}
    }


def with_matrix(
    arm: Arm, benchmark: FunctionBenchmarks
) -> tuple[FunctionBenchmarks, tuple[str, ...]]:
    """Give a suite of asv the variables of its matrix that have one value.

    `env` of the benchmark comes first. Other benchmarks stay as they are.

    Returns:
        The benchmark, and for each configuration a sentence on what is left out.
    """
    if not isinstance(benchmark, AsvBenchmark):
        return benchmark, ()
    env: dict[str, str] = {}
    warnings = []
    for path in _configurations(arm, benchmark):
        name = path.relative_to(arm.root).as_posix()
        try:
            document = json.loads(without_comments(path.read_text(encoding="utf-8")))
            given, left_out = _combination(document, benchmark, builds=arm.env.exists())
        except (OSError, ValueError, AttributeError, TypeError, RecursionError):
            warnings.append(f"{name} cannot be read, so its matrix is left out")
            continue
        env |= given
        if left_out:
            warnings.append(
                f"benchgate measures one environment, and leaves out of the matrix in {name}: "
                f"{'; '.join(left_out)}"
            )
    return benchmark.model_copy(update={"env": {**env, **benchmark.env}}), tuple(warnings)


def _configurations(arm: Arm, benchmark: AsvBenchmark) -> Iterator[Path]:
    """The configurations of asv whose benchmarks these are."""
    seen = set()
    for suite in ((arm.folder / path).resolve() for path in benchmark.paths):
        above = (folder for folder in suite.parents if folder.is_relative_to(arm.root.resolve()))
        for path in (folder / name for folder in above for name in CONFIGURATIONS):
            if path.is_file() and path not in seen:
                seen.add(path)
                yield arm.root / path.relative_to(arm.root.resolve())


def _combination(
    document: Mapping[str, Any], benchmark: AsvBenchmark, *, builds: bool
) -> tuple[dict[str, str], list[str]]:
    """The variables that have one value, and what is left out.

    Args:
        builds: whether the arm has an environment of its own, in which it installs packages.
    """
    matrix = document.get("matrix") or {}
    if "env" not in matrix and "env_nobuild" not in matrix and "req" not in matrix:
        matrix = {"req": matrix}
    env, left_out = {}, []
    for name, values in (
        (n, v) for table in _VARIABLES for n, v in (matrix.get(table) or {}).items()
    ):
        several = values if isinstance(values, list) else [values]
        if name in benchmark.env:
            continue
        if len(several) == 1 and several[0] is not None:
            env[name] = str(several[0])
        elif several:
            left_out.append(f"the variable {name} ({_listed(several)}): name one value in `env`")
    packages = {
        name: versions
        for name, versions in packages_of(document).items()
        if not builds or (isinstance(versions, list) and len(versions) > 1)
    }
    if len(document.get("pythons") or ()) > 1:
        packages["Python"] = document["pythons"]
    if packages:
        listed = ", ".join(f"{name} ({_listed(one)})" for name, one in packages.items())
        left_out.append(f"{listed}: what `[build]` installs is measured")
    left_out += [f"`{key}`" for key in _COMBINED if document.get(key)]
    return env, left_out


def _listed(values: object) -> str:
    every = values if isinstance(values, list) else [values]
    return ", ".join("not set" if one is None else str(one) or "any" for one in every) or "any"
