"""What every driver does in the same way."""

from __future__ import annotations

import re
import threading
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from tests.load.drivers.places import connected, driver_of, place_in
from tests.load.drivers.subjects import Subject, subject_of
from tests.patience import eventually

from benchgate.load import drivers
from benchgate.load.drivers.driver import OperationError, TargetError
from benchgate.load.scenario import Load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.load.drivers.driver import Driver
    from benchgate.load.parameters import Value

PARAMS = {"id": "random_int(1, 9)", "name": "random_choice(a, b)"}
VALUES: dict[str, Value] = {"id": 7, "name": "it's 100 % :id é"}

MARKS = {
    "mysql": (pytest.mark.slow, pytest.mark.xdist_group("mariadb")),
    "postgresql": (pytest.mark.xdist_group("postgresql"),),
}


@pytest.fixture(params=[pytest.param(one, marks=MARKS.get(one, ())) for one in drivers.BUILT_IN])
def subject(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param, tmp_path, request) as found:
        yield found


@pytest.fixture
def driver(subject: Subject, tmp_path: Path) -> Driver[Any, Any, Any]:
    steps = [{"params": PARAMS, **subject.good}, subject.bad, subject.slow]
    made = driver_of(subject.driver, subject.target, steps, place_in(tmp_path))
    made.run(made.SCRIPT.model_validate(subject.setup))
    return made


@pytest.mark.parametrize("name", drivers.BUILT_IN)
def test_a_driver_has_its_name_and_tables_with_descriptions(name: str) -> None:
    found = drivers.find(name)
    assert name == found.NAME
    assert found.__doc__
    assert import_module(found.__module__).__doc__
    for table in (found.TARGET, found.STEP, found.SCRIPT):
        schema = table.model_json_schema(by_alias=True)
        jsonschema.Draft202012Validator.check_schema(schema)
        for key, value in schema["properties"].items():
            assert value.get("description"), (table, key)


@pytest.mark.parametrize("name", drivers.BUILT_IN)
def test_a_driver_takes_threads(name: str) -> None:
    found = drivers.find(name)
    targets = {
        "command": {"command": "./program"},
        "http": {"url": "http://127.0.0.1:{port}"},
        "sqlite": {},
    }
    target = found.TARGET.model_validate(
        {"dsn": "x"} if name.endswith("sql") else targets.get(name, {})
    )
    assert found.objection(target, Load.model_validate({})) is None


def test_operations_go_well(driver: Driver[Any, Any, Any]) -> None:
    with connected(driver) as connection:
        good = connection.operations()[0]
        for _ in range(10):
            good(VALUES)
        assert len(connection.operations()) == 3


def test_a_failure_is_one_line_and_the_connection_stays_usable(
    driver: Driver[Any, Any, Any],
) -> None:
    with connected(driver) as connection:
        good, bad, _ = connection.operations()
        for _ in range(3):
            with pytest.raises(OperationError, match=r"^\S.{5,200}$"):
                bad({})
            good(VALUES)


def test_setup_fails_and_says_where(driver: Driver[Any, Any, Any], subject: Subject) -> None:
    with pytest.raises(TargetError, match=r"(?:queries|requests)\[\d\].*: \S|load\.py:bad: Lookup"):
        driver.run(driver.SCRIPT.model_validate(subject.bad_setup))
    driver.close()


def test_an_empty_script_does_nothing(driver: Driver[Any, Any, Any]) -> None:
    driver.run(driver.SCRIPT.model_validate({}))
    driver.close()


def test_connecting_fails_with_one_line(subject: Subject, tmp_path: Path) -> None:
    made = driver_of(
        subject.driver, {**subject.target, **subject.unreachable}, [], place_in(tmp_path)
    )
    if subject.driver == "python":
        made = driver_of("python", subject.unreachable, [{}], place_in(tmp_path))
    with pytest.raises(TargetError, match=r"^\S[^\n]{10,300}$"):
        made.connect(0)
    made.close()


def test_nothing_is_left_over(subject: Subject, tmp_path: Path) -> None:
    def once() -> None:
        steps = [{"params": PARAMS, **subject.good}, subject.bad]
        made = driver_of(subject.driver, subject.target, steps, place_in(tmp_path))
        made.run(made.SCRIPT.model_validate(subject.setup))
        connections = [made.connect(worker) for worker in range(3)]
        for connection in connections:
            connection.operations()[0](VALUES)
            with pytest.raises(OperationError):
                connection.operations()[1]({})
        made.introspect()
        for connection in connections:
            connection.close()
        made.close()

    threads = threading.active_count()  # servers, and what other tests have left
    once()  # modules are imported, caches are filled
    assert eventually(lambda: threading.active_count() <= threads)
    before = used()
    once()

    def is_no_more() -> bool:  # less, if other tests have left something
        return all(now <= then for now, then in zip(used(), before, strict=True))

    assert eventually(is_no_more), (before, used())


def test_a_connection_is_made_in_each_thread(driver: Driver[Any, Any, Any]) -> None:
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            connection = driver.connect(worker)
            try:
                for _ in range(20):
                    connection.operations()[0](VALUES)
            finally:
                connection.close()
        except BaseException as error:  # noqa: BLE001 - shown by the assertion
            failures.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    driver.close()
    assert failures == []


def test_a_slow_operation_can_be_interrupted(driver: Driver[Any, Any, Any]) -> None:
    with connected(driver) as connection:
        good, _, slow = connection.operations()
        good(VALUES)
        failed = threading.Event()

        def interrupt() -> None:
            wait_s = 0.3
            while not failed.wait(wait_s):
                connection.interrupt()
                wait_s = 10.0  # and again, if it had not begun yet

        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        with pytest.raises(OperationError, match=r"^\S[^\n]{5,300}$") as caught:
            slow({})
        failed.set()
        interrupter.join()
        assert not re.search("time|within", str(caught.value))
        good(VALUES)  # it is opened again if need be


def test_a_closed_connection_can_be_interrupted(driver: Driver[Any, Any, Any]) -> None:
    connection = driver.connect(0)
    connection.close()
    connection.interrupt()
    driver.close()


def test_introspection_has_texts(driver: Driver[Any, Any, Any], subject: Subject) -> None:
    found = driver.introspect()
    driver.close()
    assert all(type(text) is str and text for text in (*found, *found.values()))
    if subject.driver in {"sqlite", "postgresql", "mysql"}:
        assert found["version"][0].isdigit()


def used() -> tuple[int, int, int]:
    """How many files, threads and child processes this process has."""
    tasks = [task / "children" for task in Path("/proc/self/task").iterdir()]
    children = sum(len(task.read_text().split()) for task in tasks if task.exists())
    files = len(list(Path("/proc/self/fd").iterdir()))
    return files, threading.active_count(), children
