"""Files that were damaged: reading them must refuse them, or give a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from benchgate.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

_FRAGMENTS = st.binary(max_size=3) | st.sampled_from([b"NaN", b"-", b"[", b"{", b"1e999", b"null"])


def read_damaged(
    read: Callable[[bytes, str], object], file: bytes, name: str, data: st.DataObject
) -> None:
    """Damage a file in up to three places and read it: a refusal has its name and a hint."""
    damaged = bytearray(file)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at : at + data.draw(st.integers(0, 5))] = data.draw(_FRAGMENTS)
    refusal = None
    try:
        read(bytes(damaged), name)
    except FormatError as error:
        refusal = error
    assert refusal is None or (refusal.message.startswith(f"{name}: ") and refusal.hint)
