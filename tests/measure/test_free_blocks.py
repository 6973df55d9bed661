from __future__ import annotations

import sys
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from benchgate._worker import free_blocks
from benchgate._worker.free_blocks import PARTS, FreeBlocks, kinds

if TYPE_CHECKING:
    from collections.abc import Callable

MADE: dict[str, Callable[[], object]] = {
    "object": object,
    "float": lambda: float("1.5"),
    "list": lambda: [],  # noqa: PIE807 - `list()` does not take what was kept
    "dict": lambda: {},  # noqa: PIE807 - as above
    "1-tuple": lambda: (object(),),
    "pair": lambda: (object(), None),
    "48 bytes": lambda: bytes(10),
    "128 bytes": lambda: bytes(90),
    "512 bytes": lambda: bytes(470),
}


def places(clock: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> dict[str, set[int]]:
    """The addresses of objects that are made and freed between draws."""
    monkeypatch.setattr(free_blocks, "perf_counter_ns", clock)
    blocks = FreeBlocks()
    found = defaultdict(set)
    for _ in range(PARTS):
        blocks.draw()
        for name, make in MADE.items():
            found[name].add(id(make()))
    return found


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="other allocators")
def test_what_is_made_and_freed_lies_at_other_places_after_a_draw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks = iter(range(0, 10**12, free_blocks.BETWEEN_NS))
    found = places(lambda: next(ticks), monkeypatch)
    assert min(map(len, found.values())) > PARTS // 2, {k: len(v) for k, v in found.items()}


def test_nothing_is_drawn_before_it_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now_ns = 0
    monkeypatch.setattr(free_blocks, "perf_counter_ns", lambda: now_ns)
    blocks = FreeBlocks()
    free = blocks.free
    now_ns = free_blocks.BETWEEN_NS - 1
    blocks.draw()
    assert blocks.free == free
    now_ns += 1
    blocks.draw()
    assert blocks.free != free


def test_every_size_of_the_allocator_is_drawn() -> None:
    sizes = {sys.getsizeof(make(*arguments)) for make, arguments, _ in kinds()}
    assert set(range(16, free_blocks.LARGEST_BLOCK_BYTES + 1, 16)) <= {
        -(-size // 16) * 16 for size in sizes
    }


def test_one_part_is_free_and_all_others_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_blocks, "BETWEEN_NS", 0)
    blocks = FreeBlocks()
    each = sum(count for _, _, count in blocks.kinds)
    for _ in range(PARTS + 1):
        assert sorted(map(len, blocks.parts)) == [0] + [each] * (PARTS - 1)
        blocks.draw()
