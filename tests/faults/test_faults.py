"""Real commands in which one system call fails: no traceback, torn file or wrong verdict."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.faults.system_calls import once_each
from tests.faults.trials import TRIALS, Place

if TYPE_CHECKING:
    from pathlib import Path


def can_trace() -> bool:
    strace = shutil.which("strace")
    if strace is None:
        return False
    return subprocess.run([strace, "true"], capture_output=True, check=False).returncode == 0


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not can_trace(), reason="strace is not installed (make tools), or may not trace"
    ),
    pytest.mark.timeout(900),
]


@pytest.mark.parametrize(
    ("name", "part"),
    [(name, part) for name, trial in TRIALS.items() for part in range(trial.parts)],
)
def test_a_call_that_fails(tmp_path: Path, name: str, part: int) -> None:
    place, trial = Place(tmp_path), TRIALS[name]
    clean, calls = place.clean(trial)
    chosen = once_each(calls)[part :: trial.parts]
    assert chosen
    tried = {str(call): place.with_fault(trial, call, clean) for call in chosen}
    assert {call: wrong for call, (_, wrong) in tried.items() if wrong} == {}
    # What others do on this machine changes how often benchgate looks into /proc.
    assert sum(has_hit for has_hit, _ in tried.values()) > len(chosen) / 2
