"""What an operation of each driver costs, beside the same work without benchgate.

Run it with `python benchmarks/driver_overhead.py`. The targets do next to nothing, so that the
figures are the generator's own: the time of an operation, and the CPU time of this process in it.
The server and the programs are processes of their own on the same machine.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import requests

from benchgate.load import drivers
from benchgate.load.drivers.driver import LaunchPlace

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 5
SERVER = """
import socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while connection.recv(65536):
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
"""
PROGRAM = """
import sys
print('{"ready": true}', flush=True)
for line in sys.stdin:
    print("{}", flush=True)
"""


def show(title: str, call: Callable[[], object], operations: int) -> None:
    best = []
    for _ in range(REPEATS):
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(operations):
            call()
        best.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall_us, cpu_us = (min(one) / operations * 1e6 for one in zip(*best, strict=True))
    print(f"{title:<34}{wall_us:8.1f} us{cpu_us:8.1f} us of CPU")


def show_driver(driver: str, target: dict[str, Any], step: dict[str, Any], operations: int) -> None:
    found = drivers.find(driver)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "program.py").write_text(PROGRAM)
        (folder / "functions.py").write_text("def nothing(): pass\n")
        place = LaunchPlace(folder, folder, expand=str)
        steps = [found.STEP.model_validate({"name": "one", **step})]
        made = found(found.TARGET.model_validate(target), steps, place)
        with closing(made), closing(made.connect(0)) as connection:
            operation = connection.operations()[0]
            show(f"driver {driver}", lambda: operation({}), operations)


def main() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        execute = database.cursor().execute
        show("sqlite3, SELECT 1", lambda: execute("SELECT 1").fetchall(), 100_000)
    show_driver("sqlite", {}, {"query": "SELECT 1"}, 100_000)
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as one:
        if one.stdout is None:
            raise RuntimeError("the server has no pipe")
        url = f"http://127.0.0.1:{int(one.stdout.readline())}"
        with requests.Session() as session:
            show("requests, GET", lambda: session.get(url), 2_000)
        show_driver("http", {"url": url}, {}, 10_000)
        one.kill()
    show_driver("command", {"command": f"{sys.executable} ./program.py"}, {}, 10_000)
    python = {"function": "functions.py:nothing", "interpreter": sys.executable}
    show_driver("python", python, {}, 10_000)


if __name__ == "__main__":
    main()
