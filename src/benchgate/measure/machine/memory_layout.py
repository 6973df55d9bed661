"""The memory layout of workers: random in each round, and nearly the same in both arms.

The same code takes up to a tenth longer or shorter depending on where its data happens to lie
(Mytkowicz, Diwan, Hauswirth and Sweeney, 2009), and the OS randomizes that for every process. So
both arms of a round get the same addresses and the same hash seed. Each round gets different
addresses, so that a single lucky address does not decide. If an edit moves data by a few bytes,
this then appears as noise instead of as a difference (Curtsinger and Berger, 2013).

What a loop makes and frees again lies in the blocks that were freed last before it. Others are
freed several times in a launch, so that its samples see several places: see
`_worker/free_blocks.py`.

Only what is mapped after that lies some regions apart, at the same place of a region: the libraries
that the user's code loads, large objects, and the next arena of Python's allocator when the first
ones are full. A CPU remembers how branches went by their addresses, for both processes that take
turns on it. If different code of both arms lay at the same addresses, each would be predicted by
what the other did.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator


# Linux, personality(2).
_ADDR_NO_RANDOMIZE = 0x0040000
_QUERY = 0xFFFFFFFF
_REFUSED = -1

# CPython's allocator serves objects of 16, 32, ... 512 bytes from pools of 16 KiB.
_BLOCK_BYTES = range(16, 513, 16)
_POOL_BYTES = 16 * 1024
_CHUNKS = 16
_CHUNK_BYTES = range(512, 16 * 1024, 16)
_PAGE_BYTES = 4096
_GAP_PAGES = range(64, 4096)
# As large as a huge page, so that addresses in different regions are alike to caches and the OS.
REGION_BYTES = 2 * 2**20
# With these, all gaps have eight digits, so that requests are equally long.
_REGIONS = range(5, 21)


@dataclass(frozen=True, slots=True)
class Layout:
    """Memory that a worker fills before the user's code, and so decides where its data lies.

    Attributes:
        hash_seed: seed of Python's hashes of strings, which order sets.
        padding_bytes: bytes of padding on the stack.
        blocks: numbers of objects of 16, 32, ... 512 bytes.
        chunks: sizes of larger objects, in bytes.
        gap_bytes: reserved address space without memory behind it.
        round_index: the round, in which programs that are linked for a round have their functions
            at other places.
    """

    hash_seed: int = 0
    padding_bytes: int = 0
    blocks: tuple[int, ...] = ()
    chunks: tuple[int, ...] = ()
    gap_bytes: int = 0
    round_index: int = 0

    @property
    def variables(self) -> dict[str, str]:
        """The variables to start a process with; the process removes the padding variable."""
        padding = "-" * self.padding_bytes
        return {"PYTHONHASHSEED": str(self.hash_seed), "BENCHGATE_PADDING": padding}


def draw_layouts(rng: random.Random, count: int, round_index: int = 0) -> list[Layout]:
    """Draw the layouts of a round, one for each arm: equal, but in different regions.

    All places in a pool, a page and a line are equally likely.
    """
    layout = Layout(
        hash_seed=rng.randrange(1, 2**32),
        padding_bytes=rng.randrange(_PAGE_BYTES),
        blocks=tuple(rng.randrange(_POOL_BYTES // size) for size in _BLOCK_BYTES),
        chunks=tuple(rng.choice(_CHUNK_BYTES) for _ in range(_CHUNKS)),
        gap_bytes=rng.choice(_GAP_PAGES) * _PAGE_BYTES,
        round_index=round_index,
    )
    return [
        replace(layout, gap_bytes=layout.gap_bytes + region * REGION_BYTES)
        for region in rng.sample(_REGIONS, count)
    ]


@contextmanager
def fixed_addresses() -> Iterator[bool]:
    """Let all processes that this thread starts meanwhile begin at the same addresses.

    Yields whether this works. Only Linux can do it, and containers often forbid it. If it fails,
    the OS randomizes the addresses of every process, and launches spread more.
    """
    before = _personality(_QUERY)
    fixed = before != _REFUSED and _personality(before | _ADDR_NO_RANDOMIZE) != _REFUSED
    try:
        yield fixed
    finally:
        if fixed:
            _personality(before)


def why_not_fixed() -> str:
    """Say why addresses cannot be fixed here; "" if they can."""
    with fixed_addresses() as fixed:
        if fixed:
            return ""
    if sys.platform != "linux":
        return f"{sys.platform} randomizes them for every process"
    return "the OS refused personality(2); a container needs --security-opt seccomp=unconfined"


def _personality(flags: int) -> int:
    """Set the execution domain of this thread; return the previous one, -1 if refused."""
    if sys.platform != "linux":
        return _REFUSED
    previous: int = ctypes.CDLL(None).personality(ctypes.c_ulong(flags))
    return previous
