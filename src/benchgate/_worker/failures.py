"""Imports the user's code, finds where it came from, and describes what goes wrong in it."""

from __future__ import annotations

import importlib.util
import os
import sys

from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    import traceback
    from collections.abc import Iterable
    from types import ModuleType
    from typing import Any


LINE_LIMIT = 500
TRACE_LIMIT = 8192
OWN_FOLDER = os.path.join(os.path.dirname(__file__), "")
IMPORT_SYSTEM = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")


class Fault(Exception):  # noqa: N818 - a fault of the benchmark file, not of this program
    """Something in the benchmark file that the author must change."""


class Skipped(Fault):
    """The author has said that the benchmark does not run here; the message says why."""


def failure(error: BaseException) -> dict[str, Any]:
    """Describe an exception: one line, and the traceback of the user's frames."""
    flush()
    if isinstance(error, Skipped):
        return {"error": str(error), "trace": "", "skipped": True}
    if isinstance(error, Fault):
        return {"error": str(error), "trace": ""}
    with STANDARD_LIBRARY:
        import traceback  # noqa: PLC0415 - takes long, and is seldom needed

        # Notes follow the type and message; the place of a SyntaxError precedes them.
        lines = traceback.format_exception_only(type(error), error)
        line = next(line for line in lines if not line.startswith(" ")).strip()
        described = traceback.TracebackException.from_exception(error)
        cause: traceback.TracebackException | None = described
        while cause is not None:
            cause.stack[:] = [f for f in cause.stack if not is_own(f.filename)]
            cause = cause.__cause__ or cause.__context__
        trace = "".join(described.format())
        # The line is shown above the trace, so it is not repeated below it.
        if len(lines) == 1 and lines[0].strip() == line[:LINE_LIMIT] and trace.endswith(lines[0]):
            trace = trace[: -len(lines[0])]
    return {"error": line[:LINE_LIMIT], "trace": trace[-TRACE_LIMIT:]}


def is_own(file: str) -> bool:
    return file in IMPORT_SYSTEM or file.startswith(OWN_FOLDER)


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - contextlib would be one more import in every launch
            stream.flush()
        except Exception:  # noqa: BLE001, S110 - the user may have closed or replaced it
            pass


def prepare(
    request: dict[str, Any], loaded_by_python: frozenset[str], beside: Iterable[str]
) -> None:
    """Let the user's code find its modules, and nothing of this program.

    Args:
        beside: folders that come first.
    """
    after = request["path_after"]
    beside = [folder for folder in beside if folder not in after]
    sys.path[:0] = [*beside, *request["path"]]
    sys.path += after
    # Processes that the benchmark starts must find the arm's code too.
    os.environ["PYTHONPATH"] = os.pathsep.join(request["path"])
    STANDARD_LIBRARY.hide(loaded_by_python)
    sys.argv = [request["file"]]
    compile_from_source(request["file"], request["helpers"])


def load(request: dict[str, Any], loaded_by_python: frozenset[str]) -> ModuleType:
    """Import the benchmark file."""
    path = request["file"]
    prepare(request, loaded_by_python, [os.path.dirname(path)])
    return import_file(path)


def import_file(path: str) -> ModuleType:
    """Import a file as a module with the file's own name."""
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Fault(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def compile_from_source(file: str, helpers: str | None) -> None:
    """Never run a `.pyc` in place of the benchmark's own files, because it may hold other code."""
    external: Any = importlib._bootstrap_external  # noqa: SLF001 - no public way
    cache_of = external.cache_from_source
    own_file, own_folder = os.path.realpath(file), prefixes_of([helpers] if helpers else [])

    def cache_from_source(path: str, *arguments: Any, **more: Any) -> str:
        real = os.path.realpath(path)
        if real == own_file or real.startswith(own_folder):
            raise NotImplementedError  # importlib then compiles the source
        cached: str = cache_of(path, *arguments, **more)
        return cached

    external.cache_from_source = cache_from_source


def prefixes_of(folders: Iterable[str]) -> tuple[str, ...]:
    return tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)


class Origins:
    """Finds out where the modules of this process came from.

    Args:
        request: `forbidden` trees, which are not this arm's; `root` and other `own` folders,
            which are; `provided`, top-level names that the arm's tree has itself; `helpers` and
            `file`, which are the benchmarks', and not what they measure.
        loaded_by_python: names of the modules that Python itself has imported.
    """

    def __init__(self, request: dict[str, Any], loaded_by_python: frozenset[str]) -> None:
        own = [*request["own"], *([sys.prefix] if request["own_interpreter"] else [])]
        self.own = prefixes_of(own)
        self.root = prefixes_of([request["root"]])
        self.forbidden = prefixes_of(request["forbidden"])
        # An interpreter inside such a tree, e.g. in a virtual environment, is not part of it.
        python = prefixes_of((sys.prefix, sys.base_prefix))
        self.inner = tuple(p for p in python if p.startswith(self.forbidden))
        self.standard = prefixes_of([os.path.dirname(os.__file__)])
        self.benchmarks = prefixes_of([request["helpers"]] if request["helpers"] else [])
        self.file = os.path.realpath(request["file"])
        self.provided = frozenset(request["provided"])
        self.loaded_by_python = loaded_by_python
        self.seen: set[str] = set()
        self.packages: dict[str, str] = {}
        self.measured: dict[str, str] = {}
        self.has_own = False

    def leave_out(self, names: Iterable[str]) -> None:
        """Take modules that only a tool needs for no part of the work, but the tree's own."""
        tools = {name for name in names if name.partition(".")[0] not in self.provided}
        self.loaded_by_python |= tools

    def look(self) -> dict[str, Any]:
        """Look at the modules that were imported since the last look, without this program.

        Returns:
            `foreign`, of the forbidden trees, and `elsewhere`, of those that the arm's tree has
            itself: [name, file]. `packages`: the same of all that is installed, but for the
            standard library, and not only of late; `shared`: names of those that are not the
            arm's; `has_own`: whether any module is the arm's. `own`: [name, file] of the arm's
            modules that its tree provides.
        """
        new = sorted(sys.modules.keys() - self.seen - {"__main__"})
        self.seen.update(new)
        foreign, elsewhere = [], []
        for name in new:
            path = file_of(name)
            if not path:
                continue
            if path.startswith(self.forbidden) and not path.startswith(self.inner):
                foreign.append([name, path])
            is_own = path.startswith(self.own)
            if is_own and path != self.file and not path.startswith(self.benchmarks):
                self.has_own = True
            if is_own and name in self.provided:
                self.measured[name] = path
            if "." not in name and self.is_package(name, path):
                self.packages[name] = path
                if name in self.provided and not is_own:
                    elsewhere.append([name, path])
        return {
            "foreign": foreign,
            "elsewhere": elsewhere,
            "packages": sorted(self.packages.items()),
            "shared": sorted(
                n for n, path in self.packages.items() if not path.startswith(self.own)
            ),
            "has_own": self.has_own,
            "own": sorted(self.measured.items()),
        }

    def is_package(self, name: str, path: str) -> bool:
        """Tell whether a module is installed: it belongs neither to the tree nor to Python."""
        places = os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep
        is_elsewhere = not path.startswith(self.root + self.standard)
        is_installed = is_elsewhere or any(place in path for place in places)
        return is_installed and name not in self.loaded_by_python


def file_of(name: str) -> str:
    """Return the real path of a module's file; "" if it has none."""
    try:
        # Not getattr, which would load a lazy module.
        file = object.__getattribute__(sys.modules[name], "__file__")
    except (AttributeError, KeyError):
        return ""
    return os.path.realpath(file) if isinstance(file, str) else ""
