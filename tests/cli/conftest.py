"""The command line called in this process, through the same boundary as the console script."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Protocol

import pytest
from tests.done import Done

from benchgate.cli import main
from benchgate.cli.boundary import REQUESTS
from benchgate.cli.world import CI_VARIABLES

if TYPE_CHECKING:
    from pathlib import Path


class Call(Protocol):
    def __call__(self, cwd: Path, *arguments: str | Path) -> Done: ...


@pytest.fixture
def call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Call:
    """Call benchgate in a folder; for what neither starts processes nor changes much."""
    handlers = {number: signal.getsignal(number) for number in (*REQUESTS, signal.SIGALRM)}
    for name in (*CI_VARIABLES, "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(cwd: Path, *arguments: str | Path) -> Done:
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", ["benchgate", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, said.out, said.err)

    return run
