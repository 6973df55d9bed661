"""Signals and streams that fail, in a real process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

# A command that swallows the first interruptions, and says how it ended.
SWALLOWING = """\
import signal, sys, time
import click
from benchgate.cli.boundary import guarded

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup

@click.command()
def command():
    for _ in range(3):
        try:
            print("ready", flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            pass
    try:
        print("ready", flush=True)
        time.sleep(60)
    finally:
        print("cleaning", flush=True)
        time.sleep(0.3)
        print("cleaned", flush=True)

sys.argv = ["benchgate"]
guarded(command)
"""
IN_DEL = """\
import os, signal, sys, time
import click
from benchgate.cli.boundary import guarded

class Swallows:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

@click.command()
def command():
    Swallows()
    time.sleep(60)

sys.argv = ["benchgate"]
guarded(command)
"""
WITHOUT_THREADS = """\
import sys, threading
import click
from benchgate.cli.boundary import guarded

def refuse(*_, **__):
    raise RuntimeError("can't start new thread")

threading._start_new_thread = threading._start_joinable_thread = refuse  # before 3.13, and since

@click.command()
def command():
    threading.Thread().start()

sys.argv = ["benchgate"]
guarded(command)
"""
WITHOUT_MEMORY = WITHOUT_THREADS.replace("threading.Thread().start()", "raise MemoryError")
PATIENCE_S = 30.0


def start(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_after_a_swallowed_one_interrupts(number: signal.Signals) -> None:
    process = start(SWALLOWING)
    assert process.stdout is not None
    for _ in range(4):
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
    assert process.stdout.readline() == "cleaning\n"
    for _ in range(5):
        process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert out == "cleaned\n"
    assert err == "\ninterrupted\n"


def test_an_interruption_in_a_destructor_interrupts_afterwards() -> None:
    process = start(IN_DEL)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (130, "")
    assert err.endswith("\ninterrupted\n")


def test_a_thread_that_the_system_refuses_is_no_bug() -> None:
    process = start(WITHOUT_THREADS)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert err.startswith("error: the operating system refused a thread\nhint: ")
    assert "ulimit -u" in err


def test_memory_that_is_refused_is_no_bug() -> None:
    process = start(WITHOUT_MEMORY)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert err.startswith("error: the operating system refused memory\nhint: ")


def test_nobody_reads_that_it_was_interrupted() -> None:
    """A closed terminal: SIGHUP, and nothing can be said."""
    code = SWALLOWING.replace("range(3)", "range(0)")
    with Path("/dev/full").open("w") as full:
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=full, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert out.endswith("cleaned\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_nobody_reads_that_an_option_is_wrong() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "benchgate", "show", "--wrong"], stderr=full, check=False
        )
    assert done.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_standard_output_is_full() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "benchgate", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_a_closed_standard_stream(closed: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" -m benchgate --help {closed}', sys.executable],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert done.returncode == 0
    assert done.stderr == ""
