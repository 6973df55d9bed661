"""Takes the text of a script of pyperf apart: what it does for all benchmarks, and for each."""

from __future__ import annotations

import ast
import re

from .file_text import FileText, fixed
from .statements import binders_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

WORD = re.compile(r"[^\W\d]\w*")
PROGRAM = "what the script runs"
METHODS = frozenset(
    ("bench_func", "bench_time_func", "bench_async_func", "bench_command", "timeit")
)
DEFINING = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign),
)
# These only return the names that there are.
NAMES = frozenset(("globals", "locals", "vars"))
# What is evaluated with one of these can do something beyond its value.
ACTING = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, getattr(ast, "NamedExpr", ast.Call))


class ScriptText(FileText):
    """The text of a script.

    A call such as `runner.bench_func("a", f, DATA)`, as a statement of its own, becomes a function
    of its own, which is the work of this benchmark alone. All other statements that run become one
    function, which every benchmark uses. So does a call whose name is no text, and one that calls
    something to make its arguments.

    Args:
        names: of its benchmarks.
        others: real paths of other scripts beside it.
    """

    def __init__(self, names: Collection[str], others: Collection[str]) -> None:
        self.names = names
        self.others = others
        self.functions = {self.name_of(name) for name in names}
        self.bound: Collection[str] = ()

    @staticmethod
    def name_of(name: str) -> str:
        """Return what stands for a benchmark in the text: never the name of anything else."""
        return f"call of {name}"

    def is_benchmark(self, name: str) -> bool:
        return name in self.functions

    def apart(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Put each benchmark's call, and all other statements that run, into functions."""
        calls: list[ast.stmt] = []
        self.bound = binders_of(statements).keys()
        kept = self.without_calls(statements, calls)
        program = [each for each in kept if not isinstance(each, DEFINING)]
        if program:
            kept.append(function_of(PROGRAM, [*program, *self.uses_in_texts(kept)], program[0]))
        return [*kept, *calls]

    def without_calls(self, body: list[Any], calls: list[ast.stmt]) -> list[Any]:
        """Return statements without the benchmarks' calls, which are added to a list."""
        kept = []
        for node in body:
            name = self.benchmark_of(node)
            if name is not None:
                calls.append(
                    function_of(self.name_of(name), [node, *self.uses_in_texts([node])], node)
                )
                continue
            kept.append(node)
            for inner in blocks_of(node):
                inner[:] = self.without_calls(inner, calls) or [fixed(ast.Pass(), node)]
        return kept

    def benchmark_of(self, node: ast.AST) -> str | None:
        """Return the name of the benchmark that a statement calls, and does nothing else."""
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return None
        given = [*call.args, *(each.value for each in call.keywords)]
        named = [each.value for each in call.keywords if each.arg == "name"] or call.args[:1]
        name = getattr(named[0], "value", None) if named else None
        if call.func.attr not in METHODS or not isinstance(name, str) or name not in self.names:
            return None
        return None if any(map(acts, (call.func.value, *given))) else name

    def uses_in_texts(self, nodes: list[Any]) -> list[ast.stmt]:
        """Return uses of the names in texts if `timeit` is called: its statements are texts."""
        every = [inner for node in nodes for inner in ast.walk(node)]
        if not any(isinstance(each, ast.Attribute) and each.attr == "timeit" for each in every):
            return []
        texts = (getattr(each, "value", None) for each in every if isinstance(each, ast.Constant))
        words = {word for text in texts if isinstance(text, str) for word in WORD.findall(text)}
        names = (
            ast.Name(id=word, ctx=ast.Load()) for word in sorted(words.intersection(self.bound))
        )
        return [fixed(ast.Expr(value=name), nodes[0]) for name in names]


def blocks_of(node: ast.AST) -> Iterator[list[Any]]:
    """Return the lists of statements in a statement, such as the body of an `if`."""
    for field in ("body", "orelse", "finalbody"):
        inner = getattr(node, field, None)
        if isinstance(inner, list) and inner:
            yield inner
    for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield each.body


def acts(node: ast.AST) -> bool:
    """Tell whether evaluating an expression may do something; what a lambda does, it does later."""
    if isinstance(node, ast.Lambda):
        return any(map(acts, [*node.args.defaults, *filter(None, node.args.kw_defaults)]))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        is_of_names = node.func.id in NAMES and not (node.args or node.keywords)
        if is_of_names:
            return False
    return isinstance(node, ACTING) or any(map(acts, ast.iter_child_nodes(node)))


def function_of(name: str, body: list[Any], place: ast.AST) -> ast.stmt:
    """Return a function without arguments."""
    function: Any = ast.parse("def f(): pass").body[0]
    function.name, function.body = name, body
    made: ast.stmt = fixed(function, place)
    return made
