"""Tries damaged inputs on one reader, in a process that does nothing else meanwhile."""

from __future__ import annotations

import hashlib
import resource
import signal
import sys
import time
import traceback
import warnings
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tests.fuzz.targets import targets

if TYPE_CHECKING:
    from tests.fuzz.target import Target

    from benchgate.formats.contents import ForeignFile

_LIMIT_S = 2.0
_LIMIT_BYTES = 1 << 30
_MOST_FAULTS = 20


@dataclass(frozen=True, slots=True)
class Report:
    """What came of the inputs of a reader.

    Attributes:
        read: how many of them were read.
        slowest_s: CPU time of the slowest one.
        faults: the last line of each error, with the path of the input.
    """

    name: str
    inputs: int
    read: int
    duration_s: float
    slowest_s: float
    faults: tuple[str, ...]


class _TooSlowError(BaseException):
    """An input took too long; nothing may catch it on its way."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is tried.

    Attributes:
        inputs: of each reader.
        commands_every: every n-th file of another tool goes through the command line; 0 for none.
        end_s: of the whole run, on the monotonic clock.
    """

    inputs: int
    seed: int
    commands_every: int
    end_s: float


def fuzz(name: str, limits: Limits, share: float) -> Report:
    """Try inputs on one reader, until its share of the time that is left is over."""
    target, seed = targets(limits.commands_every)[name], limits.seed
    began_s = time.monotonic()
    deadline_s = began_s + (limits.end_s - began_s) * min(share, 1)
    target.check(next(target.inputs(seed)), 0)  # also imports what is imported late
    warnings.simplefilter("error")
    _limit()
    start_s = time.process_time()
    read = done = 0
    slowest_s = 0.0
    faults: dict[str, str] = {}
    for index, source in enumerate(islice(target.inputs(seed), limits.inputs)):
        before_s = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, _LIMIT_S)
        try:
            read += target.check(source, index)
        except (Exception, _TooSlowError) as error:  # noqa: BLE001 - every error counts
            place = traceback.extract_tb(error.__traceback__)[-1]
            key = f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}"
            if key not in faults:
                faults[key] = f"{key}: {str(error)[:300]} ({_kept(source, target)})"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        slowest_s = max(slowest_s, time.process_time() - before_s)
        done += 1
        if len(faults) >= _MOST_FAULTS or time.monotonic() >= deadline_s:
            break
    duration_s = time.process_time() - start_s
    return Report(target.name, done, read, duration_s, slowest_s, tuple(faults.values()))


def _limit() -> None:
    def stop(_signal: int, _frame: object) -> NoReturn:
        raise _TooSlowError

    signal.signal(signal.SIGPROF, stop)
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + _LIMIT_BYTES
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _kept(source: ForeignFile, target: Target) -> str:
    """Write an input where the tests find it."""
    contents = source.files or {"": source.data}
    digest = hashlib.sha256(repr(sorted(contents.items())).encode()).hexdigest()[:12]
    for path, data in contents.items():
        file = target.finds / digest / path if path else target.finds / digest
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return f"{target.name}/{digest}"
