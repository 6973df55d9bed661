"""Whether launches of two arms can run at the same time, and how long a turn takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.measure.test_scenarios import launch

from benchgate.config import ScenarioBenchmark
from benchgate.load.launch import LoadReply
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.scenarios.discovery import ScenarioFiles
from benchgate.measure.scenarios.turns import may_take_turns, turn_of

if TYPE_CHECKING:
    from pathlib import Path

STEP = '[[step]]\nname = "one"\n'
QUERY = f'{STEP}query = "SELECT 1"\n'
GET = f'{STEP}path = "/"\n'
SERVICE = "[[service]]\nready = { tcp = true }\n"
HTTP = '[[target]]\ndriver = "http"\nurl = "http://127.0.0.1:{port}"\n'
SQLITE = '[[target]]\ndriver = "sqlite"\ndsn = '
POSTGRESQL = '[[target]]\ndriver = "postgresql"\ndsn = '


def takes_turns(folder: Path, scenario: str, base: str | None = None) -> bool:
    arms = [Arm(name, folder / name, folder / f"{name}-env") for name in ArmName]
    for arm, text in zip(arms, (base or scenario, scenario), strict=True):
        (arm.root).mkdir()
        (arm.root / "it.toml").write_text(f'name = "it"\n{text}')
    benchmark = ScenarioBenchmark(scenario="it.toml", allow_foreign=True)
    files = ScenarioFiles.of({name: [benchmark] for name in ArmName}, arms)
    assert not files.failures
    [unit] = files.units({})
    return may_take_turns(unit.arms)


@pytest.mark.parametrize(
    "scenario",
    [
        QUERY,
        f'{SQLITE}"data/orders.db"\n{QUERY}',
        f'{SQLITE}"{{scratch}}/orders.db"\n{QUERY}',
        f'{HTTP}{GET}{SERVICE}start = "python3 serve.py {{port}}"\n',
        f'{HTTP}{GET}{SERVICE}start = "./serve"\nenv = {{ PORT = "{{port}}" }}\n',
        f'{POSTGRESQL}"postgresql://h:{{port}}/it"\n{QUERY}{SERVICE}start = "db {{port}}"\n',
        f'[[target]]\ndriver = "command"\ncommand = "./answer"\n{STEP}',
        f'[[target]]\ndriver = "python"\nfunction = "it.py:run"\n{STEP}',
        f'[load]\nrate = 50\nworkers = "process"\n{SQLITE}"{{scratch}}/it.db"\n{QUERY}',
    ],
)
def test_launches_with_targets_of_their_own_take_turns(tmp_path: Path, scenario: str) -> None:
    assert takes_turns(tmp_path, scenario)


@pytest.mark.parametrize(
    "scenario",
    [
        f'{SQLITE}"/var/lib/orders.db"\n{QUERY}',
        f'{SQLITE}"${{ORDERS}}"\n{QUERY}',
        f'{POSTGRESQL}"${{ORDERS_DSN}}"\n{QUERY}',
        f'{POSTGRESQL}"postgresql://127.0.0.1/it"\n{QUERY}',
        f'{HTTP.replace("{port}", "8080")}{GET}{SERVICE}start = "python3 serve.py {{port}}"\n',
        f'{HTTP}{GET}{SERVICE}start = "python3 serve.py 8080"\n',
        f"[experiment]\nside_by_side = false\n{QUERY}",
        f'[load]\ncluster = "tcp://h:1"\n{HTTP}{GET}{SERVICE}start = "./serve {{port}}"\n',
    ],
)
def test_launches_that_could_touch_each_other_do_not(tmp_path: Path, scenario: str) -> None:
    assert not takes_turns(tmp_path, scenario)


def test_launches_of_other_lengths_do_not(tmp_path: Path) -> None:
    texts = [f'[load]\nduration = "{length}"\n{QUERY}' for length in ("1s", "2s")]
    assert not takes_turns(tmp_path, *texts)


def test_the_slowest_step_decides_how_long_a_turn_takes() -> None:
    replies = [
        LoadReply(None, {"fast": launch([0.1] * 5), "slow": launch([4.0] * 5)}),
        LoadReply(None, {"fast": launch([0.1] * 5), "slow": launch([6.0] * 5)}),
    ]
    assert turn_of(replies, 1.0) == pytest.approx(60_000_000, rel=1e-3)
    assert turn_of(replies[:1], 0.1) is None
    assert turn_of([LoadReply(None, {})], 1.0) is None
