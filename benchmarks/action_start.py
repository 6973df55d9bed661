"""How long the action takes to set itself up, compared with an earlier commit's.

Run it with `python benchmarks/action_start.py COMMIT [ROUNDS]`. Both set-ups run in turn, in an
order that is shuffled for each round. Each time they begin with nothing: no environment, no cache.
So this includes the downloads from whatever registry this machine uses. The goal is for the new
one alone, on a quiet machine with a registry close by. The exit code is 1 if it is not reached.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path

ROUNDS = 5
GOAL_S = 6.0
ROOT = Path(__file__).parents[1]
SHIPPED = ("requirements", "scripts", "src/benchgate")
SETUP = "scripts/action-setup.sh"


def unpack(commit: str, folder: Path) -> None:
    """Put the action of a commit into a folder."""
    command = ["git", "archive", "--format=tar", commit, *SHIPPED]
    packed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def set_up_s(action: Path) -> tuple[float, float]:
    """Set up an action once; return how long it took, and how many MB its environment has."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {
            **os.environ,
            "HOME": folder,
            "PIP_NO_CACHE_DIR": "1",
            "RUNNER_TEMP": folder,
            "GITHUB_OUTPUT": f"{folder}/output",
        }
        begin = time.perf_counter()
        subprocess.run([action / SETUP], env=environ, stdout=subprocess.DEVNULL, check=True)
        took_s = time.perf_counter() - begin
        files = (path for path in Path(folder).rglob("*") if path.is_file())
        return took_s, sum(path.lstat().st_size for path in files) / 1e6


def main() -> int:
    """Compare, print and judge."""
    earlier, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    times_s: dict[str, list[float]] = {earlier: [], "HEAD": []}
    sizes: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        actions = {commit: Path(folder) / str(index) for index, commit in enumerate(times_s)}
        for commit, action in actions.items():
            unpack(commit, action)
        for _ in range(rounds):
            for commit in random.sample(list(actions), len(actions)):
                took_s, sizes[commit] = set_up_s(actions[commit])
                times_s[commit].append(took_s)
    for commit, values in times_s.items():
        print(
            f"{commit}: median {statistics.median(values):.1f} s"
            f" ({min(values):.1f} to {max(values):.1f}), {sizes[commit]:.0f} MB"
        )
    before, after = (statistics.median(values) for values in times_s.values())
    print(f"ratio {before / after:.1f}; goal: at most {GOAL_S:g} s")
    return after > GOAL_S


if __name__ == "__main__":
    sys.exit(main())
