"""One target of each driver, with operations that go well, fail, and take too long."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.load.servers import Answer, HttpServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pytest
    from tests.load.databases import DatabaseServer
    from tests.load.servers import Request

PROGRAM = """\
import json, sys, time
print('{"ready": true}', flush=True)
for line in sys.stdin:
    request = json.loads(line)
    step, params = request["step"], request["params"]
    with open("seen", "a") as seen:
        print(step, params, file=seen)
    if step == "slow":
        time.sleep(60)
    print(json.dumps({"error": "no such order"} if step == "bad" else {}), flush=True)
"""

MODULE = """\
import time

def good(id, name):
    assert (type(id), type(name)) == (int, str)
    with open("seen", "a") as seen:
        print("good", id, name, file=seen)

def bad():
    raise LookupError("no such order")

def slow():
    time.sleep(60)

def begin():
    with open("seen", "a") as seen:
        print("begin", file=seen)
"""

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@dataclass
class Subject:
    """A target.

    Attributes:
        good, bad, slow: keys of steps; `good` has the parameters `id` and `name`.
        setup: keys of a script that must run before them.
        bad_setup: keys of a script that fails.
        unreachable: keys of a target that nobody can connect to.
    """

    driver: str
    target: Mapping[str, Any]
    good: Mapping[str, Any]
    bad: Mapping[str, Any]
    slow: Mapping[str, Any]
    setup: Mapping[str, Any]
    bad_setup: Mapping[str, Any]
    unreachable: Mapping[str, Any]
    placeholders: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def sql(driver: str, dsn: str, unreachable: str, slow: str) -> Iterator[Subject]:
    setup = ["DROP TABLE IF EXISTS orders", "CREATE TABLE orders (id INT, name VARCHAR(50))"]
    yield Subject(
        driver,
        {"dsn": dsn, "timeout": "20s"},
        good={"query": "INSERT INTO orders VALUES (:id, :name)"},
        bad={"query": "SELECT * FROM no_such_table"},
        slow={"query": slow},
        setup={"queries": setup},
        bad_setup={"queries": ["SELECT 1", "CREATE nonsense"]},
        unreachable={"dsn": unreachable},
    )


def _answer(request: Request) -> Answer:
    if request.path == "/slow":
        return Answer(delay_s=60)
    return Answer(status=404) if request.path == "/bad" else Answer()


@contextmanager
def http() -> Iterator[Subject]:
    with HttpServer(_answer) as server:
        yield Subject(
            "http",
            {"url": server.url},
            good={"path": "/orders/:id?name=:name"},
            bad={"path": "/bad"},
            slow={"path": "/slow"},
            setup={"requests": [{"method": "POST", "path": "/orders", "json": {"id": 1}}]},
            bad_setup={"requests": [{"path": "/"}, {"path": "/bad"}]},
            unreachable={"url": "http://127.0.0.1:1"},
        )


@contextmanager
def command(folder: Path) -> Iterator[Subject]:
    (folder / "program.py").write_text(PROGRAM)
    yield Subject(
        "command",
        {"command": f"{sys.executable} ./program.py"},
        good={"name": "good"},
        bad={"name": "bad"},
        slow={"name": "slow"},
        setup={"requests": [{"step": "begin", "params": {}}]},
        bad_setup={"requests": [{"step": "bad", "params": {}}]},
        unreachable={"command": "./no-such-program"},
    )


@contextmanager
def python(folder: Path) -> Iterator[Subject]:
    (folder / "load.py").write_text(MODULE)
    yield Subject(
        "python",
        {"function": "load.py:good", "interpreter": sys.executable},
        good={},
        bad={"function": "load.py:bad"},
        slow={"function": "load.py:slow"},
        setup={"function": "load.py:begin"},
        bad_setup={"function": "load.py:bad"},
        unreachable={"function": "load.py:missing", "interpreter": sys.executable},
    )


def subject_of(
    driver: str, folder: Path, request: pytest.FixtureRequest
) -> AbstractContextManager[Subject]:
    """A context manager that gives the subject of a driver."""
    if driver == "sqlite":
        return sql("sqlite", "orders.db", "no/such/folder/orders.db", ENDLESS)
    if driver in {"postgresql", "mysql"}:
        fixture, slow = (
            ("postgresql", "SELECT pg_sleep(60)")
            if driver == "postgresql"
            else ("mariadb", "SELECT SLEEP(60)")
        )
        server: DatabaseServer = request.getfixturevalue(fixture)
        return sql(driver, server.dsn, server.url("x", port=1), slow)
    if driver == "http":
        return http()
    return {"command": command, "python": python}[driver](folder)
