"""Finds the benchmarks of a suite of asv, as asv_runner does; asv need not be installed."""

from __future__ import annotations

import inspect
import os
import pkgutil
import re
import sys
from importlib.machinery import PathFinder

from .failures import Fault, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

KINDS = {
    "memory": re.compile("Mem[A-Z_].|mem_."),
    "peakmemory": re.compile("PeakMem[A-Z_].|peakmem_."),
    "time": re.compile("Time[A-Z_].|time_."),
    "timeraw": re.compile("Timeraw[A-Z_].|timeraw_."),
    "track": re.compile("Track[A-Z_].|track_."),
}


class Candidate:
    """A function or method that is a benchmark by its name; it may have several params.

    Args:
        name: in the results of asv: `module.function`, or `module.Class.method`.
        kind: one of `KINDS`.
        owner: the name of its class in the module; "" if it is a function.
        attribute: its name in the class or module.
    """

    def __init__(
        self, name: str, kind: str, module: ModuleType, owner: str, attribute: str
    ) -> None:
        self.name = name
        self.kind = kind
        self.module = module
        self.owner = owner
        self.attribute = attribute


class Suite:
    """The benchmarks in a folder, which is a package.

    Args:
        folder: its path.
    """

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(folder)
        self.package = os.path.basename(self.folder)
        if not os.path.isfile(os.path.join(self.folder, "__init__.py")):
            raise Fault("it has no file __init__.py: asv imports the folder as a package")
        sys.meta_path.insert(0, PackageFinder(self.package, os.path.dirname(self.folder)))

    def modules(self, faults: dict[str, str]) -> Iterator[ModuleType]:
        """Import all modules, with those of packages in it.

        Args:
            faults: gets, by its name in asv's results, why a module cannot be imported.
        """
        pending = [self.package]
        while pending:
            name = pending.pop(0)
            try:
                module = imported(name)
            except BaseException as error:  # noqa: BLE001 - of the user's code, SystemExit too
                described = failure(error)
                text = f"{described['error']}\n{described['trace']}".strip()
                faults[name.partition(".")[2] or name] = text
                continue
            yield module
            places = getattr(module, "__path__", ())
            pending[:0] = [each for _, each, _ in pkgutil.iter_modules(places, f"{name}.")]

    def candidates(self, faults: dict[str, str]) -> Iterator[Candidate]:
        """Find all benchmarks; see `modules`."""
        seen: set[str] = set()
        for module in self.modules(faults):
            for each in candidates_in(module):
                if each.name not in seen:
                    seen.add(each.name)
                    yield each

    def find(self, name: str) -> Candidate:
        """Find a benchmark, and import as few modules as that takes."""
        parts = name.split(".")
        for count in (1, 2):
            path = os.path.join(self.folder, *parts[:-count])
            is_module = os.path.isfile(f"{path}.py")
            if is_module or os.path.isfile(os.path.join(path, "__init__.py")):
                module = imported(".".join([self.package, *parts[:-count]]))
                for each in candidates_in(module):
                    if each.name == name:
                        return each
        for each in self.candidates({}):
            if each.name == name:
                return each
        raise Fault("its module does not define it on every import: define the same each time")


class PackageFinder:
    """Finds the package of the benchmarks, but nothing else that lies beside it."""

    def __init__(self, name: str, folder: str) -> None:
        self.name = name
        self.folder = folder

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != self.name:
            return None
        return PathFinder.find_spec(fullname, [self.folder], target)


def imported(name: str) -> ModuleType:
    __import__(name)
    return sys.modules[name]


def candidates_in(module: ModuleType) -> list[Candidate]:
    """Find the benchmarks of one module, without making instances of classes."""
    found: list[Candidate] = []
    for name, value in list(vars(module).items()):
        if name.startswith("_"):
            continue
        if inspect.isclass(value) and not inspect.isabstract(value):
            for inner, member in inspect.getmembers(value):
                if inspect.isfunction(member) or inspect.ismethod(member):
                    found += candidate(module, value, name, inner, member)
        elif inspect.isfunction(value):
            found += candidate(module, None, "", name, value)
    # asv gives two functions the same name if one of them has another as its `__name__`.
    found.sort(key=lambda each: not is_named_so(each))
    return list({each.name: each for each in reversed(found)}.values())[::-1]


def candidate(
    module: ModuleType, klass: type | None, owner: str, attribute: str, function: Any
) -> list[Candidate]:
    """Return it, or nothing if it is no benchmark."""
    if getattr(function, "skip_benchmark", False):
        return []
    name = getattr(function, "benchmark_name", None)
    searched = name.split(".")[-1] if name is not None else attribute
    kind = next((kind for kind, begins in KINDS.items() if begins.match(searched)), None)
    if kind is None:
        return []
    if name is None:
        own = [klass.__name__, attribute] if klass else [function.__name__]
        name = ".".join([*module.__name__.split(".")[1:], *own])
    return [Candidate(name, kind, module, owner, attribute)]


def is_named_so(each: Candidate) -> bool:
    path = f"{each.owner}.{each.attribute}" if each.owner else each.attribute
    return f".{each.name}".endswith(f".{path}")
