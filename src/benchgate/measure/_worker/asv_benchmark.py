"""A benchmark of asv: its attributes, its params, and what surrounds it."""

from __future__ import annotations

import inspect
import itertools
import re
import sys
from collections import Counter

from .failures import Fault, Skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .asv_suite import Candidate

ADDRESS = re.compile(r"(<.*) at (0x[\da-fA-F]*)(>)")


class AsvBenchmark:
    """A function with all of its params; every instance has a fresh instance of its class.

    Attributes:
        sources: where asv looks for attributes: the function, the instance, the module.
        setups: in the order in which they run.
        values: the lists of its params.
        labels: the names of these values, as in the results of asv.
    """

    def __init__(self, candidate: Candidate) -> None:
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


class Prepared:
    """A benchmark with the arguments of one launch.

    Args:
        values: of its params.
        cache: what `setup_cache` has returned; None if there is nothing.
    """

    def __init__(self, benchmark: AsvBenchmark, values: tuple[Any, ...], cache: Any) -> None:
        self.benchmark = benchmark
        self.args = values if cache is None else (cache, *values)

    @property
    def is_surrounded(self) -> bool:
        """Whether anything runs before or after it."""
        return bool(self.benchmark.setups or self.benchmark.teardowns)

    def set_up(self) -> None:
        """Run its setups; one that raises NotImplementedError skips it."""
        try:
            for setup in self.benchmark.setups:
                setup(*self.args)
        except NotImplementedError as error:
            raise Skipped(f"its setup raised {error!r}") from None

    def tear_down(self) -> None:
        for teardown in self.benchmark.teardowns:
            teardown(*self.args)

    def call(self) -> Any:
        """Call the function."""
        return self.benchmark.function(*self.args)


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
