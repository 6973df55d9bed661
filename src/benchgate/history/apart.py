"""Reads in a child process: input that ends the process costs only itself.

A damaged Parquet file can do so: the reader aborts, or writes where it may not.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import warnings
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

Input = TypeVar("Input")
Output = TypeVar("Output")

_FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Ended:
    """Reading ended the process.

    Attributes:
        how: such as "ended with SIGABRT".
    """

    how: str


def read_apart(
    inputs: Sequence[Input], read: Callable[[Input], Output]
) -> Iterator[Output | Ended]:
    """Read one input after the other; what `read` raises is raised here."""
    done = 0
    while done < len(inputs):
        with _child(inputs[done:], read) as (child, answers):
            for _ in range(done, len(inputs)):
                done += 1
                try:
                    answer = answers.recv()
                except EOFError:
                    child.join()
                    yield Ended(_end(child))
                    break
                if isinstance(answer, Exception):
                    raise answer
                yield answer


@contextmanager
def _child(
    inputs: Sequence[Input], read: Callable[[Input], Output]
) -> Iterator[tuple[ForkProcess, Connection]]:
    """Start a process that answers for one input after the other."""
    answers, sender = _FORK.Pipe(duplex=False)
    child = _FORK.Process(target=_answer, args=(inputs, read, answers, sender))
    with closing(answers):
        with closing(sender), warnings.catch_warnings():
            # From Python 3.12 on: other threads may hold locks. The child reads without threads.
            warnings.simplefilter("ignore", DeprecationWarning)
            child.start()
        try:
            yield child, answers
        finally:
            child.kill()
            child.join()


def _answer(
    inputs: Sequence[Input],
    read: Callable[[Input], Output],
    answers: Connection,
    sender: Connection,
) -> None:
    """What the child does."""
    answers.close()  # so that the child ends if nobody reads any more
    # What an abort prints, only developers understand.
    faulthandler.disable()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for one in inputs:
        try:
            sender.send(read(one))
        except Exception as error:  # noqa: BLE001 - the parent raises it
            sender.send(error)
            return


def _end(child: ForkProcess) -> str:
    code = child.exitcode or 0
    return (
        f"ended with {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    )
