"""Checks that each arm runs its own code: where it is imported from, and which files it opens.

If both arms run the same code, nothing is compared. So an arm's command must not open files of
the user's checkout or of another arm, and must open a file of its own.

It needs no special rights, and does not slow down processes that open nothing there. It reports
what was opened, but not by which process.
"""

from __future__ import annotations

import configparser
import ctypes
import errno
import json
import os
import re
import stat
import struct
import sys
import time
import tomllib
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib.metadata import Distribution, distributions
from importlib.util import source_from_cache
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote, urlsplit

from benchgate.errors import UsageError
from benchgate.git.repository import Git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchgate.measure.engine import Arm


_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})
PROJECT_FILES = frozenset({"pyproject.toml", "setup.cfg", "setup.py"})
"""The files that declare a Python project."""

SOURCE_FOLDERS = frozenset({"src", "lib", "python"})
"""Names of folders that hold packages but are not packages themselves."""

_NO_MODULES = frozenset({"setup", "conftest", "noxfile", "__init__", "__main__"})
_MAX_FOLDERS = 20_000


@dataclass(frozen=True, slots=True)
class ProvidedModules:
    """The modules and projects that a tree provides.

    Attributes:
        modules: top-level names that can be imported from somewhere in it, with the folder to
            import from, relative to its root; "" if the folder is unknown.
        projects: normalized names of the distributions that are built from it.
    """

    modules: Mapping[str, str]
    projects: frozenset[str]

    def is_installed_copy(self, module: str, file: Path) -> bool:
        """Tell whether a module that came from elsewhere is an installed copy of this tree's.

        If its distribution has a different name, it is another module that has the same name.
        """
        owner = distribution_of(file)
        if owner is None or not self.projects:
            return module in self.modules
        return normalized(owner.name) in self.projects


def provided_by(root: Path) -> ProvidedModules:
    """Search a tree for packages, modules and the names of projects."""
    modules: dict[str, str] = {}
    projects: set[str] = set()
    for count, (folder, folders, files) in enumerate(os.walk(root)):
        if count >= _MAX_FOLDERS:
            break
        place = Path(folder)
        if "__init__.py" in files and place != root:
            modules[place.name] = place.parent.relative_to(root).as_posix()
            folders.clear()  # modules below it are imported through it
            continue
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        folders[:] = [f for f in folders if f not in _SKIPPED_FOLDERS and not f.startswith(".")]
        projects |= _projects_in(place, files)
        if place.name in SOURCE_FOLDERS or not PROJECT_FILES.isdisjoint(files):
            stems = {Path(file).stem for file in files if file.endswith(".py")}
            named = {stem for stem in stems - _NO_MODULES if not stem.startswith("bench_")}
            modules |= dict.fromkeys(named, place.relative_to(root).as_posix())
    # The tree of a compiled project shows no module; assume that it has the project's name.
    compiled = {name.replace("-", "_") for name in projects}
    return ProvidedModules(dict.fromkeys(compiled, "") | modules, frozenset(projects))


def modules_in(folder: Path) -> dict[str, Path]:
    """The modules and packages that a project may import from a folder: their places by name."""
    files = (place for place in folder.glob("*.py") if place.stem not in _NO_MODULES)
    found = {place.stem: place for place in files}
    return found | {place.parent.name: place.parent for place in folder.glob("*/*.py")}


@lru_cache
def distribution_of(file: Path) -> Distribution | None:
    """Find the installed distribution that a module came from.

    Args:
        file: file of a top-level module.
    """
    site = file.parent.parent if file.name.startswith("__init__.") else file.parent
    inside = file.relative_to(site).as_posix()
    for each in distributions(path=[str(site)]):
        listed = each.files or ()
        if any(path.as_posix() == inside for path in listed):
            return each
    return None


def versions_of(modules: Iterable[tuple[str, Path]]) -> dict[str, str]:
    """Return the modules' distributions with versions; if a module has none, its own name."""
    found = {}
    for module, file in modules:
        owner = distribution_of(file)
        found[owner.name if owner else module] = owner.version if owner else str(file)
    return found


def _projects_in(folder: Path, files: Iterable[str]) -> set[str]:
    """Read project names from the files that declare them, if these are plain text."""
    names: set[str] = set()
    present = set(files)
    with suppress(OSError, ValueError, AttributeError):
        if "pyproject.toml" in present:
            table = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
            names.add(str(table.get("project", {}).get("name", "")))
            names.add(str(table.get("tool", {}).get("poetry", {}).get("name", "")))
    with suppress(OSError, ValueError, configparser.Error):
        if "setup.cfg" in present:
            parser = configparser.ConfigParser(interpolation=None)
            parser.read_string((folder / "setup.cfg").read_text("utf-8"))
            names.add(parser.get("metadata", "name", fallback=""))
    with suppress(OSError, ValueError):
        if "setup.py" in present:
            text = (folder / "setup.py").read_text("utf-8")
            names.update(re.findall(r"""\bname\s*=\s*["']([\w.-]+)["']""", text))
    return {normalized(name) for name in names if name}


def normalized(name: str) -> str:
    """Return the form of a distribution's name in which equal names are equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


def note_on_versions(base: Mapping[str, str], head: Mapping[str, str]) -> tuple[str, ...]:
    """Return a note on which versions of installed packages each arm ran."""
    if base == head:
        ran = ", ".join(f"{name} {version}" for name, version in base.items())
        return (f"both sides ran the same versions: {ran}",) if ran else ()
    changed = (name for name in sorted({**base, **head}) if base.get(name) != head.get(name))
    return tuple(
        f"the base ran {name} {base.get(name, '(none)')}, the head {head.get(name, '(none)')}"
        for name in changed
    )


def holds_python(root: Path) -> bool:
    """Tell whether a tree belongs to a Python project."""
    return any((root / name).is_file() for name in PROJECT_FILES) or any(
        any(folder.glob("*/__init__.py")) for folder in (root / "src", root)
    )


_PACKAGES = "lib*/python*/site-packages"


@dataclass(frozen=True, slots=True)
class ImportPath:
    """The folders that are added to an interpreter's own search path.

    Attributes:
        before: folders that come first.
        after: folders that come last, so that installed packages are found before them.
    """

    before: tuple[str, ...]
    after: tuple[str, ...] = ()


def import_path(
    arm: Arm,
    pythonpath: Sequence[str] | None,
    inherited: Sequence[str] = (),
    *,
    in_env: bool = True,
) -> ImportPath:
    """Return the folders that make an arm's code importable.

    The tree comes first, unless it was installed into the arm's environment. Then the tree would
    hide compiled code, which only the environment has.

    Args:
        pythonpath: the configured folders, relative to the configuration; None for its
            folder and the root of the tree, each after its `src`.
        inherited: the user's own entries, already replaced by the arm's; see `moved`.
        in_env: whether the interpreter belongs to the arm's environment.
    """
    if pythonpath is not None:
        named = (str(arm.folder / arm.substitute(p)) for p in pythonpath)
        return ImportPath((*named, *inherited))
    own = tuple(map(str, _source_folders(arm)))
    others = tuple(entry for entry in inherited if entry not in own)
    if in_env and is_installed(arm):
        return ImportPath(others, after=own)
    return ImportPath((*own, *others))


def _source_folders(arm: Arm) -> tuple[Path, ...]:
    """The folders of an arm's tree that Python code is imported from by default."""
    wanted = (top for folder in (arm.folder, arm.root) for top in (folder / "src", folder))
    return tuple(dict.fromkeys(top for top in wanted if top.is_dir()))


def module_folders(arm: Arm) -> tuple[Path, ...]:
    """The folders of an arm's tree that usually hold the modules of a project."""
    tops = dict.fromkeys((arm.folder, arm.root))
    return tuple(top / name for top in tops for name in (".", *sorted(SOURCE_FOLDERS)))


def moved(entries: str, arm: Arm, checkout: Path | None, cwd: Path) -> tuple[str, ...]:
    """Split the user's search path, and replace the checkout in it by the arm's tree.

    Args:
        entries: as in PATH and PYTHONPATH; an empty entry is dropped.
        checkout: the user's tree; None if the arm itself is the user's tree.
        cwd: folder that relative entries start from.

    Returns:
        Absolute paths. If the arm's tree lacks an entry, such as a virtual environment in the
        checkout, the entry stays as it is.
    """
    return tuple(
        _moved(os.path.normpath(cwd / entry), arm, checkout)
        for entry in filter(None, entries.split(os.pathsep))
    )


def _moved(entry: str, arm: Arm, checkout: Path | None) -> str:
    if checkout is None:
        return entry
    inner = Path(os.path.relpath(os.path.realpath(entry), os.path.realpath(checkout)))
    own = arm.root / inner
    return str(own) if ".." not in inner.parts and own.is_dir() else entry


def is_installed(arm: Arm) -> bool:
    """Tell whether the arm's environment holds a package that was installed from its tree.

    An editable install does not count, because it leads back to the tree. Installers record what
    they installed from (PEP 610).
    """
    for source in _sources(arm.env):
        parts = urlsplit(str(source.get("url", "")))
        place = Path(unquote(parts.path))
        own = any(place.is_relative_to(folder) for folder in (arm.root, arm.env))
        details = source.get("dir_info")
        editable = isinstance(details, dict) and details.get("editable", False)
        if parts.scheme == "file" and own and not editable:
            return True
    return False


def hidden_by_tree(arm: Arm, opened: frozenset[Path]) -> Path | None:
    """Find a file of the arm's tree that was opened instead of its installed copy.

    Args:
        opened: files that were opened in the tree and in the environment.

    Returns:
        The file, relative to the root; None if there is none.
    """
    if not is_installed(arm):
        return None
    packages = list(arm.env.glob(_PACKAGES))
    for file in sorted(path for path in opened if path.suffix == ".py"):
        for top in _source_folders(arm):
            if file.is_relative_to(top):
                copies = {folder / file.relative_to(top) for folder in packages}
                if any(copy.exists() for copy in copies) and not copies & opened:
                    return file.relative_to(arm.root)
                break
    return None


def packages_in(arm: Arm) -> tuple[str, ...]:
    """What is installed in an arm's environment, apart from what was installed from its tree.

    Returns:
        Names with versions, and the settings of the environment.
    """
    found = [
        place.name
        for place in arm.env.glob(f"{_PACKAGES}/*-info")
        if not (place / "direct_url.json").exists()
    ]
    with suppress(OSError):
        lines = (arm.env / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
        found += [line for line in lines if line.startswith("version")]
    return tuple(sorted(found))


def installed_versions(packages: Iterable[str]) -> dict[str, str]:
    """The versions of packages, by name, from what `packages_in` returns."""
    names = (one.rpartition(".")[0] for one in packages if one.endswith("-info"))
    pairs = (name.partition("-py")[0].rpartition("-") for name in names)
    return {name: version for name, _, version in pairs if name}


def _sources(env: Path) -> Iterator[Mapping[str, object]]:
    for file in env.glob(f"{_PACKAGES}/*.dist-info/direct_url.json"):
        try:
            source = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(source, dict):
            yield source


# Each watch takes about a kilobyte of the kernel's memory.
MOST_FOLDERS = 20_000

_IN_OPEN = 0x20
_IN_ONLYDIR = 0x01000000
_IN_Q_OVERFLOW = 0x4000
_IN_ISDIR = 0x40000000
_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 16
# A folder that no longer exists, or that benchgate may not read.
_SKIPPED_ERRORS = (errno.ENOENT, errno.ENOTDIR, errno.EACCES)


class CannotWatchError(Exception):
    """Watching for opened files is impossible here; the message says why."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders to watch.

    Attributes:
        found: the folders, the topmost first.
        complete: whether these are all folders.
    """

    found: tuple[Path, ...]
    complete: bool


def folders_below(
    tops: Iterable[Path], skipped: frozenset[str], marks: Sequence[str] = ()
) -> Folders:
    """List folders and all folders below them, level by level, up to `MOST_FOLDERS`.

    Args:
        tops: the folders to start from; a folder that does not exist is left out.
        skipped: names of folders that are left out.
        marks: names of files; a folder that holds such a file is left out.
    """
    found: list[Path] = []
    waiting = deque(top for top in tops if top.is_dir())
    while waiting:
        if len(found) == MOST_FOLDERS:
            return Folders(tuple(found), complete=False)
        folder = waiting.popleft()
        try:
            with os.scandir(folder) as entries:
                inner = {e.name: e.is_dir(follow_symlinks=False) for e in entries}
        except OSError:
            continue
        if any(mark in inner for mark in marks):
            continue
        found.append(folder)
        waiting += [folder / name for name in sorted(inner) if inner[name] and name not in skipped]
    return Folders(tuple(found), complete=True)


class Watch:
    """Watches folders from construction to the end of the `with` block."""

    def __init__(self, folders: Iterable[Path]) -> None:
        if sys.platform != "linux":
            raise CannotWatchError(f"{sys.platform} does not report which files are opened")
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise CannotWatchError(f"inotify: {os.strerror(ctypes.get_errno())}")
        self._folder_of: dict[int, Path] = {}
        for folder in folders:
            number = libc.inotify_add_watch(
                self._descriptor, os.fsencode(folder), ctypes.c_uint32(_IN_OPEN | _IN_ONLYDIR)
            )
            if number >= 0:
                self._folder_of[number] = folder
            elif ctypes.get_errno() not in _SKIPPED_ERRORS:
                problem = os.strerror(ctypes.get_errno())
                os.close(self._descriptor)
                raise CannotWatchError(
                    f"inotify: {problem} after {len(self._folder_of)} folders "
                    "(fs.inotify.max_user_watches is the limit)"
                )

    def opened(self) -> frozenset[Path]:
        """Return the files that were opened since the last call; if very many, only the first."""
        found: set[Path] = set()
        while True:
            try:
                events = os.read(self._descriptor, _READ_BYTES)
            except BlockingIOError:
                return frozenset(found)
            position = 0
            while position < len(events):
                number, mask, _, size = _EVENT.unpack_from(events, position)
                name = events[position + _EVENT.size :][:size].rstrip(b"\0")
                position += _EVENT.size + size
                if name and not mask & (_IN_ISDIR | _IN_Q_OVERFLOW) and number in self._folder_of:
                    found.add(self._folder_of[number] / os.fsdecode(name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


# Every worktree shares the repository's own files, and the project's dependencies.
_REPOSITORY = frozenset({".git"})
_SKIPPED = _REPOSITORY | {"node_modules", "__pypackages__"}
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")
_CACHE = "__pycache__"
_COMPILED_SUFFIXES = frozenset({".so", ".dylib", ".pyd", ".dll", ".jar", ".class", ".wasm"})
_METADATA_SUFFIXES = (".egg-info", ".dist-info")

_NAMES = ("its own tree", "the other side's tree", "the checkout")
_ASKED_AT_ONCE = 500
_REPEATS = 2
_QUIET_S = (0.2, 5.0)


class ForeignCodeError(Exception):
    """A command does not run the code of its own arm; the message is one line, then a hint."""


@dataclass(frozen=True, slots=True)
class _OpenedFiles:
    """The files that were opened while a command ran.

    Attributes:
        own: files of the arm's own tree and environment.
        foreign: files of other arms, and those files of the checkout that are code under test.
        gaps: descriptions of what could not be watched.
    """

    own: frozenset[Path]
    foreign: frozenset[Path]
    gaps: tuple[str, ...] = ()


class OwnCode:
    """Checks the commands of a session.

    Args:
        checkout: the user's tree, which no arm may run code of.
    """

    def __init__(self, checkout: Path) -> None:
        self._checkout = Path(os.path.realpath(checkout))

    @cached_property
    def _users_folders(self) -> Folders:
        """The folders of the checkout, listed once: there may be many, and they do not change."""
        listed = folders_below([self._checkout], _SKIPPED, _ENVIRONMENT_MARKS)
        # Except those that Python creates when it compiles an import.
        caches = [path / _CACHE for path in listed.found if path.name != _CACHE]
        return replace(listed, found=tuple(dict.fromkeys((*listed.found, *caches))))

    def check(
        self,
        arm: Arm,
        others: Sequence[Arm],
        run: Callable[[], object],
        *,
        named: bool,
        what: str,
        besides: Sequence[Path] = (),
    ) -> tuple[str, ...]:
        """Run a command of one arm, and check that it runs the arm's own code.

        Other programs may open files of the checkout at the same time. So if files seem foreign,
        the command runs again. They count if they are opened every time, but not while nothing
        runs.

        Args:
            others: the other arms.
            run: executes the command; its exceptions are passed on.
            named: whether the command names its own arm, so that it runs the arm's code in any
                case.
            what: the program, for the error.
            besides: files and folders that do not count, whoever opens something of them.

        Returns:
            Notes that a reader of the numbers must see.

        Raises:
            ForeignCodeError: it runs other code.
        """
        try:
            opened = self._opened(arm, others, run, besides)
        except CannotWatchError as problem:
            run()
            return (_unknown(str(problem)),)
        if opened.foreign:
            raise ForeignCodeError(self._foreign(arm, others, opened.foreign))
        if opened.gaps:
            return (_unknown(", ".join(opened.gaps)),)
        if not opened.own and not named:
            raise ForeignCodeError(_nothing_own(arm, what))
        hidden = hidden_by_tree(arm, opened.own)
        return (_hidden(hidden),) if hidden else ()

    def _opened(
        self,
        arm: Arm,
        others: Sequence[Arm],
        run: Callable[[], object],
        besides: Sequence[Path],
    ) -> _OpenedFiles:
        """Watch one execution, and more if files seem foreign."""
        started_s = time.perf_counter()
        opened = self._watched(arm, others, run, besides)
        pause_s = min(max(time.perf_counter() - started_s, _QUIET_S[0]), _QUIET_S[1])
        foreign = opened.foreign
        for _ in range(_REPEATS if foreign else 0):
            foreign &= self._watched(arm, others, run, besides).foreign
        if foreign:
            quiet = self._watched(arm, others, lambda: time.sleep(pause_s), besides)
            foreign -= quiet.foreign
        return replace(opened, foreign=foreign)

    def _watched(
        self,
        arm: Arm,
        others: Sequence[Arm],
        run: Callable[[], object],
        besides: Sequence[Path],
    ) -> _OpenedFiles:
        own_folders = folders_below(_places([arm]), _REPOSITORY)
        their_folders = folders_below(_places(others), _REPOSITORY)
        users_folders = self._users_folders
        with (
            Watch(own_folders.found) as own,
            Watch(their_folders.found) as theirs,
            Watch(users_folders.found) as users,
        ):
            run()
            seen = frozenset(map(_source, own.opened()))
            foreign = frozenset(map(_source, theirs.opened()))
            foreign |= code_among(users.opened(), self._checkout)
        folders = (own_folders, their_folders, users_folders)
        gaps = tuple(
            f"{name} has more folders than can be watched"
            for name, each in zip(_NAMES, folders, strict=True)
            if not each.complete
        )
        left_out = [Path(os.path.realpath(place)) for place in besides]
        seen, foreign = (
            frozenset(f for f in files if not any(map(f.is_relative_to, left_out)))
            for files in (seen, foreign)
        )
        return _OpenedFiles(seen, foreign, gaps)

    def _foreign(self, arm: Arm, others: Sequence[Arm], files: frozenset[Path]) -> str:
        file = min(files)
        place, whose = self._checkout, f"your checkout {self._checkout}"
        for other in others:
            if file.is_relative_to(other.root) or file.is_relative_to(other.env):
                place = other.root if file.is_relative_to(other.root) else other.env
                whose = f"the {other.name}"
        name = file.relative_to(place) if file.is_relative_to(place) else file
        return (
            f"the {arm.name} opened {name} of {whose}, not of its own tree: "
            f"base and head would run the same code\n{_REMEDY}"
        )


def _places(arms: Iterable[Arm]) -> tuple[Path, ...]:
    return tuple(place for arm in arms for place in (arm.root, arm.env))


def code_among(opened: Iterable[Path], checkout: Path) -> frozenset[Path]:
    """Of the files that were opened in a checkout, keep those that are code under test.

    These are the files that git tracks or would add, and code compiled from them. Other files that
    git ignores, such as data sets, are the same for both arms.

    Args:
        opened: the opened files; a compiled Python file stands for its source.
        checkout: without symbolic links.
    """
    found = {_source(path) for path in opened}
    code = (path for path in found if not any(p.endswith(_METADATA_SUFFIXES) for p in path.parts))
    inside = {path for path in code if path.is_relative_to(checkout)}
    ignored = _ignored(inside, checkout) if inside else frozenset()
    return frozenset(path for path in inside if path not in ignored or _is_compiled(path))


def _source(path: Path) -> Path:
    if path.suffix == ".pyc" and path.parent.name == _CACHE:
        try:
            path = Path(source_from_cache(str(path)))
        except ValueError:
            return path
    return Path(os.path.realpath(path))


def _is_compiled(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_IXUSR) or path.suffix in _COMPILED_SUFFIXES


def _ignored(paths: Iterable[Path], checkout: Path) -> frozenset[Path]:
    """Say which files git ignores."""
    names = sorted(str(path.relative_to(checkout)) for path in paths)
    listing = ("--literal-pathspecs", "ls-files", "-z", "--others", "--ignored")
    found: set[Path] = set()
    for start in range(0, len(names), _ASKED_AT_ONCE):
        asked = names[start : start + _ASKED_AT_ONCE]
        with suppress(UsageError):  # such as a submodule's files
            listed = Git(checkout).run(*listing, "--exclude-standard", "--", *asked)
            found.update(checkout / name for name in filter(None, listed.split("\0")))
    return frozenset(found)


def _nothing_own(arm: Arm, what: str) -> str:
    return (
        f"the {arm.name} opened no file of its own tree: base and head would run the same code, "
        f"{what}\n"
        f"{_REMEDY}"
    )


_REMEDY = (
    "Install each side into its own environment in [build], and run `{env}/bin/PROGRAM`; or set "
    "`pythonpath` in [[benchmark]] to the folders of its Python code. If you do not want to "
    "measure the code of the tree, set `allow_foreign = true`."
)


def _hidden(file: Path) -> str:
    return (
        f"it used {file} of the tree, not the copy that [build] installed: `python -m` looks in "
        "its working folder first; `python -I -m` does not"
    )


def _unknown(why: str) -> str:
    return (
        f"benchgate could not check that each side runs its own code: {why}; it does if [build] "
        "installs it and the command is `{env}/bin/PROGRAM`"
    )
