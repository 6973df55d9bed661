"""The ten workloads, for pytest-benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import workloads

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture


@pytest.mark.parametrize("name", workloads.NAMES)
def test_ten(benchmark: BenchmarkFixture, name: str) -> None:
    """Measure one of them."""
    benchmark(getattr(workloads, name))
