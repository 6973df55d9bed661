from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchgate.config import loads
from benchgate.measure.cpus import available_cpus, supports_pinning
from benchgate.measure.python_workers import Workers
from benchgate.session import self_check
from benchgate.session.engines import Place
from benchgate.session.self_check import LaneNoise, measure_lanes, measure_noise

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


@needs_pinning
@pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
def test_memory_is_copied_without_lanes_and_in_all_of_them(
    world: World, used: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_check, "_LANE_ROUNDS", 2)
    monkeypatch.setattr(self_check, "copied_bytes", lambda *_: 2**20)
    noise = measure_lanes(loads("", "x.toml"), place(*CPUS[:2]), world.effects)
    assert noise is not None
    assert noise.slowdown_ratio > 0
    # Each of three rounds without lanes has one pair of workers; the two in lanes have two each.
    first, second = CPUS[:2]
    assert used.count(first) > used.count(second) > 0


@pytest.mark.parametrize(
    ("cache", "free", "copied"),
    [
        (2**25, 2**34, 2**26),
        (None, 2**34, 2**26),
        (2**27, 2**34, 2**28),
        # A cache as large as the largest copy: nothing would wait for memory.
        (2**28, 2**34, None),
        (2**25, 2**30, None),
        (2**25, None, 2**26),
    ],
)
def test_the_copy_fits_into_memory_and_into_no_cache(
    monkeypatch: pytest.MonkeyPatch, cache: int | None, free: int | None, copied: int | None
) -> None:
    monkeypatch.setattr(self_check, "largest_cache_bytes", lambda _: cache)
    monkeypatch.setattr(self_check, "free_memory_bytes", lambda: free)
    assert self_check.copied_bytes(2, 0) == copied


def test_a_single_lane_has_nothing_to_disturb(world: World) -> None:
    assert measure_lanes(loads("", "x.toml"), place(CPUS[0]), world.effects) is None


@pytest.mark.parametrize(
    ("alone", "shared", "is_disturbing"),
    [(0.01, 0.029, False), (0.01, 0.031, True), (0.0, 0.004, False), (0.0, 0.006, True)],
)
def test_lanes_disturb_if_the_sides_differ_clearly_more(
    alone: float, shared: float, *, is_disturbing: bool
) -> None:
    assert LaneNoise(1.5, alone, shared).is_disturbing is is_disturbing
