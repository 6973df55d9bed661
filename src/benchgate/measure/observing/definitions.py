"""Which functions a text in C, C++ or Rust defines: compilers do not say which one they inlined."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class DefinedFunction:
    """A function.

    Attributes:
        name: after the namespaces, modules and types that it belongs to: "text::Parser::next".
        line: that of its name.
        first, last: its first line, with attributes and type parameters, and its last one.
    """

    name: str
    line: int
    first: int
    last: int


@dataclass(slots=True)
class _Block:
    """What has an opening brace.

    Attributes:
        begins: where its header begins.
        name: what it adds to the names inside.
        definition: its name and where that stands, if it is a function.
        is_inside: whether it is in a function.
        is_value: whether it is a part of a header, as an initializer.
    """

    begins: int
    name: str = ""
    definition: tuple[str, int] | None = None
    is_inside: bool = False
    is_value: bool = False


# Braces in these are no code: comments, raw and other strings, characters.
_NO_CODE: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|\bR"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|\bb?r(?P<rust>#+)".*?"(?P=rust)|\bb?r"[^"]*"'
    r'|"(?:\\.|[^"\\])*"'
    r"|'(?:\\[^\n']+|[^\\'\n])'",
    re.DOTALL,
)
_MARKS: Final = re.compile(
    r"[{};]|^[ \t]*#[ \t]*(?P<condition>ifn?(?:def)?|el\w+|endif)\b", re.MULTILINE
)
# A semicolon in it ends no statement of Rust: [u8; 2].
_ARRAY: Final = re.compile(r"\[[^][{};]*;[^][{};]*\]")
_ATTRIBUTE: Final = re.compile(r"#!?\[[^]]*\]")
_DIRECTIVE: Final = re.compile(r"^[ \t]*#[ \t]*\w+(?:\\\n|[^\n])*", re.MULTILINE)
_GOES_ON: Final = re.compile(r"\s*[{,]")
_LONGEST_HEADER: Final = 2_000
_TYPES: Final = re.compile(r"<[^<>;{}]*>")
_RUST_FUNCTION: Final = re.compile(r"\bfn\s+(\w+)")
_RUST_SCOPE: Final = re.compile(r"\b(?:mod|trait)\s+(\w+)[^()]*$")
_RUST_IMPL: Final = re.compile(
    r"\bimpl\b(?:.*\sfor\s)?\s*[&\w:\s]*?(\w+)\s*(?:\bwhere\b.*)?$", re.DOTALL
)
_CPP_NAMESPACE: Final = re.compile(r"\bnamespace\s+([\w:]*)")
_CPP_TYPE: Final = re.compile(
    r"\b(?:class|struct|union)\b(?:[^():]|::)*?([\w:]*)\s*(?:\bfinal\s*)?(?::[^:].*)?$", re.DOTALL
)
_CPP_FUNCTION: Final = re.compile(
    r"((?:\w+\s*::\s*)*(?:operator\s*(?:\(\s*\)|[^\s\w(]+|\w[\w\s*&]*)|~?\w+))\s*\("
)
_NO_FUNCTION: Final = frozenset(
    {
        *("if", "for", "while", "switch", "catch", "return", "alignas", "decltype", "noexcept"),
        *("explicit", "requires", "throw", "sizeof", "__attribute__", "__declspec"),
    }
)


@cache
def definitions(file: Path) -> tuple[DefinedFunction, ...]:
    """The functions that a file defines; none if it is missing."""
    if not file.is_file():
        return ()
    return tuple(defined_in(file.read_text(encoding="utf-8", errors="replace")))


def defined_in(text: str) -> Iterator[DefinedFunction]:
    """The functions that a text defines, by their braces."""
    code = _ARRAY.sub(_blank, _NO_CODE.sub(_blank, text))
    plain = _DIRECTIVE.sub(_blank, code)
    blocks: list[_Block] = []
    branches: list[list[_Block]] = []
    ends_of_lines = [found.start() for found in re.finditer("\n", text)]
    begins = 0
    for mark in _MARKS.finditer(code):
        if condition := mark["condition"]:
            # Of code for several systems, each part may open the same braces.
            if condition.startswith("if"):
                branches.append([*blocks])
            elif branches and condition.startswith("el"):
                blocks = [*branches[-1]]
            elif branches:
                branches.pop()
            continue
        if mark[0] == "{":
            blocks.append(_block(plain, begins, mark.start(), blocks))
        elif mark[0] == "}" and blocks:
            block = blocks.pop()
            goes_on = block.definition and _GOES_ON.match(plain, mark.end())
            if block.is_value or goes_on:
                begins = block.begins
                continue
            if block.definition:
                name, at = block.definition
                above = [one.name for one in blocks if one.name]
                places = at, block.begins, mark.start()
                line, first, last = (1 + bisect_left(ends_of_lines, one) for one in places)
                yield DefinedFunction("::".join([*above, name]), line, first, last)
        begins = mark.end()


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _block(code: str, begins: int, ends: int, around: list[_Block]) -> _Block:
    """What a block is, by the text before its brace."""
    header = code[max(begins, ends - _LONGEST_HEADER) : ends].lstrip()
    begins = ends - len(header)
    if header.count("(") > header.count(")") or header.rstrip().endswith(("=", "return")):
        return _Block(begins, is_value=True)
    if found := _RUST_FUNCTION.search(header):
        return _Block(begins, definition=(found[1], begins + found.start(1)))
    if around and (around[-1].definition or around[-1].is_inside):
        return _Block(begins, is_inside=True)
    types = _ATTRIBUTE.sub(_blank, header.replace("->", "  "))
    while _TYPES.search(types):
        types = _TYPES.sub(_blank, types)
    scopes = _RUST_IMPL, _RUST_SCOPE, _CPP_NAMESPACE
    scope = next(filter(None, (one.search(types) for one in scopes)), None)
    called = (one for one in _CPP_FUNCTION.finditer(types) if one[1] not in _NO_FUNCTION)
    if not scope and (found := next(called, None)):
        name = re.sub(r"\s", "", found[1])
        return _Block(begins, definition=(name, begins + found.start(1)))
    scope = scope or _CPP_TYPE.search(types)
    return _Block(begins, scope[1] if scope else "")
