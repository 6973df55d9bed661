"""How often a check of identical code fails if its benchmarks read and write files in the tree.

Run it with `python benchmarks/files_of_the_tree.py [CHECKS] [OPTION...]`; options go to
`benchgate check`. In a scratch repository, it makes this number of checks of the working tree
against HEAD, which are the same, beside a process that writes to the disk all the time. The
benchmarks write a file of the tree, read and map one of 2 MiB, fill a database on disk, and list
folders. It prints what each check said, and for every benchmark how far base and head differed: the
median of a check's rounds (a bias of that check if the rounds agree), and the robust spread of the
rounds. The exit code is 1 if more than one check in a hundred failed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.baselines.stored_files import read_result
from benchgate.model.metrics import TIME
from benchgate.stats.spread import nearest_rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CHECKS = 5
FAILED = (3, 4, 5)
BENCHMARKS = """\
import mmap
import os
import sqlite3

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LARGE = os.path.join(TREE, "data", "large.bin")
BLOCK = bytes(range(256)) * 256


def bench_write():
    with open(os.path.join(TREE, "written.bin"), "wb") as file:
        file.write(BLOCK)


def bench_write_and_remove():
    path = os.path.join(TREE, "data", "scratch.bin")
    with open(path, "wb") as file:
        file.write(BLOCK)
    os.unlink(path)


def bench_read():
    with open(LARGE, "rb") as file:
        file.read()


def bench_map():
    with open(LARGE, "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            sum(mapped[::4096])


def open_database():
    path = os.path.join(TREE, "items.sqlite")
    if os.path.exists(path):
        os.unlink(path)
    database = sqlite3.connect(path)
    database.execute("create table item (price int)")
    return database


def bench_sqlite(database):
    with database:
        database.executemany("insert into item values (?)", [(n,) for n in range(100)])


bench_sqlite.setup = open_database
bench_sqlite.teardown = lambda database: database.close()


def bench_list():
    for folder, _, names in os.walk(os.path.join(TREE, "many")):
        for name in names:
            os.stat(os.path.join(folder, name))
"""
DISTURBER = """\
import os, random, sys
folder, parent = sys.argv[1], int(sys.argv[2])
paths = [os.path.join(folder, str(n)) for n in range(40)]
while os.getppid() == parent:
    path = random.choice(paths)
    if os.path.exists(path) and random.random() < 0.5:
        os.unlink(path)
        continue
    with open(path, "ab") as file:
        file.write(os.urandom(random.choice((4096, 65536, 1 << 20))))
        file.flush()
        os.fsync(file.fileno())
    if os.path.getsize(path) > 8 << 20:
        os.unlink(path)
"""


def make_project(folder: Path) -> None:
    """Make the repository that is checked."""
    (folder / "benchmarks").mkdir(parents=True)
    (folder / "benchmarks" / "bench_files.py").write_text(BENCHMARKS, encoding="utf-8")
    (folder / "benchgate.toml").write_text('[[benchmark]]\npython = "benchmarks"\n')
    (folder / ".gitignore").write_text("__pycache__/\n*.sqlite*\nwritten.bin\n")
    (folder / "data").mkdir()
    (folder / "data" / "large.bin").write_bytes(os.urandom(2 << 20))
    for number in range(200):
        path = folder / "many" / str(number % 20) / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(number))
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=all"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True)


@contextmanager
def disk_at_work(folder: Path) -> Iterator[None]:
    """Have another process write, synchronize and remove files all the time: 320 MB at most."""
    folder.mkdir()
    command = [sys.executable, "-c", DISTURBER, str(folder), str(os.getpid())]
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def check(project: Path, output: Path, options: Sequence[str]) -> tuple[int, Mapping[str, Any]]:
    """Check the project against its own commit; give the exit code and the verdict."""
    command = [sys.executable, "-m", "benchgate", "check", "--against", "HEAD", "--quiet"]
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [*command, "--json", "-", "--output", str(output), *options],
        cwd=project,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise RuntimeError(f"benchgate ended with {done.returncode}:\n{done.stderr}")
    return done.returncode, json.loads(done.stdout)


def differences(output: Path) -> dict[str, list[float]]:
    """Give by how much the head's lower quartile differs in each round, by benchmark."""
    result = read_result(output)
    runs = [run for run in (result.base, result.head) if run]
    values: dict[str, list[dict[int, float]]] = defaultdict(list)
    for run in runs:
        for benchmark in run.benchmarks:
            for series in benchmark.series:
                if series.metric == TIME:
                    values[benchmark.id].append(
                        {
                            one.round: float(nearest_rank(one.samples, 0.25))
                            for one in series.launches
                        }
                    )
    return {
        id_: [head[i] / base[i] - 1 for i in base.keys() & head.keys()]
        for id_, (base, head) in values.items()
    }


def main() -> int:
    """Print a line for each check, and a table."""
    checks = int(sys.argv[1]) if len(sys.argv) > 1 else CHECKS
    medians: dict[str, list[float]] = defaultdict(list)
    spreads: dict[str, list[float]] = defaultdict(list)
    failed = faster = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        make_project(folder / "project")
        with disk_at_work(folder / "disturber"):
            for number in range(checks):
                output = folder / "result.json.gz"
                code, verdict = check(folder / "project", output, sys.argv[2:])
                changed = [
                    f"{row['benchmark']} {row['statistic']} {row['outcome']} {row['ratio']:.3f}"
                    for row in verdict["rows"]
                    if row["outcome"] in ("regressed", "improved", "failed")
                ]
                failed += code in FAILED
                faster += any(" improved " in one for one in changed)
                print(f"check {number + 1}: exit code {code}", *changed, sep="  ", flush=True)
                for id_, ratios in differences(output).items():
                    middle = statistics.median(ratios)
                    medians[id_].append(middle)
                    spreads[id_].append(
                        1.4826 * statistics.median(abs(one - middle) for one in ratios)
                    )
    print(f"{checks} checks: {failed} failed, {faster} said that something is faster")
    print(f"{'benchmark':28} {'spread of rounds':>16}  median of each check")
    for id_, of_checks in medians.items():
        shown = " ".join(f"{one:+.1%}" for one in of_checks[:20])
        print(f"{id_:28} {statistics.median(spreads[id_]):16.2%}  {shown}")
    return 1 if failed > max(1, checks // 100) else 0


if __name__ == "__main__":
    sys.exit(main())
