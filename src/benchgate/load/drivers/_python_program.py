"""Calls functions of a project; it runs in the project's interpreter, CPython 3.8 or newer.

It uses the standard library alone. Its argument is a JSON object: the function of each step, as
`file.py:name`. It speaks the protocol that `command.py` describes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib import util
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def main(functions: dict[str, str]) -> None:
    """Import the functions, say so, and call them until standard input ends."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.dup(1)
    # What the functions read and print must not disturb the protocol.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    # Ctrl-C goes to the whole process group; benchgate lets the running operation end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        found = {step: _function(text) for step, text in functions.items()}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the file of a user
        _write(answers, {"error": _last_line(error)})
        return
    _write(answers, {"ready": True})
    for line in requests:
        request = json.loads(line)
        try:
            found[request["step"]](**request["params"])
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the function of a user
            _write(answers, {"error": _last_line(error)})
        else:
            os.write(answers, b"{}\n")


def _function(text: str) -> Callable[..., Any]:
    file, _, name = text.rpartition(":")
    path = Path(file).absolute()
    module = sys.modules.get(path.stem)
    if module is None or getattr(module, "__file__", None) != str(path):
        if not path.is_file():
            raise FileNotFoundError("there is no file " + file)
        if str(path.parent) not in sys.path:
            sys.path.insert(0, str(path.parent))
        spec = util.spec_from_file_location(path.stem, str(path))
        if spec is None or spec.loader is None:
            raise ImportError("cannot import " + file)
        module = util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    function: Callable[..., Any] | None = getattr(module, name, None)
    if function is None or not callable(function):
        raise AttributeError(file + " has no function " + name)
    return function


def _last_line(error: BaseException) -> str:
    text = str(error).strip()
    return type(error).__name__ + (": " + text if text else "")


def _write(answers: int, answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(answers, data) :]


if __name__ == "__main__":
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        del sys.path[0]  # this folder: its files must not be mistaken for modules of the project
    main(json.loads(sys.argv[1]))
