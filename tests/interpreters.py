"""Finds other versions of CPython on this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


def interpreters(version: str) -> Iterator[str]:
    """What may be a CPython of a version: on PATH, and what pyenv has installed."""
    name = f"python{version}"
    yield from filter(None, [shutil.which(name)])
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        yield sys.executable
    if pyenv := shutil.which("pyenv"):
        root = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=False)
        for found in sorted(Path(root.stdout.strip(), "versions").glob(f"*/bin/{name}")):
            yield str(found)


def find_interpreter(version: str) -> str:
    """Find one that runs: a shim on PATH may stand for nothing."""
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    for path in interpreters(version):
        done = subprocess.run([path, "-c", asked], capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:
            return path
    pytest.skip(f"there is no CPython {version} here")
