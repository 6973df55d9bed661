"""Calls functions of a project: the operations of a scenario.

The request names the function of each step as `file.py:name`. After that, this process speaks the
protocol that `load/drivers/programs.py` describes.
"""

from __future__ import annotations

import json
import os
import signal
import sys

from .failures import import_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .server import Receive, Send


def serve(functions: dict[str, str], receive: Receive, send: Send) -> None:
    """Import the functions, say so, and call them until benchgate closes its side."""
    dumps, loads = json.dumps, json.loads  # the user's code may replace these
    # Ctrl-C goes to the whole process group; benchgate lets the running operation end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    found: dict[str, Callable[..., Any]] = {}
    line: bytes | None = b"{}"
    while line is not None:
        try:
            request = loads(line)
            if found:
                found[request["step"]](**request["params"])
            else:
                found = {step: function_of(text) for step, text in functions.items()}
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code
            send(dumps({"error": line_of(error)}).encode() + b"\n")
        else:
            send(b"{}\n")
        line = receive()


def function_of(text: str) -> Callable[..., Any]:
    file, _, name = text.rpartition(":")
    path = os.path.abspath(file)
    module = sys.modules.get(os.path.splitext(os.path.basename(path))[0])
    if getattr(module, "__file__", None) != path:
        if not os.path.isfile(path):
            raise FileNotFoundError("there is no file " + file)
        if os.path.dirname(path) not in sys.path:
            sys.path.insert(0, os.path.dirname(path))
        module = import_file(path)
    function: Callable[..., Any] | None = getattr(module, name, None)
    if function is None or not callable(function):
        raise AttributeError(file + " has no function " + name)
    return function


def line_of(error: BaseException) -> str:
    text = str(error).strip()
    return type(error).__name__ + (": " + text if text else "")
