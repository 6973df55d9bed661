"""Faults of database servers: wrong passwords, wrong names, and a server that goes away."""

from __future__ import annotations

import socket
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import pytest
from tests.load.databases import PASSWORD, USER
from tests.load.drivers.places import connected, driver_of, place_in
from tests.patience import PATIENCE_S, in_time

from benchgate.load.drivers.driver import OperationError, TargetError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.load.databases import DatabaseServer

    from benchgate.load.drivers.driver import Driver

WRONG = "wr/ng p@ss'w%rd\\2"
FORMS = [
    form
    for secret in (PASSWORD, WRONG)
    for form in (
        secret,
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        repr(secret)[1:-1],
    )
]
# Parts of them, for messages that begin or end in the middle of one.
PARTS = ["cr@t", "cr%40t", "w%rd", "w%25rd", "p@ss", "p%40ss"]

FRESH = ["DROP TABLE IF EXISTS kept", "CREATE TABLE kept (id INT)"]

SERVERS = [
    pytest.param("mariadb", marks=[pytest.mark.slow, pytest.mark.xdist_group("mariadb")]),
    pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql")),
]


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> DatabaseServer:
    found: DatabaseServer = request.getfixturevalue(request.param)
    return found


def made(
    server: DatabaseServer, folder: Path, dsn: str, *steps: dict[str, Any], timeout: str = "60s"
) -> Driver[Any, Any, Any]:
    target = {"dsn": dsn, "timeout": timeout}
    return driver_of(server.SCHEME, target, list(steps), place_in(folder, SECRET=WRONG))


def dsns(server: DatabaseServer) -> Iterator[str]:
    port, unused = server.port, 1
    yield server.url(WRONG)
    yield server.url(PASSWORD, unused)
    yield server.dsn.replace("127.0.0.1", "no-such-host.invalid")
    yield server.dsn.removesuffix(USER) + "no_such_database"
    yield f"{server.SCHEME}://{USER}:{WRONG}@127.0.0.1:{port}/{USER}"
    yield f"{server.SCHEME}://{USER}:{WRONG}@127.0.0.1:{unused}/{USER}"
    yield f"{server.SCHEME}://{USER}:${{SECRET}}@127.0.0.1:{port}/{USER}"
    yield f"{server.SCHEME}://{USER}:p@ss@127.0.0.1:{port}/{USER}"
    yield f"{server.SCHEME}:/{USER}:{quote(WRONG, safe='')}@127.0.0.1/{USER}"
    yield f"host=127.0.0.1 port={port} user={USER} password=${{SECRET}}"
    yield f"host=127.0.0.1 port={port} user={USER} password={WRONG}"
    yield f"host=127.0.0.1 port={port} user={USER} password='p@ss word' nonsense"
    yield f"host=127.0.0.1 port={port} user={USER} password=w%rd-p@ss nonsense=1"
    yield f"host=127.0.0.1 port=x{port} user={USER} password=w%rd-p@ss"
    yield f"host=127.0.0.1 port={port} user={USER} password=w%rd-p@ss"
    yield f"password={WRONG!r}"


def test_no_message_has_a_password(
    server: DatabaseServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for dsn in dsns(server):
        with pytest.raises(TargetError, match=r"^\S[^\n]{10,400}$") as caught:
            made(server, tmp_path, dsn).connect(0)
        shown = "".join([*traceback.format_exception(caught.value), *capfd.readouterr()])
        assert not [form for form in (*FORMS, *PARTS) if form in shown], (dsn, shown)


def test_an_operation_does_not_tell_the_password(server: DatabaseServer, tmp_path: Path) -> None:
    bad = {"query": "SELECT * FROM :name", "params": {"name": PASSWORD}}
    with connected(made(server, tmp_path, server.dsn, bad)) as connection:
        with pytest.raises(OperationError) as caught:
            connection.operations()[0]({"name": PASSWORD})
        assert PASSWORD not in str(caught.value)


def test_a_failed_transaction_leaves_nothing(server: DatabaseServer, tmp_path: Path) -> None:
    insert = {"query": "INSERT INTO kept VALUES (:id)", "params": {"id": 1}}
    broken = {"queries": ["INSERT INTO kept VALUES (1)", "INSERT INTO no_such_table VALUES (1)"]}
    whole = {"queries": ["INSERT INTO kept VALUES (:id)", "SELECT 1"], "params": {"id": 1}}
    driver = made(server, tmp_path, server.dsn, insert, broken, whole)
    driver.run(driver.SCRIPT.model_validate({"queries": [*FRESH, "SELECT 1; SELECT 2"]}))
    with connected(driver) as connection:
        first, second, third = connection.operations()
        for _ in range(3):
            with pytest.raises(OperationError):
                second({})
        first({"id": 5})
        third({"id": 6})
        assert server.query("SELECT id FROM kept ORDER BY id") == [(5,), (6,)]


def test_values_arrive_as_they_are(server: DatabaseServer, tmp_path: Path) -> None:
    texts = ["it's", "100 %", "%s %(a)s", ":name", "back\\slash", 'quo"te', "é 🎉", "a;b -- c", ""]
    names = ["DROP TABLE IF EXISTS words", "CREATE TABLE words (id BIGINT, word VARCHAR(50))"]
    if server.SCHEME == "mysql":
        names[1] += " CHARACTER SET utf8mb4"
    insert = {
        "query": "INSERT INTO words VALUES (:id, :word) -- 100 % of :them",
        "params": {"id": 1, "word": "x"},
    }
    driver = made(server, tmp_path, server.dsn, insert)
    driver.run(driver.SCRIPT.model_validate({"queries": names}))
    with connected(driver) as connection:
        for number, text in enumerate(texts):
            connection.operations()[0]({"id": 2**40 + number, "word": text})
    assert server.query("SELECT word FROM words ORDER BY id") == [(text,) for text in texts]


@pytest.mark.xdist_group("postgresql")
def test_statements_are_prepared(postgresql: DatabaseServer, tmp_path: Path) -> None:
    step = {"query": "SELECT :a::int AS found", "params": {"a": 1}}
    count = {"query": "INSERT INTO kept SELECT count(*) FROM pg_prepared_statements"}
    for prepare, prepared in ((True, 1), (False, 0)):
        target = {"dsn": postgresql.dsn, "prepare": prepare}
        driver = driver_of("postgresql", target, [step, count], place_in(tmp_path))
        driver.run(driver.SCRIPT.model_validate({"queries": FRESH}))
        with connected(driver) as connection:
            first, second = connection.operations()
            for _ in range(10):
                first({"a": 7})
            second({})
        assert postgresql.query("SELECT id FROM kept") == [(prepared,)]


def test_on_connect_runs_on_each_connection(server: DatabaseServer, tmp_path: Path) -> None:
    step = {"query": "SELECT 1"}
    good = driver_of(
        server.SCHEME,
        {"dsn": server.dsn, "on_connect": ["SELECT 1", "INSERT INTO kept VALUES (3)"]},
        [step],
        place_in(tmp_path),
    )
    made(server, tmp_path, server.dsn).run(good.SCRIPT.model_validate({"queries": FRESH}))
    for _ in range(2):
        good.connect(0).close()
    assert server.query("SELECT id FROM kept") == [(3,), (3,)]
    bad = driver_of(
        server.SCHEME, {"dsn": server.dsn, "on_connect": ["nonsense"]}, [step], place_in(tmp_path)
    )
    with pytest.raises(TargetError, match=r"^on_connect failed: .*nonsense"):
        bad.connect(0)


def test_a_statement_that_takes_too_long_fails(server: DatabaseServer, tmp_path: Path) -> None:
    sleep = "SELECT SLEEP(300)" if server.SCHEME == "mysql" else "SELECT pg_sleep(300)"
    steps = [{"query": sleep}, {"query": "SELECT 1"}]

    def run(limit_s: float) -> None:
        target = {"dsn": server.dsn, "timeout": f"{limit_s}s"}
        with connected(driver_of(server.SCHEME, target, steps, place_in(tmp_path))) as connection:
            slow, fast = connection.operations()
            with pytest.raises(OperationError, match=r"time"):
                slow({})
            fast({})

    in_time(run, late="time")


def test_a_server_that_goes_away_and_comes_back(server: DatabaseServer, tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = [{"query": "SELECT 1"}, {"queries": ["SELECT 1", "SELECT 2"]}]
    with connected(made(server, tmp_path, server.dsn, *steps)) as connection:
        for operation in connection.operations():
            operation({})
            server.kill()
            try:
                for _ in range(5):
                    with pytest.raises(OperationError, match=r"^\S[^\n]{5,400}$"):
                        operation({})
            finally:
                server.start()
            deadline = time.monotonic() + PATIENCE_S
            while True:
                try:
                    operation({})
                except OperationError:  # it recovers
                    assert time.monotonic() < deadline
                    time.sleep(0.05)
                else:
                    break


def test_a_server_that_says_nothing(server: DatabaseServer, tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        driver = made(server, tmp_path, server.url("x", silent.getsockname()[1]), timeout="2s")
        with pytest.raises(TargetError, match=r"^cannot connect: .*time"):
            driver.connect(0)


@pytest.mark.parametrize("driver", ["postgresql", "mysql"])
def test_a_missing_extra_says_what_to_install(
    driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("psycopg", "pymysql"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(TargetError, match=r'needs \w+: pip install "benchgate\[sql\]"'):
        driver_of(driver, {"dsn": "host=x"}, [], place_in(tmp_path))
