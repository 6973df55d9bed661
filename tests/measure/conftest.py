"""What tests with real processes need: a guardian, and whether a process is alive."""

from __future__ import annotations

import subprocess
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from tests import patience
from tests.measure.hosted import Hosts

from benchgate.measure.processes.guardian import Guardian
from benchgate.measure.workers import worker as worker_module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def guardian() -> Iterator[Guardian]:
    """One for all tests of a file: starting and closing it takes longer than most of them."""
    with Guardian.start() as guardian:
        yield guardian


@pytest.fixture
def hosts(tmp_path: Path, guardian: Guardian) -> Iterator[Hosts]:
    """Start workers on the files of a tree."""
    hosts = Hosts(tmp_path, guardian)
    yield hosts
    hosts.close()


@pytest.fixture
def log(hosts: Hosts) -> Path:
    """The file that hosted benchmarks log to."""
    return hosts.log


@pytest.fixture
def alive() -> Callable[[int], bool]:
    """Tell whether a process runs; one that only waits to be reaped does not."""

    def is_alive(pid: int) -> bool:
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)],  # noqa: S607 - the system's own
            capture_output=True,
            text=True,
            check=False,
        ).stdout.strip()
        return bool(state) and not state.startswith("Z")

    return is_alive


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], bool]:
    """Wait until something is true, but not for ever."""
    return patience.eventually


@pytest.fixture
def skip_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], str]:
    """Give a statement for benchmarks that lets so many seconds pass for the limits of workers.

    Apart from that, their time passes ten times as slowly, for busy machines.
    """
    skips = tmp_path / "skips"

    def skipping(seconds: float) -> str:
        skips.touch()

        def monotonic() -> float:
            return time.monotonic() / 10 + seconds * skips.stat().st_size

        monkeypatch.setattr(worker_module, "time", SimpleNamespace(monotonic=monotonic))
        monkeypatch.setattr(worker_module, "_TRACE_WAIT_S", patience.PATIENCE_S)
        return f"open({str(skips)!r}, 'a').write('x')"

    return skipping
