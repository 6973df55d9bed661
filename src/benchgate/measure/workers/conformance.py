"""Tests whether a program speaks the worker protocol, as docs/worker-protocol.md describes it."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, Final

from benchgate.measure.machine import Layout
from benchgate.measure.workers.replies import shown
from benchgate.measure.workers.start import ProgramSetting
from benchgate.measure.workers.worker import Worker, WorkerFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchgate.measure.arm import Arm
    from benchgate.measure.processes import Guardian

OVERHEAD_US: Final = 30.0
"""What a turn should cost at most beyond its sample: more makes a check slower, not wrong."""

_TIMEOUT_S = 60.0
_HANG_S = 1.0
_SAMPLE_NS = 300_000
_TURNS = 200
_MOST_CALLS = 10**8  # less than 0.003 ns each would be no time at all
_MISBEHAVING = ("fails", "prints", "forks", "exits", "hangs")


@dataclass(frozen=True, slots=True)
class ConformanceResult:
    """What one test has found.

    Attributes:
        test: what is tested, as the end of "the worker ...".
        problem: what the worker does instead; "" if it does what it should.
        detail: what else is worth knowing; why it was not tested, if `was_tried` is false.
    """

    test: str
    problem: str = ""
    detail: str = ""
    was_tried: bool = True


class _WrongError(Exception):
    """The worker does not do what it should; the text says what it does."""


class Conformance:
    """Tests one command in fresh processes."""

    def __init__(
        self, arm: Arm, command: Sequence[str], variables: Mapping[str, str], guardian: Guardian
    ) -> None:
        self._arm = arm
        self._setting = ProgramSetting(
            tuple(command), None, cpus=None, variables=variables, layout=Layout()
        )
        self._guardian = guardian
        self._ids: list[str] = []

    def run(self) -> Iterator[ConformanceResult]:
        """Make all tests, those that need nothing first; the rest is left out after a failure."""
        first = self._try("says hello and lists its benchmarks", self._list)
        yield first
        if first.problem:
            return
        yield self._try("lists the same benchmarks in the next process", self._list_again)
        yield self._try("answers each step that it cannot carry out with an error", self._refuse)
        yield self._try("measures every benchmark, one after the other", self._measure)
        yield self._try("ends with `bye` when benchgate closes its side", self._end)
        for name in _MISBEHAVING:
            ids = [id_ for id_ in self._ids if id_.rpartition("/")[2] == name]
            test = f"survives a benchmark that {name}"
            if ids:
                yield self._try(test, getattr(self, f"_{name}"), ids[0])
            else:
                why = f"it lists no benchmark with the name {name}"
                yield ConformanceResult(test, detail=why, was_tried=False)
        yield self._try("loses little time between samples", self._overhead)

    def _try(self, test: str, act: Callable[..., str], *arguments: str) -> ConformanceResult:
        try:
            return ConformanceResult(test, detail=act(*arguments))
        except _WrongError as wrong:
            return ConformanceResult(test, str(wrong))
        except WorkerFailedError as failure:
            return ConformanceResult(test, failure.error)

    @contextmanager
    def _worker(self, *, describe: bool = False) -> Iterator[tuple[Worker, dict[str, Any]]]:
        with ExitStack() as stack:
            worker = Worker(self._arm, self._setting, self._guardian, describe=describe)
            stack.callback(worker.kill)
            said = worker.ready(_TIMEOUT_S)
            worker.allow(_TIMEOUT_S)
            yield worker, said

    def _list(self) -> str:
        with self._worker(describe=True) as (worker, said):
            self._ids = [each["id"] for each in said["benchmarks"]]
            cost_ns = worker.timer.error_ns
        if not self._ids:
            raise _WrongError("it lists no benchmarks")
        for id_ in self._ids:
            if not id_ or id_ != id_.strip() or "\n" in id_:
                raise _WrongError(f"the id {json.dumps(id_)} is empty, or has spaces around it")
        if len(set(self._ids)) < len(self._ids):
            raise _WrongError("two benchmarks have the same id")
        versions = ", ".join(f"{name} {version}" for name, version in said["versions"].items())
        return (
            f"{said['language']}, {versions}; {len(self._ids)} benchmarks; clock {cost_ns:.0f} ns"
        )

    def _list_again(self) -> str:
        before = self._ids
        self._list()
        if before != self._ids:
            now, then = (", ".join(ids) for ids in (self._ids, before))
            raise _WrongError(f"it lists {now}, and before it listed {then}")
        return ""

    def _refuse(self) -> str:
        wrong: list[str] = []
        with self._worker() as (worker, _):
            for step in ("s", "loops 3", "no-such-step", "close"):
                wrong += self._accepted(worker, step)
        with self._worker() as (worker, _):
            wrong += self._accepted(worker, "open no such benchmark")
        if wrong:
            raise _WrongError(f"with nothing open, it answers {', '.join(wrong)}, not an error")
        return ""

    @staticmethod
    def _accepted(worker: Worker, request: str) -> list[str]:
        """The request and its reply, unless that is an error."""
        worker.send(f"{request}\n".encode())
        line = worker.line()
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError):
            reply = None
        is_error = isinstance(reply, dict) and isinstance(reply.get("error"), str)
        return [] if is_error else [f"`{request}` with {shown(line)}"]

    def _measure(self) -> str:
        ordinary = [id_ for id_ in self._ids if id_.rpartition("/")[2] not in _MISBEHAVING]
        if not ordinary:
            raise _WrongError("all its benchmarks are there to fail")
        with self._worker() as (worker, _):
            for id_ in ordinary:
                worker.ask("open", id_)
                self._require_growth(worker, id_)
                worker.ask("close")
        return ""

    @staticmethod
    def _require_growth(worker: Worker, id_: str) -> None:
        """Take samples of more and more calls, until they take a while."""
        loops, wall_ns = 1, 0
        while wall_ns < _SAMPLE_NS:
            worker.ask("loops", loops)
            start_ns = time.perf_counter_ns()
            wall_ns, _ = worker.sample()
            if wall_ns > time.perf_counter_ns() - start_ns:
                raise _WrongError(f"a sample of {id_} lasted longer than benchgate waited")
            if loops >= _MOST_CALLS and wall_ns < _SAMPLE_NS:
                raise _WrongError(f"{loops:,} calls of {id_} take only {wall_ns} ns")
            loops *= 10

    def _end(self) -> str:
        with self._worker() as (worker, _):
            said = worker.close()
        if said != b"bye":
            raise _WrongError(f"its last line is {shown(said)}" if said else "it says nothing")
        return ""

    def _fails(self, id_: str) -> str:
        with self._worker() as (worker, _):
            try:
                self._sample_of(worker, id_)
            except WorkerFailedError as failure:
                return f"it says: {failure.error.partition(chr(10))[0]}"
        raise _WrongError(f"it measures {id_}, which fails, as if it did not")

    def _prints(self, id_: str) -> str:
        with self._worker() as (worker, _):
            self._sample_of(worker, id_)
        return ""

    def _forks(self, id_: str) -> str:
        with self._worker() as (worker, _):
            try:
                self._sample_of(worker, id_)
                worker.ask("loops", 1)
            except WorkerFailedError as failure:
                return f"it says: {failure.error.partition(chr(10))[0]}"
        return ""

    def _exits(self, id_: str) -> str:
        return self._fails(id_)

    def _hangs(self, id_: str) -> str:
        with self._worker() as (worker, _):
            worker.allow(_HANG_S)
            try:
                self._sample_of(worker, id_)
            except WorkerFailedError:
                return ""
        raise _WrongError(f"it measures {id_}, which hangs, as if it did not")

    @staticmethod
    def _sample_of(worker: Worker, id_: str) -> None:
        worker.ask("open", id_)
        worker.ask("loops", 1)
        worker.sample()

    def _overhead(self) -> str:
        id_ = next(id_ for id_ in self._ids if id_.rpartition("/")[2] not in _MISBEHAVING)
        with self._worker() as (worker, _):
            worker.ask("open", id_)
            worker.ask("loops", 1)
            wall_ns, _ = worker.sample()
            worker.ask("loops", max(1, _SAMPLE_NS // max(1, wall_ns)))
            overheads_us = []
            for _ in range(_TURNS):
                start_ns = time.perf_counter_ns()
                wall_ns, _ = worker.sample()
                took_ns = time.perf_counter_ns() - start_ns - wall_ns - worker.beside_ns
                overheads_us.append(took_ns / 1000)
        p95_us = quantiles(overheads_us, n=20)[-1]
        measured = f"median {median(overheads_us):.0f} us, 95 % below {p95_us:.0f} us"
        return f"{measured}; aim at {OVERHEAD_US:.0f} us"
