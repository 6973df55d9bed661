"""Decides by what processes of both sides have reached whether a benchmark is affected."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from benchgate.measure.arm import ArmName
from benchgate.measure.reach.opened_files import Watch, source_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from benchgate.measure.reach.differences import Differences

_PYTHON = ".py"
_SIDES = (ArmName.BASE, ArmName.HEAD)
_METADATA = (".dist-info", ".egg-info", ".egg", ".egg-link")
_DONE = {
    "open": "opens",
    "configure": "opens",
    "import": "imports",
    "stat": "looks for",
    "size": "asks the state of",
}
_LISTED = {
    "list": "lists {}, where other files are",
    "scan": "lists the folder of {}, which differs",
}
# What starts them only asks another process, whose files are not those of a tree.
_CONTAINER = re.compile(r"\b(?:docker|podman|nerdctl)(?:-compose)?(?![\w./-])")
_NOTHING: Mapping[ArmName, Mapping[str, Any]] = MappingProxyType({})
_READ = {
    "__doc__": "may read docstrings of {}, which differ",
    "__annotations__": "may read annotations of {}, which differ",
    "co_code": "reads the code of functions, and that of {} differs",
}


def why_affected(differences: Differences, reports: Mapping[ArmName, Mapping[str, Any]]) -> str:
    """Why a benchmark is affected, for a reader; "" if it is not.

    Args:
        reports: what a worker of each side says that it reached.
    """
    reasons = (reason for arm in _SIDES for reason in _reasons(differences, arm, reports[arm]))
    if reason := next(reasons, ""):
        return reason
    base, head = (reports[arm]["generated"] for arm in _SIDES)
    return "runs generated code that differs" if base != head else ""


def _reasons(differences: Differences, arm: ArmName, report: Mapping[str, Any]) -> Iterator[str]:
    if report["failed"]:
        line = report["failed"].partition("\n")[0]
        yield f"what it runs cannot be seen, because it fails on the {arm}: {line}"
        return
    side = _SIDES.index(arm)
    for path, line in report["ran"]:
        name = differences.name(arm, path)
        if name in differences.common and (found := differences.edit(name).ran(side, line)):
            yield f"runs `{found[0].partition('#')[0]}` of {name}, {found[1]}"
    for path, what in report["touched"]:
        name = differences.name(arm, path)
        if how := _use(differences, name, what):
            yield how
    names = differences.names(arm)
    for number in report["mentioned"]:
        name, path, owner = names[number]
        if name in _READ:
            yield _READ[name].format(differences.name(arm, path))
            continue
        full = f"{owner}.{name}" if owner else name
        yield f"may look for `{full}`, which only the {_SIDES[1 - side]} has"
    yield from report["unknown"]


def _use(differences: Differences, name: str, what: str) -> str:
    """How what a process does with a file affects it; "" if it does not."""
    where = name or "the top folder"
    if what == "metadata":
        package = differences.alone_in(name, _METADATA)
        return (
            f"looks for packages in {where}, where only one side has {package}" if package else ""
        )
    if what in _LISTED:
        return _LISTED[what].format(where)
    if name not in differences.common:
        owner = next(arm for arm in _SIDES if os.path.lexists(differences.path(arm, name)))
        return f"{_DONE[what]} {name}, which only the {owner} has"
    if name.endswith(_PYTHON) and what in ("stat", "import"):
        is_different = what == "import" and differences.edit(name).at_top
        return f"imports {name}, edited outside of its functions" if is_different else ""
    if what == "configure" and not differences.configures_pytest(name):
        return ""
    return f"{_DONE[what]} {name}, changed"


def why_opened(differences: Differences, opened: Mapping[ArmName, Collection[Path] | None]) -> str:
    """Why something is affected of which only the opened files are known; "" if it is not.

    Args:
        opened: of each side, without links; None if that is not known.
    """
    for arm in _SIDES:
        files = opened.get(arm)
        if files is None:
            return "runs what benchgate cannot watch"
        names = {differences.name(arm, str(file)) for file in files} & differences.files
        for name in sorted(names):
            return _use(differences, name, "open")
    return ""


def why_hidden(texts: Iterable[str]) -> str:
    """Why opened files do not tell what runs; "" if they do.

    Args:
        texts: those of the configuration that say what runs, with their placeholders.
    """
    for text in texts:
        if "{sha}" in text:
            return "uses {sha}, and benchgate cannot see what that names"
        if _CONTAINER.search(text):
            return "starts a container, and benchgate cannot see what runs in it"
    return ""


class OpenedBesides:
    """Watches, in a `with` block, what any process opens of what differs, whether or not it tells.

    Raises:
        CannotWatchError: at the beginning, if this system does not say what is opened.
    """

    def __init__(self, differences: Differences) -> None:
        self._differences = differences
        self._stack = ExitStack()
        self._watches: dict[ArmName, Watch] = {}

    def __enter__(self) -> Self:
        for arm in _SIDES:
            self._differences.names(arm)  # reads files, which must not be seen
        with ExitStack() as stack:
            for arm in _SIDES:
                watch = Watch(self._differences.watched(arm))
                self._watches[arm] = stack.enter_context(watch)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with self._stack:
            self._watches.clear()

    def why(self, reports: Mapping[ArmName, Mapping[str, Any]] = _NOTHING) -> str:
        """Why whatever ran since the last call is affected; "" if nothing else was opened.

        Args:
            reports: what the workers say that it reached.
        """
        rest: list[str] = []
        for arm, watch in self._watches.items():  # every watch forgets what it has told
            opened = (str(source_of(path)) for path in watch.opened())
            names = {self._differences.name(arm, path) for path in opened}
            touched = reports[arm]["touched"] if reports else ()
            told = {self._differences.name(arm, path) for path, _ in touched}
            rest += sorted((names & self._differences.files) - told)
        if not all(watch.is_complete for watch in self._watches.values()):
            return "opens more files than the OS reports"
        return f"one of its processes {_use(self._differences, rest[0], 'open')}" if rest else ""
