"""Reads files, compressed or not, writes them atomically, and knows the folders of a user."""

from benchgate.files.reading import (
    MAX_FILE_BYTES,
    TooLargeError,
    broken_link,
    expand,
    read_below,
    read_bytes,
    read_start,
)
from benchgate.files.user_folders import cache_folder, state_folder
from benchgate.files.writing import ensure_writable, write_atomic

__all__ = [
    "MAX_FILE_BYTES",
    "TooLargeError",
    "broken_link",
    "cache_folder",
    "ensure_writable",
    "expand",
    "read_below",
    "read_bytes",
    "read_start",
    "state_folder",
    "write_atomic",
]
