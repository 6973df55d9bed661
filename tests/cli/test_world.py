from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchgate.cli.world import CI_VARIABLES, is_in_ci, real_effects, working_directory


@pytest.mark.parametrize("name", CI_VARIABLES)
def test_any_variable_of_a_ci_system_tells_that_it_runs_benchgate(name: str) -> None:
    for value in ("true", "True", "1", "2024.1", "https://ci.example"):
        assert is_in_ci({"CI": "false", name: value})
    for value in ("", " ", "0", "false", "False", "no"):
        assert not is_in_ci({name: value})
    assert not is_in_ci({"HOME": "/root"})


@pytest.mark.parametrize(
    ("named", "known_as"),
    [("link", "link"), ("real", "real"), ("other", "real"), ("link/../real", "real")],
)
def test_a_folder_is_known_by_the_name_that_the_shell_has_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, known_as: str
) -> None:
    root = tmp_path.resolve()
    for folder in ("real", "other"):
        (root / folder).mkdir()
    (root / "link").symlink_to("real")
    monkeypatch.chdir(root / "real")
    monkeypatch.setenv("PWD", str(root / named))
    assert working_directory() == root / known_as
    assert real_effects(cwd=working_directory()).cwd == root / known_as
    for nothing in ("", "real"):
        monkeypatch.setenv("PWD", nothing)
        assert working_directory() == root / "real"


def test_the_first_phase_began_with_the_process() -> None:
    script = (
        "import time; time.sleep(0.2)\n"
        "from benchgate.cli.world import real_effects\n"
        "print(real_effects().phases.taken()[0].seconds)"
    )
    began_s = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    # The system counts the start in hundredths of a second.
    assert 0.19 < float(done.stdout) <= time.monotonic() - began_s + 0.01


def test_without_proc_the_first_phase_is_what_was_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Path, "read_text", _fail)
    before_s = time.process_time()
    seconds = real_effects().phases.taken()[0].seconds
    assert before_s <= seconds


def _fail(*_: object, **__: object) -> str:
    raise FileNotFoundError
