from __future__ import annotations

import sqlite3
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError
from tests.load.drivers.places import connected, driver_of, place_in

from benchgate.load.drivers.driver import OperationError, TargetError
from benchgate.load.drivers.sql import SqlStep
from benchgate.load.drivers.sqlite import SqliteDriver, SqliteTarget
from benchgate.load.scenario import Load

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.load.drivers.driver import Driver

FRESH = {"queries": ["CREATE TABLE t (id INTEGER, name TEXT)"]}
INSERT = {"query": "INSERT INTO t VALUES (:id, :name)", "params": {"id": 1, "name": "x"}}


def made(folder: Path, *steps: dict[str, Any], **target: Any) -> Driver[Any, Any, Any]:  # noqa: ANN401
    return driver_of("sqlite", target, steps, place_in(folder))


def rows(path: Path, text: str = "SELECT id FROM t") -> list[int]:
    database = sqlite3.connect(path)
    try:
        return [row[0] for row in database.execute(text)]
    finally:
        database.close()


def test_all_threads_share_the_database_in_memory(tmp_path: Path) -> None:
    query = "SELECT CASE WHEN count(*) = :id THEN 1 ELSE abs(-9223372036854775807 - 1) END FROM t"
    check = {"query": query, "params": {"id": 1}}
    driver = made(tmp_path, INSERT, check)
    driver.run(driver.SCRIPT.model_validate(FRESH))

    def insert() -> None:
        connection = driver.connect(0)
        for number in range(50):
            connection.operations()[0]({"id": number, "name": None})
        connection.close()

    threads = [threading.Thread(target=insert) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with connected(driver) as connection:
        connection.operations()[1]({"id": 200})
        with pytest.raises(OperationError, match="integer overflow"):
            connection.operations()[1]({"id": 199})


def test_each_launch_has_a_database_in_memory_of_its_own(tmp_path: Path) -> None:
    for _ in range(2):
        driver = made(tmp_path)
        driver.run(driver.SCRIPT.model_validate(FRESH))  # fails if the table is there already
        driver.close()
    assert list(tmp_path.iterdir()) == [tmp_path / "scratch"]


def test_a_path_is_relative_to_the_folder_or_in_scratch(tmp_path: Path) -> None:
    for dsn, path in (
        ("a #1?%20.db", tmp_path / "a #1?%20.db"),
        ("{scratch}/b.db", tmp_path / "scratch" / "b.db"),
    ):
        driver = made(tmp_path, INSERT, dsn=dsn)
        driver.run(driver.SCRIPT.model_validate(FRESH))
        with connected(driver) as connection:
            connection.operations()[0]({"id": 5, "name": "x"})
        assert rows(path) == [5]


def test_workers_wait_for_each_other(tmp_path: Path) -> None:
    """A transaction that reads first would fail at once if another one wrote meanwhile."""
    both = {"queries": ["SELECT max(id) FROM t", "INSERT INTO t SELECT max(id) + 1, 'x' FROM t"]}
    driver = made(tmp_path, both, dsn="t.db")
    driver.run(
        driver.SCRIPT.model_validate(
            {"queries": [*FRESH["queries"], "INSERT INTO t VALUES (0, '')"]}
        )
    )
    failures = []

    def work() -> None:
        connection = driver.connect(0)
        try:
            for _ in range(20):
                connection.operations()[0]({})
        except OperationError as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert rows(tmp_path / "t.db", "SELECT max(id) FROM t") == [80]


def test_a_locked_database_is_an_error_after_the_timeout(tmp_path: Path) -> None:
    driver = made(tmp_path, INSERT, dsn="t.db", timeout="50ms")
    driver.run(driver.SCRIPT.model_validate(FRESH))
    other = sqlite3.connect(tmp_path / "t.db", isolation_level=None)
    with connected(driver) as connection:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OperationError, match=r"^database is locked$"):
            connection.operations()[0]({"id": 1, "name": "x"})
        other.execute("COMMIT")
        connection.operations()[0]({"id": 1, "name": "x"})
    other.close()


def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    both = {"queries": ["INSERT INTO t VALUES (1, zeroblob(1000))", "SELECT 1"]}
    full = ["PRAGMA max_page_count = 30"]
    driver = made(tmp_path, both, dsn="t.db", on_connect=full)
    driver.run(driver.SCRIPT.model_validate(FRESH))
    with connected(driver) as connection:
        operation = connection.operations()[0]
        for _ in range(10):  # there is space for these
            operation({})
        with suppress(OperationError):
            for _ in range(200):
                operation({})
        with pytest.raises(OperationError, match=r"^database or disk is full$"):
            operation({})


def test_files_come_before_queries_and_errors_say_where(tmp_path: Path) -> None:
    (tmp_path / "schema.sql").write_text(
        "-- the table\nCREATE TABLE t (id);\nCREATE INDEX i ON t (id);"
    )
    driver = made(tmp_path, dsn="t.db")
    script = driver.SCRIPT.model_validate
    driver.run(script({"queries": ["INSERT INTO t VALUES (7)"], "files": ["schema.sql"]}))
    assert rows(tmp_path / "t.db") == [7]
    with pytest.raises(TargetError, match=r"^schema\.sql, statement 1: table t already exists$"):
        driver.run(script({"files": ["schema.sql"]}))
    with pytest.raises(TargetError, match=r"^queries\[2\]: no such table: u$"):
        driver.run(script({"queries": ["SELECT 1", "SELECT * FROM u"]}))
    with pytest.raises(TargetError, match=r"^cannot read missing\.sql: No such file"):
        driver.run(script({"files": ["missing.sql"]}))
    assert script({"files": ["schema.sql"]}).own_files() == ("schema.sql",)


def test_a_step_reads_a_file(tmp_path: Path) -> None:
    driver = made(tmp_path, dsn="t.db")
    driver.run(driver.SCRIPT.model_validate(FRESH))
    step = {"file": "step.sql", "params": {"id": 1}}
    (tmp_path / "step.sql").write_text("INSERT INTO t VALUES (:id, ':x'); SELECT 1; -- :y")
    with connected(made(tmp_path, step, dsn="t.db")) as connection:
        connection.operations()[0]({"id": 3})
    assert rows(tmp_path / "t.db") == [3]
    assert SqlStep.model_validate({"name": "s", **step}).own_files() == ("step.sql",)
    for text, why in (
        (
            "SELECT :ids",
            r"step 'step0': step\.sql: :ids has no value in params; did you mean 'id'\?",
        ),
        ("SELECT 1", "step 'step0': step.sql: nothing uses the parameter 'id'"),
        ("-- nothing", "step 'step0': step.sql has no statement"),
    ):
        (tmp_path / "step.sql").write_text(text)
        with pytest.raises(TargetError, match=f"^{why}"):
            made(tmp_path, step, dsn="t.db")
    (tmp_path / "step.sql").write_bytes(b"SELECT '\xff'")
    with pytest.raises(TargetError, match=r"cannot read step\.sql: it is not UTF-8 text"):
        made(tmp_path, step, dsn="t.db")


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({}, "one of query, queries and file; this one has none of them"),
        ({"query": "SELECT 1", "queries": ["SELECT 1"]}, "this one has query and queries"),
        ({"file": "/etc/passwd"}, "inside its folder"),
        ({"query": "SELECT 1", "command": "x"}, "command"),
    ],
)
def test_wrong_steps_are_refused(keys: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        SqlStep.model_validate({"name": "s", **keys})


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"query": "SELECT 1; SELECT 2"}, "2 statements in one text: write queries"),
        ({"queries": ["SELECT 1", "-- nothing"]}, "no statement in one text"),
        ({"query": "SELECT :id"}, ":id has no value in params"),
        ({"query": "SELECT :id", "params": {"ids": 1}}, ":id has no value in params; did you mean"),
        ({"query": "SELECT 1", "params": {"id": 1}}, "nothing uses the parameter 'id': write :id"),
    ],
)
def test_wrong_statements_are_refused(tmp_path: Path, keys: dict[str, Any], why: str) -> None:
    objection = SqliteDriver.objection_to_step(SqlStep.model_validate({"name": "s", **keys}))
    assert objection is not None
    assert objection.startswith(why)
    with pytest.raises(TargetError, match=f"^step 'step0': {why}"):
        made(tmp_path, keys)


@pytest.mark.parametrize("dsn", ["file:x.db", "sqlite:///x.db", ""])
def test_a_dsn_is_a_path(dsn: str) -> None:
    with pytest.raises(ValidationError):
        SqliteTarget.model_validate({"dsn": dsn})


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"no database" * 100)
    with pytest.raises(TargetError, match=r"^cannot connect: file is not a database$"):
        made(tmp_path, dsn="x.db").connect(0)


def test_memory_is_not_for_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_memory, in_file = SqliteTarget(), SqliteTarget.model_validate({"dsn": "x.db"})
    processes = Load.model_validate({"workers": "process"})
    found = SqliteDriver.objection(in_memory, processes)
    assert found is not None
    assert "cannot share the database :memory:" in found
    assert not SqliteDriver.WORKS_AFAR
    assert SqliteDriver.objection(in_file, processes) is None
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 35, 5))
    with pytest.raises(TargetError, match=r"needs SQLite 3\.36.*\{scratch\}/orders\.db"):
        made(tmp_path)


def test_values_that_sqlite_cannot_hold(tmp_path: Path) -> None:
    driver = made(tmp_path, INSERT)
    driver.run(driver.SCRIPT.model_validate(FRESH))
    with connected(driver) as connection:
        for value in (2**80, "\ud800"):
            with pytest.raises(OperationError):
                connection.operations()[0]({"id": 1, "name": value})


def test_introspection_tells_the_settings_of_a_connection(tmp_path: Path) -> None:
    driver = made(
        tmp_path, dsn="t.db", on_connect=["PRAGMA synchronous = OFF", "PRAGMA journal_mode = WAL"]
    )
    found = driver.introspect()
    assert (found["synchronous"], found["journal_mode"]) == ("0", "wal")
    assert found["version"] == sqlite3.sqlite_version
    assert "THREADSAFE" in found["compile_options"]
