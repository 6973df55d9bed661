"""Where the benchmark files of a `python` entry are, and which interpreter runs them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from benchgate.config.benchmarks import PATTERN, is_benchmark_file
from benchgate.measure.importpath import import_path
from benchgate.model.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.measure.engine import Arm

_OPTIONS = "the options of its `interpreter`"
_SCRIPT = "the script that is its `interpreter`"
_LOOKED_AT_BYTES = 4096
_NAMED_FOR_TESTS = re.compile("bench|perf|test", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PythonSpec:
    """One `[[benchmark]]` entry with `python`.

    Attributes:
        paths: folders and files, relative to the arm's root.
        interpreter: command or path, with {root} and {env}; None for the default.
        pythonpath: folders relative to the root; None for the root and its `src`.
        isolate: a process for each benchmark, not for each file.
        parallel: never pinned, because the work uses several CPUs.
        timeout_s: for one launch of one benchmark.
        group: put before every id.
        data: globs of the data files of its benchmarks, relative to the root.
        allow_foreign: whether what they measure may be installed, and the same in both arms.
    """

    paths: tuple[str, ...]
    interpreter: str | None = None
    pythonpath: tuple[str, ...] | None = None
    isolate: bool = False
    parallel: bool = False
    timeout_s: float = 60.0
    tags: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    group: str = ""
    data: tuple[str, ...] = ()
    allow_foreign: bool = False

    @property
    def own_interpreter(self) -> bool:
        """Whether each arm has an interpreter of its own."""
        return self.interpreter is not None and "{" in self.interpreter

    @property
    def settings(self) -> Mapping[str, str]:
        """Give what is set for the interpreter that does the work, by name; digests.

        Values of secrets are no part of it, nor is the interpreter's own place.
        """
        options = _options(shlex.split(self.interpreter or "")[1:])
        found = {}
        if self.variables:
            text = Redactor(self.variables)(json.dumps(dict(self.variables), sort_keys=True))
            found["its `env`"] = _digest(text)
        if self.pythonpath is not None:
            found["its `pythonpath`"] = _digest(json.dumps(self.pythonpath))
        if options:
            found[_OPTIONS] = _digest(json.dumps(options))
        return found


@dataclass(frozen=True, slots=True)
class BenchFile:
    """One benchmark file; it may exist in one arm only.

    Attributes:
        path: relative to an arm's root.
        group: what the ids of its benchmarks start with.
        top: the folder that was searched, relative to the root.
    """

    spec: PythonSpec
    path: str
    group: str
    top: str = "."

    def id_of(self, name: str) -> str:
        """Give the full id of a benchmark that the worker knows as `name`."""
        return f"{self.group}/{name}"


def find_files(arm: Arm, spec: PythonSpec, path: str) -> tuple[BenchFile, ...]:
    """Find the benchmark files of one arm in one of a spec's paths; none where it is absent."""
    place = arm.root / path
    files, top = ([place], place.parent) if place.is_file() else (_search(place), place)
    found = []
    for file in files:
        group = group_of(file.relative_to(top), spec.group)
        path_, top_ = (p.relative_to(arm.root).as_posix() for p in (file, top))
        found.append(BenchFile(spec, path_, group, top_))
    return tuple(found)


def group_of(file: PurePath, prefix: str) -> str:
    """Name the group of a benchmark file.

    Args:
        file: as seen from the folder that was searched.
        prefix: the group of the spec; "" for none.
    """
    *folders, _ = file.parts
    names = [*folders, file.stem.removeprefix("bench_")]
    return "/".join([prefix, *names] if prefix else names)


def find_folders(arms: Iterable[Arm]) -> tuple[str, ...]:
    """Find the topmost folders that hold benchmark files in any arm, relative to its root."""
    return topmost_folders(file.relative_to(arm.root) for arm in arms for file in _search(arm.root))


def topmost_folders(files: Iterable[PurePath]) -> tuple[str, ...]:
    """Name the folders of files that lie in no other folder of them."""
    found = {file.parent for file in files}
    topmost = [f for f in found if not any(f != g and f.is_relative_to(g) for g in found)]
    return tuple(sorted(folder.as_posix() for folder in topmost))


def _search(top: Path) -> list[Path]:
    """Find benchmark files below a folder."""
    return [f for f in sorted(top.rglob(PATTERN)) if is_benchmark_file(f.relative_to(top))]


def own_folders(arm: Arm, spec: PythonSpec) -> tuple[Path, ...]:
    """Give the folders whose code is that of this arm alone."""
    given = (path for path in spec.pythonpath or () if "{" in path)
    return arm.root, arm.env, *(arm.root / arm.substitute(path) for path in given)


def helpers_of(arm: Arm, file: BenchFile) -> Path | None:
    """Give the folder whose modules belong to the benchmarks, and are not what they measure.

    It is the one that was searched for them, unless the project's own code is there: where modules
    are imported from it or a folder in it, and where it is a package that is not named for tests.
    """
    top = arm.root / file.top
    path = import_path(arm, file.spec.pythonpath)
    imported = (str(arm.root), *path.before, *path.after)
    if any(Path(folder).is_relative_to(top) for folder in imported):
        return None
    if (top / "__init__.py").exists() and not _NAMED_FOR_TESTS.search(top.name):
        return None
    return top


def interpreter_of(arm: Arm, spec: PythonSpec, fallback: str) -> tuple[str, ...]:
    """Name the Python that runs a spec's benchmarks in one arm, with its options.

    Args:
        fallback: a path, for an arm without an environment of its own.
    """
    if spec.interpreter is not None:
        # Split before the paths are put in, which may hold spaces.
        return tuple(arm.substitute(word) for word in shlex.split(spec.interpreter))
    own = arm.env / "bin" / "python"
    return (str(own) if own.exists() else fallback,)


def scripts_of(arm: Arm, spec: PythonSpec) -> Mapping[str, str]:
    """Give the scripts of the arm's own that start its Python, where there are any; a digest.

    They can set variables and options as the configuration can.
    """
    texts = [_script(arm, word) for word in interpreter_of(arm, spec, "")]
    return {_SCRIPT: _digest("\0".join(filter(None, texts)))} if any(texts) else {}


def _script(arm: Arm, word: str) -> str:
    """Read a script of the arm, without the arm's own paths; "" for all else, such as a Python."""
    own = {"{root}": arm.root, "{env}": arm.env}
    path = arm.root / word
    if not word or not any(path.is_relative_to(folder) for folder in own.values()):
        return ""
    try:
        text = path.read_bytes()
    except OSError:  # it is no file, or will fail to start
        return ""
    if b"\0" in text[:_LOOKED_AT_BYTES]:
        return ""
    for name, folder in own.items():
        text = text.replace(os.fsencode(folder), name.encode())
    return text.decode("utf-8", "surrogateescape")


def _options(words: Sequence[str]) -> list[str]:
    """Leave out the names of programs that start one another, as in `uv run python`."""
    return [
        word
        for before, word in pairwise(["", *words])
        if word.startswith("-") or before.startswith("-") or "=" in word
    ]


def default_interpreter(checkout: Path, environ: Mapping[str, str]) -> str:
    """Find the interpreter that the user works with.

    In this order: the active virtual environment; the one that benchgate runs in, when it
    lies in the checkout; python3 or python on PATH; the one that benchgate runs in.
    """
    active = environ.get("VIRTUAL_ENV")
    if active and (Path(active) / "bin" / "python").exists():
        return str(Path(active) / "bin" / "python")
    if Path(sys.prefix).is_relative_to(checkout):
        return sys.executable
    path = environ.get("PATH", os.defpath)
    return shutil.which("python3", path=path) or shutil.which("python", path=path) or sys.executable


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
