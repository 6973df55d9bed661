from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest

from benchgate.load.cluster.connection import (
    ClusterError,
    facts_problems,
    installed_problems,
    network_problems,
    require_none,
    spread,
    version_problems,
)
from benchgate.load.cluster.member import Facts

A, B = "tcp://10.0.0.1:4000", "tcp://10.0.0.2:4000"


def _versions(python: str = "3.12.1.final.0", distributed: str = "2026.8.0") -> dict[str, Any]:
    return {"packages": {"python": python, "distributed": distributed, "numpy": "2.0"}}


def test_few_workers_are_spread_over_all_machines() -> None:
    places = ["tcp://b:1", "tcp://a:3", "tcp://a:1", "tcp://a:2", "tcp://b:2"]
    assert spread(places) == ["tcp://a:1", "tcp://b:1", "tcp://a:2", "tcp://b:2", "tcp://a:3"]


def test_equal_versions_are_no_problem() -> None:
    other_patch = _versions(python="3.12.9.final.0")
    versions = {"client": _versions(), "scheduler": other_patch, "workers": {A: _versions()}}
    assert not list(version_problems(versions))


def test_other_versions_are_named() -> None:
    versions = {
        "client": _versions(),
        "scheduler": _versions(distributed="2024.1.0"),
        "workers": {A: _versions(python="3.11.4.final.0")},
    }
    assert list(version_problems(versions)) == [
        "the scheduler has distributed 2024.1.0, and this machine has 2026.8.0",
        f"{A} has python 3.11, and this machine has 3.12",
    ]


def test_a_worker_without_benchgate_is_named() -> None:
    missing = PackageNotFoundError("benchgate")
    found: dict[str, str | Exception] = {
        A: "1.2",
        B: missing,
        "tcp://c:1": "1.1",
        "tcp://d:1": OSError("gone"),
    }
    assert list(installed_problems(found, "1.2")) == [
        f"{B} does not have benchgate; install benchgate 1.2 there",
        "tcp://c:1 has benchgate 1.1, and this machine has 1.2",
        "tcp://d:1 did not answer: OSError: gone",
    ]


def test_a_worker_without_the_driver_is_named() -> None:
    facts: dict[str, Facts | Exception] = {
        A: Facts("x"),
        B: Facts("x", "there is no driver 'mine'"),
        "tcp://c:1": ModuleNotFoundError("No module named 'benchgate'"),
        "tcp://d:1": TimeoutError(),
    }
    assert list(facts_problems(facts)) == [
        f"{B} cannot use the driver: there is no driver 'mine'",
        "tcp://c:1 cannot import benchgate: ModuleNotFoundError: No module named 'benchgate'",
        "tcp://d:1 did not answer: TimeoutError",
    ]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://127.0.0.1:8080/api", "127.0.0.1"),
        ("http://localhost", "localhost"),
        ("http://[::1]:8080", "::1"),
        ("postgresql://me:secret@127.0.0.2/orders", "127.0.0.2"),
        ("host=localhost dbname=orders password=secret", "localhost"),
        ("host=/run/postgresql dbname=orders", "/run/postgresql"),
        ("dbname=orders password=secret", "a socket of this machine"),
        ("postgresql:///orders", "a socket of this machine"),
    ],
)
def test_an_address_of_this_machine_cannot_be_reached_from_another(
    address: str, shown: str
) -> None:
    facts = {A: Facts("here"), B: Facts("elsewhere")}
    (problem,) = network_problems(address, facts, "here")
    assert problem.startswith(f"{B} cannot reach the target at {shown}, because it runs on another")
    assert "secret" not in problem


@pytest.mark.parametrize(
    "address", ["http://10.0.0.9:80", "postgresql://db.lan/x", "host=db dbname=x", "http://[bad"]
)
def test_other_addresses_may_be_reached_from_anywhere(address: str) -> None:
    assert not list(network_problems(address, {B: Facts("elsewhere")}, "here"))


def test_a_driver_without_an_address_is_not_judged() -> None:
    assert not list(network_problems("", {B: Facts("elsewhere")}, "here"))


def test_many_problems_are_cut_short() -> None:
    with pytest.raises(ClusterError, match=r"^a; b; c; and 2 more$"):
        require_none(iter("abcde"))
    require_none(iter(()))
