"""Workloads that no change of the user's can touch: the same on both arms, in every round."""

# ruff: noqa: PTH108, PTH118, PTH123 - the calls are the work
# ruff: noqa: INP001 - a benchmark file belongs to no package

import os

FOLDER = os.environ.pop("BENCHGATE_CANARY_FOLDER", None)
ROUNDS = range(400)
BLOCK = bytes(range(256)) * 64


def bench_loop() -> float:
    """Mix arithmetic, allocation and look-ups, as programs do."""
    table: dict[int, tuple[int, float]] = {}
    total = 0.0
    for i in ROUNDS:
        table[i % 37] = (i, total)
        total += table[i % 11][0] * 0.5
    return total


if FOLDER is not None:
    PATH = os.path.join(FOLDER, f".benchgate-canary-{os.getpid()}")

    def bench_files() -> None:
        """Make a file, write and read it, and remove it."""
        with open(PATH, "wb") as file:
            file.write(BLOCK)
        with open(PATH, "rb") as file:
            file.read()
        os.unlink(PATH)
