"""The load generator as the program that benchgate starts."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from tests.load.launches import order_in
from tests.patience import eventually

from benchgate.stats.histogram import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SETUP = [
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL)",
    "INSERT INTO orders VALUES (1, 2.5)",
]
LOOKUP = {
    "name": "lookup",
    "query": "SELECT * FROM orders WHERE id = :id",
    "params": {"id": "random_int(1, 1000)"},
}
TABLES: dict[str, Any] = {
    "setup": {"queries": SETUP},
    "teardown": {"queries": ["DROP TABLE orders"]},
    "step": [LOOKUP],
}
NOTE = {"step": [{"name": "note", "query": "INSERT INTO orders VALUES (NULL, 1)"}]}
FILE = {"target": [{"driver": "sqlite", "dsn": "{scratch}/orders.db"}]}
# Longer than a test waits for anything, so one that hangs fails.
LONGEST_S = 60


class Program:
    """The generator on its way."""

    def __init__(self, folder: Path, tables: Mapping[str, Any], **environ: str) -> None:
        self.folder = folder
        self.reply_path = folder / "reply.json"
        order = order_in(folder, TABLES | dict(tables))
        (folder / "order.json").write_text(json.dumps(asdict(order)))
        self.process = subprocess.Popen(
            self.argv(folder / "order.json", self.reply_path),
            env=os.environ | environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    @staticmethod
    def argv(*arguments: object) -> list[str]:
        return [sys.executable, "-I", "-m", "benchgate.load", *map(str, arguments)]

    def reply(self, code: int = 0) -> Any:  # noqa: ANN401 - JSON
        output, _ = self.process.communicate(timeout=LONGEST_S)
        assert (self.process.returncode, output) == (code, "")
        return json.loads(self.reply_path.read_text())

    def children(self) -> list[int]:
        """The processes with workers."""
        found = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        rows = [line.split(maxsplit=2) for line in found.splitlines()]
        return [
            int(pid)
            for pid, parent, arguments in rows
            if int(parent) == self.process.pid and "spawn_main" in arguments
        ]

    def wait_for_operations(self) -> None:
        """Wait until operations of `NOTE` have run: the load is under way."""

        def has_begun() -> bool:
            path = self.folder / "scratch/orders.db"
            if path.exists():
                with (
                    suppress(sqlite3.OperationalError),
                    closing(sqlite3.connect(path, timeout=60)) as database,
                ):
                    return bool(database.execute("SELECT 1 FROM orders LIMIT 1, 1").fetchall())
            return self.process.poll() is not None

        assert eventually(has_begun)
        assert self.process.poll() is None


@pytest.fixture
def programs() -> Iterator[list[Program]]:
    started: list[Program] = []
    yield started
    for program in started:
        with suppress(ProcessLookupError):
            program.process.kill()
        program.process.communicate()


def load(**keys: object) -> dict[str, object]:
    return {"load": {"duration": "500ms", "warmup": "100ms", "concurrency": 2} | keys}


def test_it_writes_what_each_step_did(tmp_path: Path) -> None:
    reply = Program(tmp_path, load()).reply()
    assert reply["error"] is None
    launch = reply["steps"]["lookup"]
    assert launch["ops"] > 10
    assert launch["errors"] == 0
    assert decode(launch["histogram"]).count == launch["ops"]
    assert [path.name for path in tmp_path.iterdir() if "tmp" in path.name] == []


def test_workers_in_processes_share_the_load(tmp_path: Path) -> None:
    reply = Program(tmp_path, FILE | load(workers="process", rate=200.0)).reply()
    assert reply["error"] is None
    launch = reply["steps"]["lookup"]
    assert launch["ops"] + launch["errors"] + launch["unfinished"] == 100
    groups = launch["generator"]["groups"]
    assert sum(group["workers"] for group in groups) == 2
    assert [group["place"] for group in groups] == [
        f"process {number + 1}" for number in range(len(groups))
    ]


def test_a_process_that_is_killed_is_told(tmp_path: Path, programs: list[Program]) -> None:
    program = Program(tmp_path, FILE | NOTE | load(workers="process", duration="5s", rate=50))
    programs.append(program)
    program.wait_for_operations()
    os.kill(program.children()[-1], signal.SIGKILL)
    reply = program.reply()
    assert "lost: it was killed by SIGKILL" in reply["error"]


def test_processes_that_cannot_connect_say_so(tmp_path: Path) -> None:
    target = {"driver": "sqlite", "dsn": "missing/orders.db"}
    tables = {"setup": None, "teardown": None, "target": [target]}
    with_scripts = {key: value for key, value in tables.items() if value is not None}
    program = Program(tmp_path, with_scripts | load(workers="process"))
    assert "unable to open database file" in program.reply()["error"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", ["thread", "process"])
def test_a_signal_ends_the_load_and_the_teardown_still_runs(
    tmp_path: Path, programs: list[Program], number: int, workers: str
) -> None:
    program = Program(tmp_path, FILE | NOTE | load(workers=workers, duration="100s", rate=50))
    programs.append(program)
    program.wait_for_operations()
    children = program.children()
    program.process.send_signal(number)
    reply = program.reply()
    assert reply["error"] == "interrupted before the load had ended"
    assert (reply["steps"], reply["notes"]) == ({}, [])
    for child in children:
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)


def test_its_processes_end_with_it(tmp_path: Path, programs: list[Program]) -> None:
    program = Program(tmp_path, FILE | load(workers="process", duration="100s"))
    programs.append(program)
    assert eventually(lambda: bool(program.children()))
    children = program.children()
    program.process.kill()
    program.process.wait(LONGEST_S)
    assert eventually(lambda: not any(map(_is_running, children)))


def _is_running(process_id: int) -> bool:
    found = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process_id)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    return bool(found.strip()) and not found.startswith("Z")


def test_a_scenario_that_is_not_valid_is_an_error(tmp_path: Path) -> None:
    reply = Program(tmp_path, load(duration="-1s")).reply()
    assert "orders.json" in reply["error"]
    assert "load.duration" in reply["error"]


def test_a_query_that_fails_in_the_setup_is_an_error(tmp_path: Path) -> None:
    reply = Program(tmp_path, load() | {"setup": {"queries": ["CREATE GARBAGE"]}}).reply()
    assert "syntax error" in reply["error"]
    assert reply["steps"] == {}


def test_no_secret_of_the_environment_is_written(tmp_path: Path) -> None:
    secret = "hunter22hunter22"  # noqa: S105 - of nothing
    target = {"driver": "sqlite", "dsn": "${ORDERS_PASSWORD}/orders.db"}
    tables = {"target": [target]} | load()
    program = Program(tmp_path, tables, ORDERS_PASSWORD=secret)
    reply = program.reply()
    assert reply["error"]
    assert secret not in program.reply_path.read_text()


def test_a_variable_that_is_not_set_is_an_error(tmp_path: Path) -> None:
    target = {"driver": "sqlite", "dsn": "${NOWHERE_TO_BE_FOUND}/orders.db"}
    reply = Program(tmp_path, {"target": [target]} | load()).reply()
    assert reply["error"].startswith(
        "orders.json:1: target[0].dsn: the variable NOWHERE_TO_BE_FOUND is not set\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "usage: python -I -m benchgate.load ORDER REPLY"),
        (["missing.json", "reply.json"], "cannot read missing.json: No such file or directory"),
        (["broken.json", "reply.json"], "broken.json is no order: Invalid JSON: "),
        (["lacking.json", "reply.json"], 'lacking.json is no order: "scenario" is missing'),
    ],
)
def test_a_wrong_call_is_refused(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "broken.json").write_text('{"scenario": 5')
    (tmp_path / "lacking.json").write_text("{}")
    found = subprocess.run(
        Program.argv(*arguments), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(message)
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("/dev/full", "cannot write /dev/full: No space left on device"),
        ("missing/reply.json", "cannot write missing/reply.json: "),
    ],
)
def test_a_reply_that_cannot_be_written_is_told(tmp_path: Path, reply: str, message: str) -> None:
    order = order_in(tmp_path, TABLES | load())
    (tmp_path / "order.json").write_text(json.dumps(asdict(order)))
    found = subprocess.run(
        Program.argv("order.json", reply),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(message)
    assert found.stderr.count("\n") == 1
