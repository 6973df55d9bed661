"""Makes histories in which one commit slows a function down, and lets `benchgate bisect` search.

Run it with `python -m benchmarks.histories [COUNT] [PERCENT ...]`: so many histories of 30 to 100
commits for each size of the change. Most commits change nothing that is measured; one in six does
not build or cannot be imported until the next one repairs it.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROUNDS = 2000
WORK = '''"""What is measured."""


def work(rounds={rounds}):
    """Mix numbers."""
    total = 0
    for number in range(rounds):
        total = (total * 31 + number) & 0xFFFF
    return total
'''
BENCH = """from shop.core import work


def bench_work():
    work()
"""
CONFIG = """[build]
command = "python build.py"

[[benchmark]]
python = "benchmarks/"
pythonpath = ["src"]
"""
BUILD = """import pathlib
import sys

if pathlib.Path("BROKEN").exists():
    sys.exit("BROKEN is in the way")
pathlib.Path("src/shop/made.py").write_text("MADE = True\\n")
"""


def git(root: Path, *words: str) -> str:
    """Run git in a repository."""
    who = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@example.com")
    command = ["git", "-C", str(root), *who, *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def write(root: Path, commits: int, percent: int, rng: random.Random) -> str:
    """Write a history with the tag v1 at its first commit; return the commit with the change."""
    package = root / "src" / "shop"
    package.mkdir(parents=True)
    (root / "benchmarks").mkdir()
    (root / "benchmarks" / "bench_shop.py").write_text(BENCH)
    (root / "benchgate.toml").write_text(CONFIG)
    (root / "build.py").write_text(BUILD)
    (root / ".gitignore").write_text("src/shop/made.py\n")
    (package / "__init__.py").write_text("")
    core, others, readme = package / "core.py", package / "others.py", root / "README.md"
    core.write_text(WORK.format(rounds=ROUNDS))
    git(root.parent, "init", "--quiet", root.name)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Begin")
    git(root, "tag", "v1")
    slow, broken, sha = rng.randrange(1, commits - 1), "", ""
    for number in range(commits):
        if broken == "import":
            core.write_text(core.read_text().removesuffix("\nthis is not Python\n"))
            broken, said = "", "Repair"
        elif broken:
            (root / "BROKEN").unlink()
            broken, said = "", "Repair the build"
        elif (
            number != slow and number < commits - 1 and number + 1 != slow and rng.random() < 1 / 6
        ):
            broken = rng.choice(["import", "build"])
            if broken == "import":
                core.write_text(core.read_text() + "\nthis is not Python\n")
            else:
                (root / "BROKEN").write_text("")
            said = "Break something"
        elif number != slow:
            said = rng.choice(["Explain", "Add a function", "Add one beside it"])
            place = {"Explain": readme, "Add a function": others}.get(said, core)
            with place.open("a") as file:
                file.write(
                    f"Line {number}\n"
                    if place == readme
                    else f"\n\ndef other_{number}(value):\n    return value + {number}\n"
                )
        else:
            said = "Count further"
        if number == slow:
            rounds = ROUNDS + ROUNDS * percent // 100
            core.write_text(core.read_text().replace(f"={ROUNDS}", f"={rounds}"))
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", said)
        sha = git(root, "rev-parse", "HEAD") if number == slow else sha
    return sha


def search(percent: int, seed: int) -> tuple[bool, int, float]:
    """Search one history; return whether the commit is right, the checks, and the seconds."""
    rng = random.Random(f"{percent}/{seed}")  # noqa: S311 - repeatable on purpose
    commits = rng.randint(30, 100)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "shop"
        root.mkdir()
        sha = write(root, commits, percent, rng)
        began_s = time.monotonic()
        ended = subprocess.run(
            [sys.executable, "-m", "benchgate", "bisect", "shop/work", "--good", "v1"],
            cwd=root,
            env=os.environ | {"XDG_STATE_HOME": f"{name}/state", "XDG_CACHE_HOME": f"{name}/cache"},
            check=False,
            capture_output=True,
            text=True,
        )
        took_s = time.monotonic() - began_s
    is_right = ended.returncode == 0 and f" with {sha[:7]}" in ended.stdout.split("\n")[0]
    checks = re.search(r"(\d+) checks of", ended.stdout)
    print(
        f"+{percent} %, {commits} commits: {'right' if is_right else 'WRONG'}, "
        f"{checks[1] if checks else '?'} checks, {took_s:.0f} s",
        flush=True,
    )
    if not is_right:
        print(sha, ended.stderr, ended.stdout, sep="\n", flush=True)
    return is_right, int(checks[1]) if checks else 0, took_s


def main() -> None:
    """Search so many histories of each kind, and say how often the commit was right."""
    count, *percents = [int(word) for word in sys.argv[1:]] or [7]
    for percent in percents or [5, 20, 100]:
        found = [search(percent, seed) for seed in range(count)]
        print(
            f"+{percent} %: {sum(right for right, _, _ in found)} of {count} right, "
            f"{median(checks for _, checks, _ in found):g} checks and "
            f"{median(took for _, _, took in found):.0f} s each"
        )


if __name__ == "__main__":
    main()
