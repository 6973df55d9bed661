"""Finds out which files that differ between the sides a process uses, and what of them runs.

It looks from before the user's code is imported, at what Python code opens, lists and asks the
state of, and at the functions that run. Each benchmark then runs in a fork of this process, so what
another benchmark has imported or cached hides nothing.
"""

from __future__ import annotations

import json
import os
import re
import sys
from _thread import _count as count_threads
from time import perf_counter_ns

from .failures import IMPORT_SYSTEM, OWN_FOLDER
from .observed import digest_of
from .standard import FOLDER, STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType, FrameType
    from typing import Any


MOST_CALLS = 1000
CALLS_NS = 5_000_000
# A call that takes longer is not repeated.
LONG_NS = 500_000_000
# Caches of the import system, which says by itself what it imports.
CACHED_CODE = os.sep + "__pycache__" + os.sep
# Its collection lists folders, but it collects nothing that benchgate did not name.
COLLECTOR = os.sep + "_pytest" + os.sep
IMPORTERS = (*IMPORT_SYSTEM, "<frozen zipimport>")
FIRST_IS_A_PATH = frozenset(
    {
        *("open", "os.link", "os.rename", "os.symlink", "os.truncate", "os.getxattr"),
        *("sqlite3.connect", "ctypes.dlopen"),
    }
)
LISTS = frozenset({"os.listdir", "os.scandir"})
FORKS = "it forks itself, and benchgate cannot see what the fork runs"
OBSTACLES = {
    "os.fork": FORKS,
    "os.forkpty": FORKS,
    "socket.connect": "it connects to another process, and benchgate cannot see what that does",
}
PROFILES = "it uses `sys.setprofile` itself, so benchgate cannot see which functions run"
LIBRARY = "it loads a library by `ctypes`, and benchgate cannot see what that does"
SLOW = "it makes too many calls to see in time which functions run"
MOST_CALLS_NS = 10_000_000_000
LOOKS_BETWEEN = 1 << 16
THREADS = "its threads go on running, and benchgate cannot see what they will run"
# Names by which code goes through everything that a module or a class has.
ENUMERATING = frozenset({"dir", "vars", "getmembers", "__dict__"})
ENUMERATING_ITSELF = frozenset({"globals", "locals"})
# A flag of functions; the text of modules and classes has code of its own.
IS_FUNCTION = 0x1
SHORTEST_PART = 3
WORD = re.compile(r"\w+")
PLAIN_TYPES = frozenset({"type", "ABCMeta"})


class Reach:
    """Watches this process, from construction on.

    Args:
        asked: `root`, this arm's tree; `files`, real paths of what differs, whether it exists here
            or on the other side only; `folders` that have other names in them; `names`, functions
            that only the other side has: [name, file, class].
    """

    def __init__(self, asked: dict[str, Any]) -> None:
        self.root = os.path.join(os.path.realpath(asked["root"]), "")
        self.files = frozenset(asked["files"])
        self.folders = frozenset(asked["folders"])
        self.links = {path: os.path.realpath(path) for path in self.files if os.path.islink(path)}
        self.names: list[tuple[str, str, str]] = [tuple(each) for each in asked["names"]]
        self.loaded = [
            file
            for file in (getattr(one, "__file__", None) for one in list(sys.modules.values()))
            if isinstance(file, str)
        ]
        self.ran: dict[int, CodeType] = {}
        # What was done with each path: "import", "open", "stat" or "list".
        self.touched: dict[tuple[str, str], None] = {}
        self.unknown: dict[str, None] = {}
        self.is_over = self.is_own = False
        self.error = ""
        self.calls = 0
        self.deadline_ns = perf_counter_ns() + MOST_CALLS_NS
        self.target = -1
        self.begin()

    def begin(self) -> None:
        monitoring = getattr(sys, "monitoring", None)
        if monitoring:
            tool = next((n for n in (4, 3, 1, 2) if monitoring.get_tool(n) is None), 4)
            monitoring.use_tool_id(tool, "benchgate")
            event = monitoring.events.PY_START
            self.disable = monitoring.DISABLE
            monitoring.register_callback(tool, event, self.started)
            monitoring.set_events(tool, event)
        else:
            with STANDARD_LIBRARY:
                import threading  # noqa: PLC0415 - only here

            threading.setprofile(self.look)
            sys.setprofile(self.look)
        self.has_monitoring = bool(monitoring)
        for name in ("stat", "lstat", "access", "readlink"):
            self.replace(name)
        sys.addaudithook(self.heard)

    def replace(self, name: str) -> None:
        """Let `os` say which files it is asked for: there is no event for these."""
        function = getattr(os, name)

        def asked(path: Any, *arguments: Any, **more: Any) -> Any:
            self.touch(path, "stat")
            return function(path, *arguments, **more)

        asked.__name__ = asked.__qualname__ = name
        setattr(os, name, asked)
        for able in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
            if function in able:
                able.add(asked)

    def look(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            code = frame.f_code
            self.ran[id(code)] = code
            self.calls += 1
            if not self.calls % LOOKS_BETWEEN and perf_counter_ns() > self.deadline_ns:
                self.unknown[SLOW] = None
                sys.setprofile(None)

    def started(self, code: CodeType, _: int) -> Any:
        self.ran[id(code)] = code
        return self.disable

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Hear of an event of `sys.audit`."""
        if event in FIRST_IS_A_PATH:
            if event == "ctypes.dlopen" and arguments[0] is not None:
                self.unknown[LIBRARY] = None
            self.touch(
                arguments[0], "import" if event == "open" and caller() in IMPORTERS else "open"
            )
        elif event == "import":
            self.touch(arguments[1], "import")
        elif event in LISTS:
            if caller() not in IMPORTERS and COLLECTOR not in caller():
                self.touch("." if arguments[0] is None else arguments[0], "list")
        elif event == "sys.setprofile":
            if not self.has_monitoring:
                self.unknown[PROFILES] = None
        elif event in OBSTACLES and not self.is_own:
            self.unknown[OBSTACLES[event]] = None

    def touch(self, path: Any, what: str) -> None:
        if self.is_over or path is None:
            return
        try:
            if isinstance(path, int):
                if what != "list":
                    return
                path = f"/proc/self/fd/{path}"
            # Before the working folder changes.
            self.touched[os.path.abspath(os.fsdecode(path)), what] = None
        except (TypeError, ValueError, OSError):
            pass

    def apart(self, server: Any, argument: str) -> dict[str, Any] | None:
        """Run a benchmark in a fork of this process; return what it reached.

        Args:
            argument: {"id": ..., "step": ...}: "" for what the import has reached; and the step
                that runs it, "s" or "value".

        Returns:
            None in the fork, which now gets its requests from `script`.
        """
        asked = json.loads(argument)
        if not asked["id"]:
            return self.report()
        source, target = os.pipe()
        self.is_own = True
        child = os.fork()
        self.is_own = False
        if not child:
            os.close(source)
            self.target = target
            lines = self.script(server, asked["id"], asked["step"])
            server.is_fork = False
            server.receive = lambda: next(lines, None)
            server.send_line = self.hear_reply
            return None
        os.close(target)
        with open(source, "rb") as file:
            said = file.read()
        os.waitpid(child, 0)
        return json.loads(said) if said else {**self.report(), "failed": "its process ended"}

    def script(self, server: Any, id_: str, step: str) -> Iterator[bytes]:
        """Ask for what benchgate would ask for."""
        yield b"open " + id_.encode()
        opened = server.opened
        if opened is None:
            return
        if step == "s":
            yield b"loops %d" % opened.inner_loops
        began_ns = perf_counter_ns()
        for _ in range(MOST_CALLS):
            call_ns = perf_counter_ns()
            yield step.encode()
            now_ns = perf_counter_ns()
            if now_ns - began_ns > CALLS_NS and (now_ns - call_ns > LONG_NS or _):
                break
        yield b"close"

    def hear_reply(self, data: bytes) -> None:
        """Hear what this process, as a fork, replies."""
        if data.startswith(b"{") and not self.error:
            self.error = json.loads(data).get("error", "")

    def finish(self) -> None:
        """In a fork, tell what it reached; when nothing of the user's code runs any more."""
        if self.target >= 0:
            data = json.dumps(self.report()).encode()
            while data:
                data = data[os.write(self.target, data) :]

    def report(self) -> dict[str, Any]:
        """Return what this process has reached until now."""
        self.is_over = True
        unknown = dict(self.unknown)
        if count_threads():
            unknown[THREADS] = None
        if not self.has_monitoring and sys.getprofile() != self.look:
            unknown[PROFILES] = None
        codes = list(self.ran.values())
        found = {
            "touched": [*self.of_files(self.touched), *((one, "open") for one in self.early())],
            "ran": sorted({place for place in map(self.place_of, codes) if place}),
            "mentioned": self.mentioned(codes),
            "generated": digest_of_all(codes),
            "unknown": [*unknown],
            "failed": self.error,
        }
        self.is_over = False
        return found

    def early(self) -> list[str]:
        """Return the files that Python itself had loaded before, and that differ."""
        return sorted(self.files.intersection(map(os.path.realpath, self.loaded)))

    def of_files(self, touched: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Keep what differs, by its real path."""
        found = set()
        for path, what in list(touched):
            if CACHED_CODE in path:
                path = source_of(path)  # noqa: PLW2901 - what it was compiled from
            real = os.path.realpath(path)
            itself = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
            if what == "list":
                if real in self.folders:
                    found.add((real, what))
                continue
            for one in (real, itself):
                if one in self.files:
                    found.add((one, what))
            for link, target in self.links.items():
                if real == target or real.startswith(target + os.sep):
                    found.add((link, "open"))
        return sorted(found)

    def place_of(self, code: CodeType) -> tuple[str, int] | None:
        path = os.path.realpath(code.co_filename)
        is_there = path in self.files and code.co_flags & IS_FUNCTION
        return (path, code.co_firstlineno) if is_there else None

    def mentioned(self, codes: Iterable[CodeType]) -> list[int]:
        """Return which of the names this code may look up, or meet as it goes through all names."""
        if not self.names:
            return []
        found = {n for n, each in enumerate(self.names) if not self.is_plain(*each[1:])}
        words: set[str] = set()
        parts: set[str] = set()
        for code in codes:
            file = code.co_filename
            if file.startswith((FOLDER, OWN_FOLDER, "<frozen")) and "-packages" not in file:
                continue
            words.update(code.co_names)
            if file.startswith(self.root):
                if ENUMERATING.intersection(code.co_names):
                    return list(range(len(self.names)))
                if ENUMERATING_ITSELF.intersection(code.co_names):
                    found |= {n for n, each in enumerate(self.names) if each[1] == file}
            for text in texts_in(code.co_consts):
                words.update(WORD.findall(text))
                parts.add(text)
        parts = {part for part in parts if len(part) >= SHORTEST_PART}
        for number, (name, _, _) in enumerate(self.names):
            if name in words or any(name.startswith(p) or name.endswith(p) for p in parts):
                found.add(number)
        return sorted(found)

    def is_plain(self, file: str, owner: str) -> bool:
        """Tell whether nothing looks at the names of a class when it is made."""
        if not owner:
            return True
        for module in list(sys.modules.values()):
            own = getattr(module, "__dict__", {}).get("__file__")
            if isinstance(own, str) and os.path.realpath(own) == file:
                found: Any = module
                for name in owner.split("."):
                    found = getattr(found, "__dict__", {}).get(name)
                hook = getattr(found, "__init_subclass__", None)
                is_builtin = type(hook).__name__ == "builtin_function_or_method"
                return type(found).__name__ in PLAIN_TYPES and is_builtin
        return True


def caller() -> str:
    """Return the file of the code that has caused the event that is being heard.

    The interpreter itself opens the script that it runs.
    """
    try:
        return sys._getframe(2).f_code.co_filename  # noqa: SLF001 - who opens it
    except ValueError:
        return IMPORT_SYSTEM[0]


def source_of(path: str) -> str:
    with STANDARD_LIBRARY:
        from importlib.util import source_from_cache  # noqa: PLC0415 - only here

    try:
        return source_from_cache(path)
    except ValueError:
        return path


def texts_in(constants: tuple[Any, ...]) -> Iterator[str]:
    for each in constants:
        if isinstance(each, str):
            yield each
        elif isinstance(each, (tuple, frozenset)):
            yield from texts_in(tuple(each))


def digest_of_all(codes: Iterable[CodeType]) -> str:
    """Return a digest of the code that is in no file, such as that of a `dataclass`."""
    with STANDARD_LIBRARY:
        from hashlib import sha256  # noqa: PLC0415 - only here

    digests = {digest_of(code) for code in codes if not code.co_filename.startswith("<frozen")}
    return sha256("".join(sorted(digests)).encode()).hexdigest()[:16]
