"""Lays out what a benchmark calls on both sides: the base, the head, and where they differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final

from benchgate.escape import plain_line
from benchgate.report import words
from benchgate.units import format_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
        own_s, calls: in one operation of base and head.
        is_counted: whether the calls are exact.
    """

    name: str
    own_s: list[float] = field(default_factory=lambda: [0.0, 0.0])
    calls: list[float] = field(default_factory=lambda: [0.0, 0.0])
    is_counted: bool = True
    below: dict[str, _FramePlace] = field(default_factory=dict)

    def all_s(self, side: int) -> float:
        """The time with that of everything below."""
        return self.own_s[side] + sum(one.all_s(side) for one in self.below.values())


def flames(base: CallTree, head: CallTree, redact: Callable[[str], str]) -> tuple[FlameView, ...]:
    """Draw both sides, and first what differs; nothing if no time was observed.

    In each drawing, the width of a function is its time with that of all that it calls. In the last
    one, which has the difference, too, it is its own time, and those that call it are below it.
    """
    root, callers = _FramePlace(""), _FramePlace("")
    for side, tree in enumerate((base, head)):
        _add(root, tree, side, redact)
    for place in root.below.values():
        _turn(callers, place, ())
    times_s = root.all_s(0), root.all_s(1)
    if not all(times_s):
        return ()
    larger = int(times_s[1] >= times_s[0])
    views = {"difference": larger, "base": 0, "head": 1}
    return (
        *(_view(name, root, side, times_s) for name, side in views.items()),
        _view("callers", callers, larger, times_s),
    )


def _turn(callers: _FramePlace, place: _FramePlace, above: tuple[str, ...]) -> None:
    """Add the own time of a function, and of all below it, to what is read from the other end."""
    to = callers
    for name in (place.name, *reversed(above)):
        to = to.below.setdefault(name, _FramePlace(name, is_counted=False))
    for side, own_s in enumerate(place.own_s):
        to.own_s[side] += own_s
    for one in place.below.values():
        _turn(callers, one, (*above, place.name))


def _add(root: _FramePlace, tree: CallTree, side: int, redact: Callable[[str], str]) -> None:
    counts = [0] * len(tree.functions)
    for _, number, count in tree.nodes:
        counts[number] += count
    names = [plain_line(redact(one.name), _NAME_LIMIT) for one in tree.functions]
    places: list[_FramePlace] = []
    for parent, number, count in tree.nodes:
        above = places[parent] if parent >= 0 else root
        place = above.below.setdefault(names[number], _FramePlace(names[number]))
        place.calls[side] += count / tree.operations
        place.is_counted &= tree.functions[number].is_counted
        own_s = tree.functions[number].own / tree.operations
        place.own_s[side] += own_s * count / max(1, counts[number])
        places.append(place)


def _view(name: str, root: _FramePlace, side: int, times_s: tuple[float, float]) -> FlameView:
    scale = FlameView.WIDTH / times_s[side]
    differs = name in {"difference", "callers"}
    frames = sorted(_frames(root, side, scale, abs(times_s[1] - times_s[0]), differs=differs))
    kept = [one for _, one in frames[:_MOST_FRAMES]]
    height = FlameView.ROW + max((one.y for one in kept), default=0)
    return FlameView(name, height, tuple(kept))


def _frames(
    root: _FramePlace, side: int, scale: float, whole_s: float, *, differs: bool
) -> Iterator[tuple[tuple[float, int, float], Frame]]:
    """Give the frames, each after what tells which are drawn: the widest."""
    waiting = [(one, x, 0) for one, x in _beside(root, 0.0, side, scale)]
    while waiting:
        place, x, depth = waiting.pop()
        width = place.all_s(side) * scale
        if depth >= _DEEPEST or width < 1:
            continue
        base_s, head_s = place.all_s(0), place.all_s(1)
        share = (head_s - base_s) / whole_s if whole_s and differs else 0.0
        letters = int((width - 6) / _LETTER)
        frame = Frame(
            round(x, 2),
            round(width, 2),
            depth * FlameView.ROW,
            _title(place, base_s, head_s),
            place.name if len(place.name) <= letters else place.name[: max(0, letters - 1)],
            "" if abs(share) < 0.02 else "more" if share > 0 else "less",
            max(1, round(4 * min(1.0, abs(share)))),
        )
        yield (-width, depth, x), frame
        waiting += [(one, at, depth + 1) for one, at in _beside(place, x, side, scale)]


def _beside(
    place: _FramePlace, x: float, side: int, scale: float
) -> Iterator[tuple[_FramePlace, float]]:
    for one in place.below.values():
        yield one, x
        x += one.all_s(side) * scale


def _title(place: _FramePlace, base_s: float, head_s: float) -> str:
    arrow = f" {words.ARROW} "
    times = arrow.join(format_values((base_s, head_s), "s"))
    if not place.is_counted:
        return f"{place.name}: {times}"
    calls = arrow.join(dict.fromkeys(f"{count:,.4g}" for count in place.calls))
    return f"{place.name}: {times}, calls: {calls}"
