"""Scenarios, with a load generator that answers what a file says."""

from __future__ import annotations

import json
import random
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from pydantic import TypeAdapter
from tests.measure.engines import Making, write
from tests.patience import LIMITS_S, PATIENCE_S, limited

from benchgate.config import Measure, ScenarioBenchmark
from benchgate.load.launch import LoadReply
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings, StartingEnvironment
from benchgate.measure.scenarios import launch_plans
from benchgate.measure.scenarios.engine import ScenarioEngine
from benchgate.model.load import Generator, KeptError, LoadLaunch, Loop, Windows, WorkerGroup
from benchgate.model.metrics import UNDER_LOAD
from benchgate.model.run import Tier
from benchgate.stats.histogram import Histogram, encode, pack
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchgate.measure.contract.found import Discovery
    from benchgate.measure.contract.observation import Observation
    from benchgate.measure.processes.guardian import Guardian

BASE, HEAD = ArmName.BASE, ArmName.HEAD
FAKE = (sys.executable, str(Path(__file__).with_name("fake_generator.py")))
RNG = random.Random(1)  # noqa: S311 - unused
FILE = "load/orders.toml"
ORDERS = """\
name = "orders"

[load]
concurrency = 2
duration = "1s"
warmup = "0s"

[setup]
files = ["schema.sql"]

[[step]]
name = "lookup"
query = "SELECT * FROM orders WHERE id = :id"
params = { id = "random_int(1, 100)" }

[[step]]
name = "insert"
query = "INSERT INTO orders (total) VALUES (1)"
"""


def launch(latencies_ms: Sequence[float], errors: Sequence[str] = ()) -> LoadLaunch:
    """What a step did in one second, with the errors at its end."""
    values = np.array([round(ms * 1e6) for ms in latencies_ms], dtype=np.int64)
    histogram = Histogram()
    histogram.record_many(values)
    typical = (histogram.percentile(0.5),)
    return LoadLaunch(
        round=0,
        duration_s=1.0,
        ops=len(values),
        errors=len(errors),
        kept_errors=tuple(KeptError(0.9, text) for text in errors[:50]),
        histogram=encode(histogram),
        sample=pack(values),
        windows=Windows(1.0, 1.0, (len(values),), (len(errors),), *[typical] * 3),
        generator=Generator((WorkerGroup("here", 1, 0.1),), 0.0, None),
    )


STEPS = {"lookup": launch([1.0]), "insert": launch([2.0])}


IDLE = LoadReply(None, dict.fromkeys(STEPS, launch([])))


def dumped(reply: LoadReply) -> object:
    return TypeAdapter(LoadReply).dump_python(reply, mode="json", context=str)


def says(reply: LoadReply | None = None, **how: object) -> dict[str, str | None]:
    """The file that tells the load generator what to answer."""
    return {"fake.json": json.dumps({"reply": dumped(reply or LoadReply(None, STEPS)), **how})}


@pytest.fixture
def paused() -> list[float]:
    return []


@dataclass
class MakeEngine(Making):
    """Makes engines on trees with these files; `base` is what the base has instead."""

    paused: list[float]

    def __call__(
        self,
        files: Mapping[str, str | None] | None = None,
        *,
        base: Mapping[str, str | None] | None = None,
        arms: Sequence[ArmName] = tuple(ArmName),
        aliases: Mapping[str, str] | None = None,
        unable: Sequence[str] = (),
        brief: bool = False,
        checkout: Path | None = None,
        **keys: Any,  # noqa: ANN401 - of any type
    ) -> ScenarioEngine:
        benchmark = ScenarioBenchmark.model_validate({"scenario": FILE, **keys})
        trees = []
        for name in arms:
            arm = Arm(
                name,
                self.folder / name,
                self.folder / f"{name}-env",
                variables=self.guardian.variables,
            )
            of_arm = {FILE: ORDERS, "schema.sql": "", **says(), **(files or {})}
            of_arm |= (base or {}) if name is BASE else {}
            write(arm.root, of_arm)
            trees.append(arm)
        engine = ScenarioEngine(
            {name: [benchmark] for name in arms},
            trees,
            self.guardian,
            EngineSettings(
                Measure(),
                aliases or {},
                outside=StartingEnvironment(
                    {
                        "PATH": "/usr/bin:/bin",
                        "ORDERS": str(self.folder),
                        "XDG_STATE_HOME": str(self.folder / "state"),
                    },
                    checkout,
                ),
                unable=unable,
                brief=brief,
            ),
            generator=FAKE,
            pause=self.paused.append,
        )
        return self.keep(engine)


@pytest.fixture
def make_engine(tmp_path: Path, guardian: Guardian, paused: list[float]) -> Iterator[MakeEngine]:
    making = MakeEngine(tmp_path, guardian, paused)
    yield making
    making.close()


@pytest.fixture
def orders(tmp_path: Path) -> Callable[[], list[dict[str, Any]]]:
    """What the load generator was asked."""

    def read() -> list[dict[str, Any]]:
        lines = (tmp_path / "orders.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    return read


def ids(discovery: Discovery, arm: ArmName) -> list[str]:
    return [one.id for one in discovery.found[arm]]


def measured(engine: ScenarioEngine, *chosen: str, round_index: int = 0) -> list[Observation]:
    found = engine.discover()
    every = dict.fromkeys(one.id for each in found.found.values() for one in each)
    return list(engine.measure_round(chosen or tuple(every), RNG, round_index))


def values(observation: Observation) -> dict[str, float]:
    return {one.metric.name: float(one.launches[0].samples[0]) for one in observation.metrics}


def test_each_step_is_a_benchmark(make_engine: MakeEngine) -> None:
    found = make_engine(tags=["db"]).discover()

    assert not found.failures
    assert ids(found, BASE) == ids(found, HEAD) == ["orders/lookup", "orders/insert"]
    lookup = found.found[HEAD][0]
    assert lookup.tier is Tier.INTERLEAVED
    assert (lookup.kind, lookup.tags, lookup.suite) == ("scenario", ("db",), "orders")
    assert lookup.location == "load/orders.toml:11"
    assert lookup.load is not None
    assert (lookup.load.loop, lookup.load.workers, lookup.load.rate) == (Loop.CLOSED, 2, 0.0)
    assert lookup.rounds is None
    assert lookup.workload == found.found[BASE][0].workload


def test_a_step_has_the_metrics_of_its_launch(make_engine: MakeEngine) -> None:
    latencies = [1.0] * 94 + [5.0] * 5 + [9.0]
    engine = make_engine(says(LoadReply(None, {**STEPS, "lookup": launch(latencies)})))

    seen = measured(engine)

    assert seen[0].benchmark == "orders/lookup"
    lookup = next(one for one in seen if one.benchmark == "orders/lookup" and one.arm is HEAD)
    assert [one.metric for one in lookup.metrics] == list(UNDER_LOAD)
    assert values(lookup) == pytest.approx(
        {
            "throughput": 100.0,
            "time_p50": 1e-3,
            "time_p95": 5e-3,
            "time_p99": 5e-3,
            "time_p99.9": 9e-3,
            "error_ratio": 0.0,
        },
        rel=1e-3,
    )
    assert lookup.load is not None
    assert lookup.load.ops == 100
    assert {one.order for one in seen} == {0, 1}


def test_the_order_has_what_the_generator_needs(
    make_engine: MakeEngine, orders: Callable[[], list[dict[str, Any]]], tmp_path: Path
) -> None:
    measured(make_engine(arms=[HEAD]), round_index=3)

    [order] = orders()
    scratch = order.pop("scratch")
    assert order == {
        "scenario": str(tmp_path / "head" / FILE),
        "shown": FILE,
        "target": "sqlite",
        "folder": str(tmp_path / "head"),
        "placeholders": {
            "root": str(tmp_path / "head"),
            "env": str(tmp_path / "head-env"),
            "sha": "",
            "scratch": scratch,
        },
        "round": 3,
        "introspect": False,
        "brief": False,
        "turns": None,
    }
    assert not Path(scratch).exists()


def test_launches_run_one_after_the_other_if_the_scenario_says_so(
    make_engine: MakeEngine, orders: Callable[[], list[dict[str, Any]]]
) -> None:
    engine = make_engine({FILE: f"{ORDERS}[experiment]\nside_by_side = false\n"})
    engine.discover()
    for round_index in range(4):
        list(engine.measure_round(["orders/lookup"], RNG, round_index))

    arms = [Path(order["folder"]).name for order in orders()]
    assert arms in (
        ["base", "head", "head", "base", "head", "base", "base", "head"],
        ["head", "base", "base", "head", "base", "head", "head", "base"],
    )


def test_launches_of_both_arms_run_at_the_same_time(
    make_engine: MakeEngine, orders: Callable[[], list[dict[str, Any]]]
) -> None:
    engine = make_engine()
    seen = measured(engine)
    first = orders()
    for round_index in (1, 2, 3):
        seen += list(engine.measure_round(["orders/lookup"], RNG, round_index))

    assert not [one.error for one in seen if one.error]
    assert [order["turns"] for order in first] == [None, None], "how long to take turns is unknown"
    later = orders()[2:]
    assert len({order["turns"]["turn_ns"] for order in later}) == 1
    assert len({order["turns"]["meeting"] for order in later}) == 3
    head = [order["turns"]["place"] for order in later if order["folder"].endswith("head")]
    base = [order["turns"]["place"] for order in later if order["folder"].endswith("base")]
    assert base == [1 - place for place in head]
    assert set(head) == {0, 1}, "the arms are first in turn"


def test_if_one_launch_fails_the_other_one_is_not_blamed(make_engine: MakeEngine) -> None:
    engine = make_engine(base=says(error_in_turns="there is no table orders"))
    measured(engine)
    seen = list(engine.measure_round(["orders/lookup"], RNG, 1))
    assert {(one.arm, one.error) for one in seen} == {(BASE, "there is no table orders")}


def test_if_both_launches_fail_both_are_told(make_engine: MakeEngine) -> None:
    engine = make_engine(says(error_in_turns="there is no table orders"))
    measured(engine)
    seen = list(engine.measure_round(["orders/lookup"], RNG, 1))
    assert {(one.arm, one.error) for one in seen} == {
        (arm, "there is no table orders") for arm in ArmName
    }


def test_who_times_out_while_it_waits_for_the_other_one_is_not_blamed(
    make_engine: MakeEngine,
) -> None:
    slow = says(sleep_in_turns=1, error_in_turns="the setup hangs")
    engine = make_engine(slow, base=says(patience=0.1))
    measured(engine)
    seen = list(engine.measure_round(["orders/lookup"], RNG, 1))
    assert {(one.arm, one.error) for one in seen} == {(HEAD, "the setup hangs")}


def test_one_step_is_reported_but_the_whole_scenario_runs(
    make_engine: MakeEngine, orders: Callable[[], list[dict[str, Any]]]
) -> None:
    seen = measured(make_engine(), "orders/insert")

    assert {one.benchmark for one in seen} == {"orders/insert"}
    assert len(orders()) == 2


def test_pauses_before_each_launch(make_engine: MakeEngine, paused: list[float]) -> None:
    scenario = ORDERS + '[experiment]\npause = "5s"\niterations = 3\n'
    engine = make_engine({FILE: scenario}, arms=[HEAD])

    measured(engine)

    assert paused == [5.0]
    assert engine.discover().found[HEAD][0].rounds == 3


def test_the_arms_pause_equally(make_engine: MakeEngine, paused: list[float]) -> None:
    head, base = (ORDERS + f"\n[experiment]\npause = '{pause}'\n" for pause in ("0s", "3s"))

    measured(make_engine({FILE: head}, base={FILE: base}))

    assert paused == [3.0, 3.0]


def test_a_failed_launch_fails_every_step_of_its_arm(make_engine: MakeEngine) -> None:
    refused = LoadReply("the target refuses connections\nport 5432")
    seen = measured(make_engine(base=says(refused)))

    assert [(one.benchmark, one.arm) for one in seen] == [
        ("orders/lookup", BASE),
        ("orders/insert", BASE),
    ]
    assert seen[0].error == "the target refuses connections\nport 5432"


def test_both_arms_are_tried_if_the_base_fails(make_engine: MakeEngine) -> None:
    seen = measured(make_engine(says(exit=3)), "orders/lookup")

    assert {one.arm for one in seen} == {BASE, HEAD}
    assert seen[0].error == "the load generator: exited with 3 (allowed: 0)\nno room in memory"


def test_too_many_errors_fail_a_step_alone(make_engine: MakeEngine) -> None:
    errors = ["no such table: orders"] * 3 + ["database is locked"]
    steps = {**STEPS, "lookup": launch([1.0] * 4, errors)}
    seen = measured(make_engine(says(LoadReply(None, steps)), arms=[HEAD]))

    lookup, insert = seen
    assert lookup.error == (
        "4 of 8 operations failed (50 %; `max_error_rate` allows 0 %)\n"
        "3 of 4 errors: no such table: orders"
    )
    assert lookup.load is None
    assert insert.error is None


def test_some_errors_may_be_allowed(make_engine: MakeEngine) -> None:
    steps = {"lookup": launch([1.0] * 9, ["busy"])}
    scenario = ORDERS.replace("concurrency = 2", "concurrency = 2\nmax_error_rate = 0.1")
    engine = make_engine({**says(LoadReply(None, steps)), FILE: scenario}, arms=[HEAD])

    lookup = measured(engine, "orders/lookup")[0]

    assert lookup.error is None
    assert values(lookup)["error_ratio"] == pytest.approx(0.1)
    assert values(lookup)["throughput"] == pytest.approx(9.0)


def test_a_step_without_operations_has_failed(make_engine: MakeEngine) -> None:
    engine = make_engine(says(LoadReply(None, {"lookup": launch([])})), arms=[HEAD])

    error = measured(engine, "orders/lookup")[0].error or ""

    assert error.startswith("none of its operations ended within the 1.0 s of load")


def test_a_step_that_is_not_reported_has_failed(make_engine: MakeEngine) -> None:
    engine = make_engine(says(LoadReply(None)), arms=[HEAD])

    assert measured(engine, "orders/lookup")[0].error == (
        "the load generator reported nothing about the step lookup"
    )


def test_a_generator_that_hangs_reaches_the_timeout(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    loading, torn_down = tmp_path / "loading", tmp_path / "torn-down"
    said = says(sleep=60, loading=str(loading), teardown=str(torn_down))

    def failed(limit_s: float) -> str:
        engine = make_engine(said, arms=[HEAD], timeout=f"{limit_s}s")
        return measured(engine, "orders/lookup")[0].error or ""

    error = limited(failed, loading.exists)

    assert error.startswith("the load generator: timed out: it took longer than ")
    assert torn_down.read_text() == "done"


def test_only_the_load_gets_more_time_if_launches_take_turns(make_engine: MakeEngine) -> None:
    scenario = ORDERS.replace('"1s"', '"100ms"')
    for limit_s in LIMITS_S:  # a busy machine needs more time for the first launches
        said = says(sleep_in_turns=300)
        engine = make_engine({FILE: scenario, **said}, timeout=f"{limit_s}s")
        if not any(one.error for one in measured(engine)):
            break

    seen = list(engine.measure_round(["orders/lookup"], RNG, 1))

    assert {one.arm for one in seen} == {BASE, HEAD}
    longer = format_duration(limit_s + 0.1)
    limit = f"it took longer than {longer}; `timeout` of [[benchmark]] sets the limit"
    assert {one.error for one in seen} == {f"the load generator: timed out: {limit}"}


def test_a_launch_in_which_both_sides_stood_still_is_repeated_once(make_engine: MakeEngine) -> None:
    engine = make_engine(says(first_in_turns=[dumped(IDLE)]))
    measured(engine)

    seen = list(engine.measure_round(["orders/lookup"], RNG, 1))

    assert [one.error for one in seen] == [None, None]
    assert all("the machine stood still" in one.notes[-1] for one in seen)
    again = list(engine.measure_round(["orders/lookup"], RNG, 2))
    assert [len(one.notes) for one in again] == [len(one.notes) for one in seen]


def test_standing_still_twice_is_a_failure(make_engine: MakeEngine) -> None:
    engine = make_engine(says(first_in_turns=[dumped(IDLE)] * 2))
    measured(engine)

    seen = list(engine.measure_round(["orders/lookup"], RNG, 1))

    assert {one.arm for one in seen} == {BASE, HEAD}
    assert all("none of its operations ended" in (one.error or "") for one in seen)


def test_one_side_that_stands_still_is_not_repeated(make_engine: MakeEngine) -> None:
    engine = make_engine(says(first_in_turns=[dumped(IDLE)]), base=says())
    measured(engine)

    [failed] = engine.measure_round(["orders/lookup"], RNG, 1)

    assert failed.arm is HEAD
    assert "none of its operations ended" in (failed.error or "")


def test_notes_of_the_generator_are_those_of_every_step(make_engine: MakeEngine) -> None:
    engine = make_engine(says(LoadReply(None, STEPS, ("teardown failed",))), arms=[HEAD])

    assert [one.notes for one in measured(engine)] == [("teardown failed",)] * 2


def test_a_wrong_file_is_a_failure_of_its_arm(make_engine: MakeEngine) -> None:
    found = make_engine({FILE: 'name = "orders"\nlode = {}\n'}, arms=[HEAD]).discover()

    [failure] = found.failures
    assert (failure.arm, failure.id) == (HEAD, FILE)
    assert "load/orders.toml" in failure.error
    assert "lode" in failure.error


def test_a_wrong_file_of_the_head_fails_what_the_base_has(make_engine: MakeEngine) -> None:
    found = make_engine({FILE: "name = 1"}, base={FILE: ORDERS}).discover()

    assert [(one.arm, one.id, one.suite) for one in found.failures] == [
        (HEAD, "orders/lookup", FILE),
        (HEAD, "orders/insert", FILE),
    ]


def test_a_scenario_that_only_the_head_has_is_new(make_engine: MakeEngine) -> None:
    engine = make_engine(base={FILE: None})

    found = engine.discover()

    assert not found.failures
    assert ids(found, BASE) == []
    assert {one.arm for one in measured(engine)} == {HEAD}


def test_a_renamed_scenario_is_one_unit(
    make_engine: MakeEngine, orders: Callable[[], list[dict[str, Any]]]
) -> None:
    engine = make_engine(
        base={FILE: ORDERS.replace('"orders"', '"shop"')},
        aliases={"shop/lookup": "orders/lookup", "shop/insert": "orders/insert"},
    )

    found = engine.discover()

    assert ids(found, BASE) == ["orders/lookup", "orders/insert"]
    assert [one.own_id for one in found.found[BASE]] == ["shop/lookup", "shop/insert"]
    assert {one.suite for each in found.found.values() for one in each} == {"orders"}
    assert {one.arm for one in measured(engine, "orders/lookup")} == {BASE, HEAD}
    assert len(orders()) == 2


def test_steps_of_several_targets_are_units_of_their_own(
    make_engine: MakeEngine, orders: Callable[[], list[dict[str, Any]]]
) -> None:
    targets = '[[target]]\nname = "memory"\n[[target]]\nname = "disk"\ndsn = "{scratch}/db"\n'
    engine = make_engine({FILE: ORDERS + targets}, arms=[HEAD])

    found = engine.discover()
    measured(engine, "orders/memory/lookup", "orders/disk/lookup", "orders/memory/insert")

    assert ids(found, HEAD) == [
        "orders/memory/lookup",
        "orders/memory/insert",
        "orders/disk/lookup",
        "orders/disk/insert",
    ]
    assert [order["target"] for order in orders()] == ["memory", "disk"]


INLINE = ORDERS.replace('files = ["schema.sql"]', 'queries = ["CREATE TABLE orders (id, total)"]')


def test_what_does_not_depend_on_the_side_is_refused(make_engine: MakeEngine) -> None:
    found = make_engine({FILE: INLINE}).discover()

    assert found.found == {BASE: (), HEAD: ()}
    assert [(one.id, one.of_all) for one in found.failures] == [
        ("orders/lookup", True),
        ("orders/insert", True),
    ]
    assert found.failures[0].error.startswith(
        "nothing in load/orders.toml depends on the side: base and head would load the same target"
    )


def test_the_same_target_can_be_allowed(make_engine: MakeEngine) -> None:
    found = make_engine({FILE: INLINE}, allow_foreign=True).discover()

    assert not found.failures
    assert len(found.found[BASE]) == 2


def test_one_tree_may_load_what_does_not_depend_on_it(make_engine: MakeEngine) -> None:
    assert not make_engine({FILE: INLINE}, arms=[HEAD]).discover().failures


def test_data_files_are_part_of_the_work(make_engine: MakeEngine) -> None:
    engine = make_engine({"ids.csv": "1"}, base={"ids.csv": "2"}, data=["*.csv"])

    found = engine.discover()

    assert found.found[BASE][0].workload != found.found[HEAD][0].workload
    assert "its data file ids.csv" in found.found[HEAD][0].parts


def test_a_missing_data_file_is_a_failure(make_engine: MakeEngine) -> None:
    found = make_engine(data=["nothing.csv"], arms=[HEAD]).discover()

    assert [one.id for one in found.failures] == ["orders/lookup", "orders/insert"]


def test_what_does_not_run_on_the_base_is_left_out_of_it(make_engine: MakeEngine) -> None:
    engine = make_engine(unable=["orders/lookup", "orders/insert"])

    assert ids(engine.discover(), BASE) == []
    assert {one.arm for one in measured(engine)} == {HEAD}


def test_a_trial_is_brief(
    make_engine: MakeEngine, orders: Callable[[], list[dict[str, Any]]]
) -> None:
    measured(make_engine(arms=[BASE], brief=True))

    assert [order["brief"] for order in orders()] == [True]


def test_the_first_launch_checks_whose_code_runs(
    make_engine: MakeEngine, orders: Callable[[], list[dict[str, Any]]], tmp_path: Path
) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    engine = make_engine(checkout=checkout, arms=[HEAD])
    engine.discover()

    for round_index in range(2):
        list(engine.measure_round(["orders/lookup"], RNG, round_index))

    assert [order["brief"] for order in orders()] == [True, False, False]


SERVED = (
    ORDERS
    + """
[[service]]
name = "api"
start = "python3 server.py {port}"
ready = { log = "listening" }
"""
)
SERVER = "import time; print('listening', flush=True); time.sleep({}); print('no disk'); {}"


def test_services_run_during_a_launch(
    make_engine: MakeEngine, orders: Callable[[], list[dict[str, Any]]]
) -> None:
    engine = make_engine({FILE: SERVED, "server.py": SERVER.format(60, "")})

    assert all(one.error is None for one in measured(engine))
    ports = [order["placeholders"]["api_port"] for order in orders()]
    assert len(set(ports)) == 2
    assert [order["placeholders"]["port"] for order in orders()] == ports


ALONE = """\
import signal
from pathlib import Path
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
Path("{0}").mkdir()
print("listening", flush=True)
signal.sigwait([signal.SIGTERM])
Path("{0}").rmdir()
"""


def test_services_that_do_not_start_side_by_side_run_one_after_the_other(
    make_engine: MakeEngine, orders: Callable[[], list[dict[str, Any]]], tmp_path: Path
) -> None:
    engine = make_engine({FILE: SERVED, "server.py": ALONE.format(tmp_path / "lock")})
    seen = measured(engine)
    for round_index in (1, 2):
        seen = list(engine.measure_round(["orders/lookup"], RNG, round_index))
        assert [one.error for one in seen] == [None, None]
        assert all("one after the other" in note for one in seen for note in one.notes)
        assert "exited with code 1" in seen[0].notes[0]
    assert [order["turns"] for order in orders()] == [None] * 6


TOGETHER = """\
import signal
import time
from pathlib import Path
folder = Path("{0}")
def meet(name):
    with (folder / name).open("a") as met:
        print("x", file=met)
    while (folder / "together").exists() and len((folder / name).read_text().split()) < 2:
        time.sleep(0.01)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
meet("started")
print("listening", flush=True)
signal.sigwait([signal.SIGTERM])
meet("stopped")
"""


def test_the_services_of_both_arms_start_and_stop_at_the_same_time(
    make_engine: MakeEngine, orders: Callable[[], list[dict[str, Any]]], tmp_path: Path
) -> None:
    engine = make_engine({FILE: SERVED, "server.py": TOGETHER.format(tmp_path)})
    measured(engine)
    (tmp_path / "together").touch()
    (tmp_path / "started").write_text("")
    (tmp_path / "stopped").write_text("")
    seen = list(engine.measure_round(["orders/lookup"], RNG, 1))
    assert [(one.error, one.notes) for one in seen] == [(None, ())] * 2
    assert orders()[-1]["turns"] is not None


DYING = """\
import time
from pathlib import Path
print("listening", flush=True)
while not Path("{}").exists():
    time.sleep(0.01)
print("no disk")
raise SystemExit(9)
"""


def test_a_service_that_dies_ends_the_load(make_engine: MakeEngine, tmp_path: Path) -> None:
    loading = tmp_path / "loading"
    engine = make_engine(
        {FILE: SERVED, "server.py": SERVER.format(60, "")},
        base={
            "server.py": DYING.format(loading),
            **says(sleep=60, loading=str(loading)),
        },
    )

    seen = measured(engine)

    assert {one.arm for one in seen} == {BASE}
    first, kept, *tail = (seen[0].error or "").splitlines()
    assert first == "the service api ended while it was under load: it exited with code 9"
    path = Path(kept.removeprefix("its log is kept in "))
    assert tail == ["its last lines:", "listening", "no disk"]
    assert path.read_text() == "listening\nno disk\n"


@pytest.mark.parametrize(
    "reply",
    [
        LoadReply("the setup failed"),
        LoadReply(None, {**STEPS, "lookup": launch([], ["status 500"])}),
    ],
    ids=["the launch", "a step"],
)
def test_the_log_of_a_service_may_explain_errors(make_engine: MakeEngine, reply: LoadReply) -> None:
    files = {FILE: SERVED, "server.py": SERVER.format(60, ""), **says(reply)}
    engine = make_engine(files, arms=[HEAD])

    lookup = measured(engine, "orders/lookup")[0]

    said = "\n".join((lookup.error or "", *lookup.notes))
    path = Path(said.rpartition("the log of the service api is kept in ")[2])
    assert path.read_text() == "listening\n"


def test_a_step_that_fails_keeps_one_log(make_engine: MakeEngine, tmp_path: Path) -> None:
    reply = LoadReply(None, {**STEPS, "insert": launch([1.0], ["it failed"])})
    files = {FILE: SERVED, "server.py": SERVER.format(60, ""), **says(reply)}
    engine = make_engine(files, arms=[HEAD])

    notes = [measured(engine, "orders/lookup", round_index=i)[0].notes for i in range(2)]

    assert [len(each) for each in notes] == [1, 0]
    assert len(list((tmp_path / "state").rglob("*.log"))) == 1


def test_the_log_of_a_service_is_redacted(make_engine: MakeEngine) -> None:
    server = "print('postgres://me:hunter22@db/x', flush=True); raise SystemExit(1)"
    engine = make_engine({FILE: SERVED, "server.py": server}, arms=[HEAD])

    error = measured(engine)[0].error or ""

    path = Path(error.splitlines()[1].removeprefix("its log is kept in "))
    assert "hunter22" not in error + path.read_text()
    assert "postgres://me:[removed]@db/x" in error


def test_a_variable_of_the_scenario_is_removed_from_logs(make_engine: MakeEngine) -> None:
    served = SERVED.replace("[[service]]", '[[service]]\nenv = { KEY = "${ORDERS}/key" }')
    server = "import os; print(f'{\"-\" * 197}', os.environ['KEY']); raise SystemExit(1)"
    engine = make_engine({FILE: served, "server.py": server}, arms=[HEAD])

    error = measured(engine)[0].error or ""

    kept = Path(error.splitlines()[1].removeprefix("its log is kept in "))
    assert kept.read_text().endswith("- [removed]/key\n")
    assert error.endswith("- [r")


def test_an_interruption_ends_everything(
    make_engine: MakeEngine,
    tmp_path: Path,
    alive: Callable[[int], bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A busy machine may need longer than 5 s to start the program that tears down.
    monkeypatch.setattr(launch_plans, "CLEANING_S", PATIENCE_S)
    loading = tmp_path / "loading"
    torn_down = tmp_path / "torn-down"
    server = f"import os; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); "
    engine = make_engine(
        {
            FILE: SERVED,
            "server.py": server + SERVER.format(60, ""),
            **says(sleep=60, loading=str(loading), teardown=str(torn_down)),
        },
        arms=[HEAD],
    )
    engine.discover()

    def interrupt() -> None:
        while not loading.exists():
            time.sleep(0.01)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        list(engine.measure_round(["orders/lookup"], RNG, 0))

    assert torn_down.read_text() == "done"
    assert not alive(int((tmp_path / "pid").read_text()))
