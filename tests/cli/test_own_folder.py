"""The folder of a job, where a session makes its own folders."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from benchgate.cli.ci import own_folder
from benchgate.measure.trees.checkouts import sweep

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from benchgate.git.repository import Git


def test_it_is_not_swept_away(repo: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = own_folder({"RUNNER_TEMP": str(tmp_path)})
    assert sweep(repo) == ()
    assert folder.is_dir()
