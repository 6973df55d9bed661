"""Reads the requirements that a Python project declares: its own, and those for its developers."""

from __future__ import annotations

import ast
import configparser
import re
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from benchgate.measure.own_code import normalized
from benchgate.project.tree import table_at, words_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.project.tree import ProjectTree

_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)")
_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[\w,\s.-]*\])?\s*(?:[=<>!~]=?.*)?")
_FILES = ("*requirements*.txt", "*requirements*.in")
_MAX_GROUPS_DEPTH = 10


class How(Enum):
    """How an installer gets a set of requirements."""

    EXTRA = "extra"
    GROUP = "dependency group"
    FILE = "requirements file"
    LISTED = "list"


@dataclass(frozen=True, slots=True)
class Declared:
    """A set of requirements that a project declares.

    Attributes:
        how: what installs it; a list cannot be installed as a whole.
        name: of the extra or group, or the path of the file.
        words: the requirements, as they are written.
    """

    how: How
    name: str
    words: tuple[str, ...]

    @property
    def distributions(self) -> frozenset[str]:
        """The normalized names of what is required."""
        return frozenset(filter(None, map(distribution_in, self.words)))


def distribution_in(requirement: str) -> str:
    """Return the normalized name of a required distribution; "" if there is none."""
    found = _NAME.match(requirement)
    return normalized(found[1]) if found else ""


def is_plain(requirement: str) -> bool:
    """Whether a requirement is a name with versions, which any installer takes as one word."""
    return _REQUIREMENT.fullmatch(requirement.strip()) is not None


def own_requirements(tree: ProjectTree, folder: PurePosixPath) -> frozenset[str]:
    """The normalized names of what a project itself depends on, as far as its files tell."""
    document = tree.read_toml(folder / "pyproject.toml")
    words = [*words_at(document, "project", "dependencies")]
    words += table_at(document, "tool", "poetry", "dependencies")
    words += _setup_cfg(tree, folder).get("options", {}).get("install_requires", "").splitlines()
    words += _texts(_setup_arguments(tree, folder).get("install_requires"))
    return frozenset(filter(None, map(distribution_in, words)))


def find_declared(tree: ProjectTree, folder: PurePosixPath) -> list[Declared]:
    """Find what a project declares for its tests and its developers.

    Args:
        folder: of the project. Files with requirements count in the top folder as well.
    """
    document = tree.read_toml(folder / "pyproject.toml")
    return [
        *_extras(tree, folder, document),
        *_groups(document),
        *_files(tree, folder),
        *_lists(tree, folder, document),
    ]


def _extras(
    tree: ProjectTree, folder: PurePosixPath, document: Mapping[str, Any]
) -> Iterator[Declared]:
    extras = {
        name: tuple(_texts(words))
        for name, words in table_at(document, "project", "optional-dependencies").items()
    }
    for name, text in _setup_cfg(tree, folder).get("options.extras_require", {}).items():
        extras.setdefault(name, tuple(filter(None, map(str.strip, text.splitlines()))))
    given = _setup_arguments(tree, folder).get("extras_require")
    if isinstance(given, dict):
        for name, words in given.items():
            extras.setdefault(str(name), tuple(_texts(words)))
    for name in extras:
        if re.fullmatch(r"[\w.-]+", name):
            yield Declared(How.EXTRA, name, _with_own_extras(extras, name))


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


def _groups(document: Mapping[str, Any]) -> Iterator[Declared]:
    groups = table_at(document, "dependency-groups")
    for name in groups:
        if re.fullmatch(r"[\w.-]+", name):
            yield Declared(How.GROUP, name, tuple(_group(groups, name, _MAX_GROUPS_DEPTH)))


def _group(groups: Mapping[str, Any], name: str, depth: int) -> Iterator[str]:
    """The requirements of a group and of those that it includes."""
    found = groups.get(name)
    for one in found if isinstance(found, list) and depth else ():
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict) and "include-group" in one:
            yield from _group(groups, str(one["include-group"]), depth - 1)


def _files(tree: ProjectTree, folder: PurePosixPath) -> Iterator[Declared]:
    near = {folder, PurePosixPath()}
    beside = {one / "requirements" for one in near}
    found = [path for path in tree.named(*_FILES) if path.parent in near]
    found += [path for path in tree.named("*.txt", "*.in") if path.parent in beside]
    for path in dict.fromkeys(found):
        yield Declared(How.FILE, str(path), tuple(_file(tree, path, 3)))


def _file(tree: ProjectTree, path: PurePosixPath, depth: int) -> Iterator[str]:
    for line in tree.read(path).splitlines():
        word = re.sub(r"(^|\s)#.*", "", line).strip()
        if included := re.match(r"(?:-r|--requirement)[ =]*(\S+)", word):
            inner = PurePosixPath(path.parent / included[1])
            if depth and ".." not in inner.parts and not inner.is_absolute():
                yield from _file(tree, inner, depth - 1)
        elif word and not word.startswith("-"):
            yield word


def _lists(
    tree: ProjectTree, folder: PurePosixPath, document: Mapping[str, Any]
) -> Iterator[Declared]:
    tool = table_at(document, "tool")
    poetry = table_at(tool, "poetry")
    for name, group in table_at(poetry, "group").items():
        listed = tuple(table_at(group, "dependencies"))
        yield Declared(How.LISTED, f"the group {name} of Poetry", listed)
    yield Declared(How.LISTED, "Poetry", tuple(table_at(poetry, "dev-dependencies")))
    for name in table_at(tool, "pdm", "dev-dependencies"):
        listed = words_at(tool, "pdm", "dev-dependencies", name)
        yield Declared(How.LISTED, f"the group {name} of PDM", listed)
    for name, environment in table_at(tool, "hatch", "envs").items():
        listed = (
            *words_at(environment, "dependencies"),
            *words_at(environment, "extra-dependencies"),
        )
        yield Declared(How.LISTED, f"the environment {name} of Hatch", listed)
    for section, values in _ini(tree.read(folder / "tox.ini")).items():
        lines = values.get("deps", "").splitlines()
        words = (re.sub(r"^[\w,-]+:\s+", "", line.strip()) for line in lines)
        yield Declared(How.LISTED, f"{section} of tox.ini", tuple(filter(is_plain, words)))
    texts = _installed_by(tree.read(folder / "noxfile.py"))
    yield Declared(How.LISTED, "noxfile.py", tuple(filter(is_plain, texts)))


def _installed_by(noxfile: str) -> Iterator[str]:
    """The texts that are given to `session.install`."""
    for node in _nodes(noxfile):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "install"
        ):
            yield from (text for one in node.args if (text := _literal(one)))


def _setup_arguments(tree: ProjectTree, folder: PurePosixPath) -> dict[str, object]:
    """The arguments of `setup(...)` in setup.py that are plain values, or names of such."""
    values: dict[str, object] = {}
    found: dict[str, object] = {}
    for node in _nodes(tree.read(folder / "setup.py")):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = _value(node.value)
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg in {"install_requires", "extras_require"}:
                    by_name = isinstance(keyword.value, ast.Name)
                    found[keyword.arg] = (
                        values.get(ast.unparse(keyword.value)) if by_name else _value(keyword.value)
                    )
    return found


def _nodes(source: str) -> Iterator[ast.AST]:
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        yield from ast.walk(ast.parse(source))


def _value(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError, SyntaxError):
        return None


def _literal(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, list | tuple):
        yield from (one for one in value if isinstance(one, str))


def _setup_cfg(tree: ProjectTree, folder: PurePosixPath) -> Mapping[str, Mapping[str, str]]:
    return _ini(tree.read(folder / "setup.cfg"))


def _ini(text: str) -> Mapping[str, Mapping[str, str]]:
    """The sections of an INI file; none if it is broken."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {name: dict(parser[name]) for name in parser.sections()}
