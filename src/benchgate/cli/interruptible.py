"""Requests to end become a KeyboardInterrupt, which is neither lost nor interrupted itself."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from click.exceptions import Abort

from benchgate.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

REQUESTS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a CI system that cancels the job, and a terminal that was closed."""

AGAIN_S: Final = 0.5
_ENDING: Final = (KeyboardInterrupt, Interrupted, Abort)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt in the main thread when the process is asked to end.

    If something swallows the exception, such as a finalizer in which Python ignores all exceptions,
    it is raised again soon. While the program cleans up, further requests are ignored: a CI system
    sends several signals, and impatient users press Ctrl-C again. They are ignored afterwards, too.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if not is_ending(sys.exception()):
            signal.setitimer(signal.ITIMER_REAL, AGAIN_S, AGAIN_S)
            raise KeyboardInterrupt

    heard = [
        number
        for number in REQUESTS
        if signal.getsignal(number) is not signal.SIG_IGN  # nohup and background jobs ignore it
    ]
    for number in (*heard, signal.SIGALRM):
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in (*heard, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)


def is_ending(handled: BaseException | None) -> bool:
    """Whether an exception that is being handled is an interruption, or came up after one."""
    while handled is not None:
        if isinstance(handled, _ENDING):
            return True
        handled = handled.__context__
    return False
