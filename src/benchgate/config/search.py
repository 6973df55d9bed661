"""Which files hold benchmarks, where nobody names them one by one."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import PurePath

PATTERN: Final = "bench_*.py"
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages"})


def is_benchmark_file(path: PurePath) -> bool:
    """Whether a file is searched for benchmarks: none that is hidden, installed or generated.

    Args:
        path: relative to the folder that is searched.
    """
    *folders, name = path.parts
    return fnmatchcase(name, PATTERN) and not any(
        folder in _SKIPPED_FOLDERS or folder.startswith(".") for folder in folders
    )
