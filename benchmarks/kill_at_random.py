"""What `benchgate check` leaves behind if it is killed at a random moment.

Run it with `python benchmarks/kill_at_random.py [KILLS] [SEED]`. In a scratch repository, it starts
a check of functions and a command, with a build, again and again, and kills it by SIGKILL at
moments spread over its whole life. The command and the build leave grandchildren, in their process
group and outside of it. Each time, all of this must hold: the result file is whole or absent; every
process ends by itself; after the next start, no worktree and no temporary file is left, and the
repository is unchanged. Otherwise the exit code is 1. Linux only.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchgate.baselines.stored_files import read_result
from benchgate.errors import BenchgateError

KILLS = 50
PATIENCE_S = 20.0
# A length of sleep that no other process of the machine has: the mark of the grandchildren.
SLEEP = f"sleep 300.{random.SystemRandom().randrange(10**9):09}"
CONFIG = f"""\
[measure]
samples = 5
launch_time = "2ms"
rounds = 3

[build]
shell = true
command = "exec >&- 2>&-; setsid {SLEEP} & {SLEEP} & sleep 0.1"

[[benchmark]]
python = "benchmarks"

[[benchmark]]
name = "tree"
shell = true
command = "exec >&- 2>&-; setsid {SLEEP} & {SLEEP} & sleep 0.02"
executions = 3
"""
BENCHMARKS = """\
import os
import subprocess
import sys


def bench_work():
    sum(i * i for i in range(2000))


def bench_forks():
    subprocess.run([sys.executable, "-S", "-c", "pass"], check=True)
"""


@dataclass(frozen=True, slots=True)
class Scratch:
    """Where it happens.

    Attributes:
        repository: the user's.
        temporary: where benchgate puts what is not to stay.
        results: where it writes the result file.
    """

    repository: Path
    temporary: Path
    results: Path

    @property
    def result(self) -> Path:
        return self.results / "result.json"

    def git(self, *arguments: str) -> str:
        options = (
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "commit.gpgsign=false",
        )
        return subprocess.run(
            ["git", *options, *arguments],
            cwd=self.repository,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    @property
    def log(self) -> Path:
        return self.repository.parent / "log"

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        # Not a pipe, which what outlives it for a moment would hold open.
        with self.log.open("w") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "benchgate", *arguments],
                cwd=self.repository,
                env={
                    **os.environ,
                    "TMPDIR": str(self.temporary),
                    "XDG_STATE_HOME": str(self.repository.parent / "state"),
                    "XDG_CACHE_HOME": str(self.repository.parent / "cache"),
                    "PYTHONDONTWRITEBYTECODE": "1",
                },
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    def check(self) -> subprocess.Popen[bytes]:
        return self.start("check", "--output", str(self.result))

    def state(self) -> tuple[str, ...]:
        """What belongs to the user."""
        return (
            self.git("worktree", "list", "--porcelain"),
            self.git("status", "--porcelain"),
            self.git("stash", "list"),
            self.git("for-each-ref"),
            (self.repository / ".git" / "index").read_bytes().hex(),
        )

    def processes(self) -> list[str]:
        """Everything alive that the check has started, by environment and by command line."""
        mine = f"TMPDIR={self.temporary}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    line = (entry / "cmdline").read_bytes()
                    if SLEEP.encode() in line.replace(b"\0", b" ") or mine in (
                        entry / "environ"
                    ).read_bytes().split(b"\0"):
                        found.append(line.replace(b"\0", b" ").decode(errors="replace"))
        return found


def make_scratch(folder: Path) -> Scratch:
    scratch = Scratch(folder / "project", folder / "tmp", folder / "results")
    for path in (scratch.repository / "benchmarks", scratch.temporary, scratch.results):
        path.mkdir(parents=True)
    scratch.git("init", "--quiet", "--initial-branch=main")
    (scratch.repository / "benchgate.toml").write_text(CONFIG)
    (scratch.repository / "benchmarks" / "bench_a.py").write_text(BENCHMARKS)
    (scratch.repository / "notes").write_text("first")
    scratch.git("add", "--all")
    scratch.git("commit", "--quiet", "--message=first")
    (scratch.repository / "notes").write_text("stashed")
    scratch.git("stash", "--quiet")
    (scratch.repository / "notes").write_text("changed")
    return scratch


def phase(said: str) -> str:
    """The last that a killed check said, in a word or two."""
    lines = said.splitlines()
    if not lines:
        return "start"
    words = lines[-1].split()
    return f"after round {words[1]}" if words[0] == "round" else " ".join(words[:2])


def troubles(scratch: Scratch, before: tuple[str, ...]) -> tuple[list[str], float]:
    """Give what is wrong after a kill, and the seconds until the last process ended."""
    wrong = []
    killed_s = time.monotonic()
    while (alive := scratch.processes()) and time.monotonic() - killed_s < PATIENCE_S:
        time.sleep(0.02)
    ended_s = time.monotonic() - killed_s
    wrong += [f"orphan: {line}" for line in alive]
    if scratch.result.exists():
        try:
            read_result(scratch.result)
        except BenchgateError as error:
            wrong.append(f"result file: {error.message}")
    if code := scratch.start("list").wait():
        wrong.append(f"the next start ended with {code}: {scratch.log.read_text()}")
    wrong += [f"left in the temporary folder: {path.name}" for path in scratch.temporary.iterdir()]
    wrong += [f"left by the next start: {line}" for line in scratch.processes()]
    if scratch.state() != before:
        wrong.append("the repository is not as it was: " + scratch.git("worktree", "list"))
    return wrong, ended_s


def kill_once(scratch: Scratch, moment_s: float) -> str:
    """Start a check and kill it; give where it was."""
    scratch.result.unlink(missing_ok=True)
    process = scratch.check()
    with suppress(subprocess.TimeoutExpired):
        process.wait(moment_s)
    process.kill()
    process.wait()
    return phase(scratch.log.read_text())


def main() -> int:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)  # noqa: S311 - moments, repeatable by the seed
    with tempfile.TemporaryDirectory() as name:
        scratch = make_scratch(Path(name).resolve())
        before = scratch.state()
        began_s = time.monotonic()
        scratch.check().wait()
        whole_s = time.monotonic() - began_s
        if not scratch.result.exists():
            print(f"the check does not even work when it is left alone:\n{scratch.log.read_text()}")
            return 1
        print(f"{kills} kills over a check of {whole_s:.1f} s, seed {seed}")
        phases: Counter[str] = Counter()
        wrong: list[str] = []
        slowest_s = 0.0
        for number in range(kills):
            moment_s = rng.uniform(0, whole_s)
            where = kill_once(scratch, moment_s)
            found, ended_s = troubles(scratch, before)
            phases[where] += 1
            slowest_s = max(slowest_s, ended_s)
            wrong += [f"kill {number} at {moment_s:.2f} s, {where}: {line}" for line in found]
        scratch.check().wait()
        wrong += [
            f"beside the result file: {path.name}"
            for path in scratch.results.iterdir()
            if path != scratch.result
        ]
    for where, count in sorted(phases.items()):
        print(f"{count:4}  {where}")
    print(f"the last process ended at most {slowest_s:.2f} s after the kill")
    print(f"{len(wrong)} troubles", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
