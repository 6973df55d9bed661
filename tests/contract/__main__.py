"""The server as a process of its own: `python -m tests.contract --state STATE --port-file FILE`.

It ends on SIGTERM or Ctrl-C, with the process that started it, or after its time, and then fails
where a request was does not match GitHub's API.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path

from tests.contract.act import ActArtifacts
from tests.contract.clock import wall_clock
from tests.contract.server import GitHubServer
from tests.contract.statefile import records_of

LOOK_EVERY_S = 0.1


def main() -> int:
    """Serve until the end, and say what was wrong."""
    parent = os.getppid()
    options = _options()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with contextlib.ExitStack() as stack:
        log = options.log and stack.enter_context(
            options.log.open("a", encoding="utf-8", buffering=1)
        )
        server = GitHubServer(
            *records_of(options.state.read_text(encoding="utf-8")),
            clock=wall_clock(),
            before=ActArtifacts(options.artifacts).refresh if options.artifacts else None,
            write=log.write if log else None,
        )
        try:
            with server:
                _publish(options.port_file, server.api_url)
                _wait(stop, parent, time.monotonic() + options.seconds)
        except AssertionError as error:
            print(error, file=sys.stderr)  # noqa: T201 - a program's own message
            return 1
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.contract")
    parser.add_argument("--state", type=Path, required=True, help="JSON: lists of records")
    parser.add_argument("--port-file", type=Path, required=True, help="gets the API's address")
    parser.add_argument("--artifacts", type=Path, help="folder of act's artifact server")
    parser.add_argument("--log", type=Path, help="gets requests and violations, as lines of JSON")
    parser.add_argument("--seconds", type=float, default=600.0, help="how long to live at most")
    return parser.parse_args()


def _wait(stop: threading.Event, parent: int, deadline_s: float) -> None:
    while os.getppid() == parent and time.monotonic() < deadline_s:
        if stop.wait(LOOK_EVERY_S):
            return


def _publish(path: Path, text: str) -> None:
    """Write a file that is complete from the moment it is there."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


if __name__ == "__main__":
    sys.exit(main())
