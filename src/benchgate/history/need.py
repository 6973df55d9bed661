"""Says what to install if the packages of a history are missing."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from benchgate.errors import UsageError

NEEDED: Final = ("fsspec", "pyarrow")


def require_packages() -> None:
    """Check that the packages are installed, before a module that needs them is imported.

    Raises:
        UsageError: one is missing.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"a history needs {' and '.join(missing)}, which cannot be imported",
            hint='pip install "benchgate[history]"',
        )
