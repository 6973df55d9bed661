"""What stands for `{filter}` in the command of a suite: names, as a filter of its tool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from benchgate.config.program_benchmarks import FILTER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.config import SuiteBenchmark

# The system takes no longer argument than 128 KiB.
_LONGEST = 100_000
# Those of C++ refuse to escape anything else, such as a bracket that closes.
_SPECIAL = re.compile(r"[\\.^$*+?()\[{|]")
_GO_NAME = re.compile(r"(?:^|\.)(Benchmark.*)", re.DOTALL)
_GO_PROCS = re.compile(r"(-\d+)$")
_PYTEST_WORD = re.compile(r"[\w:+.\[\]-]+")
_CATCH2_SPECIAL = re.compile(r'[\\,\[\]"~]')


def _literal(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _one_of(patterns: Iterable[str]) -> str:
    return f"^({'|'.join(dict.fromkeys(patterns))})$"


def _names(names: Sequence[str]) -> str:
    """For a tool that searches the whole name: Google Benchmark, Criterion."""
    return _one_of(map(_literal, names))


def _go(names: Sequence[str]) -> str:
    """For -bench, where each level of a name has a regular expression of its own.

    The ids begin with the package. They may end with a number of processors, which is not part of
    the name, or with any other number, which is.
    """
    by_parent: dict[str, list[str]] = {}
    for id_ in names:
        found = _GO_NAME.search(id_)
        *parents, last = (found[1] if found else id_).split("/")
        above = "".join(f"^{_literal(one)}$/" for one in parents)
        by_parent.setdefault(above, []).append(_GO_PROCS.sub(r"(\1)?", _literal(last)))
    return "|".join(f"{above}{_one_of(each)}" for above, each in by_parent.items())


def _vitest(names: Sequence[str]) -> str:
    """For -t, which searches the names of the blocks and of the benchmark, with spaces between.

    The ids begin with the file.
    """
    inside = (id_.partition(" > ")[2] or id_ for id_ in names)
    found = (_literal(one).replace(" > ", "( >)? ") for one in inside)
    return f"(^| )({'|'.join(dict.fromkeys(found))})$"


def _mitata(names: Sequence[str]) -> str:
    """For `filter`, which searches the name without its group and its arguments."""
    bare = (re.sub(r"\[[^\[\]]*\]$", "", id_.rpartition(" > ")[2]) for id_ in names)
    return f"({'|'.join(dict.fromkeys(map(_literal, bare)))})"


def _pytest(names: Sequence[str]) -> str:
    """For -k, which searches the names of tests; it knows parameters only if they are simple."""
    words = []
    for id_ in names:
        test, bracket, parameters = id_.partition("[")
        name = test.rpartition("::")[2]
        whole = f"{name}{bracket}{parameters}"
        words.append(whole if _PYTEST_WORD.fullmatch(whole) else name)
    return " or ".join(dict.fromkeys(words)) if all(map(_PYTEST_WORD.fullmatch, words)) else ""


def _catch2(names: Sequence[str]) -> str:
    """For the names of test cases: which part of an id is one, and which a section, is unknown."""
    cases: dict[str, None] = {}
    for id_ in names:
        parts = id_.split("/")
        cases |= dict.fromkeys("/".join(parts[:end]) for end in range(1, len(parts)))
    return ",".join(_CATCH2_SPECIAL.sub(r"\\\g<0>", one) for one in cases if one.strip())


# By format: what selects everything, and what selects at least the benchmarks of these ids.
FILTERS: Final[Mapping[str, tuple[str, Callable[[Sequence[str]], str]]]] = {
    "catch2": ("", _catch2),
    "criterion": (".", _names),
    "go": (".", _go),
    "google-benchmark": (".", _names),
    "mitata": (".", _mitata),
    "pytest-benchmark": ("", _pytest),
    "vitest": (".", _vitest),
}


def filter_of(format_name: str, names: Sequence[str]) -> str:
    """Select benchmarks in the words of their tool; others may be selected as well.

    Args:
        names: ids of the tool; none to select everything.
    """
    everything, some = FILTERS[format_name]
    found = some(names) if names else ""
    return found if found and len(found.encode()) <= _LONGEST else everything


def why_no_filter(suite: SuiteBenchmark) -> str:
    """Say why nothing can stand for `{filter}`; "" if something can, or if it is not there."""
    if not suite.has_filter or suite.format in FILTERS:
        return ""
    known = ", ".join(FILTERS)
    if suite.format is None:
        return f"{FILTER} needs `format`, which says how the tool filters: one of {known}"
    return f"benchgate does not know how {suite.format} filters: {FILTER} needs one of {known}"
