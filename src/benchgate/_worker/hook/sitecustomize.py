"""Observes a program of Python from its start to its end, or sees what it reaches.

Python imports this module by itself when its folder is in PYTHONPATH. A variable says where to
write what was observed, what to observe, and how long to count. Every process of the program does
that, and writes a file of its own.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "benchgate_worker"


def import_hidden() -> None:
    """Import the module that this one hides; there rarely is one."""
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != HERE]
    own = sys.modules.pop(__name__)
    try:  # noqa: SIM105 - contextlib would be one more import
        import_module(__name__)
    except ImportError:
        pass
    sys.modules.setdefault(__name__, own)


def import_worker(name: str) -> Any:
    """Import a module from the folder above, which is no package for this program."""
    spec = ModuleSpec(PACKAGE, None, is_package=True)
    spec.submodule_search_locations = [os.path.dirname(HERE)]
    sys.modules[PACKAGE] = module_from_spec(spec)
    return import_module(f"{PACKAGE}.{name}")


def observe(folder: str, what: str, limit_ns: str) -> None:
    observed = import_worker("observed")
    observer = observed.Times() if what == "times" else observed.CallCounter(int(limit_ns))

    def write() -> None:
        observer.clock()
        found: dict[str, Any]
        if what == "times":
            times = observer.by_code().items()
            found = {"functions": [[*observed.of_key(key), own_ns] for key, own_ns in times]}
        else:
            found = observed.described(observer.root, {})
            found["is_over"] = observer.is_over
        found["folders"] = [os.path.abspath(one) for one in sys.path]
        write_own(folder, found)

    atexit.register(write)
    observer.clock()


def reach(asked: str, folder: str) -> None:
    with open(asked, encoding="utf-8") as file:
        watch = import_worker("reach").ReachWatch(json.load(file))
    atexit.register(lambda: write_own(folder, watch.report()))


def write_own(folder: str, found: dict[str, Any]) -> None:
    try:
        with open(os.path.join(folder, str(os.getpid())), "w", encoding="utf-8") as file:
            json.dump(found, file)
    except OSError:  # it has outlived the program, and nobody reads this any more
        pass


import_hidden()
if "BENCHGATE_OBSERVE" in os.environ:
    observe(*os.environ["BENCHGATE_OBSERVE"].split("|"))
if "BENCHGATE_REACH" in os.environ:
    reach(*os.environ["BENCHGATE_REACH"].split("|"))
