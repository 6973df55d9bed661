"""Finds out which names code looks up, where only the other side has a function of that name.

Only while there are such names, `getattr` and what is like it are replaced: no event tells what
they are asked for, and a name may be put together, or come from a file.
"""

from __future__ import annotations

import builtins
import os
import re
import sys

from .failures import OWN_FOLDER
from .standard import FOLDER, STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType
    from typing import Any


# Names by which code goes through everything that a module or a class has.
ENUMERATING = frozenset({"__dict__", "f_globals"})
ENUMERATING_ITSELF = frozenset({"globals", "locals"})
STAR = ("*",)
# A flag of functions; the text of modules and classes has code of its own.
IS_FUNCTION = 0x1
WORD = re.compile(r"\w+")
PLAIN_TYPES = frozenset({"type", "ABCMeta", "_ProtocolMeta"})
# The standard library's modules with classes that call no method of a class derived from them.
PLAIN_BASES = frozenset({"abc", "typing", "contextlib"})
# What functions that are not written in Python look for in objects of any class.
LOOKED_FOR_BY_C = frozenset(
    {
        *("keys", "items", "read", "readinto", "readline", "write", "flush", "close", "peek"),
        *("fileno", "isatty", "send", "throw", "mro", "getbuffer", "tobytes", "as_integer_ratio"),
        *("add_done_callback", "get_loop", "cancel", "_asyncio_future_blocking"),
    }
)
# What is no name of one function, but of what differs in several, with those who read it.
READ_BY = {
    "__doc__": frozenset({"getdoc", "_getdoc", "_finddoc"}),
    "__annotations__": frozenset(
        {"get_type_hints", "get_annotations", "_signature_from_function", "getfullargspec"}
    ),
    "co_code": frozenset({"get_instructions", "_disassemble_recursive", "findlabels"}),
}
# Tools that read annotations and code of what they run, and do no other work because of them.
TOOLS = tuple(os.sep + name + os.sep for name in ("_pytest", "pluggy", "pytest_benchmark"))


class LookedUp:
    """Watches, from construction on, for names.

    Args:
        names: [name, file, class]: functions that only the other side has, or a name of `READ_BY`
            for what differs in a file.
    """

    def __init__(self, root: str, names: list[tuple[str, str, str]]) -> None:
        self.root = root
        self.names = names
        self.wanted = frozenset(name for name, _, _ in names)
        self.asked: dict[str, None] = {}
        # Modules of which everything was listed.
        self.listed: dict[str, None] = {}
        # Of the code that was looked at: the names that it looks up, what it reads of `READ_BY`,
        # and that which may go through all names by itself.
        self.words = set(LOOKED_FOR_BY_C)
        self.read: set[str] = set()
        self.listing: list[CodeType] = []
        self.has_star = False
        if names:
            self.begin()

    def begin(self) -> None:
        with STANDARD_LIBRARY:
            import operator  # noqa: PLC0415 - only here

        wrap(builtins, "getattr", self.ask_second)
        wrap(builtins, "hasattr", self.ask_second)
        wrap(operator, "attrgetter", self.ask_each)
        wrap(operator, "methodcaller", self.ask_each)
        list_, items = builtins.dir, builtins.vars

        def dir(*of: Any) -> Any:  # noqa: A001 - the name that it has for the user
            self.note_listed(of)
            return list_(*of) if of else sorted(sys._getframe(1).f_locals)  # noqa: SLF001 - the caller's

        def vars(*of: Any) -> Any:  # noqa: A001 - as above
            self.note_listed(of)
            return items(*of) if of else sys._getframe(1).f_locals  # noqa: SLF001 - the caller's

        replace(builtins, "dir", dir)
        replace(builtins, "vars", vars)

    def ask_second(self, _: Any = None, name: Any = None, *__: Any) -> None:
        if type(name) is str and name in self.wanted:
            file = sys._getframe(2).f_code.co_filename  # noqa: SLF001 - who asks
            if not file.startswith(OWN_FOLDER) and (
                name not in READ_BY or file.startswith(self.root)
            ):
                self.asked[name] = None

    def ask_each(self, *names: Any, **_: Any) -> None:
        for name in names:
            if type(name) is str:
                self.asked.update(dict.fromkeys(name.split(".")))

    def note_listed(self, of: tuple[Any, ...]) -> None:
        if sys._getframe(2).f_code.co_name == "get_annotations":  # noqa: SLF001 - who asks
            return
        for one in of[:1]:
            kind = type(one)
            if issubclass(kind, type(sys)):
                self.listed[one.__name__] = None
                continue
            for each in type.mro(one) if kind is type else kind.__mro__:
                self.listed[str(each.__dict__.get("__module__"))] = None
            if issubclass(kind, type):
                for each in one.__mro__:
                    self.listed[str(each.__dict__.get("__module__"))] = None

    def look_at(self, codes: list[CodeType]) -> None:
        """Look at code that has run."""
        if not self.names:
            return
        for code in codes:
            if code.co_filename.startswith((OWN_FOLDER, "<frozen")):
                continue
            is_standard = is_of_standard(code.co_filename)
            if not is_standard or code.co_flags & IS_FUNCTION:
                self.words.update(code.co_names)
            if not is_standard:
                for text in texts_in(code.co_consts):
                    if len(text.split()) == 1:
                        self.words.update(WORD.findall(text))
            if code.co_filename.startswith(self.root):
                self.has_star |= STAR in code.co_consts
                if (ENUMERATING | ENUMERATING_ITSELF).intersection(code.co_names):
                    self.listing.append(code)
            self.read.update(name for name in READ_BY if self.reads(code, name))

    def found(self, files: frozenset[str]) -> list[int]:
        """Return which names the code may look up, or meet as it goes through all names.

        Args:
            files: what it has imported or opened.
        """
        own = {n: each for n, each in enumerate(self.names) if each[1] in files}
        if not own:
            return []
        listed = {*map(file_of, self.listed), *self.files_listed(files)}
        return [
            number
            for number, (name, file, owner) in own.items()
            if name in (self.read if name in READ_BY else self.words)
            or name in self.asked
            or (file in listed and name not in READ_BY)
            or not is_plain(file, owner)
        ]

    def files_listed(self, files: Iterable[str]) -> Iterator[str]:
        """Return the files of which code may go through all names by itself."""
        for code in self.listing:
            is_any = ENUMERATING.intersection(code.co_names)
            yield from files if is_any or self.has_star else [real_path(code.co_filename)]

    def reads(self, code: CodeType, name: str) -> bool:
        file = code.co_filename
        if any(tool in file for tool in TOOLS):
            return False
        if not code.co_flags & IS_FUNCTION:
            return file.startswith(self.root) and name in code.co_names and gets(code, name)
        if is_of_standard(file):
            return code.co_name in READ_BY[name]
        return name in code.co_names and (name == "__annotations__" or file.startswith(self.root))


def wrap(module: Any, name: str, tell: Any) -> None:
    function = getattr(module, name)

    def wrapped(*arguments: Any, **more: Any) -> Any:
        tell(*arguments)
        return function(*arguments, **more)

    replace(module, name, wrapped)


def replace(module: Any, name: str, function: Any) -> Any:
    """Replace a function in C by one that, like it, does not become a method in a class."""
    members = {"__call__": staticmethod(function), "__reduce__": lambda _: name}
    one: Any = type(name, (), members)()
    one.__name__ = one.__qualname__ = name
    one.__module__ = module.__name__
    setattr(module, name, one)
    return one


def gets(code: CodeType, name: str) -> bool:
    """Tell whether code gets an attribute; that of a module and a class also has that of a text."""
    with STANDARD_LIBRARY:
        import dis  # noqa: PLC0415 - only here

        return any(
            one.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")) and one.argval == name
            for one in dis.get_instructions(code)
        )


def is_of_standard(file: str) -> bool:
    return file.startswith(FOLDER) and "-packages" not in file


def file_of(module: str) -> str:
    own = getattr(sys.modules.get(module), "__dict__", {}).get("__file__")
    return real_path(own) if isinstance(own, str) else ""


REAL_PATHS: dict[str, str] = {}


def real_path(path: str) -> str:
    """Return a path without links. It is remembered, also for forks: there are thousands."""
    found = REAL_PATHS.get(path)
    if found is None:
        found = REAL_PATHS[path] = os.path.realpath(path)
    return found


def is_plain(file: str, owner: str) -> bool:
    """Tell whether nothing looks at the names of a class, unless it looks for one."""
    if not owner:
        return True
    for name in list(sys.modules):
        if file_of(name) == file:
            found: Any = sys.modules[name]
            for part in owner.split("."):
                found = getattr(found, "__dict__", {}).get(part)
            hook = getattr(found, "__init_subclass__", None)
            return (
                type(found).__name__ in PLAIN_TYPES
                and type(hook).__name__ == "builtin_function_or_method"
                and all(map(is_plain_base, found.__mro__[1:]))
            ) or is_generic(found, hook)
    return False


def is_generic(found: Any, hook: Any) -> bool:
    """Tell whether a class only has a parameter, or describes others."""
    return (
        type(found).__name__ in PLAIN_TYPES
        and getattr(hook, "__func__", None) is not None
        and hook.__func__.__module__ == "typing"
        and all(map(is_plain_base, found.__mro__[1:]))
    )


def is_plain_base(base: type) -> bool:
    """Tell whether a class calls no method by its name that it does not have itself."""
    if base is object or issubclass(base, BaseException) or base.__module__ in PLAIN_BASES:
        return True
    file = file_of(base.__module__)
    return bool(file) and not is_of_standard(file)


def texts_in(constants: Iterable[Any]) -> Iterator[str]:
    for each in constants:
        if isinstance(each, str):
            yield each
        elif isinstance(each, (tuple, frozenset)):
            yield from texts_in(each)
