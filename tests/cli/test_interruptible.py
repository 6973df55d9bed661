"""Real signals to a real process."""

from __future__ import annotations

import subprocess
import sys

import pytest

START = """\
import os, signal, sys, time
from contextlib import closing, contextmanager
from benchgate.cli.boundary import interruptible

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup

def ask(number=signal.SIGINT):
    os.kill(os.getpid(), number)
    time.sleep(0)
"""
PATIENCE_S = 60.0


def run(body: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", START + body],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_request_interrupts(number: str) -> None:
    done = run(f"""
try:
    with interruptible():
        ask(signal.{number})
        print("went on")
except KeyboardInterrupt:
    print("interrupted")
""")
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_one_that_is_swallowed_comes_again() -> None:
    done = run("""
class Finalized:
    def __del__(self):
        ask()

try:
    with interruptible():
        one = Finalized()
        del one
        print("swallowed")
        time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
""")
    assert done.stdout == "swallowed\ninterrupted\n"
    assert done.stderr == ""


def test_the_next_one_counts_at_once_if_one_is_swallowed() -> None:
    done = run("""
class Finalized:
    def __del__(self):
        ask()

try:
    with interruptible():
        one = Finalized()
        del one
        ask()
        print("went on")
except KeyboardInterrupt:
    print("interrupted")
""")
    assert done.stdout == "interrupted\n"


def test_cleaning_up_is_not_interrupted() -> None:
    done = run("""
@contextmanager
def opened():
    try:
        yield
    finally:
        ask()
        time.sleep(0.7)
        print("closed")

def lines():
    try:
        yield
    finally:
        try:
            raise OSError
        except OSError:
            ask(signal.SIGTERM)
        print("generator closed")

try:
    with interruptible(), opened(), closing(lines()) as read:
        next(read)
        ask()
except KeyboardInterrupt:
    ask()
    print("end")
ask()
print("after")
""")
    assert done.stdout == "generator closed\nclosed\nend\nafter\n"


def test_what_the_starter_ignores_stays_ignored() -> None:
    done = run("""
signal.signal(signal.SIGHUP, signal.SIG_IGN)
with interruptible():
    ask(signal.SIGHUP)
    print("went on")
""")
    assert done.stdout == "went on\n"
