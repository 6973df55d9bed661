"""The load generator's program: reads an order, carries out the launch, writes the reply."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from benchgate.errors import BenchgateError
from benchgate.files import write_atomic
from benchgate.load.iteration import run_iteration
from benchgate.load.order import LoadOrder, LoadReply
from benchgate.load.worker import text_of
from benchgate.model.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

USAGE = "usage: python -I -m benchgate.load ORDER REPLY"


def main(arguments: Sequence[str]) -> int:
    """Carry out one launch.

    Returns:
        0 if the reply was written, also if it says that the launch failed; 2 if it was not, with a
        line on standard error.
    """
    if len(arguments) != 2:
        return _refuse(USAGE)
    order_path, reply_path = map(Path, arguments)
    try:
        order = TypeAdapter(LoadOrder).validate_json(order_path.read_bytes())
    except OSError as error:
        return _refuse(f"cannot read {order_path}: {error.strerror}")
    except ValidationError as error:
        return _refuse(f"{order_path} is no order: {_first_of(error)}")
    redact = Redactor(os.environ)
    try:
        with _told_by_signals() as stop:
            reply = _reply(order, stop)
            written = TypeAdapter(LoadReply).dump_json(reply, context=redact)
            write_atomic(reply_path, written)
    except BenchgateError as error:
        return _refuse(redact(" ".join(filter(None, (error.message, error.hint)))))
    return 0


def _first_of(error: ValidationError) -> str:
    """Say what is wrong first, and in which field unless the whole text is no JSON."""
    first = error.errors()[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))


def _reply(order: LoadOrder, stop: threading.Event) -> LoadReply:
    try:
        return run_iteration(order, stop)
    except BenchgateError as error:
        return LoadReply("\n".join(filter(None, (error.message, error.hint, error.details))))
    except Exception as error:  # noqa: BLE001 - the row says it; a traceback helps nobody there
        return LoadReply(f"the load generator failed: {text_of(error)}")


@contextmanager
def _told_by_signals() -> Iterator[threading.Event]:
    """Turn SIGINT and SIGTERM into an event, so that they interrupt no teardown."""
    stop = threading.Event()

    def tell(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, tell) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _refuse(message: str) -> int:
    print(message, file=sys.stderr)  # noqa: T201 - a program without a terminal of its own
    return 2
