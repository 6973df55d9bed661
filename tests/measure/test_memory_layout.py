from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from benchgate.measure.languages import programs as adapters
from benchgate.measure.machine import memory_layout
from benchgate.measure.machine.memory_layout import (
    REGION_BYTES,
    Layout,
    draw_layouts,
    fixed_addresses,
    why_not_fixed,
)
from benchgate.measure.workers.start import ProgramSetting

ADDRESS = [sys.executable, "-S", "-c", "print(id(object()), hash('a'))"]


def address() -> str:
    done = subprocess.run(
        ADDRESS, check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": "1"}
    )
    return done.stdout


def test_a_layout_follows_from_the_seed() -> None:
    first, again, other = (draw_layouts(Random(seed), 2) for seed in (1, 1, 2))  # noqa: S311 - nothing secret
    assert first == again != other


def test_every_place_in_a_pool_a_page_and_a_line_is_drawn() -> None:
    rng = Random(1)  # noqa: S311 - nothing secret
    layouts = [draw_layouts(rng, 1)[0] for _ in range(2000)]
    for index, size in ((0, 16), (3, 64), (31, 512)):
        places = {memory_layout.blocks[index] * size for memory_layout in layouts}
        assert min(places) < 500
        assert 16_384 - 600 < max(places) < 16_384
    assert {memory_layout.padding_bytes % 64 for memory_layout in layouts} == set(range(64))
    assert {memory_layout.gap_bytes % 4096 for memory_layout in layouts} == {0}
    assert len({memory_layout.gap_bytes for memory_layout in layouts}) > 1000
    assert {chunk % 64 for memory_layout in layouts for chunk in memory_layout.chunks} == {
        0,
        16,
        32,
        48,
    }
    assert len({memory_layout.hash_seed for memory_layout in layouts}) > 1990


def test_layouts_of_a_round_differ_in_nothing_but_whole_regions() -> None:
    rng = Random(1)  # noqa: S311 - nothing secret
    apart = []
    for _ in range(500):
        one, other = draw_layouts(rng, 2)
        assert replace(one, gap_bytes=other.gap_bytes) == other
        # The worker's memory must not depend on the length of its request.
        assert len(str(one.gap_bytes)) == len(str(other.gap_bytes))
        apart.append(one.gap_bytes - other.gap_bytes)
    assert 0 not in apart
    assert {gap % REGION_BYTES for gap in apart} == {0}
    assert 200 < sum(gap > 0 for gap in apart) < 300


def test_an_obstacle_is_named_where_addresses_are_not_fixed() -> None:
    with fixed_addresses() as fixed:
        assert (why_not_fixed() == "") is fixed


@pytest.mark.parametrize(
    ("platform", "reason"), [("darwin", "darwin randomizes them"), ("linux", "seccomp=unconfined")]
)
def test_where_the_os_refuses_everything_goes_on(
    platform: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(memory_layout, "_personality", lambda _: -1)
    with fixed_addresses() as fixed:
        assert not fixed
        assert address()
    assert reason in why_not_fixed()


def test_addresses_are_fixed_only_meanwhile() -> None:
    with fixed_addresses() as fixed:
        inside = {address() for _ in range(3)}
    if not fixed:
        pytest.skip("this machine does not let addresses be fixed")
    assert len(inside) == 1
    with fixed_addresses(), fixed_addresses():
        assert address() in inside
    assert len({address() for _ in range(5)}) > 1


CXX = shutil.which("c++") or ""
SCATTERED = """
#include <benchgate.h>
int main() {
  benchgate::scatter_heap();
  for (int size : {24, 40, 200, 3000})
    std::printf("%03zx ", reinterpret_cast<size_t>(std::malloc(size)) & 0xfff);
  std::puts(std::getenv("BENCHGATE_SEED") ? "left" : "");
}
"""


@pytest.mark.skipif(not CXX, reason="needs a C++ compiler")
def test_a_program_has_its_objects_at_places_that_the_round_draws(tmp_path: Path) -> None:
    (tmp_path / "places.cc").write_text(SCATTERED)
    include = Path(adapters.__file__).parent / "cpp" / "include"
    program = tmp_path / "places"
    subprocess.run([CXX, f"-I{include}", tmp_path / "places.cc", "-o", program], check=True)

    def places(seed: int) -> str:
        layout = Layout(hash_seed=seed)
        setting = ProgramSetting([str(program)], None, None, dict(os.environ), layout)
        return subprocess.check_output(setting.words(3), env=setting.environ(3), text=True)

    assert places(7) == places(7)
    assert len({places(seed) for seed in range(10)}) >= 9
    assert "left" not in places(7)
