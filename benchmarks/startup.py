"""How long `benchgate --version` and `--help` take, compared with a bare click program.

Run it with `python benchmarks/startup.py [ROUNDS]`. The bare program has one command and a version
option. The same interpreter starts it in the same way, from a package with an entry module. All are
measured in turn, in an order that is shuffled for each round, so that the ratio of their medians is
as precise as possible. The exit code is 1 if a ratio is above the goal.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 60
GOAL_RATIO = 1.5
BARE = '''\
import click

__version__ = "1.0"


@click.group()
@click.version_option(__version__)
def cli():
    """A program."""


@cli.command()
def hello():
    """Say hello."""
    click.echo("hello")
'''


def start_ms(module: str, option: str, cwd: Path) -> float:
    """Time one start, from the call to the end of the process."""
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", module, option], cwd=cwd, stdout=subprocess.DEVNULL, check=True
    )
    return (time.perf_counter() - begin) * 1e3


def measure(rounds: int, cwd: Path) -> dict[tuple[str, str], float]:
    """Give the median for each program and option; the first round only fills caches."""
    cases = [(module, option) for module in ("bare", "benchgate") for option in OPTIONS]
    times_ms: dict[tuple[str, str], list[float]] = {case: [] for case in cases}
    for round_index in range(rounds + 1):
        for case in random.sample(cases, len(cases)):
            elapsed_ms = start_ms(*case, cwd)
            if round_index:
                times_ms[case].append(elapsed_ms)
    return {case: statistics.median(values) for case, values in times_ms.items()}


OPTIONS = ("--version", "--help")


def main() -> int:
    """Print a line for each option."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "bare"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "cli.py").write_text(BARE)
        (package / "__main__.py").write_text("from bare.cli import cli\n\ncli()\n")
        medians_ms = measure(rounds, Path(folder))
    worst_ratio = 0.0
    for option in OPTIONS:
        bare_ms, ours_ms = medians_ms["bare", option], medians_ms["benchgate", option]
        worst_ratio = max(worst_ratio, ours_ms / bare_ms)
        print(
            f"{option:10} bare click {bare_ms:6.1f} ms, benchgate {ours_ms:6.1f} ms, "
            f"ratio {ours_ms / bare_ms:.2f} (goal <= {GOAL_RATIO})"
        )
    return 1 if worst_ratio > GOAL_RATIO else 0


if __name__ == "__main__":
    sys.exit(main())
