"""Software events, which need no hardware, stand in for instructions; the system calls are real."""

from __future__ import annotations

import errno
import mmap
import os
import platform
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.machine import perf as counters
from benchgate.measure.machine.perf import (
    USER_INSTRUCTIONS,
    Counter,
    CounterError,
    Event,
    perf_event_open,
    why_not_counted,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.xdist_group("cpu")

TASK_CLOCK = Event(type=1, config=1)
PAGE_FAULTS = Event(type=1, config=2)
UNKNOWN = Event(type=1, config=99)
SOFTWARE = why_not_counted(TASK_CLOCK)
HARDWARE = why_not_counted(USER_INSTRUCTIONS)
counted = pytest.mark.skipif(SOFTWARE is not None, reason=f"not even software events: {SOFTWARE}")

PAGES = 2000
TOUCH = (
    "import mmap; m = mmap.mmap(-1, {pages} * mmap.PAGESIZE); m[::mmap.PAGESIZE] = bytes({pages})"
)


def touch(pages: int = PAGES) -> None:
    """Cause as many page faults."""
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        memory[:: mmap.PAGESIZE] = bytes(pages)


class Other:
    """A process that does a line of Python when told to, and answers with what it is told."""

    def __init__(self) -> None:
        source = (
            "import sys, os, mmap, subprocess, threading\n"
            "for line in sys.stdin:\n    exec(line)\n    print(flush=True)\n"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", source],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            start_new_session=True,
        )
        self.pid = self.process.pid

    def do(self, line: str) -> str:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{line}\n")
        answer = self.process.stdout.readline()
        assert answer, "it has ended"
        return answer.strip()


@pytest.fixture
def other() -> Iterator[Other]:
    other = Other()
    with other.process:
        yield other
        os.killpg(other.pid, 9)


# What is counted


@counted
def test_counts_in_the_thread_that_asks() -> None:
    with Counter(PAGE_FAULTS, 0) as counter:
        before = counter.read()
        touch()
        assert PAGES <= counter.read() - before < PAGES * 1.5


@counted
def test_counts_in_another_process_and_not_here(other: Other) -> None:
    other.do("pass")
    with Counter(PAGE_FAULTS, other.pid) as counter:
        touch()
        other.do("pass")
        before = counter.read()
        assert before < PAGES
        other.do(TOUCH.format(pages=PAGES))
        assert PAGES <= counter.read() - before < PAGES * 1.5


@counted
def test_counts_in_threads_that_were_there_and_that_come(other: Other) -> None:
    other.do(
        "start = threading.Event(); done = threading.Event(); "
        f"touch = lambda: exec({TOUCH.format(pages=PAGES)!r}, {{}}); "
        "threading.Thread(target=lambda: (start.wait(), touch(), done.set())).start()"
    )
    with Counter(PAGE_FAULTS, other.pid) as counter:
        before = counter.read()
        other.do("start.set(); done.wait()")
        middle = counter.read()
        other.do("new = threading.Thread(target=touch); new.start(); new.join()")
        assert PAGES <= middle - before < PAGES * 1.5
        assert PAGES <= counter.read() - middle < PAGES * 1.5


@counted
def test_counts_in_children(other: Other) -> None:
    with Counter(PAGE_FAULTS, other.pid) as counter:
        other.do(f"subprocess.run([sys.executable, '-S', '-c', {TOUCH.format(pages=PAGES)!r}])")
        assert counter.read() >= PAGES


@counted
def test_from_exec_counts_programs_and_not_who_starts_them(other: Other) -> None:
    def run(pages: int) -> int:
        source = TOUCH.format(pages=pages)
        with Counter(PAGE_FAULTS, other.pid, from_exec=True) as counter:
            other.do(TOUCH.format(pages=10 * PAGES))
            other.do(f"subprocess.run([sys.executable, '-I', '-S', '-c', {source!r}])")
            return counter.read()

    few, many = run(1), run(2 * PAGES)
    assert 0 < few < 5 * PAGES
    assert many - few == pytest.approx(2 * PAGES, rel=0.2)


@counted
def test_from_exec_counts_grandchildren_whether_they_end_or_not(other: Other) -> None:
    source = TOUCH.format(pages=5 * PAGES)
    lives = f"{source}; print(flush=True); import time; time.sleep(300)"
    starts = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-S', '-c', {!r}]{})"
    ended = starts.format(source, "") + "; p.wait()"
    alive = starts.format(lives, ", stdout=subprocess.PIPE") + "; p.stdout.readline()"
    for parent in (ended, alive):
        with Counter(PAGE_FAULTS, other.pid, from_exec=True) as counter:
            other.do(f"subprocess.run([sys.executable, '-S', '-c', {parent!r}])")
            assert 5 * PAGES <= counter.read() < 10 * PAGES


@counted
def test_what_outlives_a_counter_is_not_counted_by_the_next(other: Other) -> None:
    busy = "while True: pass"
    with Counter(TASK_CLOCK, other.pid, from_exec=True):
        other.do(f"p = subprocess.Popen([sys.executable, '-S', '-c', {busy!r}])")
    with Counter(TASK_CLOCK, other.pid, from_exec=True) as counter:
        time.sleep(0.05)
        assert counter.read() == 0


@pytest.mark.skipif(HARDWARE is not None, reason=f"no instructions here: {HARDWARE}")
def test_instructions_of_the_same_work_are_nearly_the_same(other: Other) -> None:
    def instructions(steps: int) -> int:
        with Counter(USER_INSTRUCTIONS, other.pid) as counter:
            before = counter.read()
            other.do(f"sum(range({steps}))")
            return counter.read() - before

    instructions(10)
    one, same, twice = instructions(10**6), instructions(10**6), instructions(2 * 10**6)
    assert one > 10**6
    assert same == pytest.approx(one, rel=0.01)
    assert twice == pytest.approx(2 * one, rel=0.05)


@counted
def test_a_counter_leaves_no_descriptor_open() -> None:
    folder = Path("/proc/self/fd")
    before = len(list(folder.iterdir()))
    with Counter(PAGE_FAULTS, os.getpid()):
        assert len(list(folder.iterdir())) > before
    with pytest.raises(CounterError):
        Counter(UNKNOWN, os.getpid())
    assert len(list(folder.iterdir())) == before


# Why it may be impossible


@counted
def test_an_event_that_the_machine_does_not_have() -> None:
    assert why_not_counted(TASK_CLOCK) is None
    assert why_not_counted(UNKNOWN) is not None


@counted
def test_a_process_that_is_not_there() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    with pytest.raises(CounterError, match="has ended, or benchgate cannot see it"):
        Counter(PAGE_FAULTS, child.pid)


SANDBOXED = """
import ctypes, struct, sys
from benchgate.measure.machine.perf import Event, why_not_counted
# Load the number of the system call; if it is that of perf_event_open, refuse, else allow.
program = b"".join(struct.pack("=HBBI", *step) for step in [
    (0x20, 0, 0, 0), (0x15, 0, 1, {number}),
    (0x06, 0, 0, 0x50000 | {errno}), (0x06, 0, 0, 0x7FFF0000)
])
steps = ctypes.create_string_buffer(program, len(program))
described = struct.pack("@HP", 4, ctypes.addressof(steps))
prctl = ctypes.CDLL(None, use_errno=True).prctl
prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_ulong]
assert prctl(38, 1, None, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
if prctl(22, 2, described, 0, 0) != 0:  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
    sys.exit(77)
print(why_not_counted(Event({event.type}, {event.config})))
"""


@counted
@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EPERM, "a sandbox forbids it: allow perf_event_open (docker run --cap-add PERFMON)"),
        (errno.ENOSYS, "this kernel, or a sandbox, has no perf_event_open on"),
        (errno.ENOENT, "like most virtual machines; use a physical one"),
        (errno.EMFILE, "the kernel refused: Too many open files"),
    ],
    ids=["EPERM", "ENOSYS", "ENOENT", "EMFILE"],
)
def test_a_sandbox_that_refuses(number: int, words: str) -> None:
    call = counters._SYSCALLS[platform.machine()]  # noqa: SLF001 - what the sandbox is to forbid
    source = SANDBOXED.format(number=call, errno=number, event=PAGE_FAULTS)
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False
    )
    if done.returncode == 77:
        pytest.skip("no system call can be forbidden here")
    assert done.stderr == ""
    assert words in done.stdout


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], str | None]:
    """What is said when the kernel refuses with an error."""

    def why(number: int) -> str | None:
        def refuse(*_: object) -> int:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(counters, "perf_event_open", refuse)
        return why_not_counted(USER_INSTRUCTIONS)

    return why


@pytest.mark.parametrize(
    ("paranoia", "words"),
    [
        ("4\n", "sudo sysctl kernel.perf_event_paranoid=2"),
        ("3\n", "sudo sysctl kernel.perf_event_paranoid=2"),
        ("2\n", "a sandbox forbids it"),
        ("-1\n", "a sandbox forbids it"),
        ("", "a sandbox forbids it"),
        (None, "a sandbox forbids it"),
    ],
)
def test_a_kernel_that_lets_no_user_count(
    paranoia: str | None,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: Callable[[int], str | None],
) -> None:
    file = tmp_path / "perf_event_paranoid"
    if paranoia is not None:
        file.write_text(paranoia)
    monkeypatch.setattr(counters, "_PARANOID", file)
    monkeypatch.setattr(sys, "platform", "linux")
    for number in (errno.EACCES, errno.EPERM):
        assert words in (refused(number) or "")


@pytest.mark.parametrize("number", [errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP])
def test_a_machine_without_counters(
    number: int, monkeypatch: pytest.MonkeyPatch, refused: Callable[[int], str | None]
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert "like most virtual machines; use a physical one" in (refused(number) or "")


def test_another_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert (
        why_not_counted(PAGE_FAULTS)
        == "darwin does not let programs count instructions; Linux does"
    )


def test_another_architecture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "sparc64")
    with pytest.raises(OSError, match="not implemented"):
        perf_event_open(PAGE_FAULTS, 0, 0)
    if sys.platform == "linux":
        assert "no perf_event_open on sparc64" in (why_not_counted(PAGE_FAULTS) or "")


def test_every_reason_is_one_line(refused: Callable[[int], str | None]) -> None:
    for number in errno.errorcode:
        reason = refused(number)
        assert reason
        assert "\n" not in reason
        assert len(reason) < 100


def reading(monkeypatch: pytest.MonkeyPatch, *numbers: int) -> None:
    """Let a counter read a count, and the times for which it was enabled and did count."""

    def opened(*_: object) -> int:
        end, start = os.pipe()
        os.write(start, struct.pack("=QQQ", *numbers))
        os.close(start)
        return end

    monkeypatch.setattr(counters, "perf_event_open", opened)


def test_what_was_counted_some_of_the_time_is_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    reading(monkeypatch, 1000, 50, 49)
    with (
        Counter(USER_INSTRUCTIONS, 0) as counter,
        pytest.raises(CounterError, match="lost at times"),
    ):
        counter.read()
    reading(monkeypatch, 1000, 50, 0)
    assert "lost at times" in (why_not_counted(USER_INSTRUCTIONS) or "")


def test_a_counter_that_stands_still_is_of_no_use(monkeypatch: pytest.MonkeyPatch) -> None:
    reading(monkeypatch, 0, 50, 50)
    assert "do not count, as on some emulators" in (why_not_counted(USER_INSTRUCTIONS) or "")
    reading(monkeypatch, 7, 50, 50)
    assert why_not_counted(USER_INSTRUCTIONS) is None


def test_threads_that_end_meanwhile_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> int:
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))

    monkeypatch.setattr(counters, "perf_event_open", gone)
    with pytest.raises(CounterError, match="has ended"):
        Counter(PAGE_FAULTS, threading.get_native_id())
