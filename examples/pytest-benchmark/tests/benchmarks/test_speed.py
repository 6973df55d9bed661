"""What must not get slower."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waypoint import Router

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture


def test_find_fixed(benchmark: BenchmarkFixture, router: Router, size: int) -> None:
    path = f"/pages/{size - 1}"
    assert benchmark(router.find, path) == (f"page {size - 1}", {})


def test_find_pattern(benchmark: BenchmarkFixture, router: Router, size: int) -> None:
    path = f"/teams/{size - 1}/members/ada"
    handler, values = benchmark(router.find, path)
    assert handler == f"member of {size - 1}"
    assert values == {"name": "ada"}


def test_add(benchmark: BenchmarkFixture) -> None:
    def fill(router: Router) -> None:
        for number in range(100):
            router.add(f"/pages/{number}", "page")

    benchmark.pedantic(fill, setup=lambda: ((Router(),), {}), rounds=50)
