"""Chooses what must be installed, beside the project, before its suites can run."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.measure.own_code import normalized
from benchgate.project.declared import (
    Declared,
    How,
    distribution_in,
    find_declared,
    is_plain,
    own_requirements,
)
from benchgate.project.tree import table_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import PurePosixPath

    from benchgate.project.tree import ProjectTree

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
    sets = [(folder, one) for folder in folders for one in find_declared(tree, folder)]
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
    provided = {name for folder in folders for name in own_requirements(tree, folder)}
    provided |= {_name_of(tree, folder) for folder in folders}
    provided |= {name for _, one in chosen for name in _installed_with(one)}
    written = {
        distribution_in(word): _compact(word)
        for _, one in reversed(sets)
        for word in one.words
        if is_plain(word)
    }
    names |= dict.fromkeys(
        name for name in distributions.values() if name in written and name not in provided
    )
    own = _own_modules(tree)
    unknown = [
        module
        for module, name in distributions.items()
        if name not in {*provided, *names} and module not in own
    ]
    words = [word for suite in suites for word in suite.runs if distribution_in(word) in names]
    written |= {distribution_in(word): word for word in words if distribution_in(word) != word}
    return Wanted(
        tuple((str(folder), one.name) for folder, one in chosen if one.how is How.EXTRA),
        tuple((str(folder), one.name) for folder, one in chosen if one.how is How.GROUP),
        tuple(dict.fromkeys(one.name for _, one in chosen if one.how is How.FILE)),
        tuple(written.get(name, name) for name in names),
        tuple(unknown),
    )


def _not_held(suite: PythonSuite, best: Declared | None) -> Iterator[str]:
    """The names of what a suite needs to run and what its best set does not install."""
    has = _installed_with(best) if best else frozenset()
    yield from (name for name in map(distribution_in, suite.runs) if name not in has)
    if suite.tools and has.isdisjoint(suite.tools):
        listed = best.distributions if best else ()
        yield next((one for one in suite.tools if one in listed), suite.tools[0])


def _installed_with(one: Declared) -> frozenset[str]:
    return frozenset() if one.how is How.LISTED else one.distributions


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
    name = one.name.lower()
    preference = next(
        (index for index, each in enumerate(_PREFERRED) if each in name), len(_PREFERRED)
    )
    return int(one.how is How.LISTED), preference, len(one.words)


def _compact(requirement: str) -> str:
    """A requirement without spaces, except in its marker, which needs them."""
    versions, semicolon, marker = requirement.partition(";")
    return "".join((*versions.split(), semicolon, marker.rstrip()))


def _name_of(tree: ProjectTree, folder: PurePosixPath) -> str:
    """The normalized name of a project; "" if pyproject.toml does not tell."""
    name = table_at(tree.read_toml(folder / "pyproject.toml"), "project").get("name")
    return normalized(str(name or ""))


def _own_modules(tree: ProjectTree) -> frozenset[str]:
    """The names of the project's files and folders, each of which may be a module."""
    own = {path.stem for path in tree.named("*.py", "*.pyx", "*.pyi")}
    folders = {part for path in tree.named("*.py", "*.pyx", "*.pyi") for part in path.parts[:-1]}
    return frozenset(own | folders)
