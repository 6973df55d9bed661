"""Let each system call of commands fail, one at a time: `python -m tests.faults`.

It takes hours; `--once` tries one call of each kind on each path, as the slow tests do.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.system_calls import once_each
from tests.faults.trials import TRIALS, Place

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Try faults, and say what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--command", action="append", choices=TRIALS, help="only this; repeatable")
    parser.add_argument("--call", action="append", help="only this system call; repeatable")
    parser.add_argument("--once", action="store_true", help="one call of a kind on each path")
    parser.add_argument("--part", default="1/1", help="such as 2/5: every fifth call")
    options = parser.parse_args(arguments)
    part, parts = map(int, options.part.split("/"))
    tried = missed = wrong_ones = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        for name in options.command or TRIALS:
            trial = TRIALS[name]
            clean, calls = place.clean(trial)
            chosen = once_each(calls) if options.once else calls
            print(f"{name}: {len(calls)} calls, {len(chosen)} of them tried", flush=True)
            for call in chosen[part - 1 :: parts]:
                if options.call and call.name not in options.call:
                    continue
                has_hit, wrong = place.with_fault(trial, call, clean)
                tried += 1
                missed += not has_hit
                wrong_ones += bool(wrong)
                print(f"{name}: {call}{'' if has_hit else ': missed'}", flush=True)
                print(*(f"  wrong: {each}" for each in wrong), sep="\n", end="", flush=True)
    print(f"{tried} faults tried, {missed} of them missed, {wrong_ones} handled wrongly")
    return 1 if wrong_ones else 0


if __name__ == "__main__":
    sys.exit(main())
