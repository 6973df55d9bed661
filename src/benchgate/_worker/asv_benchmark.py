"""Finds and runs the benchmarks of a suite of asv as asv_runner does; asv need not be installed."""

from __future__ import annotations

import inspect
import itertools
import os
import pkgutil
import re
import sys
from collections import Counter
from importlib.machinery import PathFinder

from .failures import Fault, Skipped, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any


KINDS = {
    "memory": re.compile("Mem[A-Z_].|mem_."),
    "peakmemory": re.compile("PeakMem[A-Z_].|peakmem_."),
    "time": re.compile("Time[A-Z_].|time_."),
    "timeraw": re.compile("Timeraw[A-Z_].|timeraw_."),
    "track": re.compile("Track[A-Z_].|track_."),
}


class AsvCandidate:
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


class AsvSuite:
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

    def candidates(self, faults: dict[str, str]) -> Iterator[AsvCandidate]:
        """Find all benchmarks; see `modules`."""
        seen: set[str] = set()
        for module in self.modules(faults):
            for each in candidates_in(module):
                if each.name not in seen:
                    seen.add(each.name)
                    yield each

    def find(self, name: str) -> AsvCandidate:
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


def candidates_in(module: ModuleType) -> list[AsvCandidate]:
    """Find the benchmarks of one module, without making instances of classes."""
    found: list[AsvCandidate] = []
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
) -> list[AsvCandidate]:
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
    return [AsvCandidate(name, kind, module, owner, attribute)]


def is_named_so(each: AsvCandidate) -> bool:
    path = f"{each.owner}.{each.attribute}" if each.owner else each.attribute
    return f".{each.name}".endswith(f".{path}")


ADDRESS = re.compile(r"(<.*) at (0x[\da-fA-F]*)(>)")


class AsvDefinition:
    """A function with all of its params; every instance has a fresh instance of its class.

    Attributes:
        sources: where asv looks for attributes: the function, the instance, the module.
        setups: in the order in which they run.
        values: the lists of its params.
        labels: the names of these values, as in the results of asv.
    """

    def __init__(self, candidate: AsvCandidate) -> None:
        self.candidate = candidate
        module = candidate.module
        holder = getattr(module, candidate.owner)() if candidate.owner else module
        self.function = getattr(holder, candidate.attribute)
        self.sources = [self.function, holder, *([module] if candidate.owner else [])]
        self.setups = self.hooks("setup")[::-1]
        self.teardowns = self.hooks("teardown")
        self.setup_cache = self.first("setup_cache", None)
        self.values = lists_of(self.first("params", []))
        self.labels = [labels_of(each) for each in self.values]
        given = [str(each) for each in self.first("param_names", [])][: len(self.values)]
        self.names = given + [f"param{i + 1}" for i in range(len(given), len(self.values))]
        self.left_out = self.first("skip_params", [])

    def first(self, name: str, default: Any) -> Any:
        """Return the first of its sources' attributes of a name."""
        found = (getattr(source, name, None) for source in self.sources)
        return next((each for each in found if each is not None), default)

    def hooks(self, name: str) -> list[Any]:
        """Return the functions of this name, in any case, of all sources."""
        found = []
        for source in self.sources:
            keys = [key for key in dir(source) if key.lower() == name]
            if len(keys) > 1:
                raise Fault(f"{self.candidate.name} has several functions {name}: {keys}")
            found += [each for key in keys for each in [getattr(source, key)] if each is not None]
        return found

    def points(self) -> Iterator[tuple[str, tuple[Any, ...], tuple[str, ...]]]:
        """Return the id, the values, and their labels for all params that are not left out."""
        name = self.candidate.name
        every = itertools.product(*self.values), itertools.product(*self.labels)
        for values, labels in zip(*every):
            if values not in self.left_out:
                yield (f"{name}({', '.join(labels)})" if labels else name), values, labels

    def values_for(self, id_: str) -> tuple[Any, ...]:
        found = next((values for each, values, _ in self.points() if each == id_), None)
        if found is None:
            raise Fault("it does not have these params on every import: give it the same each time")
        return found

    def whole(self, name: str, default: int) -> int:
        """Return a whole number among its attributes."""
        value = self.first(name, default)
        try:
            return int(value)
        except (TypeError, ValueError):
            raise Fault(f"its {name} is {value!r}: it must be a whole number") from None


def lists_of(params: Any) -> list[list[Any]]:
    """Return a list for each parameter: a single one may be given without a list around it."""
    try:
        given = list(params)
        if given and not isinstance(given[0], (tuple, list)):
            return [given]
        return [list(each) for each in given]
    except TypeError:
        raise Fault(f"its params are {params!r}: they must be a list, or a list of lists") from None


def labels_of(values: list[Any]) -> list[str]:
    """Name values as asv does, each differently."""
    texts = [without_address(each) for each in values]
    counts = Counter(texts)
    seen: Counter[str] = Counter()
    labels = []
    for text in texts:
        labels.append(f"{text} ({seen[text]})" if counts[text] > 1 else text)
        seen[text] += 1
    return labels


def without_address(value: object) -> str:
    """Return what represents an object, without where it is in memory."""
    text = repr(value)
    found = ADDRESS.fullmatch(text)
    own = ADDRESS.fullmatch(object.__repr__(value)) if found else None
    return found[1] + found[3] if found and own and own[2] == found[2] else text


def needs_no_arguments(function: Callable[..., Any]) -> bool:
    """Tell whether a function of a module can be called without arguments."""
    if inspect.ismethod(function):
        return False
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):
        return False
    return True


def measure_of_size() -> Any:
    """Return the function with which asv measures the size of an object."""
    try:
        __import__("pympler.asizeof")
    except ImportError:
        raise Fault(
            f"pympler, which measures the size of objects, is not installed for {sys.executable}: "
            "let [build] install it"
        ) from None
    return sys.modules["pympler.asizeof"].asizeof


def skipping(error: BaseException) -> BaseException:
    """Return what to raise for an exception of the function: asv_runner has one that skips it."""
    if any(each.__name__ == "SkipNotImplemented" for each in type(error).__mro__):
        return Skipped(f"it raised {error!r}")
    return error
