"""Runs a suite of asv (airspeed velocity): a package whose functions and methods are benchmarks.

It needs neither asv nor asv_runner. Each benchmark runs as asv runs it: in a temporary folder, with
a fresh instance of its class, and with a copy of what its `setup_cache` has returned. Only the
module of a benchmark that is measured is imported.
"""

from __future__ import annotations

import atexit
import os
import sys
from shutil import rmtree
from tempfile import mkdtemp
from types import BuiltinFunctionType, FunctionType, ModuleType

from .asv_benchmark import AsvDefinition, AsvSuite, measure_of_size
from .asv_opened import OpenTime, OpenTimeraw, OpenValue, fill
from .failures import failure, file_of, prepare
from .functions import Benchmark, code_of
from .process_state import surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .asv_benchmark import AsvCandidate
    from .workloads import Describer

    Described = tuple[list[dict[str, Any]], dict[str, str]]
    from .asv_opened import OpenAsvBenchmark
    from .server import Server


PLAIN = (bool, int, float, complex, str, bytes, type(None))
HOLDERS = (tuple, list, set, frozenset)
NAMED = (type, FunctionType, BuiltinFunctionType, ModuleType)
# What a benchmark is measured by.
MEASURES = {
    "time": "time",
    "timeraw": "time",
    "peakmemory": "peak_rss",
    "memory": "memory",
    "track": "value",
}
# What is compared by value, and what says how asv measures: benchgate decides that itself.
SETTINGS = (
    *("params", "param_names", "number", "version", "unit", "type", "timeout", "pretty_name"),
    *("pretty_source", "parallel", "repeat", "rounds", "processes", "min_run_count", "timer"),
    *("skip_params", "sample_time", "warmup_time", "goal_time", "max_time"),
)
MODES = "when its setup runs"
ASV_TIMEOUT_S = 60.0


class Item:
    """A benchmark with all of its params, and where its text is.

    Attributes:
        file: real path of its module.
        defined: what its module calls it, or its class calls it that defines it.
    """

    def __init__(self, benchmark: AsvDefinition) -> None:
        candidate = benchmark.candidate
        self.benchmark = benchmark
        self.file = file_of(candidate.module.__name__)
        owner = getattr(candidate.module, candidate.owner) if candidate.owner else None
        self.uses = {candidate.owner or candidate.attribute}
        self.uses.update(
            name
            for name in vars(candidate.module)
            if name.lower() in ("setup", "teardown") or name == "setup_cache"
        )
        if owner is None:
            self.defined = candidate.attribute
        else:
            holder = definer(owner, candidate.attribute)
            self.defined = f"{candidate.owner}.{candidate.attribute}"
            if file_of(holder.__module__) == self.file:
                self.defined = f"{holder.__name__}.{candidate.attribute}"
        self.shows_values = all(
            is_plain(each, candidate) for values in benchmark.values for each in values
        )

    def as_function(self, id_: str, labels: tuple[str, ...]) -> Benchmark:
        """Return one point of it, as a function that is described."""
        given = dict(zip(self.benchmark.names, labels))
        values: dict[str, Any] = given if self.shows_values else dict.fromkeys(given, object())
        return Benchmark(
            id_,
            self.defined,
            self.benchmark.function,
            kwargs=values,
            labels=given,
            uses=self.uses,
        )


def describe(
    suite: AsvSuite, describer: type[Describer], request: dict[str, Any], *, before_each_call: bool
) -> Described:
    """Import the whole suite, and describe it file by file; see `Server.hello`."""
    faults: dict[str, str] = {}
    by_file: dict[str, list[Item]] = {}
    for candidate in suite.candidates(faults):
        try:
            require_usable(candidate)
            item = Item(AsvDefinition(candidate))
            by_file.setdefault(item.file, []).append(item)
        except Exception as error:  # noqa: BLE001 - of the user's code: one benchmark's alone
            described = failure(error)
            faults[candidate.name] = f"{described['error']}\n{described['trace']}".strip()
    inside = os.path.join(suite.folder, "")
    modules = {each for each in map(file_of, list(sys.modules)) if each.startswith(inside)}
    request = {**request, "path": [os.path.dirname(suite.folder), *request["path"]]}
    found: list[dict[str, Any]] = []
    for file, items in by_file.items():
        owners = {item.benchmark.candidate.owner for item in items}
        names = {item.defined for item in items}
        names |= {each.partition(".")[0] for each in names if "." in each} | owners - {""}
        also = packages_above(file, suite.folder)
        one = describer(
            {**request, "file": file},
            names=names,
            settings=SETTINGS,
            others=modules - {file},
            also=also,
        )
        for item in items:
            points = [item.as_function(id_, labels) for id_, _, labels in item.benchmark.points()]
            settings = {
                label: one.digest(text)
                for label, text in settings_of(
                    item.benchmark, before_each_call=before_each_call
                ).items()
            }
            found += [{**each, **about(item, each, settings)} for each in one.describe(points)]
    return found, faults


def require_usable(candidate: AsvCandidate) -> None:
    """Say before it is measured that a package is missing."""
    if candidate.kind == "memory":
        measure_of_size()


def settings_of(benchmark: AsvDefinition, *, before_each_call: bool) -> dict[str, str]:
    """Return the settings that are work, by the name of their part."""
    kind = benchmark.candidate.kind
    found = {}
    if kind in ("time", "timeraw"):
        found["its number"] = repr(benchmark.first("number", None))
    if kind == "time" and benchmark.setups:
        found[MODES] = "call" if before_each_call else "sample"
    version = benchmark.first("version", None)
    if version is not None:
        found["its version"] = str(version)
    if kind == "track":
        found["its unit"] = unit_of(benchmark)
    if kind == "timeraw":
        found["its env"] = repr(sorted((benchmark.first("env", None) or {}).items()))
    return found


def about(item: Item, described: dict[str, Any], settings: dict[str, str]) -> dict[str, Any]:
    """Return what the conductor must know to measure it."""
    benchmark = item.benchmark
    notes = []
    if benchmark.first("timer", None) is not None and benchmark.candidate.kind == "time":
        notes.append("its `timer` is not used: benchgate measures the wall time and the CPU time")
    return {
        "parts": {**described["parts"], **settings},
        "unit": None,
        "data": [],
        "parallel": benchmark.first("parallel", None) is True,
        "measures": MEASURES[benchmark.candidate.kind],
        "of_unit": unit_of(benchmark),
        "timeout_s": timeout_of(benchmark),
        "notes": notes,
    }


def timeout_of(benchmark: AsvDefinition) -> float | None:
    """Return the time limit of a launch, with its `setup_cache`; None if it sets none."""
    own = benchmark.first("timeout", None)
    of_cache = getattr(benchmark.setup_cache, "timeout", None)
    found = [float(each) for each in (own, of_cache) if isinstance(each, (int, float)) and each > 0]
    if found and own is None:
        found.append(ASV_TIMEOUT_S)
    return max(found, default=None)


def unit_of(benchmark: AsvDefinition) -> str:
    kind = benchmark.candidate.kind
    if kind == "track":
        return str(benchmark.first("unit", "unit"))
    return "bytes" if "memory" in kind else "seconds"


def is_plain(value: Any, candidate: AsvCandidate) -> bool:
    """Tell whether what represents a value shows all of it."""
    if type(value) in PLAIN:
        return True
    if type(value) in HOLDERS:
        return all(is_plain(each, candidate) for each in value)
    if type(value) is dict:
        return all(is_plain(each, candidate) for pair in value.items() for each in pair)
    if not isinstance(value, NAMED):
        return False
    module = value.__name__ if isinstance(value, ModuleType) else value.__module__ or ""
    own = candidate.module.__name__.partition(".")[0]
    return module.partition(".")[0] != own and "<" not in getattr(value, "__qualname__", "")


def definer(owner: type, attribute: str) -> Any:
    """Return the class that defines an attribute of another one; None if it is none."""
    return next((each for each in owner.__mro__ if attribute in vars(each)), None)


def packages_above(file: str, folder: str) -> list[str]:
    """Return the files that are imported before a module of a package."""
    found = []
    place = os.path.dirname(file)
    while place.startswith(folder):
        found.append(os.path.join(place, "__init__.py"))
        place = os.path.dirname(place)
    return [each for each in found if each != file and os.path.isfile(each)]


# From this version on, asv_runner runs the setups before each call.
SETUP_BEFORE_CALLS = (0, 3)
RUNNER = "asv_runner-"


class AsvHost:
    """Finds the benchmarks, and opens those that benchgate asks for."""

    def __init__(self, server: Server, request: dict[str, Any]) -> None:
        self.server = server
        self.request = request
        # Folders of caches, by the code of the function that makes them.
        self.caches: dict[Any, str] = {}

    def run(self) -> None:
        """See `server.Host`."""
        server, request = self.server, self.request
        prepare({**request, "helpers": request["file"]}, server.loaded_by_python, ())
        suite = AsvSuite(request["file"])
        self.before_each_call = is_before_each_call(request["arguments"])
        if server.describer:
            server.hello(
                *describe(suite, server.describer, request, before_each_call=self.before_each_call)
            )
        else:
            server.hello([], {})
        server.serve_each(lambda id_: self.open(suite, id_))

    def open(self, suite: AsvSuite, id_: str) -> OpenAsvBenchmark:
        candidate = suite.find(id_.partition("(")[0])
        # Peak memory counts from before the import: the process is its own, as under asv.
        if candidate.kind != "peakmemory":
            self.server.forget_peak()
        # An import may change the surroundings; it does so once.
        self.server.clean = surroundings()
        benchmark = AsvDefinition(candidate)
        values = benchmark.values_for(id_)
        cache = self.cache_of(benchmark)
        if candidate.kind == "time":
            return OpenTime(benchmark, values, cache, before_each_call=self.before_each_call)
        return (OpenTimeraw if candidate.kind == "timeraw" else OpenValue)(benchmark, values, cache)

    def cache_of(self, benchmark: AsvDefinition) -> str:
        """Return the folder with a benchmark's cache, which is made if it is new; "" for none."""
        if benchmark.setup_cache is None:
            return ""
        key = code_of(benchmark.setup_cache)
        if key not in self.caches:
            folder = mkdtemp(prefix="asv-")
            atexit.register(rmtree, folder, ignore_errors=True)
            fill(folder, benchmark)
            self.caches[key] = folder
        return self.caches[key]


def is_before_each_call(arguments: list[str]) -> bool:
    """Tell whether setups run before each call; otherwise they run before each sample.

    Args:
        arguments: "call" or "sample" if the configuration says it; else the installed asv_runner
            decides. Suites that were written before it had a choice expect the samples.
    """
    if arguments:
        return arguments == ["call"]
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith(RUNNER) and name.endswith(".dist-info"):
                version = name[len(RUNNER) :].split(".")[:2]
                return tuple(int(each) for each in version if each.isdigit()) >= SETUP_BEFORE_CALLS
    return False
