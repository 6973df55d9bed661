"""Finds suites in Python that benchgate runs itself: for pytest-benchmark, asv and pyperf."""

from __future__ import annotations

import ast
import configparser
import re
import shlex
from collections import defaultdict
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from benchgate.measure.interpreter import CONFIGURATIONS, packages_of, without_comments
from benchgate.measure.python_workers import read_source
from benchgate.project.requirements import PythonSuite
from benchgate.project.suites import Suite, in_folder, in_places
from benchgate.project.tree import table_at
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.project.tree import ProjectTree


@dataclass(frozen=True, slots=True)
class PytestSettings:
    """The settings of pytest that decide what it collects.

    Attributes:
        files: patterns of the names of files, as `python_files`.
        functions: prefixes or patterns of names, as `python_functions`.
        classes: the same, as `python_classes`.
        options: the words of `addopts`.
    """

    files: tuple[str, ...] = ("test_*.py", "*_test.py")
    functions: tuple[str, ...] = ("test",)
    classes: tuple[str, ...] = ("Test",)
    options: tuple[str, ...] = ()

    def is_test_file(self, path: PurePosixPath) -> bool:
        """Whether pytest finds a file in its folder."""
        return any(path.match(pattern) for pattern in self.files)

    def is_test(self, test: PythonTest) -> bool:
        """Whether pytest collects a function, or a method of a class."""
        if test.is_fixture or not _matches(test.name, self.functions):
            return False
        return not test.owner or _matches(test.owner, self.classes)


def read_settings(tree: ProjectTree, folder: PurePosixPath) -> PytestSettings:
    """Read the settings that hold in a folder: those of the nearest file that has any."""
    for place in (folder, *folder.parents):
        for name, section in (
            ("pytest.ini", "pytest"),
            (".pytest.ini", "pytest"),
            ("pyproject.toml", ""),
            ("tox.ini", "pytest"),
            ("setup.cfg", "tool:pytest"),
        ):
            if tree.has(place / name) and (found := _read(tree, place / name, section)) is not None:
                return _settings(found)
    return PytestSettings()


def _read(tree: ProjectTree, path: PurePosixPath, section: str) -> Mapping[str, Any] | None:
    """Read a section of a file; None if the file does not have it."""
    if not section:
        return table_at(tree.read_toml(path), "tool", "pytest", "ini_options") or None
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(tree.read(path))
    except configparser.Error:
        return None
    return parser[section] if parser.has_section(section) else None


def _settings(found: Mapping[str, Any]) -> PytestSettings:
    default = PytestSettings()
    return PytestSettings(
        _words(found.get("python_files")) or default.files,
        _words(found.get("python_functions")) or default.functions,
        _words(found.get("python_classes")) or default.classes,
        _words(found.get("addopts")),
    )


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(map(str, value))
    try:
        return tuple(shlex.split(str(value or "")))
    except ValueError:
        return tuple(str(value).split())


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a name begins with one of the prefixes, or matches one of the patterns."""
    return any(
        fnmatchcase(name, each) if re.search(r"[*?\[]", each) else name.startswith(each)
        for each in patterns
    )


ASV_NAME = re.compile(r"(?:time|timeraw|mem|peakmem|track)_")
_IMPORTED = {
    "pyperf": "pyperf",
    "asv_runner": "asv",
    "pytest_benchmark": "pytest-benchmark",
    "pytest_codspeed": "pytest-codspeed",
}
UNKNOWN = "another tool"
FIXTURE = "benchmark"
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class PythonTest:
    """A function that may be a test.

    Attributes:
        owner: the class that it is a method of; "" for none.
        arguments: the fixtures that it asks for.
        is_marked: whether it, its class or its module is marked as a benchmark.
        is_fixture: whether it is a fixture instead.
    """

    name: str
    owner: str
    arguments: frozenset[str]
    is_marked: bool
    is_fixture: bool


@dataclass(frozen=True, slots=True)
class PythonSource:
    """What the text of a file says.

    Attributes:
        tool: the tool that the file was written for; None for benchgate, or if it is broken.
        tests: its functions and the methods of its classes.
        imports: modules that it cannot do without, with the packages that they are in.
        asv_benchmarks: how many functions and methods asv would measure.
        has_runner: whether it creates a `pyperf.Runner`.
    """

    tool: str | None = None
    tests: tuple[PythonTest, ...] = ()
    imports: frozenset[str] = frozenset()
    asv_benchmarks: int = 0
    has_runner: bool = False


def read_python(source: str) -> PythonSource:
    """Read the text of a file; nothing is known of one that is not Python."""
    try:
        tree = ast.parse(source)
        names = read_source(source.encode())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return PythonSource()  # `validate` says what is wrong with it
    imported = {name.partition(".")[0] for name in _source_imports(ast.walk(tree))}
    tests = tuple(_tests(tree))
    tools = {_IMPORTED[name] for name in imported if name in _IMPORTED}
    asv_benchmarks = sum(ASV_NAME.match(one.name) is not None for one in tests)
    tool: str | None = None
    if tools:
        tool = min(tools)
    elif any(FIXTURE in one.arguments for one in tests):
        tool = "pytest-benchmark"
    elif not (names.makes_more or names.names):
        tool = "asv" if asv_benchmarks else UNKNOWN
    return PythonSource(
        tool,
        tests,
        frozenset(_source_imports(tree.body)),
        asv_benchmarks,
        "pyperf" in imported and _calls(tree, "Runner"),
    )


def _source_imports(nodes: Iterator[ast.AST] | list[ast.stmt]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _tests(tree: ast.Module) -> Iterator[PythonTest]:
    all_marked = any(
        isinstance(node, ast.Assign)
        and any(isinstance(one, ast.Name) and one.id == "pytestmark" for one in node.targets)
        and _names_mark(node.value)
        for node in tree.body
    )
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            marked = all_marked or any(map(_names_mark, node.decorator_list))
            for one in node.body:
                if isinstance(one, _Function):
                    yield _test(one, node.name, is_marked=marked)
        elif isinstance(node, _Function):
            yield _test(node, "", is_marked=all_marked)


def _test(function: _Function, owner: str, *, is_marked: bool) -> PythonTest:
    given = function.args
    names = (one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs))
    decorators = function.decorator_list
    return PythonTest(
        function.name,
        owner,
        frozenset(names),
        is_marked or any(map(_names_mark, decorators)),
        any("fixture" in ast.unparse(one).partition("(")[0] for one in decorators),
    )


def _names_mark(node: ast.AST) -> bool:
    """Whether an expression holds `pytest.mark.benchmark`."""
    return any(
        isinstance(one, ast.Attribute)
        and one.attr == "benchmark"
        and isinstance(one.value, ast.Attribute | ast.Name)
        and (one.value.attr if isinstance(one.value, ast.Attribute) else one.value.id) == "mark"
        for one in ast.walk(node)
    )


def _calls(tree: ast.Module, name: str) -> bool:
    """Whether something of this name is called, by itself or as an attribute."""
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(
        (isinstance(one, ast.Name) and one.id == name)
        or (isinstance(one, ast.Attribute) and one.attr == name)
        for one in called
    )


Sources = dict[PurePosixPath, PythonSource]

_LOOKED_INTO = re.compile(r"bench|perf|speed|test|asv", re.IGNORECASE)
_TELLING = re.compile(rf"\b(?:{FIXTURE}|pyperf|asv_runner)\b|\bbench_|\bdef {ASV_NAME.pattern}")
_MAX_READ = 10_000
_MAX_NAMED = 8
_MAX_SCRIPTS = 20
_ASV_FOLDERS = frozenset({"benchmarks", "benchmark", "asv_bench", "perf"})
_NO_SUITE = frozenset({"doc", "docs", "example", "examples"})
_PYTEST_TOOLS = ("pytest-benchmark", "pytest-codspeed")


def read_sources(tree: ProjectTree) -> Sources:
    """Read the Python files of a project that may hold benchmarks."""
    sources: Sources = {}
    for path in tree.named("*.py"):
        if not _LOOKED_INTO.search(str(path)):
            continue
        if len(sources) >= _MAX_READ:
            tree.note(f"Only the first {_MAX_READ:,} Python files were looked at.")
            break
        text = tree.read(path)
        sources[path] = read_python(text) if _TELLING.search(text) else PythonSource(UNKNOWN)
    return sources


def find_pytest_suites(tree: ProjectTree, sources: Sources) -> list[Suite]:
    """Find the tests that ask for the fixture `benchmark`, or are marked as benchmarks.

    Those below different settings of pytest are different suites.
    """
    asking = _asking_fixtures(sources)
    by_root: dict[PurePosixPath, dict[PurePosixPath, int]] = defaultdict(dict)
    settings: dict[PurePosixPath, PytestSettings] = {}
    for path, source in sources.items():
        chosen = [one for one in source.tests if _is_benchmark(one, asking)]
        if not chosen:
            continue
        if path.parent not in settings:
            settings[path.parent] = read_settings(tree, path.parent)
        if found := sum(map(settings[path.parent].is_test, chosen)):
            by_root[_project_of(tree, path)][path] = found
    return [_pytest_suite(tree, sources, counts, settings) for _, counts in sorted(by_root.items())]


def _asking_fixtures(sources: Sources) -> frozenset[str]:
    """The names of fixtures that lead to the fixture `benchmark`; none if the project has its own.

    A project may use the name for something else, such as an index of prices.
    """
    fixtures = [one for source in sources.values() for one in source.tests if one.is_fixture]
    if any(one.name == FIXTURE for one in fixtures):
        return frozenset()
    asking = {FIXTURE}
    while more := {one.name for one in fixtures if asking & one.arguments} - asking:
        asking |= more
    return frozenset(asking)


def _is_benchmark(test: PythonTest, asking: frozenset[str]) -> bool:
    return not test.is_fixture and (test.is_marked or bool(asking & test.arguments))


def _project_of(tree: ProjectTree, path: PurePosixPath) -> PurePosixPath:
    """The innermost folder around a file that declares a project."""
    names = ("pyproject.toml", "setup.py", "setup.cfg")
    around = (one for one in path.parents if any(tree.has(one / name) for name in names))
    return next(around, PurePosixPath())


def _pytest_suite(
    tree: ProjectTree,
    sources: Sources,
    counts: Mapping[PurePosixPath, int],
    settings: Mapping[PurePosixPath, PytestSettings],
) -> Suite:
    places = _places(tree, counts, settings)
    total = counted(sum(counts.values()), "test")
    asks = any(FIXTURE in test.arguments for path in counts for test in sources[path].tests)
    tools = _PYTEST_TOOLS if asks else _PYTEST_TOOLS[::-1]  # pytest-codspeed alone obeys the mark
    table: dict[str, str | tuple[str, ...]] = {"pytest": _one_or_many(places)}
    if arguments := _arguments(settings[path.parent] for path in counts):
        table["arguments"] = arguments
    return Suite(
        f"{total} with the benchmark fixture{in_places(places)}",
        table,
        "The tests that use the fixture `benchmark` of pytest-benchmark or pytest-codspeed.",
        places[0],
        python=PythonSuite(
            _project_of(tree, next(iter(counts))),
            tools,
            ("pytest",),
            _python_suites_imports(tree, sources, counts),
        ),
    )


def _arguments(settings: Iterable[PytestSettings]) -> str:
    """Arguments that undo a deselection of benchmarks, such as `-m "not benchmark"`."""
    for each in settings:
        if re.search(rf"-m[ =]?.*not [\w ]*{FIXTURE}", " ".join(each.options)):
            return "-m ''"
    return ""


def _places(
    tree: ProjectTree,
    counts: Mapping[PurePosixPath, int],
    settings: Mapping[PurePosixPath, PytestSettings],
) -> list[PurePosixPath]:
    """The folders and files to give to pytest: a folder if it holds nothing but benchmarks.

    A file that pytest does not find in its folder must be named.
    """
    whole: list[PurePosixPath] = []
    for folder in sorted({path.parent for path in counts}):
        if any(folder.is_relative_to(one) for one in whole) or str(folder) == ".":
            continue
        tests = [
            path
            for path in tree.below(folder)
            if path.suffix == ".py" and settings_of(tree, settings, path).is_test_file(path)
        ]
        if tests and set(tests) <= counts.keys():
            whole.append(folder)
    rest = [
        path
        for path in counts
        if not any(path.is_relative_to(folder) for folder in whole)
        or not settings[path.parent].is_test_file(path)
    ]
    if len(rest) > _MAX_NAMED and all(settings[one.parent].is_test_file(one) for one in rest):
        rest = [_common_folder(rest)]
        whole = [one for one in whole if not one.is_relative_to(rest[0])]
    return sorted({*whole, *rest})


def settings_of(
    tree: ProjectTree, known: Mapping[PurePosixPath, PytestSettings], path: PurePosixPath
) -> PytestSettings:
    """The settings of pytest that hold for a file."""
    return known[path.parent] if path.parent in known else read_settings(tree, path.parent)


def _common_folder(paths: Sequence[PurePosixPath]) -> PurePosixPath:
    common = [path.parts[:-1] for path in paths]
    shared = next(
        (depth for depth, parts in enumerate(zip(*common, strict=False)) if len(set(parts)) > 1),
        min(map(len, common)),
    )
    return PurePosixPath(*common[0][:shared])


def _python_suites_imports(
    tree: ProjectTree, sources: Sources, paths: Iterable[PurePosixPath]
) -> frozenset[str]:
    """The top-level modules that files, and the `conftest.py` around them, import.

    A module of the project that they import may need more than the project itself, as an adapter
    for another library does. So what it imports counts too.
    """
    found: set[str] = set()
    beside: set[PurePosixPath] = set()
    own: set[PurePosixPath] = set()
    for path in paths:
        found |= sources[path].imports
        beside |= {folder / "conftest.py" for folder in path.parents}
        project = _project_of(tree, path)
        own |= {project / "src", project / "lib", project}
    for conftest in beside:
        found |= read_python(tree.read(conftest)).imports
    modules = [f"{name.replace('.', '/')}.py" for name in found if "." in name]
    for file in (folder / module for folder in own for module in modules):
        found |= read_python(tree.read(file)).imports
    return frozenset(name.partition(".")[0] for name in found)


def find_asv_suites(tree: ProjectTree, sources: Sources) -> list[Suite]:
    """Find the folders of asv's benchmarks: by its configuration, otherwise by their names."""
    suites: dict[PurePosixPath, Suite] = {}
    for path in tree.named(*CONFIGURATIONS):
        document = tree.read_json(path, without_comments(tree.read(path)))
        named = document.get("benchmark_dir", "benchmarks")
        folder = PurePosixPath(path.parent / str(named))
        if ".." in folder.parts or folder.is_absolute() or not (tree.top / folder).is_dir():
            tree.note(f"{path} names the folder {named}, which is not in the project.")
            continue
        suites[folder] = _asv_suite(tree, sources, folder, _matrix(document), str(path))
    if not suites:
        of_pytest = {path.parent for path, one in sources.items() if one.tool in _PYTEST_TOOLS}
        folders = {
            path.parent
            for path, source in sources.items()
            if source.tool == "asv" and path.parent.name in _ASV_FOLDERS
        }
        for folder in sorted(folders - of_pytest):
            suites[folder] = _asv_suite(tree, sources, folder, (), "")
    return list(suites.values())


def _asv_suite(
    tree: ProjectTree,
    sources: Sources,
    folder: PurePosixPath,
    requires: tuple[str, ...],
    configuration: str,
) -> Suite:
    files = [path for path in tree.below(folder) if path in sources]
    imports = _python_suites_imports(tree, sources, files)
    helpers = ("asv_runner",) if "asv_runner" in imports else ()
    total = sum(sources[path].asv_benchmarks for path in files)
    of = f" ({configuration})" if configuration else ""
    count = counted(total, "benchmark") if total else "benchmarks"
    return Suite(
        f"{count} of asv{in_folder(folder)}{of}",
        {"asv": str(folder)},
        "The benchmarks of asv: functions and methods named time_*, peakmem_*, mem_* and track_*.",
        folder,
        python=PythonSuite(_project_of(tree, folder / "x"), (), (*helpers, *requires), imports),
    )


def _matrix(document: Mapping[str, object]) -> tuple[str, ...]:
    """The packages that asv installs beside the project, each in the first of its versions."""
    requires = []
    for name, versions in packages_of(document).items():
        if versions is None:
            continue
        version = str(versions[0] or "") if isinstance(versions, list) and versions else ""
        plain = name.removeprefix("pip+")
        requires.append(f"{plain}=={version}" if re.match(r"\d", version) else plain)
    return tuple(requires)


def find_pyperf_suites(tree: ProjectTree, sources: Sources) -> list[Suite]:
    """Find scripts that create a `pyperf.Runner`."""
    scripts = sorted(
        path
        for path, source in sources.items()
        if source.has_runner and _NO_SUITE.isdisjoint(path.parts) and path.name[:5] != "test_"
    )
    if not scripts:
        return []
    if len(scripts) > _MAX_SCRIPTS:
        tree.note(f"Of {len(scripts)} scripts of pyperf, the configuration names the first.")
        scripts = scripts[:_MAX_SCRIPTS]
    return [
        Suite(
            f"{counted(len(scripts), 'script')} of pyperf{in_places(scripts)}",
            {"pyperf": _one_or_many(scripts)},
            "The benchmarks that scripts give to a Runner of pyperf.",
            scripts[0],
            python=PythonSuite(
                _project_of(tree, scripts[0]),
                ("pyperf",),
                (),
                _python_suites_imports(tree, sources, scripts),
            ),
        )
    ]


def _one_or_many(places: Sequence[PurePosixPath]) -> str | tuple[str, ...]:
    return str(places[0]) if len(places) == 1 else tuple(map(str, places))
