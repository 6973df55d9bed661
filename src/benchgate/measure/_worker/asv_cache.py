"""Where a benchmark of asv runs, and what its `setup_cache` has made."""

from __future__ import annotations

import atexit
import os
import pickle
import sys
from shutil import rmtree
from tempfile import mkdtemp

from .asv_benchmark import needs_no_arguments
from .failures import Fault, failure
from .functions import code_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .asv_benchmark import AsvBenchmark

FILE = "cache.pickle"


class Place:
    """The current folder of a benchmark, as asv has it: temporary, or that of its cache.

    Args:
        cache: the folder of its cache; "" if it has none.
    """

    def __init__(self, cache: str) -> None:
        self.before = os.getcwd()
        self.cache = cache
        self.folder = cache or mkdtemp(prefix="asv-")
        os.chdir(self.folder)

    def leave(self) -> None:
        os.chdir(self.before)
        if not self.cache:
            rmtree(self.folder, ignore_errors=True)


class Caches:
    """The caches of this process, by the code of the function that makes them.

    A forked child runs `setup_cache`, and pickles what it returns. So the memory that it needs does
    not count for a benchmark, and what it leaves behind does not change one. It runs in every
    launch: random data then differs from launch to launch, and not only between base and head.
    """

    def __init__(self) -> None:
        self.folders: dict[Any, str] = {}

    def folder_for(self, benchmark: AsvBenchmark) -> str:
        """Return the folder with a benchmark's cache, which is made if it is new; "" for none."""
        if benchmark.setup_cache is None:
            return ""
        key = code_of(benchmark.setup_cache)
        if key not in self.folders:
            folder = mkdtemp(prefix="asv-")
            atexit.register(rmtree, folder, ignore_errors=True)
            fill(folder, benchmark)
            self.folders[key] = folder
        return self.folders[key]


def read(folder: str) -> Any:
    """Return a fresh copy of what `setup_cache` returned; None without a folder."""
    if not folder:
        return None
    with open(os.path.join(folder, FILE), "rb") as file:
        return pickle.load(file)  # noqa: S301 - this program's child wrote it


def fill(folder: str, benchmark: AsvBenchmark) -> None:
    """Let a child process make a cache."""
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
