"""Asks `benchgate check` again and again about changes whose truth is known.

Every check is a real one: a scratch git repository, the real command line, real processes. A
scenario is repeated; its line says how often the verdict was right and how long it took.

    python benchmarks/acceptance/run.py clean --checks 20
    python benchmarks/acceptance/run.py slower --percent 5 --checks 10
    python benchmarks/acceptance/run.py command-clean --checks 20
    python benchmarks/acceptance/run.py command-slower --percent 10 --checks 10
    python benchmarks/acceptance/run.py clean --checks 20 --burner other|same

`slower` adds work to one of ten functions, another one in each check. `--burner` runs an endless
loop beside it, on the CPU that is not measured on (`other`), or on every CPU (`same`).
Results are appended to --log as JSON lines, with seed and rows of every check.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).parent / "project"
NAMES = re.findall(r'units\("(\w+)"', (PROJECT / "workloads.py").read_text(encoding="utf-8"))

PYTHON_CONFIG = '[[benchmark]]\npython = "benchmarks"\n'
COMMAND_CONFIG = '[[benchmark]]\nname = "program"\ncommand = "python3 command.py"\n'
REGRESSION = 3


@dataclass(frozen=True)
class Answer:
    """One verdict."""

    exit_code: int
    seconds: float
    outcomes: dict[str, dict[str, str]]
    rows: list[dict[str, Any]]

    def having(self, outcome: str) -> set[str]:
        """Benchmarks with at least one row of this outcome."""
        return {name for name, rows in self.outcomes.items() if outcome in rows.values()}


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=acceptance", "-c", "user.email=acceptance@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@contextmanager
def repository(config: str) -> Iterator[Path]:
    """A scratch repository of the project, with one commit."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "project"
        shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "benchgate.toml").write_text(config, encoding="utf-8")
        git(folder, "init", "--initial-branch=main")
        git(folder, "add", ".")
        git(folder, "commit", "--message=base")
        yield folder


def slow_down(folder: Path, file: str, before: str, after: str) -> None:
    path = folder / file
    text = path.read_text(encoding="utf-8")
    if before not in text:
        raise SystemExit(f"{file} does not hold {before!r}")
    path.write_text(text.replace(before, after), encoding="utf-8")


def check(folder: Path, options: list[str]) -> Answer:
    """Run benchgate check against HEAD, as a user would."""
    command = [sys.executable, "-m", "benchgate", "check", "--against", "HEAD", "--json", "-"]
    environment = {**os.environ, "CI": "true"}
    started = time.monotonic()
    done = subprocess.run(
        [*command, *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - started
    if not done.stdout:
        raise SystemExit(f"benchgate failed with {done.returncode}:\n{done.stderr}")
    rows = json.loads(done.stdout)["rows"]
    outcomes: dict[str, dict[str, str]] = {}
    for row in rows:
        outcomes.setdefault(row["benchmark"], {})[row["statistic"]] = row["outcome"]
    return Answer(done.returncode, seconds, outcomes, rows)


@contextmanager
def burner(where: str | None) -> Iterator[None]:
    """Keep one CPU (the first), or all of them, busy."""
    cpus = sorted(os.sched_getaffinity(0)) if where else []
    if where == "other":
        cpus = cpus[:1]
    with ExitStack() as stack:
        for cpu in cpus:
            loop = f"import os; os.sched_setaffinity(0, [{cpu}])\nwhile os.getppid() != 1: pass"
            process = subprocess.Popen([sys.executable, "-c", loop])
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


def one_check(scenario: str, index: int, percent: float, options: list[str]) -> tuple[bool, Answer]:
    """Ask once; give whether the answer was right, and the answer."""
    is_command = scenario.startswith("command")
    slower = scenario.endswith("slower")
    with repository(COMMAND_CONFIG if is_command else PYTHON_CONFIG) as folder:
        expected: set[str] = set()
        if slower and is_command:
            slow_down(folder, "command.py", "EXTRA = 0.0", f"EXTRA = {percent / 100}")
            expected = {"program"}
        elif slower:
            name = NAMES[index % len(NAMES)]
            extra = f'EXTRA: dict[str, float] = {{"{name}": {percent / 100}}}'
            slow_down(folder, "workloads.py", "EXTRA: dict[str, float] = {}", extra)
            expected = {f"ten/{name}"}
        answer = check(folder, options)
    right_code = REGRESSION if expected else 0
    return answer.exit_code == right_code and answer.having("regressed") == expected, answer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    scenarios = ["clean", "slower", "command-clean", "command-slower"]
    parser.add_argument("scenario", choices=scenarios)
    parser.add_argument("--checks", type=int, default=10)
    parser.add_argument("--percent", type=float, default=5.0)
    parser.add_argument("--burner", choices=["other", "same"])
    parser.add_argument("--log", type=Path)
    arguments, options = parser.parse_known_args()
    right, seconds, shares = 0, [], []
    with burner(arguments.burner):
        for index in range(arguments.checks):
            was_right, answer = one_check(arguments.scenario, index, arguments.percent, options)
            right += was_right
            seconds.append(answer.seconds)
            locations = [row for row in answer.rows if row["statistic"] == "p25"]
            settled = sum(row["outcome"] != "inconclusive" for row in locations)
            shares.append(settled / max(len(locations), 1))
            regressed = ", ".join(sorted(answer.having("regressed"))) or "nothing"
            print(
                f"{index + 1}: {'right' if was_right else 'WRONG'}, exit {answer.exit_code}, "
                f"regressed: {regressed}, {shares[-1]:.0%} of locations settled, "
                f"{answer.seconds:.1f} s",
                flush=True,
            )
            if arguments.log:
                with arguments.log.open("a", encoding="utf-8") as log:
                    entry = {"scenario": vars(arguments) | {"log": None}, "right": was_right}
                    log.write(json.dumps({**entry, "rows": answer.rows}) + "\n")
    beside = f", burner {arguments.burner}" if arguments.burner else ""
    print(
        f"{arguments.scenario}{beside}: right {right} of {arguments.checks}; "
        f"{statistics.median(seconds):.1f} s (median), {max(seconds):.1f} s (most); "
        f"{statistics.mean(shares):.0%} of locations settled"
    )
    return 0 if right == arguments.checks else 1


if __name__ == "__main__":
    sys.exit(main())
