"""The memory layout of workers: random in each round, and the same in both arms.

The same code takes up to a tenth longer or shorter depending on where its data happens to lie
(Mytkowicz, Diwan, Hauswirth and Sweeney, 2009), and the OS draws that anew for every process. So
the arms of a round are given the same addresses, as they are given the same hash seed. To keep
one lucky address from deciding, each round has others: what an edit moves by a few bytes then is
noise, and not a difference (Curtsinger and Berger, 2013).
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import contextmanager
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Layout:
    """What lies in a worker's memory before the user's code, and decides where that comes to lie.

    Attributes:
        hash_seed: of Python's dictionaries and sets.
        padding_bytes: on the stack.
        blocks: objects of 16, 32, ... 512 bytes.
        chunks: sizes of larger ones, in bytes.
        gap_bytes: of address space, without memory behind it.
    """

    hash_seed: int = 0
    padding_bytes: int = 0
    blocks: tuple[int, ...] = ()
    chunks: tuple[int, ...] = ()
    gap_bytes: int = 0

    @property
    def variables(self) -> dict[str, str]:
        """What a process must be started with; it removes the padding from its environment."""
        padding = "-" * self.padding_bytes
        return {"PYTHONHASHSEED": str(self.hash_seed), "BENCHGATE_PADDING": padding}


def draw_layout(rng: random.Random) -> Layout:
    """Draw the layout of a round: every place in a pool, a page and a line is as likely."""
    return Layout(
        hash_seed=rng.randrange(1, 2**32),
        padding_bytes=rng.randrange(_PAGE_BYTES),
        blocks=tuple(rng.randrange(_POOL_BYTES // size) for size in _BLOCK_BYTES),
        chunks=tuple(rng.choice(_CHUNK_BYTES) for _ in range(_CHUNKS)),
        gap_bytes=rng.choice(_GAP_PAGES) * _PAGE_BYTES,
    )


@contextmanager
def fixed_addresses() -> Iterator[bool]:
    """Have processes that this thread starts meanwhile all begin at the same addresses.

    Gives whether that is so. Only Linux can; containers often forbid it. Addresses are then
    drawn by the OS for every process, and launches spread more.
    """
    before = _personality(_QUERY)
    fixed = before != _REFUSED and _personality(before | _ADDR_NO_RANDOMIZE) != _REFUSED
    try:
        yield fixed
    finally:
        if fixed:
            _personality(before)


def find_obstacle() -> str:
    """Say why addresses cannot be fixed here; "" if they can."""
    with fixed_addresses() as fixed:
        if fixed:
            return ""
    if sys.platform != "linux":
        return f"{sys.platform} randomizes them for every process"
    return "the OS refused personality(2); a container needs --security-opt seccomp=unconfined"


def _personality(flags: int) -> int:
    """Set the execution domain of this thread and give the one before; -1 if refused."""
    if sys.platform != "linux":
        return _REFUSED
    previous: int = ctypes.CDLL(None).personality(ctypes.c_ulong(flags))
    return previous
