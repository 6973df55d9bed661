"""Imports the benchmark file, as if no other program had run in its interpreter before."""

from __future__ import annotations

import importlib.util
import os
import sys

from .failures import Fault
from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType
    from typing import Any


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
    """Import the benchmark file as a module with its own name."""
    path = request["file"]
    prepare(request, loaded_by_python, [os.path.dirname(path)])
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
