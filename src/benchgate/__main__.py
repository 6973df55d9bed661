"""The entry point: what must hold before the command line is imported."""

from __future__ import annotations

import gc
import os
import signal
import sys


def main() -> None:
    """Run the command line."""
    # While modules are imported there is nothing to clean up: Ctrl-C just ends the process.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    _open_closed_streams()
    # What is imported stays. To look for garbage in it takes a quarter of the start.
    gc.disable()
    from benchgate import cli  # noqa: PLC0415 - it takes long enough to be interrupted

    cli.main()


def _open_closed_streams() -> None:
    """Let a closed standard stream, as after `>&-`, lead nowhere.

    Otherwise the next file that is opened gets its number, and a child would write into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
            os.set_inheritable(number, True)  # noqa: FBT003 - takes no keyword
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


if __name__ == "__main__":
    main()
