"""Counts what checks of small programs in other languages say: clean ones, and slower ones.

Run it with `python -m benchmarks.languages.checks LANGUAGE [CHECKS] [PERCENT] [BUSY]`, with a
language or a tool of `programs.FILES`: so many checks, in which one benchmark in turn does so many
percent more work (0: none), beside so many programs that keep a CPU busy. With "unrelated" in place
of a number, nothing that is measured changes, but functions that nothing calls are in other places.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.languages.programs import CHANGED, CONFIG, write

if TYPE_CHECKING:
    from collections.abc import Iterator

# Ends with this process, even if that is killed.
BURN = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): pass"


@contextmanager
def burning(count: int) -> Iterator[None]:
    """Let so many programs keep a CPU busy meanwhile."""
    with ExitStack() as stack:
        for _ in range(count):
            burner = subprocess.Popen([sys.executable, "-c", BURN, str(os.getpid())])
            stack.callback(burner.kill)
        yield


def git(root: Path, *words: str) -> None:
    """Run git in a repository."""
    subprocess.run(["git", "-C", root, *words], check=True, capture_output=True)


def check(
    language: str, slower: str, percent: int, seeds: tuple[int, int]
) -> tuple[int, dict[str, str], float]:
    """Check a change; give the exit code, the outcome of each typical value, and the seconds.

    Args:
        seeds: of base and head, for `write`.
    """
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "project"
        write(language, root, seed=seeds[0])
        (root / "benchgate.toml").write_text(CONFIG[language])
        (root / ".gitignore").write_text("/bench\ntarget/\nnode_modules/\n")
        git(root.parent, "init", "--quiet", "project")
        git(root, "add", "--all")
        who = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@example.com")
        git(root, *who, "commit", "--quiet", "--message", "base")
        write(language, root, seed=seeds[1], slower=slower, percent=percent)
        verdict = Path(name) / "verdict.json"
        start_s = time.monotonic()
        ended = subprocess.run(
            [
                *(sys.executable, "-m", "benchgate", "check", "--against", "HEAD"),
                *("--no-cache", "--json", verdict),
            ],
            cwd=root,
            check=False,
            capture_output=True,
            text=True,
        )
        took_s = time.monotonic() - start_s
        if not verdict.exists():
            sys.exit(ended.stderr)
        rows = json.loads(verdict.read_text())["rows"]
    outcomes = {
        row["benchmark"].rpartition("/")[2]: row["outcome"]
        for row in rows
        if row["metric"] == "time" and row["statistic"] == "p25"
    }
    return ended.returncode, outcomes, took_s


def main() -> None:
    """Make the checks, and say what they found."""
    language = sys.argv[1]
    given, defaults = sys.argv[2:], ["20", "0", "0"]
    first, change, second = given + defaults[len(given) :]
    is_unrelated = change == "unrelated"
    count, percent, busy = int(first), 0 if is_unrelated else int(change), int(second)
    outcomes: Counter[str] = Counter()
    codes: Counter[int] = Counter()
    seconds = []
    found = 0
    with burning(busy):
        for index in range(count):
            slower = CHANGED[index % len(CHANGED)] if percent else ""
            seeds = (2 * index + 1, 2 * index + 2) if is_unrelated else (0, 0)
            code, each, took_s = check(language, slower, percent, seeds)
            codes[code] += 1
            seconds.append(took_s)
            found += each.get(slower) == "regressed"
            others = [outcome for name, outcome in each.items() if name != slower]
            outcomes.update(others)
            wrong = {n: o for n, o in each.items() if o == "regressed" and n != slower}
            if wrong or (slower and each.get(slower) != "regressed"):
                print(f"  {slower or seeds}: {each}", flush=True)
    print(
        f"{language}, {change} % slower, beside {busy} busy: found {found} of {count}; exit codes "
        f"{dict(codes)}; others {dict(outcomes)}; {median(seconds):.0f} s each, at most "
        f"{max(seconds):.0f} s"
    )


if __name__ == "__main__":
    main()
