"""Counts instructions under valgrind.

Of a program, cachegrind counts everything, from the first instruction to the end. Of a function,
callgrind counts what lies between two marks in its worker: see `_worker/opened.py`.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.measure.machine.memory_layout import draw_layouts
from benchgate.measure.machine.perf import CounterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from benchgate.measure.machine.memory_layout import Layout


LEAST_SLOWDOWN: Final = 50
SLOWDOWN: Final = f"{LEAST_SLOWDOWN} to 100 times slower"
LIMIT_S: Final = 30.0
"""Time limit for counting one benchmark on one side, unless its `timeout` is shorter."""
HOW_TO_INSTALL: Final = "apt-get install valgrind, or your system's package of that name"

_COMMON = ("--quiet", "--vgdb=no", "--trace-children=yes", "--child-silent-after-fork=yes")
_MARK = "ctermid"
_TOTAL = re.compile(rb"^(?:totals|summary): (\d+)$", re.MULTILINE)
_END_BYTES = 4096
_TRIAL_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Valgrind:
    """Valgrind as it counts in a session.

    Attributes:
        program: path of valgrind.
        wants: tells whether a benchmark is counted, by its id.
    """

    program: str
    wants: Callable[[str], bool]

    def under_cachegrind(self, folder: Path) -> tuple[str, ...]:
        """The beginning of a command whose processes leave their counts in a folder."""
        out = f"--cachegrind-out-file={_literal(folder)}/%p"
        return (self.program, "--tool=cachegrind", "--cache-sim=no", out, *_COMMON)

    def under_callgrind(self, folder: Path) -> tuple[str, ...]:
        """The same for a worker, which leaves a count in the folder at each mark."""
        out = f"--callgrind-out-file={_literal(folder)}/%p"
        at_marks = f"--dump-before={_MARK}"
        return (self.program, "--tool=callgrind", out, at_marks, "--dump-line=no", *_COMMON)


def find_valgrind(environ: Mapping[str, str]) -> str:
    """Find valgrind in the PATH, and let it count a small program.

    Raises:
        CounterError: it is not installed, or does not work here.
    """
    program = shutil.which("valgrind", path=environ.get("PATH", os.defpath))
    if program is None:
        raise CounterError(f"valgrind is not installed: {HOW_TO_INSTALL}")
    command = [program, "--tool=cachegrind", "--cachegrind-out-file=/dev/null", *_COMMON, "true"]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, env=environ, timeout=_TRIAL_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CounterError(f"valgrind does not work here: {error}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise CounterError(f"valgrind does not work here: {said or f'code {done.returncode}'}")
    return program


def version_of(program: str) -> str:
    """The version of a valgrind that works, such as "3.19.0"."""
    done = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    return done.stdout.strip().removeprefix("valgrind-")


def layout_of_round(round_index: int) -> Layout:
    """The layout in which a round is counted: the same in both arms, and in every session."""
    return draw_layouts(random.Random(round_index), 1)[0]  # noqa: S311 - repeatable on purpose


def count_of_program(folder: Path) -> int:
    """Add up the counts of all processes of a program."""
    files = list(folder.iterdir())
    if not files:
        raise CounterError("valgrind left no count: the program was killed, or has other rights")
    return _sum_of(files)


def count_between_marks(files: Iterable[Path], pid: int) -> int:
    """Add up the counts that were left at two marks, and by processes that ended between them.

    The first mark's own count is of what was before. If others call the marked function, too,
    there are more counts, and together they are of what lies between the marks.

    Args:
        pid: process id of the worker.
    """
    found = set(files)
    own = {int(f.suffix[1:]): f for f in found if f.stem == str(pid) and f.suffix[1:].isdigit()}
    if len(own) < 2:
        raise CounterError(f"valgrind does not see that this Python calls {_MARK}")
    return _sum_of(found - {own[min(own)]})


def _sum_of(files: Iterable[Path]) -> int:
    return sum(map(_read, files))


def _read(file: Path) -> int:
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - _END_BYTES))
        totals = _TOTAL.findall(opened.read())
    if not totals:
        raise CounterError("a count of valgrind was not written to its end")
    return int(totals[-1])


def _literal(folder: Path) -> str:
    return str(folder).replace("%", "%%")
