"""Finds out which files that differ between the sides a process uses, and what of them runs.

It looks from before the user's code is imported, at what Python code opens, lists and asks the
state of, and at the functions that run. Each benchmark then runs in a fork of this process, so what
another benchmark has imported or cached hides nothing.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from _thread import _count as count_threads
from importlib.machinery import PathFinder
from importlib.util import source_from_cache
from time import perf_counter_ns

from .failures import IMPORT_SYSTEM, OWN_FOLDER
from .looked_up import IS_FUNCTION, LookedUp, is_of_standard, real_path, replace
from .observed import digest_by
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
# What it lists and looks for to collect the tests changes nothing: benchgate names the file.
COLLECTOR = os.sep + "_pytest" + os.sep
# It lists folders to find packages that are installed.
METADATA = os.path.join("importlib", "metadata")
IMPORTERS = (*IMPORT_SYSTEM, "<frozen zipimport>")
PACKAGES = "-packages" + os.sep
SLOW = "makes too many calls to see in time which functions run"
MOST_CALLS_NS = 10_000_000_000
LOOKS_BETWEEN = 1 << 16
FIRST_IS_A_PATH = frozenset(
    {
        *("open", "os.link", "os.rename", "os.symlink", "os.truncate", "os.getxattr"),
        *("os.mkdir", "os.rmdir", "os.remove", "os.chdir", "os.chmod", "os.utime"),
        *("sqlite3.connect", "ctypes.dlopen"),
    }
)
# A list of names, or one that also knows what each file is like.
LISTS = {"os.listdir": "list", "os.scandir": "scan"}
FORKS = "forks, and benchgate cannot see what the fork runs"
STARTS = "starts a program, and benchgate cannot see what that looks for"
OBSTACLES = {
    "os.fork": FORKS,
    "os.forkpty": FORKS,
    **dict.fromkeys(("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec"), STARTS),
    "socket.connect": "connects to another process, and benchgate cannot see what that does",
}
PROFILES = "profiles or starts bare threads, so benchgate cannot see which functions run"
THREADING = os.sep + "threading.py"
LIBRARY = "loads a library by `ctypes`, and benchgate cannot see what that does"
SIGNALS = "handles signals, and benchgate cannot see what runs then"
THREADS = "leaves threads running, and benchgate cannot see what they will run"
ORIGINS = ("foreign", "elsewhere", "packages", "shared", "has_own", "own", "had_children")
KINDS_OF_OPEN = {"import": "import", COLLECTOR: "configure"}
# Functions that ask whether a file is there, and not what it is like.
ASK_IF_THERE = frozenset(
    {
        *("exists", "lexists", "isfile", "isdir", "islink", "ismount", "is_file", "is_dir"),
        *("is_symlink", "realpath", "_joinrealpath", "resolve", "samefile", "is_mount"),
    }
)


class ReachWatch:
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
        self.origins: dict[str, Any] = {}
        self.calls = 0
        self.deadline_ns = perf_counter_ns() + MOST_CALLS_NS
        self.target = -1
        # Of code that was looked at before, for example before a fork.
        self.looked_at = 0
        self.digests: set[str] = set()
        self.places: set[tuple[str, int]] = set()
        self.looked_up = LookedUp(self.root, [tuple(each) for each in asked["names"]])
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
        with STANDARD_LIBRARY:
            from hashlib import sha256  # noqa: PLC0415 - only here

        self.sha256 = sha256
        for name in ("stat", "lstat", "access", "readlink"):
            self.replace(name)
        self.replace_finder()
        self.replace_starts()
        self.replace_signal()
        sys.addaudithook(self.heard)

    def replace(self, name: str) -> None:
        """Let `os` say which files it is asked for: there is no event for these."""
        function = getattr(os, name)

        def asked(path: Any, *arguments: Any, **more: Any) -> Any:
            if not self.is_over and kind_of_caller() not in (COLLECTOR, OWN_FOLDER):
                self.touch(path, "size" if self.is_told_all() else "stat", more.get("dir_fd"))
            return function(path, *arguments, **more)

        one = replace(os, name, asked)
        for able in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
            if function in able:
                able.add(one)

    def replace_finder(self) -> None:
        """Hear what the import system finds, even if nobody imports it."""
        find = PathFinder.find_spec

        def find_spec(_: Any, *arguments: Any, **more: Any) -> Any:
            spec = find(*arguments, **more)
            if spec:
                for path in (spec.origin, *(spec.submodule_search_locations or ())):
                    self.touch(path, "stat")
            return spec

        PathFinder.find_spec = classmethod(find_spec)  # type: ignore[assignment,method-assign]

    def replace_starts(self) -> None:
        """Hear of what has no event: processes of `multiprocessing`, and bare threads."""
        with STANDARD_LIBRARY:
            import _posixsubprocess  # noqa: PLC0415 - only here
            import _thread  # noqa: PLC0415 - after `threading`, which keeps the original

        self.replace_start(_posixsubprocess, "fork_exec", STARTS)
        if not self.has_monitoring:
            self.replace_start(_thread, "start_new_thread", PROFILES)

    def replace_signal(self) -> None:
        """Hear of handlers: one that interrupts this watch is not seen itself."""
        import _signal  # type: ignore[import-not-found]  # noqa: PLC0415 - only here

        handle = _signal.signal

        def signal(number: Any, handler: Any) -> Any:
            code = getattr(getattr(handler, "func", handler), "__code__", None)
            if code and not is_of_standard(code.co_filename):
                self.unknown[SIGNALS] = None
            return handle(number, handler)

        replace(_signal, "signal", signal)

    def replace_start(self, module: Any, name: str, why: str) -> None:
        start = getattr(module, name)

        def started(*arguments: Any, **more: Any) -> Any:
            self.meet(why)
            return start(*arguments, **more)

        replace(module, name, started)

    def is_told_all(self) -> bool:
        """Tell whether the user's own code gets to know more of a file than that it is there."""
        frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - who asks
        while frame and frame.f_code.co_filename.startswith((FOLDER, "<frozen")):
            if frame.f_code.co_name in ASK_IF_THERE or "-packages" in frame.f_code.co_filename:
                return False
            frame = frame.f_back
        return frame is not None and frame.f_code.co_filename.startswith(self.root)

    def look(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and not self.is_over:
            code = frame.f_code
            self.ran[id(code)] = code
            self.calls += 1
            if not self.calls % LOOKS_BETWEEN and perf_counter_ns() > self.deadline_ns:
                self.unknown[SLOW] = None
                sys.setprofile(None)

    def started(self, code: CodeType, _: int) -> Any:
        if self.is_over:
            return None
        self.ran[id(code)] = code
        return self.disable

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Hear of an event of `sys.audit`."""
        if event in FIRST_IS_A_PATH:
            if event == "ctypes.dlopen" and arguments[0] is not None:
                self.unknown[LIBRARY] = None
            if event != "open":
                self.touch(arguments[0], "open")
            else:
                self.touch(arguments[0], KINDS_OF_OPEN.get(kind_of_caller(), "open"))
        elif event == "import":
            self.touch(arguments[1], "import")
        elif event in LISTS:
            kind = kind_of_caller()
            if kind in ("", METADATA):
                what = "metadata" if kind else LISTS[event]
                self.touch("." if arguments[0] is None else arguments[0], what)
        elif event == "sys.setprofile":
            # Threads of `threading` begin to be profiled by themselves.
            caller = sys._getframe(1).f_code.co_filename  # noqa: SLF001 - who does it
            if not self.has_monitoring and not caller.endswith(THREADING):
                self.unknown[PROFILES] = None
        elif event in OBSTACLES and not self.is_own:
            self.meet(OBSTACLES[event])

    def meet(self, obstacle: str) -> None:
        """Note what cannot be seen; not programs that tools start, such as git for a report."""
        frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - who starts it
        while obstacle == STARTS and frame is not None:
            if frame.f_code.co_filename.startswith(self.root):
                break
            frame = frame.f_back
        if frame is not None:
            self.unknown[obstacle] = None

    def touch(self, path: Any, what: str, folder: int | None = None) -> None:
        if self.is_over or path is None:
            return
        try:
            if isinstance(path, int):
                if what not in ("list", "scan"):
                    return
                path = os.path.realpath(f"/proc/self/fd/{path}")
            if folder is not None:
                path = os.path.join(f"/proc/self/fd/{folder}", os.fsdecode(path))
                path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
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
            self.deadline_ns = perf_counter_ns() + MOST_CALLS_NS
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
        if getattr(server.host, "ENDS_SLOWLY", False):
            self.finish()
            os._exit(0)

    def hear_reply(self, data: bytes) -> None:
        """Hear what this process, as a fork, replies."""
        if data.startswith(b"{") and not self.error:
            reply = json.loads(data)
            self.error = reply.get("error", "")
            # Whose code it has imported; see `Origins.look`.
            self.origins.update((key, reply[key]) for key in ORIGINS if key in reply)

    def finish(self) -> None:
        """In a fork, tell what it reached; when nothing of the user's code runs any more."""
        if self.target >= 0:
            gc.collect()  # what is deleted only then may run code
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
        self.look_at_code()
        touched = [*self.of_files(self.touched), *((one, "open") for one in self.early())]
        opened = frozenset(path for path, what in touched if what in ("open", "import"))
        found = {
            "touched": touched,
            "ran": sorted(self.places),
            "mentioned": self.looked_up.found(opened),
            "generated": "".join(sorted(self.digests)),
            "unknown": [*unknown],
            "failed": self.error,
            **self.origins,
        }
        self.is_over = False
        return found

    def look_at_code(self) -> None:
        """Look at the code that has run since the last look."""
        codes = list(self.ran.values())[self.looked_at :]
        self.looked_at += len(codes)
        self.looked_up.look_at(codes)
        self.places.update(place for place in map(self.place_of, codes) if place)
        # What is in no file, such as that of a `dataclass`.
        own = [code for code in codes if code.co_filename.startswith("<")]
        self.digests.update(
            digest_by(self.sha256, code) for code in own if "<frozen" not in code.co_filename
        )

    def early(self) -> list[str]:
        """Return the files that Python itself had loaded before, and that differ."""
        return sorted(self.files.intersection(map(real_path, self.loaded)))

    def of_files(self, touched: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Keep what differs, by its real path."""
        found: set[tuple[str, str]] = set()
        for path, what in list(touched):
            if CACHED_CODE in path:
                path = source_of(path)  # noqa: PLW2901 - what it was compiled from
            real = real_path(path)
            if what in ("list", "scan", "metadata"):
                found |= self.of_folder(real, what)
                continue
            itself = os.path.join(real_path(os.path.dirname(path)), os.path.basename(path))
            found |= {(one, what) for one in (real, itself) if one in self.files}
            for link, target in self.links.items():
                if real == target or real.startswith(target + os.sep):
                    found.add((link, "open"))
        return sorted(found)

    def of_folder(self, folder: str, what: str) -> set[tuple[str, str]]:
        """Return what differs in a folder that was listed."""
        found = set()
        if folder in self.folders or folder in self.files:
            found.add((folder, "metadata" if what == "metadata" else "list"))
        if what == "scan":
            found |= {(one, what) for one in self.files if os.path.dirname(one) == folder}
        return found

    def place_of(self, code: CodeType) -> tuple[str, int] | None:
        path = real_path(code.co_filename)
        is_there = path in self.files and code.co_flags & IS_FUNCTION
        return (path, code.co_firstlineno) if is_there else None


def kind_of_caller() -> str:
    """Return who has caused the event that is being heard.

    Returns:
        "import" for the import system itself, COLLECTOR for pytest, METADATA for what looks for
        installed packages, OWN_FOLDER for this program, and "" for the user's code, which may have
        called the standard library.
    """
    try:
        by = sys._getframe(2)  # noqa: SLF001 - who did it
    except ValueError:  # the interpreter itself, which opens the script that it runs
        return "import"
    frame: FrameType | None = by
    if by.f_code.co_filename in IMPORTERS:
        before = by.f_back
        # The text of a module is also there for whoever asks for it.
        is_asked = by.f_code.co_name == "get_data" and before is not None
        return "" if is_asked and before and before.f_code.co_name != "get_code" else "import"
    while frame is not None and frame.f_code.co_filename.startswith(FOLDER):
        file = frame.f_code.co_filename
        if METADATA in file or PACKAGES in file:
            break
        frame = frame.f_back
    file = frame.f_code.co_filename if frame else ""
    return next((kind for kind in (COLLECTOR, METADATA, OWN_FOLDER) if kind in file), "")


def source_of(path: str) -> str:
    try:
        return source_from_cache(path)
    except ValueError:
        return path
