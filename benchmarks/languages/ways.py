"""What side by side and in turn make of the same small programs, with the same code on both sides.

Run it with `python -m benchmarks.languages.ways LANGUAGE [ROUNDS] [BUSY]`, with a language or a
tool of `programs.FILES`. It prints how long a round takes in each way, and how far the ratios of a
round's typical times are spread, beside so many programs that keep a CPU busy. In turn, it needs
the tools themselves: Google Benchmark, Go, those of npm, Criterion as Debian has it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.gate.project import burning, git
from benchmarks.languages.programs import CONFIG, write

from benchgate.baselines.stored_files import read_result

if TYPE_CHECKING:
    from benchgate.model.result import Result

IN_TURN = {
    "cpp": """[build]
command = "c++ -O2 bench.cc -o bench -lbenchmark -lpthread"

[[benchmark]]
suite = "./bench --benchmark_repetitions=10 --benchmark_min_time=0.05 --benchmark_out={output} --benchmark_out_format=json"
""",  # noqa: E501 - as docs/suites.md has it
    "go": """[[benchmark]]
suite = "go test -run=NONE -bench=. -benchtime=0.1s -count=5 ./..."
""",
    **{
        tool: f"""[build]
command = "npm install --silent --no-save {package}"

[[benchmark]]
suite = "node bench.js"
"""
        for tool, package in {"node": "tinybench", "mitata": "mitata", "suite": "benchmark"}.items()
    },
    "vitest": """[build]
command = "npm install --silent --no-save vitest"

[[benchmark]]
suite = "npx vitest bench --run --outputJson {output}"
""",
    "bench": """[[benchmark]]
suite = "cargo bench"
env = {RUSTC_BOOTSTRAP = "1"}
""",
    "rust": """[[benchmark]]
suite = "cargo bench --bench text -- --warm-up-time 1 --measurement-time 1"
output = "target/criterion"
""",
}
DEBIANS_CRATES = """[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "/usr/share/cargo/registry"
"""


def measured(language: str, config: str, rounds: int) -> Result:
    """The result of a check in which nothing changed."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        write(language, root)
        if language == "rust":
            (root / ".cargo").mkdir()
            (root / ".cargo" / "config.toml").write_text(DEBIANS_CRATES)
            manifest = root / "Cargo.toml"
            manifest.write_text(manifest.read_text().replace('"0.5"', '"0.3"'))
        (root / "benchgate.toml").write_text(config)
        (root / ".gitignore").write_text("/bench\ntarget/\nnode_modules/\nCargo.lock\n*.gz\n")
        git(root, "init", "--quiet")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", "base")
        out = root / "result.json.gz"
        command = ["check", "--against", "HEAD", "--no-cache", "--rounds", str(rounds)]
        ended = subprocess.run(
            [sys.executable, "-m", "benchgate", *command, "--budget", "30m", "--output", out],
            cwd=root,
            check=False,
            capture_output=True,
            text=True,
        )
        if not out.exists():
            sys.exit(ended.stderr)
        return read_result(out)


def main() -> None:
    """Measure both ways."""
    language, *given = sys.argv[1:]
    rounds, busy = map(int, given + ["8", "0"][len(given) :])
    for way, config in (("in turn", IN_TURN[language]), ("side by side", CONFIG[language])):
        with burning([os.sched_getaffinity(0)] * busy):
            result = measured(language, config, rounds)
        (later,) = (phase for phase in result.phases if phase.phase == "later rounds")
        print(f"{language} {way}: {later.seconds / later.times:.1f} s a round", flush=True)
        base = {one.id: one for one in result.base.benchmarks} if result.base else {}
        for one in result.head.benchmarks:
            if one.id.startswith("benchgate/") or not one.series:
                continue
            sides = (base[one.id].series[0].launches, one.series[0].launches)
            typical = [[np.quantile(each.samples, 0.25) for each in side] for side in sides]
            ratios = np.diff(np.log(typical), axis=0)[0]
            print(f"  {one.id}: spread {np.std(ratios, ddof=1):.2%}", flush=True)


if __name__ == "__main__":
    main()
