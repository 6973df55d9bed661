from __future__ import annotations

from typing import Any

import pytest

from benchgate.load.cluster import only_here, spread, version_problems

A, B = "tcp://10.0.0.1:4000", "tcp://10.0.0.2:4000"


def _versions(
    python: str = "3.12.1.final.0",
    distributed: str | None = "2026.8.0",
    benchgate: str | None = "1.2",
) -> dict[str, Any]:
    return {
        "packages": {
            "python": python,
            "distributed": distributed,
            "benchgate": benchgate,
            "np": "2",
        }
    }


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
        "install distributed 2026.8.0 on the scheduler, which has 2024.1.0",
        f"install python 3.12 on {A}, which has 3.11",
    ]


def test_a_worker_without_benchgate_is_named() -> None:
    versions = {
        "client": _versions(),
        "scheduler": _versions(benchgate=None),
        "workers": {A: _versions(benchgate="1.1"), B: _versions(benchgate=None)},
    }
    assert list(version_problems(versions)) == [
        f"install benchgate 1.2 on {A}, which has 1.1",
        f"install benchgate 1.2 on {B}, which has none",
    ]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://127.0.0.1:8080/api", "127.0.0.1"),
        ("http://localhost", "localhost"),
        ("http://[::1]:8080", "[::1]"),
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
    assert only_here(address) == shown


@pytest.mark.parametrize(
    "address", ["http://10.0.0.9:80", "postgresql://db.lan/x", "host=db dbname=x", "http://[bad"]
)
def test_other_addresses_may_be_reached_from_anywhere(address: str) -> None:
    assert only_here(address) is None


def test_versions_that_another_dask_tells_in_another_way_are_a_problem() -> None:
    known = {"client": _versions(), "scheduler": _versions(), "workers": {}}
    for answer in (None, {}, {**known, "workers": {A: {"packages": [["python", "3.12"]]}}}):
        assert len(list(version_problems(answer))) == 1
