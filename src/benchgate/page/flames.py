"""Lays out what a benchmark calls on both sides: the base, the head, and where they differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import nsmallest
from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar, Final

from benchgate.escape import plain_line
from benchgate.report import words
from benchgate.units import format_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchgate.model.calls import CallTree


_MOST_FRAMES: Final = 300
_DEEPEST: Final = 40
_NAME_LIMIT: Final = 80
# Per width of a letter in the font of the frames, in units of the drawing.
_LETTER: Final = 6.3


@dataclass(frozen=True, slots=True)
class Frame:
    """A function in the place that it is called from, as a rectangle.

    Attributes:
        x, width, y: in units of the drawing.
        title: all that is known of it, in a line.
        text: as much of the name as fits; "" if nothing does.
        side: "more" or "less" time in the head; "" if that hardly differs.
        strength: how much of the whole difference it is, from 1 to 4.
    """

    x: float
    width: float
    y: int
    title: str
    text: str
    side: str
    strength: int


@dataclass(frozen=True, slots=True)
class FlameView:
    """One drawing.

    Attributes:
        name: what its widths stand for.
    """

    name: str
    height: int
    frames: tuple[Frame, ...]

    WIDTH: ClassVar = 1000
    ROW: ClassVar = 18


@dataclass(slots=True)
class _FramePlace:
    """A function in the place that it is called from, on both sides.

    Attributes:
        above: what calls it; None for the root.
        own_s, calls: in one operation of base and head.
        all_s: the time with that of everything below.
        is_counted: whether the calls are exact.
    """

    name: str
    above: _FramePlace | None = None
    own_s: list[float] = field(default_factory=lambda: [0.0, 0.0])
    all_s: list[float] = field(default_factory=lambda: [0.0, 0.0])
    calls: list[float] = field(default_factory=lambda: [0.0, 0.0])
    is_counted: bool = True
    below: dict[str, _FramePlace] = field(default_factory=dict)


def flames(base: CallTree, head: CallTree, redact: Callable[[str], str]) -> tuple[FlameView, ...]:
    """Draw both sides, and first what differs; nothing if no time was observed.

    In each drawing, the width of a function is its time with that of all that it calls. In the last
    one, which has the difference, too, it is its own time, and those that call it are below it.
    """
    root = _FramePlace("")
    places: list[_FramePlace] = []
    for side, tree in enumerate((base, head)):
        _add(root, places, tree, side, redact)
    for place in reversed(places):  # what is called comes after what calls it
        for side, own_s in enumerate(place.own_s):
            place.all_s[side] += own_s
            (place.above or root).all_s[side] += place.all_s[side]
    times_s = root.all_s[0], root.all_s[1]
    if not all(times_s):
        return ()
    larger = int(times_s[1] >= times_s[0])
    views = {"difference": larger, "base": 0, "head": 1}
    callers = _callers(root, places, larger)
    return (
        *(_view(name, root, side, times_s) for name, side in views.items()),
        _view("callers", callers, larger, times_s),
    )


def _callers(root: _FramePlace, places: Sequence[_FramePlace], side: int) -> _FramePlace:
    """The own time of each function, then of those that call it, as far as it can be drawn."""
    callers = _FramePlace("")
    least_s = root.all_s[side] / FlameView.WIDTH
    waiting = [(callers, 0, [(place, place) for place in places])]
    while waiting:
        to, depth, paths = waiting.pop()
        alike: dict[str, list[tuple[_FramePlace, _FramePlace]]] = {}
        for function, at in paths:
            alike.setdefault(at.name, []).append((function, at))
        for name, some in alike.items():
            both = ([function.own_s[side] for function, _ in some] for side in (0, 1))
            one = _FramePlace(name, to, all_s=list(map(sum, both)), is_counted=False)
            to.below[name] = one
            if depth < _DEEPEST and one.all_s[side] >= least_s:
                farther = [(function, at.above) for function, at in some]
                rest = [(function, at) for function, at in farther if at and at is not root]
                waiting.append((one, depth + 1, rest))
    return callers


def _add(
    root: _FramePlace,
    places: list[_FramePlace],
    tree: CallTree,
    side: int,
    redact: Callable[[str], str],
) -> None:
    """Add the calls of a side.

    Args:
        places: each new place is appended.
    """
    counts = [0] * len(tree.functions)
    for _, number, count in tree.nodes:
        counts[number] += count
    names = [plain_line(redact(one.name), _NAME_LIMIT) for one in tree.functions]
    of_nodes: list[_FramePlace] = []
    for parent, number, count in tree.nodes:
        above = of_nodes[parent] if parent >= 0 else root
        name = names[number]
        if name not in above.below:
            above.below[name] = _FramePlace(name, above)
            places.append(above.below[name])
        place = above.below[name]
        place.calls[side] += count / tree.operations
        place.is_counted &= tree.functions[number].is_counted
        own_s = tree.functions[number].own / tree.operations
        place.own_s[side] += own_s * count / max(1, counts[number])
        of_nodes.append(place)


def _view(name: str, root: _FramePlace, side: int, times_s: tuple[float, float]) -> FlameView:
    scale = FlameView.WIDTH / times_s[side]
    whole_s = abs(times_s[1] - times_s[0]) if name in {"difference", "callers"} else 0.0
    widest = nsmallest(_MOST_FRAMES, _placed(root, side, scale), key=itemgetter(0, 1, 2))
    frames = tuple(
        _frame(place, x, -minus_width, depth, whole_s) for minus_width, depth, x, place in widest
    )
    height = FlameView.ROW + max((one.y for one in frames), default=0)
    return FlameView(name, height, frames)


def _placed(
    root: _FramePlace, side: int, scale: float
) -> Iterator[tuple[float, int, float, _FramePlace]]:
    """What can be drawn: minus its width, its depth, and where it begins."""
    waiting = [(root, -1, 0.0)]
    while waiting:
        above, depth, x = waiting.pop()
        for place in above.below.values():
            width = place.all_s[side] * scale
            if width >= 1 and depth + 1 < _DEEPEST:
                yield -width, depth + 1, x, place
                waiting.append((place, depth + 1, x))
            x += width


def _frame(place: _FramePlace, x: float, width: float, depth: int, whole_s: float) -> Frame:
    base_s, head_s = place.all_s
    share = (head_s - base_s) / whole_s if whole_s else 0.0
    letters = int((width - 6) / _LETTER)
    return Frame(
        round(x, 2),
        round(width, 2),
        depth * FlameView.ROW,
        _title(place, base_s, head_s),
        place.name if len(place.name) <= letters else place.name[: max(0, letters - 1)],
        "" if abs(share) < 0.02 else "more" if share > 0 else "less",
        max(1, round(4 * min(1.0, abs(share)))),
    )


def _title(place: _FramePlace, base_s: float, head_s: float) -> str:
    arrow = f" {words.ARROW} "
    times = arrow.join(format_values((base_s, head_s), "s"))
    if not place.is_counted:
        return f"{place.name}: {times}"
    calls = arrow.join(dict.fromkeys(f"{count:,.4g}" for count in place.calls))
    return f"{place.name}: {times}, calls: {calls}"
