from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.measure.benchmarks import sampling

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings, StartingEnvironment
from benchgate.measure.functions.canary_engine import canary_engine
from benchgate.model.run import CANARY_ID, CANARY_IDS, FILES_CANARY_ID

if TYPE_CHECKING:
    from benchgate.measure.processes.guardian import Guardian


def test_the_canary_is_the_same_work_on_both_arms(tmp_path: Path, guardian: Guardian) -> None:
    checkout = Path(__file__).parents[2]
    settings = EngineSettings(
        measure=sampling(45, 0.05, 3),
        cpu=None,
        unpinned="not pinned: no CPU was chosen",
        all_cpus=frozenset(),
        interpreter="/no/such/python",
        outside=StartingEnvironment(
            {**os.environ, "PYTHONPATH": str(tmp_path)},
            checkout,  # as when benchgate measures itself
        ),
    )
    arms = [
        Arm(name, tmp_path / name, tmp_path / f"{name}-env", variables=guardian.variables)
        for name in ArmName
    ]
    for arm in arms:
        arm.root.mkdir()
    engine = canary_engine(arms, settings, guardian, in_trees=True)
    try:
        discovery = engine.discover()
        base, head = discovery.found.values()
        assert discovery.failures == ()
        assert {d.id for d in base} == CANARY_IDS
        assert base == head
        version = ".".join(map(str, sys.version_info[:3]))
        assert discovery.toolchains[ArmName.BASE]["python"].endswith(version)
        observations = list(engine.measure_round(sorted(CANARY_IDS), random.Random(1), 0))  # noqa: S311 - repeatable on purpose
    finally:
        engine.close()
    assert {(o.arm, o.benchmark) for o in observations} == {
        (arm, id_) for arm in ArmName for id_ in CANARY_IDS
    }
    assert [list(arm.root.iterdir()) for arm in arms] == [[], []]
    assert not [each for each in tmp_path.iterdir() if "canary" in each.name]
    if sys.platform == "linux":
        assert {o.benchmark: o.uses_files for o in observations} == {
            CANARY_ID: False,
            FILES_CANARY_ID: True,
        }
    for observation in observations:
        assert observation.error is None
        time = observation.metrics[0]
        assert time.metric.name == "time"
        assert time.launches[0].samples.shape == (15,)
