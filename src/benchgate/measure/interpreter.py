"""Finds which Python runs the benchmarks of an arm, and with which settings."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.config.benchmarks import AsvBenchmark
from benchgate.git.repository import Git
from benchgate.model.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.config.benchmarks import FunctionBenchmarks, LiveBenchmarks
    from benchgate.measure.engine import Arm


_ENVIRONMENTS = (".venv", "venv", ".pixi/envs/default")
_OPTIONS = "the options of its `interpreter`"
_SCRIPT = "the script that is its `interpreter`"
# How programs begin on Linux and macOS; a file with a NUL byte may still be a script.
_PROGRAMS = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


def has_own_interpreter(benchmark: FunctionBenchmarks) -> bool:
    return benchmark.interpreter is not None and "{" in benchmark.interpreter


def settings_of(benchmark: LiveBenchmarks) -> Mapping[str, str]:
    """Return the digest of each setting of the interpreter, by name.

    Values of secrets and the interpreter's own path are left out.
    """
    interpreter = getattr(benchmark, "interpreter", None) or ""
    options = _options(shlex.split(interpreter)[1:])
    found = {}
    if benchmark.env:
        text = Redactor(benchmark.env)(json.dumps(dict(benchmark.env), sort_keys=True))
        found["its `env`"] = _digest(text)
    if (pythonpath := getattr(benchmark, "pythonpath", None)) is not None:
        found["its `pythonpath`"] = _digest(json.dumps(pythonpath))
    if benchmark.tool_arguments:
        found["its `arguments`"] = _digest(json.dumps(benchmark.tool_arguments))
    if options:
        found[_OPTIONS] = _digest(json.dumps(options))
    return found


def interpreter_of(arm: Arm, benchmark: FunctionBenchmarks, fallback: str) -> tuple[str, ...]:
    """Return the command of the Python that runs a benchmark in one arm, with its options.

    Args:
        fallback: path of the Python for an arm without an environment of its own.
    """
    if benchmark.interpreter is not None:
        # Split before the paths are inserted, because they may hold spaces.
        return tuple(arm.substitute(word) for word in shlex.split(benchmark.interpreter))
    own = arm.env / "bin" / "python"
    return (str(own) if own.exists() else fallback,)


def scripts_of(arm: Arm, benchmark: FunctionBenchmarks) -> Mapping[str, str]:
    """Return a digest of the arm's own scripts that start its Python, if there are any.

    Such scripts can set variables and options, as the configuration can.
    """
    texts = [_script(arm, word) for word in interpreter_of(arm, benchmark, "")]
    return {_SCRIPT: _digest("\0".join(filter(None, texts)))} if any(texts) else {}


def _script(arm: Arm, word: str) -> str:
    """Read a script of the arm, without the arm's own paths; "" if it is not a script."""
    own = {"{root}": arm.root, "{env}": arm.env}
    path = arm.folder / word
    if not word or not any(path.is_relative_to(folder) for folder in own.values()):
        return ""
    try:
        text = path.read_bytes()
    except OSError:  # it is not a file, or it will fail to start
        return ""
    if text.startswith(_PROGRAMS) and path.is_relative_to(arm.env):
        return ""  # the interpreter that [build] has put there
    for name, folder in own.items():
        text = text.replace(os.fsencode(folder), name.encode())
    return text.decode("utf-8", "surrogateescape")


def _options(words: Sequence[str]) -> list[str]:
    """Leave out the names of the programs in a chain such as `uv run python`."""
    return [
        word
        for before, word in pairwise(["", *words])
        if word.startswith("-") or before.startswith("-") or "=" in word
    ]


def with_environment(environ: Mapping[str, str], folder: Path, checkout: Path) -> Mapping[str, str]:
    """Activate the project's environment, such as `.venv`, unless another one is active.

    An environment that git tracks is left out, because a change could bring it along.

    Args:
        folder: of the configuration; the search goes upwards from it, to the checkout.
        checkout: the user's tree.
    """
    if environ.get("VIRTUAL_ENV") or Path(sys.prefix).is_relative_to(checkout):
        return environ
    places = [one for one in (folder, *folder.parents) if one.is_relative_to(checkout)]
    for env in (place / name for place in places for name in _ENVIRONMENTS):
        if _has_python(env) and not _is_tracked(env, checkout):
            path = os.pathsep.join((str(env / "bin"), environ.get("PATH", os.defpath)))
            return {**environ, "VIRTUAL_ENV": str(env), "PATH": path}
    return environ


def _has_python(env: Path) -> bool:
    """Whether an environment has a Python that this user may start."""
    return os.access(env / "bin" / "python", os.X_OK)  # unlike `exists`, it never raises


def _is_tracked(env: Path, checkout: Path) -> bool:
    if not (checkout / ".git").exists():
        return False
    return bool(Git(checkout).run("ls-files", "--", str(env)))


def default_interpreter(checkout: Path, environ: Mapping[str, str]) -> str:
    """Find the interpreter that the user works with.

    In this order: the active virtual environment; the one that benchgate runs in, when it
    lies in the checkout; python3 or python on PATH; the one that benchgate runs in.

    Args:
        environ: after `with_environment`, which activates the project's environment.
    """
    active = environ.get("VIRTUAL_ENV")
    if active and _has_python(Path(active)):
        return str(Path(active) / "bin" / "python")
    if Path(sys.prefix).is_relative_to(checkout):
        return sys.executable
    path = environ.get("PATH", os.defpath)
    return shutil.which("python3", path=path) or shutil.which("python", path=path) or sys.executable


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


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
