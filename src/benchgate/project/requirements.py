"""Finds out what must be installed before a project and its suites can run."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from benchgate.measure.sources import normalized
from benchgate.project.tree import read_ini, table_at, texts_in, words_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.project.tree import ProjectTree


_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)")
# A name with versions, which any installer takes as one word.
_PLAIN = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[\w,\s.-]*\])?\s*(?:[=<>!~]=?.*)?")
_SET_NAME = re.compile(r"[\w.-]+")
_MAX_DEPTH = 10
_MAX_FILES_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Declared:
    """A set of requirements that a project declares.

    Attributes:
        how: what installs it; a list cannot be installed as a whole.
        name: of the extra or group, or the path of the file.
        words: the requirements, as they are written.
    """

    how: Literal["extra", "group", "file", "list"]
    name: str
    words: tuple[str, ...]

    @property
    def distributions(self) -> frozenset[str]:
        """The normalized names of what is required."""
        return _distributions_in(self.words)


def _distributions_in(requirements: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(None, map(_distribution_in, requirements)))


def _distribution_in(requirement: str) -> str:
    """The normalized name of a required distribution; "" if there is none."""
    found = _NAME.match(requirement)
    return normalized(found[1]) if found else ""


def _own_requirements(tree: ProjectTree, folder: PurePosixPath) -> frozenset[str]:
    """The normalized names of what a project itself depends on, as far as its files tell."""
    document = tree.read_toml(folder / "pyproject.toml")
    options = read_ini(tree.read(folder / "setup.cfg")).get("options", {})
    words = [*words_at(document, "project", "dependencies")]
    words += table_at(document, "tool", "poetry", "dependencies")
    return _distributions_in([*words, *options.get("install_requires", "").splitlines()])


def _find_declared(tree: ProjectTree, folder: PurePosixPath) -> Iterator[Declared]:
    """Find what a project declares for its tests and its developers.

    Args:
        folder: of the project. Files with requirements count in the top folder as well.
    """
    document = tree.read_toml(folder / "pyproject.toml")
    extras = {
        name: texts_in(words)
        for name, words in table_at(document, "project", "optional-dependencies").items()
    }
    setup = read_ini(tree.read(folder / "setup.cfg"))
    for name, text in setup.get("options.extras_require", {}).items():
        extras.setdefault(name, tuple(filter(None, map(str.strip, text.splitlines()))))
    for name in filter(_SET_NAME.fullmatch, extras):
        yield Declared("extra", name, _with_own_extras(extras, name))
    groups = table_at(document, "dependency-groups")
    for name in filter(_SET_NAME.fullmatch, groups):
        yield Declared("group", name, tuple(_group(groups, name, _MAX_DEPTH)))
    near = {folder, PurePosixPath()}
    beside = {one / "requirements" for one in near}
    files = [p for p in tree.named("*requirements*.txt", "*requirements*.in") if p.parent in near]
    files += [path for path in tree.named("*.txt", "*.in") if path.parent in beside]
    for path in dict.fromkeys(files):
        yield Declared("file", str(path), tuple(_file(tree, path, _MAX_FILES_DEPTH)))
    for name, words in _lists(table_at(document, "tool")):
        yield Declared("list", name, words)


def _with_own_extras(extras: Mapping[str, tuple[str, ...]], name: str) -> tuple[str, ...]:
    """The requirements of an extra, and of other extras that it names as `project[other]`."""
    words = extras[name]
    inner = (
        one
        for word in words
        if (found := re.search(r"\[([\w, -]+)\]", word))
        for one in found[1].replace(" ", "").split(",")
    )
    return (*words, *(word for one in inner if one != name for word in extras.get(one, ())))


def _group(groups: Mapping[str, Any], name: str, depth: int) -> Iterator[str]:
    """The requirements of a group and of those that it includes."""
    found = groups.get(name)
    for one in found if isinstance(found, list) and depth else ():
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict) and "include-group" in one:
            yield from _group(groups, str(one["include-group"]), depth - 1)


def _file(tree: ProjectTree, path: PurePosixPath, depth: int) -> Iterator[str]:
    for line in tree.read(path).splitlines():
        word = re.sub(r"(^|\s)#.*", "", line).strip()
        if included := re.match(r"(?:-r|--requirement)[ =]*(\S+)", word):
            inner = PurePosixPath(path.parent / included[1])
            if depth and ".." not in inner.parts and not inner.is_absolute():
                yield from _file(tree, inner, depth - 1)
        elif word and not word.startswith("-"):
            yield word


def _lists(tool: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What other tools list, by what they call it."""
    poetry = table_at(tool, "poetry")
    for name, group in table_at(poetry, "group").items():
        yield f"the group {name} of Poetry", tuple(table_at(group, "dependencies"))
    yield "Poetry", tuple(table_at(poetry, "dev-dependencies"))
    for name, words in table_at(tool, "pdm", "dev-dependencies").items():
        yield f"the group {name} of PDM", texts_in(words)
    for name, environment in table_at(tool, "hatch", "envs").items():
        words = (words_at(environment, key) for key in ("dependencies", "extra-dependencies"))
        yield f"the environment {name} of Hatch", tuple(word for part in words for word in part)


_PREFERRED = ("bench", "codspeed", "perf", "test", "dev")
_FOR_TESTS = re.compile(r"bench|perf|test|dev|ci", re.IGNORECASE)
_OTHER_NAMES = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "pil": "pillow",
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    "yaml": "pyyaml",
}
_ALWAYS_THERE = frozenset({"pytest", "_pytest", "asv", "pkg_resources", "setuptools", "pip"})


@dataclass(frozen=True, slots=True)
class PythonSuite:
    """What the files of a suite in Python tell about the environment that it needs.

    Attributes:
        project: the folder of the project that it belongs to.
        tools: distributions that run it, the first of which is enough: "pytest-benchmark".
        runs: other distributions that it cannot run without.
        imports: top-level modules that its files import.
    """

    project: PurePosixPath
    tools: tuple[str, ...]
    runs: tuple[str, ...] = ()
    imports: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to install beside the projects.

    Attributes:
        extras: of a project, by its folder.
        groups: pairs of a project's folder and one of its dependency groups.
        files: with requirements, relative to the top.
        words: other requirements.
        unknown: modules that the suites import and that nothing provides.
    """

    extras: tuple[tuple[str, str], ...] = ()
    groups: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def choose_requirements(
    tree: ProjectTree, folders: Sequence[PurePosixPath], suites: Sequence[PythonSuite]
) -> Wanted:
    """Choose the declared requirements that hold the suites' tools, and add what is missing.

    Args:
        folders: of the projects that are installed.
    """
    sets = [(folder, one) for folder in folders for one in _find_declared(tree, folder)]
    chosen: dict[tuple[PurePosixPath, Declared], None] = {}
    names: dict[str, None] = {}
    for suite in suites:
        best = _best(sets, suite)
        if best is not None:
            chosen[best] = None
        names |= dict.fromkeys(_not_held(suite, best[1] if best else None))
    imported = {name for suite in suites for name in suite.imports}
    imported -= sys.stdlib_module_names | _ALWAYS_THERE
    distributions = {
        module: _OTHER_NAMES.get(module.lower(), normalized(module)) for module in sorted(imported)
    }
    provided = {name for _, one in chosen for name in _installed_with(one)}
    for folder in folders:
        project = table_at(tree.read_toml(folder / "pyproject.toml"), "project")
        provided |= {normalized(str(project.get("name") or "")), *_own_requirements(tree, folder)}
    written = {
        _distribution_in(word): _compact(word)
        for _, one in reversed(sets)
        for word in one.words
        if _PLAIN.fullmatch(word.strip())
    }
    names |= dict.fromkeys(
        name for name in distributions.values() if name in written and name not in provided
    )
    # The names of the project's files and folders, each of which may be a module.
    sources = [*tree.named("*.py", "*.pyx", "*.pyi")]
    own = {part for path in sources for part in (*path.parts[:-1], path.stem)}
    known = {*provided, *names}
    unknown = [
        module for module, name in distributions.items() if not {name} & known and module not in own
    ]
    words = [word for suite in suites for word in suite.runs if _distribution_in(word) in names]
    written |= {_distribution_in(word): word for word in words if _distribution_in(word) != word}
    return Wanted(
        tuple((str(folder), one.name) for folder, one in chosen if one.how == "extra"),
        tuple((str(folder), one.name) for folder, one in chosen if one.how == "group"),
        tuple(dict.fromkeys(one.name for _, one in chosen if one.how == "file")),
        tuple(written.get(name, name) for name in names),
        tuple(unknown),
    )


def _not_held(suite: PythonSuite, best: Declared | None) -> Iterator[str]:
    """The names of what a suite needs to run and what its best set does not install."""
    has = _installed_with(best) if best else frozenset()
    yield from (name for name in map(_distribution_in, suite.runs) if name not in has)
    if suite.tools and has.isdisjoint(suite.tools):
        listed = best.distributions if best else ()
        yield next((one for one in suite.tools if one in listed), suite.tools[0])


def _installed_with(one: Declared) -> frozenset[str]:
    return frozenset() if one.how == "list" else one.distributions


def _best(
    sets: Iterable[tuple[PurePosixPath, Declared]], suite: PythonSuite
) -> tuple[PurePosixPath, Declared] | None:
    """The set that holds a suite's tool; otherwise one for tests; None if there is neither."""
    tools = set(suite.tools)
    found = [one for one in sets if tools & one[1].distributions]
    found = [one for one in found if one[0] == suite.project] or found
    if not found and "pytest" in suite.runs:
        found = [
            one
            for one in sets
            if "pytest" in one[1].distributions and _FOR_TESTS.search(one[1].name)
        ]
    return min(found, key=lambda one: _rank(one[1]), default=None)


def _rank(one: Declared) -> tuple[int, int, int]:
    """What is installed as a whole comes first, then what is named for benchmarks or tests."""
    named = (index for index, each in enumerate(_PREFERRED) if each in one.name.lower())
    return int(one.how == "list"), next(named, len(_PREFERRED)), len(one.words)


def _compact(requirement: str) -> str:
    """A requirement without spaces, except in its marker, which needs them."""
    versions, semicolon, marker = requirement.partition(";")
    return "".join((*versions.split(), semicolon, marker.rstrip()))
