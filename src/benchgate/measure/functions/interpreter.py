"""Finds which Python runs the benchmarks of an arm, and with which settings."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.git.repository import Git
from benchgate.model.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.config.live_benchmarks import FunctionBenchmarks, LiveBenchmarks
    from benchgate.measure.arm import Arm


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
