"""Reads profiles in the format of pprof: which functions ran, and where they were called from.

https://github.com/google/pprof/blob/main/proto/profile.proto has the format.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.measure.observing.changed_lines import last_word
from benchgate.model.calls import MOST_NODES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

# Fields of the messages, by their numbers there.
_SAMPLE, _LOCATION, _FUNCTION, _STRING = 2, 4, 5, 6
_ID, _PLACES, _VALUES, _LABELS = 1, 1, 2, 3
_LINE, _FUNCTION_ID, _LINE_NUMBER = 4, 1, 2
_NAME, _FILE, _BEGINS = 2, 4, 5
_LABEL_NAME, _LABEL_VALUE = 1, 2

# The values of a sample that say how often something was seen, and how much that was, by metric:
# of a profile of CPU times samples and ns, of one of memory objects and bytes.
PROFILED: Final = {"time": (0, 1), "alloc_peak": (0, 1), "alloc_blocks": (0, 0)}

_MOST_BYTES: Final = 64 << 20
_GO_TESTING = "testing."
_GO_RUN = "testing.(*B).runN"
_GO_CALLERS = (_GO_RUN, "testing.(*B).RunParallel")
_GO_LABEL = "benchgate"
_GO_RUNTIME = ("runtime.", "internal/runtime/", "runtime/internal/", "internal/abi.")
_GO_INNER = re.compile(r"(?:\.(?:gowrap|func)?|-range)\d+(?=[.-]|$)")
# A type argument is known by its shape, "go.shape.int", with a number before Go 1.20.
_GO_SHAPE = re.compile(r"go\.shape\.|_\d+(?=[],])")
_GO_PATHS = re.compile(r"(?:[^][\s,;{}()*/]+/)+")


@dataclass(frozen=True, slots=True)
class _Function:
    name: str
    file: str
    line: int


@dataclass(slots=True)
class _ProfiledPlace:
    """A function in the place that it is called from.

    Attributes:
        samples: how often it was seen running, or allocating, itself there.
        path: the functions that it is called from, and itself, each with its place.
    """

    number: int
    function: _Function
    path: dict[_Function, _ProfiledPlace]
    samples: int = 0
    below: dict[_Function, _ProfiledPlace] = field(default_factory=dict)


def read_profile(
    data: bytes,
    values: tuple[int, int] = PROFILED["time"],
    before: bytes = b"",
    label: str | None = None,
) -> dict[str, Any]:
    """Read a profile of CPU times, or of memory.

    Args:
        values: which of a sample's values are read, as in `PROFILED`.
        before: an earlier profile of the same process, whose values do not count.
        label: the label of what runs in a benchmark while it is timed; with another one, it does
            not count.

    Returns:
        What a worker replies to `observe`. A place has as many calls as samples were taken in it.
        "inlined" has pairs of functions: the second one was inlined into the first one.

    Raises:
        ValueError: it has another format.
    """
    try:
        stacks, inlined = _amounts(data, values, label)
        earlier = _amounts(before, values)[0] if before else {}
        for stack, (samples, amount) in earlier.items():
            stacks[stack][0] -= samples
            stacks[stack][1] -= amount
    except (OSError, EOFError, zlib.error, IndexError, KeyError, UnicodeDecodeError) as error:
        raise ValueError(f"it is no profile of pprof: {error}") from error
    if not stacks and not before:
        raise ValueError("its profiler has seen nothing")
    places, own = _placed(stacks)
    numbers = {one: number for number, one in enumerate(dict.fromkeys(p.function for p in places))}
    above = {id(one): place.number for place in places for one in place.below.values()}
    return {
        "functions": [
            [one.file, one.line, _short(one.name), own[one], _last_line(one), False]
            for one in numbers
        ],
        "nodes": [[above.get(id(one), -1), numbers[one.function], one.samples] for one in places],
        "inlined": [
            [numbers[outer], numbers[inner]]
            for outer, inner in inlined
            if outer in numbers and inner in numbers
        ],
    }


def _placed(
    stacks: Mapping[tuple[_Function, ...], Sequence[int]],
) -> tuple[list[_ProfiledPlace], Counter[_Function]]:
    """The places of all functions by their numbers, and the amount of each function itself."""
    places: list[_ProfiledPlace] = []
    own = Counter[_Function]()
    top: dict[_Function, _ProfiledPlace] = {}
    for stack, (samples, amount) in stacks.items():
        if samples <= 0:
            continue
        here: _ProfiledPlace | None = None
        for function in stack:
            below = here.below if here else top
            known = (here.path if here else top).get(function) or below.get(function)
            if known is None and len(places) < MOST_NODES:
                path = here.path if here else {}
                known = below[function] = _ProfiledPlace(len(places), function, {**path})
                known.path[function] = known
                places.append(known)
            here = known or here
        if here:
            here.samples += samples
            own[here.function] += amount
    return places, own


def _expanded(data: bytes) -> bytes:
    with gzip.open(BytesIO(data)) as file:
        expanded = file.read(_MOST_BYTES + 1)
    if len(expanded) > _MOST_BYTES:
        raise ValueError(f"its profile is longer than {_MOST_BYTES >> 20} MiB")
    return expanded


def _amounts(
    data: bytes, values: tuple[int, int], label: str | None = None
) -> tuple[dict[tuple[_Function, ...], list[int]], Collection[tuple[_Function, _Function]]]:
    """Of each place where samples were taken: the functions, outermost first, and two values.

    And pairs of functions: the second one was inlined into the first one.
    """
    found: defaultdict[tuple[_Function, ...], list[int]] = defaultdict(lambda: [0, 0])
    profile = _message(_expanded(data))
    strings = [str(text, "utf-8") for text in profile[_STRING]]
    lines = {
        one[_ID][0]: [_message(line) for line in one.get(_LINE, ())]
        for one in map(_message, profile[_LOCATION])
    }
    seen: defaultdict[int, list[int]] = defaultdict(list)
    for line in (line for some in lines.values() for line in some):
        seen[line[_FUNCTION_ID][0]] += line.get(_LINE_NUMBER, [])
    functions = {}
    files = {strings[one.get(_FILE, [0])[0]]: None for one in map(_message, profile[_FUNCTION])}
    for one in map(_message, profile[_FUNCTION]):
        name, named, begins = (one.get(key, [0])[0] for key in (_NAME, _FILE, _BEGINS))
        file = _file_of(strings[name], strings[named], begins, files)
        first = begins or _first_line(Path(file), min(seen[one[_ID][0]], default=0))
        functions[one[_ID][0]] = _Function(strings[name], file, first)
    for one in map(_message, profile[_SAMPLE]):
        places, amounts = (_numbers(one[key]) for key in (_PLACES, _VALUES))
        # Of a place, the first function is inlined into the others.
        inner_first = [functions[line[_FUNCTION_ID][0]] for at in places for line in lines[at]]
        is_untimed = label is not None and _label(one, strings) not in {None, label}
        if is_untimed and any(each.name == _GO_RUN for each in inner_first):
            continue  # what it has started may run longer
        if stack := tuple(_of_benchmark(inner_first[::-1])):
            for at, value in enumerate(values):
                found[stack][at] += amounts[value]
    names = ([functions[line[_FUNCTION_ID][0]] for line in some] for some in lines.values())
    return found, dict.fromkeys((some[-1], inner) for some in names for inner in some[:-1])


def _label(sample: Mapping[int, list[Any]], strings: Sequence[str]) -> str | None:
    """The value of benchgate's label of a sample; None if it has none."""
    labels = (_message(one) for one in sample.get(_LABELS, ()))
    values = (
        strings[one.get(_LABEL_VALUE, [0])[0]]
        for one in labels
        if strings[one[_LABEL_NAME][0]] == _GO_LABEL
    )
    return next(values, None)


def _of_benchmark(stack: list[_Function]) -> Iterator[_Function]:
    """Leave out what calls a benchmark in Go, and what its runtime does inside of a function."""
    callers = [at for at, one in enumerate(stack) if one.name.startswith(_GO_TESTING)]
    if callers and not stack[callers[-1]].name.startswith(_GO_CALLERS):
        return  # it reads its clock, or the like
    below = stack[callers[-1] + 1 :] if callers else stack
    if all(map(_is_runtime, below)):
        return
    is_runtime = False
    for one in below:
        if not (is_runtime and _is_runtime(one)):
            yield one
        is_runtime = _is_runtime(one)


def _is_runtime(one: _Function) -> bool:
    """Whether a function is of the runtime; what is in assembler may have no package."""
    return one.name.startswith(_GO_RUNTIME) or (one.file.endswith(".s") and "." not in one.name)


def _message(data: bytes) -> Mapping[int, list[Any]]:
    """The values of each field of a message, by its number: whole numbers, and bytes."""
    found: defaultdict[int, list[Any]] = defaultdict(list)
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        match key & 7:
            case 0:
                value, at = _number(data, at)
                found[key >> 3].append(value)
            case 2:
                size, at = _number(data, at)
                found[key >> 3].append(data[at : at + size])
                at += size
            case kind:
                raise KeyError(f"kind {kind} of a field")
    return found


def _numbers(values: list[Any]) -> list[int]:
    """The numbers of a field, which may be packed."""
    found = []
    for value in values:
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = _number(value, at)
            found.append(number)
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def _short(name: str) -> str:
    """The name of a function in Go, without the path of its package and of those of its types."""
    own, bracket, types = name.replace("%2e", ".").partition("[")
    types, end, inner = f"{bracket}{types}".rpartition("]")
    types = _GO_PATHS.sub("", _GO_SHAPE.sub("", _without_fields(f"{types}{end}")))
    outer, *parts = _GO_INNER.split(inner if end else own.rpartition("/")[2], maxsplit=1)
    before = f"{own.rpartition('/')[2]}{types}" if end else ""
    return f"{before}{outer}{'.<function>' if parts else ''}"


def _without_fields(types: str) -> str:
    """Leave out what stands in the braces of types: "struct { a int }" is "struct {...}"."""
    kept, depth = [], 0
    for at, character in enumerate(types):
        depth -= character == "}"
        if not depth:
            kept.append(character)
        depth += character == "{"
        if character == "{" and depth == 1 and types[at + 1 : at + 2] != "}":
            kept.append("...")
    return "".join(kept)


def _file_of(name: str, named: str, begins: int, files: Iterable[str]) -> str:
    """The file of a function: Go may name that of another one, which was inlined first."""
    start = re.compile(rf"func .*\b{re.escape(last_word(_short(name)))}\b")
    if not begins or not named.endswith(".go"):
        return named
    for file in (named, *files):
        line = _text(Path(file))[begins - 1 : begins]
        if line and start.match(line[0]):
            return file
    return named


def _first_line(file: Path, line: int) -> int:
    """Where the function begins that a line belongs to, for Go before 1.20; 0 if unknown."""
    lines = _text(file)[:line]
    return next((at for at in range(len(lines), 0, -1) if lines[at - 1].startswith("func ")), line)


def _last_line(function: _Function) -> int:
    """Where a function ends that is written as gofmt does; 0 if that is unknown."""
    lines = _text(Path(function.file))[max(0, function.line - 1) :]
    if not function.line or not lines or lines[0].count("{") == lines[0].count("}"):
        return function.line
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    ends = (at for at, line in enumerate(lines) if at and line.startswith(f"{indent}}}"))
    return function.line + next(ends, 0)


def _text(file: Path) -> list[str]:
    if not file.is_file():
        return []
    return file.read_text(encoding="utf-8", errors="replace").splitlines()
