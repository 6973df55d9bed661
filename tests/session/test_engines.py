"""What [measure] and each side's own [[benchmark]] come to in the engines."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.patience import in_time

from benchgate.config import loads, policy_from
from benchgate.errors import ConfigError
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings
from benchgate.measure.machine.cpus import available_cpus, supports_pinning
from benchgate.measure.machine.place import Place, choose_place
from benchgate.measure.processes.guardian import Guardian
from benchgate.session.choice import EVERYTHING, Choice
from benchgate.session.engines import EngineMaker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.measure.contract.engine import Engine
    from benchgate.measure.contract.observation import Observation

MEASURE = '[measure]\ncanary = false\ntimeout = "{}s"\nexecutions = 2\ncommand_warmup = 3\n'
COMMAND = '[[benchmark]]\nname = "cmd"\ncommand = "{}"\n'
PYTHON = '[[benchmark]]\npython = "."\n'
BENCH = "import time\ndef bench_it():\n    time.sleep({})\n"


@pytest.fixture
def guardian() -> Iterator[Guardian]:
    with Guardian.start() as one:
        yield one


def measured(
    config: Config,
    tmp_path: Path,
    guardian: Guardian,
    id_: str,
    files: dict[str, str] | None = None,
) -> list[Observation]:
    arms = []
    for name in ArmName:
        (tmp_path / name).mkdir(exist_ok=True)
        for file, text in (files or {}).items():
            (tmp_path / name / file).write_text(text)
        arms.append(Arm(name, tmp_path / name, tmp_path / "env", str(name), guardian.variables))
    place = Place(None, available_cpus(), None, "not pinned")
    maker = EngineMaker(place, guardian, {"PATH": os.environ["PATH"]})
    engines = maker.make(config, arms, EngineSettings(config.measure))
    try:
        return _round(engines, id_)
    finally:
        for engine in engines:
            engine.close()


def _round(engines: Sequence[Engine], id_: str) -> list[Observation]:
    (engine,) = engines
    discovery = engine.discover()
    if discovery.failures:
        raise ValueError(discovery.failures[0].error)
    assert {d.id for found in discovery.found.values() for d in found} == {id_}
    return list(engine.measure_round([id_], random.Random(1), 0))  # noqa: S311 - repeatable on purpose


def test_a_command_that_says_nothing_is_run_as_measure_says(
    tmp_path: Path, guardian: Guardian
) -> None:
    config = loads(MEASURE.format(60) + COMMAND.format("true"), "x")
    for seen in measured(config, tmp_path, guardian, "cmd"):
        assert (seen.error, seen.metrics[0].launches[0].samples.shape) == (None, (2,))
        assert seen.metrics[0].launches[0].warmup.shape == (3,)


@pytest.mark.parametrize(
    ("text", "id_"), [(COMMAND.format("sleep 300"), "cmd"), (PYTHON, "it/it"), ("", "it/it")]
)
def test_the_timeout_of_measure_holds_for_every_kind(
    tmp_path: Path, guardian: Guardian, text: str, id_: str
) -> None:
    files = {} if "command" in text else {"bench_it.py": BENCH.format(300)}

    def run(limit_s: float) -> list[Observation]:
        config = loads(MEASURE.format(limit_s) + text, "x")
        return measured(config, tmp_path, guardian, id_, files)

    (failed, *_) = in_time(run, late="^timed out")  # while it looked for benchmarks
    assert (failed.error or "").startswith("timed out")


@pytest.mark.parametrize(
    ("base", "head", "executions"), [("", "executions = 5", 2), ("executions = 4", "", 4)]
)
def test_each_side_runs_its_own_command_as_the_base_says(
    tmp_path: Path, guardian: Guardian, base: str, head: str, executions: int
) -> None:
    text = MEASURE.format(60) + COMMAND.format("test {{sha}} = {}")
    config = policy_from(
        loads(text.format("base") + base, "base"), loads(text.format("head") + head, "head")
    )
    for seen in measured(config, tmp_path, guardian, "cmd"):
        assert (seen.error, seen.metrics[0].launches[0].samples.shape) == (None, (executions,))


SUITE = '[[benchmark]]\nsuite = "{}"\nshell = true\nallow_foreign = true\n'


def suites_of(
    config: Config,
    tmp_path: Path,
    guardian: Guardian,
    choice: Choice = EVERYTHING,
    **keys: Any,  # noqa: ANN401 - any argument
) -> list[Engine]:
    (tmp_path / "tree").mkdir()
    arm = Arm(ArmName.HEAD, tmp_path / "tree", tmp_path / "env", variables=guardian.variables)
    place = Place(None, available_cpus(), None, "not pinned")
    environ = {"PATH": os.environ["PATH"]}
    settings = EngineSettings(config.measure, **keys)
    return EngineMaker(place, guardian, environ, choice).make(config, [arm], settings)


def test_each_suite_has_an_engine(tmp_path: Path, guardian: Guardian) -> None:
    config = loads(SUITE.format("one") + SUITE.format("two") + SUITE.format("two"), "x")
    assert len(suites_of(config, tmp_path, guardian)) == 3


def test_a_suite_that_is_not_run_is_one_entry(tmp_path: Path, guardian: Guardian) -> None:
    config = loads(SUITE.format("touch ran") + 'tags = ["slow"]\n', "x")
    (engine,) = suites_of(config, tmp_path, guardian, runs_suites=False)
    (entry,) = engine.discover().found[ArmName.HEAD]
    assert (entry.id, entry.tags, entry.is_unrun_suite) == ("touch ran", ("slow",), True)
    assert not (tmp_path / "tree/ran").exists()
    engine.close()


@pytest.mark.skipif(
    not supports_pinning() or len(available_cpus()) < 2, reason="needs two CPUs and pinning"
)
@pytest.mark.parametrize(("measure", "suite"), [(True, False), (False, True)])
def test_only_a_suites_own_pin_pins_it(
    tmp_path: Path, guardian: Guardian, *, measure: bool, suite: bool
) -> None:
    (tmp_path / "tree").mkdir()
    output = "goos: linux\\npkg: x\\nBenchmarkA-2 100 5 ns/op\\nPASS\\n"
    run = f"grep Cpus_allowed_list: /proc/self/status > cpus; printf '{output}'"
    keys = f"pin = {json.dumps(suite)}\n"
    measures = f"[measure]\ncanary = false\npin = {json.dumps(measure)}\n"
    config = loads(measures + SUITE.format(run) + keys, "x")
    place = choose_place(config, None)
    arm = Arm(ArmName.HEAD, tmp_path / "tree", tmp_path / "env", variables=guardian.variables)
    environ = {"PATH": os.environ["PATH"]}
    maker = EngineMaker(place, guardian, environ)
    (engine,) = maker.make(config, [arm], EngineSettings(config.measure))
    (found,) = engine.discover().found[ArmName.HEAD]
    engine.close()
    cpus = (tmp_path / "tree/cpus").read_text().split()[1]
    assert (cpus == str(place.suite_cpu), found.notes) == (suite, ())


def test_a_suite_that_cannot_have_what_is_wanted_has_no_engine(
    tmp_path: Path, guardian: Guardian
) -> None:
    config = loads(SUITE.format("one") + 'group = "unit"\n', "x")
    assert suites_of(config, tmp_path, guardian, choice=Choice(("parse/*",))) == []


def test_an_unknown_format_is_an_error_with_its_place(tmp_path: Path, guardian: Guardian) -> None:
    config = loads(SUITE.format("one") + 'format = "hyperfin"\n', "benchgate.toml")
    with pytest.raises(ConfigError) as caught:
        suites_of(config, tmp_path, guardian)
    assert caught.value.message == (
        'benchgate.toml:5: benchmark[0].format = "hyperfin": there is no such format; '
        "did you mean 'hyperfine'?"
    )


def test_a_filter_of_an_unknown_kind_is_an_error_with_its_place(
    tmp_path: Path, guardian: Guardian
) -> None:
    text = '[[benchmark]]\nsuite = "jmh {filter}"\nformat = "jmh"\n'
    with pytest.raises(ConfigError) as caught:
        suites_of(loads(text, "benchgate.toml"), tmp_path, guardian)
    assert caught.value.message == (
        "benchgate.toml:2: benchmark[0].suite: benchgate does not know how jmh filters: {filter} "
        "needs one of catch2, criterion, go, google-benchmark, mitata, pytest-benchmark, vitest"
    )


def test_suites_are_joined_by_their_titles(tmp_path: Path, guardian: Guardian) -> None:
    both = SUITE.format("false")
    config = policy_from(
        loads(both + SUITE.format("old") + 'group = "g"\n', "base"),
        loads(SUITE.format("new") + f'group = "g"\n{both}', "head"),
    )
    arms = []
    for name in ArmName:
        (tmp_path / name).mkdir()
        arms.append(Arm(name, tmp_path / name, tmp_path / "env", variables=guardian.variables))
    place = Place(None, available_cpus(), None, "not pinned")
    environ = {"PATH": os.environ["PATH"]}
    settings = EngineSettings(config.measure, runs_suites=False)
    engines = EngineMaker(place, guardian, environ).make(config, arms, settings)
    found = [
        {arm: [one.id for one in each] for arm, each in engine.discover().found.items()}
        for engine in engines
    ]
    assert {tuple(each[ArmName.BASE] + each[ArmName.HEAD]) for each in found if each} >= {
        ("g", "g"),
        ("false", "false"),
    }
