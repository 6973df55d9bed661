"""A script of pyperf: how it is run, and what the work of its benchmarks is."""

from __future__ import annotations

import ast
import os
import sys

from .failures import Fault
from .functions import Benchmark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from types import FrameType
    from typing import Any

    from .describing import Describer


# The work is in the text of the script, so no function's source is read.
NO_SOURCE = print
METHODS = frozenset(
    ("bench_func", "bench_time_func", "bench_async_func", "bench_command", "timeit")
)
CALLS = (ast.Call, ast.Await, getattr(ast, "NamedExpr", ast.Call))


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


class Calls(ast.NodeTransformer):
    """Takes calls such as `runner.bench_func("a", f, DATA)` out of a script, wherever they are.

    Each becomes a function of its own, and the work of one benchmark, unless it calls something
    to make its arguments.

    Args:
        names: of the benchmarks.
    """

    def __init__(self, names: Collection[str]) -> None:
        self.names = names
        self.found: list[ast.stmt] = []

    @staticmethod
    def name_of(name: str) -> str:
        """Return what stands for a benchmark in the text: never the name of anything else."""
        return f"call of {name}"

    def visit_Module(self, node: ast.Module) -> ast.Module:
        self.generic_visit(node)
        node.body += self.found
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        call: Any = node.value
        method = getattr(getattr(call, "func", None), "attr", "")
        if method not in METHODS or sum(isinstance(each, CALLS) for each in ast.walk(call)) > 1:
            return node
        named = [each.value for each in call.keywords if each.arg == "name"] or call.args[:1]
        name = getattr(named[0], "value", None) if named else None
        if not isinstance(name, str) or name not in self.names:
            return node
        function: Any = ast.parse("def f(): ...").body[0]
        function.name, function.body = self.name_of(name), [node]
        self.found.append(function)
        return None


def describe(
    found: Mapping[str, int], describer: type[Describer], request: dict[str, Any]
) -> list[dict[str, Any]]:
    """Describe the benchmarks of a script by its text.

    Args:
        found: the lines of their calls, by name.
    """
    names = {name: Calls.name_of(name) for name in found}
    benchmarks = [Benchmark(name, own, NO_SOURCE) for name, own in names.items()]
    one = describer(request, names=set(names.values()), program=Calls(found))
    described = one.describe(benchmarks)
    path = os.path.relpath(os.path.realpath(request["file"]), os.path.realpath(request["root"]))
    for each in described:
        each["location"] = f"{path}:{found[each['id']]}"
    return described
