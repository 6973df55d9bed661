"""Every example of docs/writing-benchmarks.md is measured, and what the page says of it holds."""

from __future__ import annotations

import os
import random
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.measure.benchmarks import functions, sampling

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings, StartingEnvironment
from benchgate.measure.functions.engine import FunctionEngine
from benchgate.measure.workers import worker as worker_module

if TYPE_CHECKING:
    from benchgate.measure.contract.found import Definition
    from benchgate.measure.contract.observation import Observation
    from benchgate.measure.processes.guardian import Guardian

TEXT = Path(__file__).parents[2].joinpath("docs", "writing-benchmarks.md").read_text("utf-8")
EXAMPLES: list[str] = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def example(function: str, occurrence: int = 0) -> str:
    return [text for text in EXAMPLES if f"def {function}(" in text][occurrence]


def run(
    text: str, tmp_path: Path, guardian: Guardian
) -> tuple[tuple[Definition, ...], list[Observation]]:
    """Measure one round of an example, in two arms."""
    arms = []
    for name in ArmName:
        root = tmp_path / name
        (root / "benchmarks").mkdir(parents=True)
        (root / "benchmarks" / "bench_words.py").write_text(text)
        arms.append(Arm(name, root, tmp_path / f"{name}-env", variables=guardian.variables))
    settings = EngineSettings(
        measure=sampling(5, 0.002),
        cpu=None,
        unpinned="",
        all_cpus=frozenset(),
        interpreter=sys.executable,
        outside=StartingEnvironment({"PATH": os.environ["PATH"]}, None),
    )
    specs = {arm.name: [functions("benchmarks")] for arm in arms}
    engine = FunctionEngine(specs, arms, settings, guardian)
    try:
        discovery = engine.discover()
        assert discovery.failures == ()
        found = discovery.found[ArmName.HEAD]
        rng = random.Random(1)  # noqa: S311 - repeatable on purpose
        return found, list(engine.measure_round([d.id for d in found], rng, 0))
    finally:
        engine.close()


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: text.split("def bench_")[1][:10])
def test_every_example_is_measured(text: str, tmp_path: Path, guardian: Guardian) -> None:
    found, observations = run(text, tmp_path, guardian)
    assert found
    assert len(observations) == 2 * len(found)
    metrics = set(re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE))
    for observation in observations:
        assert observation.error is None
        anywhere = {m.metric.name for m in observation.metrics}
        assert anywhere | {"peak_rss", "instructions"} == metrics


def test_ids_are_as_the_page_says(tmp_path: Path, guardian: Guardian) -> None:
    found, _ = run(EXAMPLES[0], tmp_path / "first", guardian)
    assert [d.id for d in found] == ["words/count"]
    found, _ = run(example("bench_sort"), tmp_path / "params", guardian)
    assert [d.id for d in found] == [
        f"words/sort[n={n},order={order}]" for n in (10, 1000) for order in ("up", "down")
    ]


def test_attributes_do_what_the_page_says(tmp_path: Path, guardian: Guardian) -> None:
    found, observations = run(example("bench_join"), tmp_path / "number", guardian)
    assert {o.metrics[0].loops for o in observations} == {1}
    assert found[0].display_unit == "us"
    found, _ = run(example("bench_digests"), tmp_path / "parallel", guardian)
    assert found[0].notes == ("not pinned: it is marked parallel",)


def test_the_page_names_every_attribute_and_limit() -> None:
    headings = "\n".join(re.findall(r"^### .*$", TEXT, re.MULTILINE))
    for name in ("params", "setup", "teardown", "number", "unit", "parallel", "async def"):
        assert f"`{name}`" in headings
    assert f"more than {worker_module.OUTPUT_LIMIT_BYTES >> 20} MB" in TEXT
