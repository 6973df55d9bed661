"""Tests of one group run in one process: they share a port, a server or the CPUs."""

from __future__ import annotations

import os

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="all tests run in one process")
@pytest.mark.xdist_group("guard")
def test_groups_of_tests_stay_together(request: pytest.FixtureRequest) -> None:
    # pytest-xdist distributes tests by their ids, and puts the group there.
    assert request.node.nodeid.endswith("@guard"), (
        "pytest-xdist ignores groups: give it --dist loadgroup, and a pytest that it supports"
    )
