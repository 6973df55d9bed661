"""Finds and runs the benchmarks of a suite of asv as asv_runner does; asv need not be installed."""

from __future__ import annotations

import inspect
import itertools
import os
import pickle
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from copy import copy
from functools import partial
from importlib.machinery import PathFinder
from itertools import repeat
from math import isfinite, isnan
from shutil import rmtree
from tempfile import mkdtemp
from textwrap import dedent

from .clocks import perf_counter_ns
from .failures import Fault, Skipped, failure
from .functions import Benchmark
from .opened import OpenBenchmark, peak_rss_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

    from .observed import AllocationWatch
    from .opened import Clock


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


FILE = "cache.pickle"


def read(folder: str) -> Any:
    """Return a fresh copy of what `setup_cache` returned."""
    with open(os.path.join(folder, FILE), "rb") as file:
        return pickle.load(file)  # noqa: S301 - this program's child wrote it


def fill(folder: str, benchmark: AsvDefinition) -> None:
    """Let a forked child run `setup_cache`, and pickle what it returns.

    So the memory that it needs does not count for a benchmark, and what it leaves behind does not
    change one. It runs in every launch: random data then differs from launch to launch, and not
    only between base and head.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        code = 1
        try:
            os.chdir(folder)
            for setup in filter(needs_no_arguments, benchmark.setups):
                setup()
            with open(FILE, "wb") as file:
                pickle.dump(benchmark.setup_cache(), file)
            code = 0
        except BaseException as error:  # noqa: BLE001 - SystemExit of the user's code too
            described = failure(error)
            os.write(writer, described["error"].encode("utf-8", "replace"))
            sys.stderr.write(described["trace"])
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    os.close(writer)
    with open(reader, "rb") as answer:
        why = answer.read().decode("utf-8", "replace")
    status = os.waitpid(child, 0)[1]
    if status != 0:
        raise Fault(f"its setup_cache failed: {why or 'its process was killed'}")


# asv reads the statement from the same text, so that a backslash means the same in it.
IN_CHILD = '''
from timeit import timeit
from time import perf_counter as wall, process_time_ns as cpu
seen = []
def timer():
    seen.append(cpu())
    return wall()
took = timeit(stmt="""{stmt}""", setup="""{setup}""", number={number}, timer=timer)
print(int(took * 1e9), seen[-1] - seen[0])
'''


class OpenAsvBenchmark(OpenBenchmark):
    """Runs the setups, and after all the teardowns, in a folder as asv does.

    Args:
        values: of its params.
        cache: the folder of its cache; "" if it has none, and runs in a temporary one.
    """

    def __init__(self, definition: AsvDefinition, values: tuple[Any, ...], cache: str) -> None:
        made = read(cache) if cache else None
        self.definition = definition
        self.given = values if made is None else (made, *values)
        self.cache = cache
        self.before = os.getcwd()
        self.folder = cache or mkdtemp(prefix="asv-")
        os.chdir(self.folder)
        start = perf_counter_ns()
        try:
            self.set_up()
        except BaseException:
            self.leave_folder()
            raise
        self.setup_ns = perf_counter_ns() - start
        self.is_fresh = True
        super().__init__(Benchmark("", "", self.run))

    def set_up(self) -> None:
        """Run its setups; one that raises NotImplementedError skips it."""
        try:
            for setup in self.definition.setups:
                setup(*self.given)
        except NotImplementedError as error:
            raise Skipped(f"its setup raised {error!r}") from None

    def tear_down(self) -> None:
        for teardown in self.definition.teardowns:
            teardown(*self.given)

    def run(self) -> Any:
        return self.definition.function(*self.given)

    def leave_folder(self) -> None:
        os.chdir(self.before)
        if not self.cache:
            rmtree(self.folder, ignore_errors=True)

    def renew(self) -> None:
        """Tear down and set up again, unless nothing has used what was set up."""
        if self.is_fresh:
            self.is_fresh = False
        else:
            self.tear_down()
            self.set_up()

    def close(self) -> dict[str, Any]:
        """Tear it down; return what worked beside it."""
        reply = super().close()
        try:
            self.tear_down()
        finally:
            self.leave_folder()
        return reply


class OpenTime(OpenAsvBenchmark):
    """`time_*`: calls, which are timed.

    Args:
        before_each_call: whether the setups run before each call, and not before each sample.
    """

    def __init__(
        self,
        definition: AsvDefinition,
        values: tuple[Any, ...],
        cache: str,
        *,
        before_each_call: bool,
    ) -> None:
        super().__init__(definition, values, cache)
        # The setup may change it.
        self.number = definition.whole("number", 0) or None
        self.call = partial(definition.function, *self.given) if self.given else definition.function
        self.times_each = before_each_call and bool(definition.setups)
        # A sample of asv is that long, unless it has a number of calls. Ours may be shorter:
        # several of them then share a setup.
        self.limit_ns = max(1, int(float(definition.first("sample_time", 0.01)) * 1e9))
        self.used_ns = 0

    def sample(self, loops: int, wall: Clock, cpu: Clock) -> tuple[int, int]:
        """Set up, and time the calls."""
        if self.is_alone or self.used_ns >= self.limit_ns:
            self.renew()
            self.used_ns = 0
        self.is_fresh = False
        try:
            if self.times_each:
                return self.time_each(loops, wall, cpu)
            spent = self.time_calls(self.call, loops, wall, cpu)
        except NotImplementedError as error:
            raise skipping(error) from error
        self.used_ns += spent[0]
        return spent

    def timed(self) -> tuple[int, int, int]:
        """Take a sample, as any other; those that share a setup have a part of its time each."""
        wall_ns, cpu_ns, beside_ns = super().timed()
        if not self.is_alone:
            beside_ns = int(min(1.0, wall_ns / self.limit_ns) * self.setup_ns)
        return wall_ns, cpu_ns, beside_ns

    @property
    def is_alone(self) -> bool:
        """Whether each sample has a setup of its own."""
        return self.times_each or self.number is not None

    def time_each(self, loops: int, wall: Clock, cpu: Clock) -> tuple[int, int]:
        """Time the calls one by one, with the setups between them."""
        call = self.call
        wall_ns = cpu_ns = 0
        turns = self.turns = repeat(None, loops)
        for index, _ in enumerate(turns):
            if index:
                self.renew()
            cpu_start = cpu()
            start = wall()
            call()
            end = wall()
            wall_ns += end - start
            cpu_ns += cpu() - cpu_start
        return wall_ns, cpu_ns

    def _trace(self, watch: AllocationWatch | None = None) -> tuple[int, int]:
        self.renew()
        self.is_fresh = False
        return super()._trace(watch)


class OpenTimeraw(OpenAsvBenchmark):
    """`timeraw_*`: code, which fresh processes run; each of them gives a sample."""

    is_inside = False
    number: int

    def __init__(self, definition: AsvDefinition, values: tuple[Any, ...], cache: str) -> None:
        super().__init__(definition, values, cache)
        self.number = definition.whole("number", 1)
        more = definition.first("env", {})
        self.variables = {**os.environ, **{str(key): str(value) for key, value in more.items()}}

    def sample(self, loops: int, wall: Clock, cpu: Clock) -> tuple[int, int]:
        """Run the code that the function returns in a process of its own."""
        self.renew()
        returned = self.run()
        stmt, setup = returned if isinstance(returned, tuple) else (returned, "")
        if not isinstance(stmt, str) or not isinstance(setup, str):
            raise Fault(f"it returned {returned!r}: it must return code, or code and its setup")
        stmt, setup = (dedent(each).replace('"""', r"\"\"\"") for each in (stmt, setup))
        ran = subprocess.run(
            [sys.executable, "-c", "import sys; exec(sys.stdin.read())"],
            input=IN_CHILD.format(stmt=stmt, setup=setup, number=loops).encode(),
            stdout=subprocess.PIPE,
            env=self.variables,
            check=False,
        )
        if ran.returncode != 0:
            raise Fault(f"the process that runs its code ended with exit code {ran.returncode}")
        # The code may print, too.
        wall_ns, cpu_ns = map(int, ran.stdout.split()[-2:])
        return wall_ns, cpu_ns

    def close(self) -> dict[str, Any]:
        """Tear it down; the processes that it started are what was measured."""
        return {**super().close(), "beside": []}


class OpenValue(OpenAsvBenchmark):
    """`peakmem_*`, `mem_*` and `track_*`: a number instead of a time."""

    def value(self, message: str) -> dict[str, Any]:
        """Set up, call the function, and return the number."""
        self.renew()
        try:
            returned = self.run()
        except NotImplementedError as error:
            raise skipping(error) from error
        kind = self.definition.candidate.kind
        if kind == "peakmemory":
            return {"value": float(peak_rss_bytes())}
        return {"value": size_of(returned) if kind == "memory" else number_of(returned)}


def size_of(value: Any) -> float:
    """Measure an object as asv does: by what a second, shallow copy of it needs."""
    asizeof = measure_of_size()
    return float(asizeof([value, copy(value)]) - asizeof([value, value]))


def number_of(value: Any) -> float:
    """Return the number that a function has returned; NaN says that there is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise Fault(f"it returned {str(value)[:100]!r}, which is no number") from None
    if isnan(number):
        raise Skipped("it returned NaN")
    if not isfinite(number):
        raise Fault(f"it returned {number}, which is no finite number")
    return number
