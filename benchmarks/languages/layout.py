"""What unrelated code does to the time of compiled benchmarks, and what alignment does about it.

Run it with `python -m benchmarks.languages.layout cpp|rust|go [PAIRS]`. It builds a program with a
few small benchmarks, and variants of it with other functions, which are never called, in front of
and between what is measured. Nothing that is measured differs, so each ratio that is not 1 is due
to where the code lies. For each set of flags it prints how far the ratios are from 1.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.languages.programs import write

from benchgate.config.benchmarks import CppBenchmark, GoBenchmark, RustBenchmark
from benchgate.measure.adapters import Programs, build_variables
from benchgate.measure.build import build
from benchgate.measure.engine import Arm, ArmName
from benchgate.measure.guardian import Guardian
from benchgate.measure.lockstep import take_samples
from benchgate.measure.machine import available_cpus, moved_to
from benchgate.measure.memory_layout import Layout
from benchgate.measure.worker import ProgramSetting, Worker

if TYPE_CHECKING:
    from benchgate.config.benchmarks import LiveBenchmarks

MARGIN = 0.02
ROUNDS = 5
SAMPLES = 30
SAMPLE_NS = 300_000
TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Language:
    """How a program is written and built, and the flags that are tried."""

    table: LiveBenchmarks
    path: str
    flags: dict[str, dict[str, str]]


LANGUAGES = {
    "cpp": Language(
        CppBenchmark.model_construct(paths=("bench",)),
        "bench",
        {
            "as the adapter does": {},
            "nothing": {"ALIGN": "-fno-align-functions"},
            "functions and loops": {"ALIGN": "-falign-loops=32"},
        },
    ),
    "rust": Language(
        RustBenchmark.model_construct(paths=("text",)), "text", {"as the adapter does": {}}
    ),
    "go": Language(GoBenchmark.model_construct(paths=(".",)), ".", {"as the adapter does": {}}),
}


def program(
    language: str, folder: Path, seed: int, flags: dict[str, str], guardian: Guardian
) -> tuple[Arm, ProgramSetting]:
    """Build a variant with these flags."""
    kind = LANGUAGES[language]
    root = folder / f"{seed}"
    write(language, root, seed=seed)
    variables = {**guardian.variables, **flags, "CARGO_NET_OFFLINE": "true"}
    arm = Arm(ArmName.HEAD, root, folder / f"{seed}-env", variables=variables)
    if language == "cpp":
        command = '"$CXX" -O2 $ALIGN bench.cc -o bench -lbenchmark -lpthread'
        added = build_variables([kind.table], {})
        build(arm, [["/bin/sh", "-c", command]], timeout_s=300, variables=added, guardian=guardian)
    table = kind.table.model_copy(update={"env": {}})
    found = Programs(guardian).program(arm, table, kind.path)
    environ = {**os.environ, **variables}
    cpu = (min(available_cpus()),)
    return arm, ProgramSetting(found.command, found.folder, cpu, environ, Layout())


def ratios(pair: tuple[tuple[Arm, ProgramSetting], ...], guardian: Guardian) -> dict[str, float]:
    """The ratio of the typical times of two programs, by benchmark."""
    rng = random.Random(0)  # noqa: S311 - repeatable on purpose
    found: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        with ExitStack() as stack, moved_to(min(available_cpus())):
            workers = [Worker(arm, setting, guardian, describe=True) for arm, setting in pair]
            for worker in workers:
                stack.callback(worker.kill)
                said = worker.ready(TIMEOUT_S)
                worker.allow(TIMEOUT_S)
            for id_ in (each["id"] for each in said["benchmarks"]):
                loops = 1
                for worker in workers:
                    worker.ask("open", id_)
                while True:
                    workers[0].ask("loops", loops)
                    wall_ns, _ = workers[0].sample()
                    if wall_ns >= SAMPLE_NS:
                        break
                    loops = max(loops + 1, min(loops * 10, int(1.2 * loops * SAMPLE_NS / wall_ns)))
                for worker in workers:
                    worker.ask("loops", loops)
                take_samples(workers, 3, rng)
                taken = take_samples(workers, SAMPLES, rng)
                base, head = (np.quantile([wall for wall, _ in each], 0.25) for each in taken)
                found.setdefault(id_, []).append(float(head / base))
                for worker in workers:
                    worker.ask("close")
    return {id_: median(each) for id_, each in found.items()}


def main() -> None:
    """Measure each set of flags."""
    language, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with Guardian.start() as guardian, tempfile.TemporaryDirectory() as name:
        for label, flags in LANGUAGES[language].flags.items():
            folder = Path(name) / label.replace(" ", "-")
            base = program(language, folder, 0, flags, guardian)
            off: dict[str, list[float]] = {}
            for seed in range(1, count + 1):
                pair = base, program(language, folder, seed, flags, guardian)
                for id_, ratio in ratios(pair, guardian).items():
                    off.setdefault(id_, []).append(ratio - 1)
            for id_, each in off.items():
                beyond = sum(abs(one) > MARGIN for one in each)
                print(
                    f"{language}, aligned {label}: {id_}: {beyond} of {len(each)} beyond "
                    f"{MARGIN:.0%}; {min(each):+.2%} to {max(each):+.2%}, "
                    f"median distance {median(map(abs, each)):.2%}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
