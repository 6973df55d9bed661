"""Projects made of a few files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from benchgate.project.suites import FoundBenchmarks, find_benchmarks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Find(Protocol):
    def __call__(self, files: Mapping[str, str], *ignored: str) -> FoundBenchmarks: ...


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """Write the files of a project and look for its benchmarks; git ignores some of its places."""

    def find_in(files: Mapping[str, str], *ignored: str) -> FoundBenchmarks:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return find_benchmarks(
            tmp_path, lambda path: path.relative_to(tmp_path).as_posix() in ignored
        )

    return find_in
