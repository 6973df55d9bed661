"""What the operating system refuses: processes, threads, and room for the last result."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.e2e.conftest import PYTHON, QUICK

from benchgate.baselines.stored_files import read_result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import Program, Project

HOW = ("check", "--against", "HEAD")
# The other user must read the tests' own Python wherever it lies, and nothing more.
CAPABILITIES = "+dac_override,+dac_read_search"


def as_user(user: int) -> list[str]:
    return [
        *("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"),
        *(f"--inh-caps={CAPABILITIES}", f"--ambient-caps={CAPABILITIES}"),
    ]


def can_be_another_user() -> bool:
    if os.getuid() != 0 or not (shutil.which("setpriv") and shutil.which("prlimit")):
        return False
    call = [*as_user(65_000), "true"]
    return subprocess.run(call, capture_output=True, check=False).returncode == 0


needs_other_user = pytest.mark.skipif(
    not can_be_another_user(),
    reason="root has no limit on processes, and only root with setpriv can be another user",
)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users reach, which is not so of those that pytest makes."""
    folder = Path(tempfile.mkdtemp(prefix="open-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@needs_other_user
@pytest.mark.parametrize("processes", [3, 4, 5, 6, 8])
def test_few_processes_give_an_error_or_a_verdict(
    benchgate: Program, toy: Project, open_folder: Path, processes: int
) -> None:
    # Two benchmarks, which are measured in lanes: each is a thread.
    toy.write({"benchmarks/bench_more.py": "import toy\n\n\ndef bench_more():\n    toy.work()\n"})
    toy.commit()
    project = shutil.copytree(toy.root, open_folder / "project", symlinks=True)
    benchgate.temporary = open_folder / "temporary"
    benchgate.temporary.mkdir()
    user = random.SystemRandom().randrange(60_000, 2**31)  # nobody else has processes of it
    for path in (open_folder, *open_folder.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)
    call = [sys.executable, "-m", "benchgate", *HOW, "--rounds", "3"]
    process = subprocess.Popen(
        [*as_user(user), "prlimit", f"--nproc={processes}", *call],
        cwd=project,
        env={**benchgate.environment(), "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    done = benchgate.wait(process)
    said = f"{done.err}\n{done.out}"
    assert "Traceback" not in said, said
    assert done.code in {0, 2, 4, 5}, f"exit code {done.code}\n{said}"  # 4: three rounds are few
    if done.code in {2, 5}:
        assert "Resource temporarily unavailable" in said or "ulimit -u" in said, said
    benchgate.assert_nothing_left()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 12 KiB."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=12k", "none", str(place)]
    if os.getuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted")
    yield place
    unmount = ["umount", str(place)]
    subprocess.run(unmount, check=True)


def test_a_state_folder_that_gets_full_does_not_cost_the_verdict(
    benchgate: Program, toy: Project, small_disk: Path
) -> None:
    # One round takes 2 kB, and all rounds take 20 kB: the disk has room for the first ones only.
    more = QUICK.replace("samples = 5", "samples = 60") + PYTHON
    toy.write({"benchgate.toml": more})
    toy.commit()
    benchgate.state_home = small_disk
    benchgate.variables["XDG_CACHE_HOME"] = str(benchgate.temporary.parent / "cache")
    done = benchgate(toy.root, *HOW, "--rounds", "40")
    done.check(0, "warning: this result is not kept: cannot write", "No space left on device")
    assert "40 rounds" in done.out  # whatever a busy machine lets it decide
    # What was written before the disk got full is whole.
    (kept,) = small_disk.rglob("last.json.gz")
    assert not read_result(kept).head.complete


@pytest.fixture
def read_only_git(toy: Project) -> Iterator[Path]:
    """The project's .git folder, to which even root cannot write."""
    place = str(toy.root / ".git")
    commands = (["mount", "--bind", place, place], ["mount", "-o", "remount,ro,bind", place])
    if os.getuid() != 0 or any(
        subprocess.run(each, check=False, capture_output=True).returncode for each in commands
    ):
        pytest.skip("a read-only file system cannot be mounted")
    yield toy.root / ".git"
    unmount = ["umount", place]
    subprocess.run(unmount, check=True)


def test_a_read_only_git_folder_is_named_with_another_way(
    benchgate: Program, toy: Project, read_only_git: Path
) -> None:
    done = benchgate(toy.root, *HOW, "--rounds", "1")
    done.check(2, f"cannot write to {read_only_git.parent}: git lists the trees", "git clone")
    copy = toy.root.with_name("copy")
    toy.git.run("clone", "--quiet", str(toy.root), str(copy))
    benchgate(copy, *HOW, "--rounds", "1").check(4)
