"""Tries damaged files on one format, in a process of its own."""

from __future__ import annotations

import hashlib
import resource
import signal
import sys
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tests.formats.fuzz.command_line import check_command_line
from tests.formats.fuzz.inputs import CRASHERS, inputs_of, seeds_of
from tests.formats.fuzz.sanity import check_outcome

if TYPE_CHECKING:
    from benchgate.formats.parsed import Source

_LIMIT_S = 2.0
_LIMIT_BYTES = 1 << 30
_WHOLE_EVERY = 10
_MOST_FAULTS = 20


@dataclass(frozen=True, slots=True)
class Report:
    """What came of the inputs of a format.

    Attributes:
        read: how many of them were read.
        through_commands: how many also went through the command line.
        slowest_s: CPU time of the slowest one.
        faults: the last line of each error, with the path of the input.
    """

    name: str
    inputs: int
    read: int
    through_commands: int
    duration_s: float
    slowest_s: float
    faults: tuple[str, ...]


class _TooSlowError(BaseException):
    """An input took too long; nothing may catch it on its way."""


def fuzz(name: str, count: int, seed: int, commands_every: int) -> Report:
    """Try inputs on one format."""
    for source in seeds_of(name)[:1]:  # also imports what is imported late
        check_command_line(source, name)
    warnings.simplefilter("error")
    _limit()
    start_s = time.process_time()
    read = through_commands = done = 0
    slowest_s = 0.0
    faults: dict[str, str] = {}
    for index, source in enumerate(inputs_of(name, count, seed)):
        before_s = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, _LIMIT_S)
        try:
            read += check_outcome(source, name, whole=index % _WHOLE_EVERY == 0)
            if commands_every and index % commands_every == 0:
                check_command_line(source, name)
                through_commands += 1
        except (Exception, _TooSlowError) as error:  # noqa: BLE001 - every error counts
            place = traceback.extract_tb(error.__traceback__)[-1]
            key = f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}"
            if key not in faults:
                faults[key] = f"{key}: {str(error)[:300]} ({_kept(source, name)})"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        slowest_s = max(slowest_s, time.process_time() - before_s)
        done += 1
        if len(faults) >= _MOST_FAULTS:
            break
    duration_s = time.process_time() - start_s
    return Report(name, done, read, through_commands, duration_s, slowest_s, tuple(faults.values()))


def _limit() -> None:
    def stop(_signal: int, _frame: object) -> NoReturn:
        raise _TooSlowError

    signal.signal(signal.SIGPROF, stop)
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + _LIMIT_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _kept(source: Source, name: str) -> str:
    """Write an input where the tests find it."""
    contents = source.files or {"": source.data}
    digest = hashlib.sha256(repr(sorted(contents.items())).encode()).hexdigest()[:12]
    for path, data in contents.items():
        target = CRASHERS / name / digest / path if path else CRASHERS / name / digest
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return f"{name}/{digest}"
