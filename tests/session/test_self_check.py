from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchgate.config import loads
from benchgate.measure.functions.starting import Workers
from benchgate.measure.machine import Place
from benchgate.measure.machine.cpus import available_cpus, supports_pinning
from benchgate.session import self_check
from benchgate.session.self_check import measure_noise

if TYPE_CHECKING:
    from tests.world import World

CPUS = tuple(sorted(available_cpus()))

needs_pinning = pytest.mark.skipif(not supports_pinning(), reason="nothing can be pinned here")


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """The CPU of each pair of workers that is started."""
    found: list[int | None] = []
    start = Workers.start

    def noted(self: Workers, files: Any, layout: Any, cpu: int | None, **more: Any) -> Any:  # noqa: ANN401 - passed on
        found.append(cpu)
        return start(self, files, layout, cpu, **more)

    monkeypatch.setattr(Workers, "start", noted)
    return found


def place(*lane_cpus: int) -> Place:
    return Place(None, frozenset(CPUS), lane_cpus[0], "", lane_cpus)


@needs_pinning
def test_both_sides_share_the_cpu_that_a_check_would_use(
    world: World, used: list[int | None]
) -> None:
    noise = measure_noise(loads("", "x.toml"), place(CPUS[-1]), world.effects)
    assert used == [CPUS[-1]] * self_check.NOISE_ROUNDS
    assert noise.pair_spread > 0
    assert noise.detectable > 1
