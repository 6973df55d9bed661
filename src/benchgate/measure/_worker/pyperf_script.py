"""A script of pyperf: how it is run, and what the work of its benchmarks is."""

from __future__ import annotations

import os
import sys

from .failures import Fault
from .functions import Benchmark
from .origins import file_of
from .pyperf_text import PROGRAM, ScriptText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType
    from typing import Any

    from .describing import Describer


# The work is in the text of the script, so no function's source is read.
NO_SOURCE = print


def run_script(file: str, arguments: Sequence[str]) -> None:
    """Run a file as Python runs a program.

    Raises:
        Fault: it ended with an exit code.
    """
    with open(file, "rb") as opened:
        text = opened.read()
    module = type(sys)("__main__")
    module.__file__ = file
    sys.modules["__main__"] = module
    sys.argv = [file, *arguments]
    code = compile(text, file, "exec", dont_inherit=True)
    try:
        exec(code, vars(module))  # noqa: S102 - the user's script
    except SystemExit as end:
        if end.code not in {None, 0}:
            raise Fault(f"the script {describe_exit(end, file)}") from None


def describe_exit(end: SystemExit, file: str) -> str:
    """Say where a script ended, and with which code or message."""
    line, innermost, traceback = 0, "", end.__traceback__
    while traceback:
        innermost = traceback.tb_frame.f_code.co_filename
        if innermost == file:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    what = f"code {end.code}" if isinstance(end.code, int) else f"this message: {end.code}"
    refused = os.path.basename(innermost) == "argparse.py"
    hint = ": it refuses its arguments, see `arguments` of [[benchmark]]" if refused else ""
    return f"exits in line {line} of {os.path.basename(file)} with {what}{hint}"


def place_of_call(file: str) -> int:
    """Return the line of the script that is being run; 0 if none is."""
    return next((each.f_lineno for each in frames() if each.f_code.co_filename == file), 0)


def frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - documented
    while frame:
        yield frame
        frame = frame.f_back


def other_scripts(file: str) -> set[str]:
    """Return the real paths of the scripts beside a script that it does not import."""
    folder = os.path.dirname(file)
    imported = {file_of(name) for name in list(sys.modules)}
    paths = {os.path.realpath(os.path.join(folder, name)) for name in os.listdir(folder)}
    return {path for path in paths - imported if path.endswith(".py") and mentions_tool(path)}


def mentions_tool(path: str) -> bool:
    try:
        with open(path, "rb") as opened:
            return b"pyperf" in opened.read()
    except OSError:
        return False


def describe(
    found: Mapping[str, int], describer: type[Describer], request: dict[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Describe the benchmarks of a script by its text.

    Args:
        found: the lines of their calls, by name.

    Returns:
        The benchmarks, and what the script has in common; see `Server.hello`.
    """
    text = ScriptText(found, other_scripts(request["file"]))
    one = describer(request, text)
    benchmarks = [Benchmark(name, text.name_of(name), NO_SOURCE, uses={PROGRAM}) for name in found]
    described = one.describe(benchmarks)
    path = os.path.relpath(os.path.realpath(request["file"]), os.path.realpath(request["root"]))
    for each in described:
        each["location"] = f"{path}:{found[each['id']]}"
    return described, one.common()
