"""The process that calls a user's functions, in the user's own interpreter.

It uses the standard library and the files of this folder only, because it runs under any
CPython >= 3.8, where benchgate itself is not installed. It is started as `python __main__.py IN
OUT`, with the descriptors of its pipes from and to benchgate. The user's code finds an empty
standard input, and what it prints goes elsewhere.

The first line from benchgate, or a third argument, is the request: which benchmark file, and where
to import from. The worker answers with its process id, and imports the file. After that, a JSON
object asks for a step and gets a JSON object back. The line "s" asks for one sample and gets
"WALL_NS CPU_NS" back, which keeps a turn cheap. When benchgate closes its side, the open benchmark
is torn down, exit handlers run, and the last line is "bye".

A request may also name the functions of a scenario; see `calls`.
"""

from __future__ import annotations

import sys
from importlib import import_module

# The files of this folder are a package that is found by its path alone. So no module of the user
# can take the place of one of them, whatever its name is.
__package__ = "benchgate_worker"


def main(folder: str, loaded_by_python: frozenset[str]) -> None:
    """Import what the request needs, forget that it was imported, and carry out the requests.

    Args:
        folder: this folder.
        loaded_by_python: names of the modules that Python itself has imported.
    """
    package = type(sys)(__package__)
    package.__path__ = [folder]
    sys.modules[__package__] = package
    # The user may have chosen a folder for `.pyc` files; these may hold other code.
    chosen, sys.pycache_prefix = getattr(sys, "pycache_prefix", None), None

    from .server import Server, connect  # noqa: PLC0415 - the package exists now

    request, receive, send = connect(*sys.argv[1:])
    del sys.argv[1:]
    describer = host = reach = None
    if request.get("describe"):
        from .workloads import Describer  # noqa: PLC0415 - only one launch in a session needs it

        describer = Describer
    if request.get("reach"):
        from .reach import ReachWatch  # noqa: PLC0415 - only one launch in a session needs it

        reach = ReachWatch
    name = request.get("host")
    if name:
        host = getattr(import_module(f".{name}_host", __package__), f"{name.capitalize()}Host")
    else:
        from .calls import serve  # noqa: PLC0415 - as above
    sys.pycache_prefix = chosen
    for name in [name for name in sys.modules if name.partition(".")[0] == __package__]:
        del sys.modules[name]
    # Hide this program's own names from the user's code, which finds an empty module.
    sys.modules["__main__"] = type(sys)("__main__")
    if host:
        Server(receive, send, describer, host, loaded_by_python, reach=reach).run(request)
    else:
        serve(request["functions"], receive, send)


if __name__ == "__main__":
    loaded = frozenset(sys.modules)
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        del sys.path[0]  # this folder: its files must not be mistaken for the user's modules
    main(__file__.rpartition("/")[0], loaded)
