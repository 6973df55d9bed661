from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.measure.benchmarks import program
from tests.measure.engines import Making
from tests.patience import limited

from benchgate.config import Measure
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings, StartingEnvironment
from benchgate.measure.machine.cpus import available_cpus, kept_off, supports_pinning
from benchgate.measure.programs.bursts import BURST_S
from benchgate.measure.programs.engine import CommandEngine
from benchgate.model.run import Tier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from benchgate.config import CommandBenchmark
    from benchgate.git.repository import Git
    from benchgate.measure.contract.observation import Observation
    from benchgate.measure.processes.guardian import Guardian

LOG_COMMAND = "echo command {sha} >> {root}/../log"
LOG_PREPARE = "echo prepare {sha} >> {root}/../log"
LOG_CLEANUP = "echo cleanup {sha} >> {root}/../log"
NOT_FOUND = (
    "command not found: 'no-such-command-here'\n"
    "Install it, or check the PATH that benchgate was started with."
)


@dataclass
class MakeEngine(Making):
    """Makes engines on trees whose {sha} is the name of the arm."""

    def __call__(
        self,
        specs: Sequence[CommandBenchmark],
        *,
        arms: int = 2,
        cpu: int | None = None,
        all_cpus: frozenset[int] | None = None,
        burst_s: float = BURST_S,
        checkout: Path | None = None,
        warmup: int = 1,
    ) -> CommandEngine:
        trees = []
        for name in list(ArmName)[-arms:]:
            root = self.folder / f"{name}-tree"
            root.mkdir(exist_ok=True)
            trees.append(Arm(name, root, self.folder / f"{name}-env", str(name)))
        by_arm = {tree.name: specs for tree in trees}
        return self.keep(
            CommandEngine(
                by_arm,
                trees,
                self.guardian,
                EngineSettings(
                    Measure(command_warmup=warmup),
                    cpu=cpu,
                    all_cpus=all_cpus,
                    outside=StartingEnvironment(checkout=checkout),
                ),
                burst_s=burst_s,
            )
        )


@pytest.fixture
def make_engine(tmp_path: Path, guardian: Guardian) -> Iterator[MakeEngine]:
    making = MakeEngine(tmp_path, guardian)
    yield making
    making.close()


def measure(engine: CommandEngine, ids: Sequence[str], round_index: int = 0) -> list[Observation]:
    return list(engine.measure_round(ids, random.Random(round_index), round_index))  # noqa: S311 - repeatable on purpose


def shell(
    name: str,
    command: str,
    prepare: str | None = None,
    cleanup: str | None = None,
    **fields: Any,  # noqa: ANN401 - of any type
) -> CommandBenchmark:
    return program(
        name,
        in_shell(command),
        prepare=prepare if prepare is None else in_shell(prepare),
        cleanup=cleanup if cleanup is None else in_shell(cleanup),
        **fields,
    )


def in_shell(text: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", text)


def log_of(tmp_path: Path) -> list[tuple[str, str]]:
    """What was run, and in which arm."""
    file = tmp_path / "log"
    lines = file.read_text().splitlines() if file.exists() else []
    return [(words[0], words[1]) for words in map(str.split, lines)]


def test_a_round_gives_each_arm_a_launch_of_each_benchmark(make_engine: MakeEngine) -> None:
    engine = make_engine([program("one", ("true",)), program("two", ("sleep", "0.05"))])
    observations = measure(engine, ["two", "one"])
    assert [observation.benchmark for observation in observations] == ["two", "two", "one", "one"]
    for observation in observations:
        assert observation.error is None
        assert [(m.metric.name, m.metric.unit) for m in observation.metrics] == [
            ("time", "s"),
            ("cpu_time", "s"),
            ("peak_rss", "B"),
        ]
        for measured in observation.metrics:
            assert measured.loops == 1
            assert measured.launches[0].samples.shape == (6,)
            assert measured.launches[0].warmup.shape == (1,)
    for pair in (observations[:2], observations[2:]):
        assert {observation.arm for observation in pair} == set(ArmName)
        assert [observation.order for observation in pair] == [0, 1]
    assert (observations[0].metrics[0].launches[0].samples >= 0.05).all()
    assert (observations[0].metrics[2].launches[0].samples > 0).all()


def test_discovery_gives_every_arm_the_same_definitions(make_engine: MakeEngine) -> None:
    specs = [
        program("one", ("true",), tags=("quick",)),
        program("two", ("false",), parallel=True),
    ]
    found = make_engine(specs).discover().found
    assert set(found) == set(ArmName)
    assert found[ArmName.BASE] == found[ArmName.HEAD]
    one, two = found[ArmName.BASE]
    assert (one.id, one.tags, one.tier) == ("one", ("quick",), Tier.INTERLEAVED)
    assert one.workload != two.workload
    (note,) = one.notes
    assert note.startswith("not pinned: ")
    assert two.notes == ()


def test_each_arm_has_what_its_own_configuration_defines(
    tmp_path: Path, guardian: Guardian
) -> None:
    arms = []
    for name in ArmName:
        (tmp_path / name).mkdir()
        arms.append(Arm(name, tmp_path / name, tmp_path / f"{name}-env", str(name)))
    both, gone = shell("both", LOG_COMMAND, executions=1), program("gone", ("true",))
    old = shell("old", LOG_COMMAND, executions=1)
    new = shell("new", LOG_COMMAND, executions=1)
    specs = {ArmName.BASE: [both, gone, old], ArmName.HEAD: [new, both]}
    settings = EngineSettings(Measure(command_warmup=0), aliases={"old": "new"})
    engine = CommandEngine(specs, arms, guardian, settings)
    found = engine.discover().found
    assert [d.id for d in found[ArmName.HEAD]] == ["new", "both"]
    assert [(d.id, d.renamed_from) for d in found[ArmName.BASE]] == [
        ("new", "old"),
        ("both", None),
        ("gone", None),
    ]
    arms_of = Counter(one.benchmark for one in measure(engine, ["both", "gone", "new"]))
    assert arms_of == {"both": 2, "new": 2, "gone": 1}
    engine.close()


def test_whether_it_is_pinned_is_one_for_both_arms_and_no_other_work(
    tmp_path: Path, guardian: Guardian
) -> None:
    arms = [Arm(name, tmp_path, tmp_path / "env", str(name)) for name in ArmName]
    specs = {ArmName.BASE: [shell("a", "true", parallel=True)], ArmName.HEAD: [shell("a", "true")]}
    engine = CommandEngine(specs, arms, guardian, EngineSettings(Measure()))
    ((base,), (head,)) = (engine.discover().found[name] for name in ArmName)
    assert (base.workload, base.parts) == (head.workload, head.parts)
    assert [len(one.notes) for one in (base, head)] == [1, 1]
    engine.close()


def test_data_files_belong_to_the_work(make_engine: MakeEngine, tmp_path: Path) -> None:
    engine = make_engine([shell("cat", "cat words"), shell("read", "cat words", data=("words",))])
    for arm in ArmName:
        (tmp_path / f"{arm}-tree" / "words").write_text(arm)
    found = engine.discover().found
    base, head = found[ArmName.BASE], found[ArmName.HEAD]
    assert [one.workload == other.workload for one, other in zip(base, head, strict=True)] == [
        *(True, False)
    ]
    differing = [part for part in base[1].parts if base[1].parts[part] != head[1].parts[part]]
    assert differing == ["its data file words"]


def test_a_data_file_that_is_nowhere_is_its_failure(make_engine: MakeEngine) -> None:
    discovery = make_engine([shell("a", "true", data=("no",)), shell("b", "true")]).discover()
    assert {(f.arm, f.id) for f in discovery.failures} == {(arm, "a") for arm in ArmName}
    assert [d.id for d in discovery.found[ArmName.HEAD]] == ["b"]


def test_one_arm_is_measured_alone(make_engine: MakeEngine) -> None:
    (observation,) = measure(make_engine([program("one", ("true",))], arms=1), ["one"])
    assert observation.arm is ArmName.HEAD
    assert observation.order == 0
    assert observation.metrics[0].launches[0].samples.shape == (6,)


def test_the_arms_take_turns_one_by_one(make_engine: MakeEngine, tmp_path: Path) -> None:
    engine = make_engine([shell("one", LOG_COMMAND)], warmup=2)
    arms = []
    for index in range(8):
        (tmp_path / "log").unlink(missing_ok=True)
        first = measure(engine, ["one"], index)[0].arm
        turns = [arm for _, arm in log_of(tmp_path)]
        assert len(turns) == (16 if index == 0 else 12), "warm-up is for the first round alone"
        pairs = list(zip(turns[::2], turns[1::2], strict=True))
        assert all(set(pair) == set(ArmName) for pair in pairs)
        timed = pairs[-6:]
        assert timed[0][0] == first
        assert Counter(pair[0] for pair in timed) == dict.fromkeys(ArmName, 3)
        arms.append(timed)
    starts = "".join(timed[0][0][0] for timed in arms)
    assert starts in ("bhhbbhhb", "hbbhhbbh")
    assert len(set(map(tuple, arms))) > 4, "the order within a burst is drawn anew"


def test_warmup_is_kept_in_the_first_round_and_absent_later(make_engine: MakeEngine) -> None:
    engine = make_engine([program("one", ("true",))], warmup=3)
    first, second = (measure(engine, ["one"], index) for index in range(2))
    assert {m.launches[0].warmup.shape for o in first for m in o.metrics} == {(3,)}
    assert {m.launches[0].warmup.shape for o in second for m in o.metrics} == {(0,)}


def test_without_warmup_there_is_none(make_engine: MakeEngine, tmp_path: Path) -> None:
    engine = make_engine([shell("one", LOG_COMMAND, executions=2)], warmup=0)
    measure(engine, ["one"])
    assert len(log_of(tmp_path)) == 4


def test_prepare_runs_before_each_execution_and_cleanup_after_the_burst(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    spec = shell("one", LOG_COMMAND, prepare=LOG_PREPARE, cleanup=LOG_CLEANUP, executions=3)
    measure(make_engine([spec]), ["one"])
    log = log_of(tmp_path)
    assert [role for role, _ in log] == ["prepare", "command"] * 8 + ["cleanup"] * 2
    assert {arm for _, arm in log[-2:]} == set(ArmName)
    for (_, prepared), (_, run) in zip(log[:16:2], log[1:16:2], strict=True):
        assert prepared == run


def test_prepare_and_cleanup_are_not_timed(make_engine: MakeEngine) -> None:
    pause = ("sleep", "0.5")
    spec = program("one", ("true",), prepare=pause, cleanup=pause, executions=1)
    engine = make_engine([spec], arms=1, warmup=0)
    started_s = time.perf_counter()
    (observation,) = measure(engine, ["one"])
    elapsed_s = time.perf_counter() - started_s
    assert observation.metrics[0].launches[0].samples[0] <= elapsed_s - 2 * 0.5


def test_slow_commands_get_fewer_executions_and_both_arms_the_same(
    make_engine: MakeEngine,
) -> None:
    slow_head = shell("a", "[ {sha} = base ] || sleep 0.3")
    engine = make_engine([slow_head], burst_s=0.8, warmup=0)
    shapes = {
        measured.launches[0].samples.shape
        for index in range(3)
        for observation in measure(engine, ["a"], index)
        for measured in observation.metrics
    }
    assert len(shapes) == 1
    assert shapes <= {(1,), (2,)}


def test_a_command_longer_than_a_burst_is_executed_once(make_engine: MakeEngine) -> None:
    engine = make_engine([program("one", ("sleep", "0.1"))], burst_s=0.05, warmup=0)
    assert [o.metrics[0].launches[0].samples.shape for o in measure(engine, ["one"])] == [
        (1,),
        (1,),
    ]


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        (shell("a", "echo no; exit 3"), "exited with 3 (allowed: 0)\nno"),
        (shell("a", "exit 3", ok_exit_codes=(0, 1)), "exited with 3 (allowed: 0, 1)"),
        (shell("a", "kill -SEGV $$"), "killed by SIGSEGV"),
        (
            shell("a", "true", prepare="echo why; exit 4", ok_exit_codes=(4, 0)),
            "prepare: exited with 4 (allowed: 0)\nwhy",
        ),
        (shell("a", "true", cleanup="exit 5"), "cleanup: exited with 5 (allowed: 0)"),
        (shell("a", "exit 3", cleanup="exit 5"), "exited with 3 (allowed: 0)"),
        (
            program("a", ("no-such-command-here",)),
            NOT_FOUND,
        ),
        (
            program("a", ("true",), prepare=("no-such-command-here",)),
            f"prepare: {NOT_FOUND}",
        ),
    ],
)
def test_a_failure_says_how_and_spoils_no_other(
    make_engine: MakeEngine, spec: CommandBenchmark, error: str
) -> None:
    engine = make_engine([spec, program("other", ("true",))])
    failed, *others = measure(engine, ["a", "other"])
    assert failed.benchmark == "a"
    assert failed.error == error
    assert failed.metrics == ()
    assert [(o.benchmark, o.error) for o in others] == [("other", None)] * 2


def test_exit_codes_that_are_allowed_are_measured(make_engine: MakeEngine) -> None:
    engine = make_engine([shell("a", "exit 1", ok_exit_codes=(1,))])
    assert [o.error for o in measure(engine, ["a"])] == [None, None]


def test_what_takes_too_long_shows_what_it_has_printed(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    text = "echo so far; : > {root}/../said; sleep 300"

    def failed(limit_s: float) -> Observation:
        spec = shell("a", text, timeout_s=limit_s)
        return measure(make_engine([spec], arms=1), ["a"])[0]

    line, *printed = (limited(failed, (tmp_path / "said").exists).error or "").splitlines()
    assert line.startswith("timed out: it took longer than ")
    assert line.endswith(" s; `timeout` of [[benchmark]] sets the limit")
    assert printed == ["so far"]


@pytest.mark.parametrize("arm", list(ArmName))
@pytest.mark.parametrize("round_index", [0, 1])
def test_a_failure_in_one_arm_is_all_that_is_said(
    make_engine: MakeEngine, tmp_path: Path, arm: ArmName, round_index: int
) -> None:
    spec = shell("a", f"[ {{sha}} != {arm} ]", cleanup=LOG_CLEANUP)
    (observation,) = measure(make_engine([spec]), ["a"], round_index)
    assert observation.arm is arm
    assert observation.error == "exited with 1 (allowed: 0)"
    assert {cleaned for _, cleaned in log_of(tmp_path)} == set(ArmName)


@pytest.mark.parametrize("index", [0, 1])
def test_a_failure_late_in_the_burst_fails_the_round(
    make_engine: MakeEngine, tmp_path: Path, index: int
) -> None:
    spec = shell("a", f"{LOG_COMMAND}; [ $(wc -l < {{root}}/../log) -lt 9 ]")
    observations = measure(make_engine([spec]), ["a"], index)
    assert {o.error for o in observations} == {"exited with 1 (allowed: 0)"}
    assert observations[-1].arm is ArmName.HEAD, "also where the base was first and failed"
    assert len(log_of(tmp_path)) == 8 + len(observations)


def test_a_base_that_fails_alone_is_said_to(make_engine: MakeEngine, tmp_path: Path) -> None:
    (tmp_path / f"{ArmName.HEAD}-tree").mkdir(exist_ok=True)
    (tmp_path / f"{ArmName.HEAD}-tree" / "there").touch()
    (observation,) = measure(make_engine([shell("a", "cat {root}/there")]), ["a"])
    assert observation.arm is ArmName.BASE


def test_commands_run_in_their_arm(make_engine: MakeEngine, tmp_path: Path) -> None:
    for arm in ArmName:
        folder = tmp_path / f"{arm}-tree" / "sub"
        folder.mkdir(parents=True)
        (folder / "tool").write_text(f'#!/bin/sh\n[ "$WHERE" = {folder.parent} ] && pwd > seen\n')
        (folder / "tool").chmod(0o755)
    spec = program("a", ("./tool",), cwd="sub", env={"WHERE": "{root}"})
    assert [o.error for o in measure(make_engine([spec]), ["a"])] == [None, None]
    for arm in ArmName:
        folder = tmp_path / f"{arm}-tree" / "sub"
        assert (folder / "seen").read_text() == f"{folder}\n"


@pytest.mark.skipif(not supports_pinning(), reason="needs pinning")
def test_pinned_commands_run_on_the_chosen_cpu_and_others_anywhere(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    cpu = min(available_cpus())
    # One write a line: both sides run at the same time, and print may write a line in two parts.
    program = "import os; os.write(1, f'{sorted(os.sched_getaffinity(0))}\\n'.encode())"
    command = f'{sys.executable} -c "{program}" >> {{root}}/../'
    specs = [
        shell("pinned", f"{command}pinned", prepare=f"{command}free"),
        shell("parallel", f"{command}free", parallel=True),
    ]
    before = available_cpus()
    with kept_off(cpu):
        engine = make_engine(specs, cpu=cpu, all_cpus=before)
        assert all(not d.notes for d in engine.discover().found[ArmName.BASE])
        measure(engine, ["pinned", "parallel"])
    assert set((tmp_path / "pinned").read_text().splitlines()) == {str([cpu])}
    assert set((tmp_path / "free").read_text().splitlines()) == {str(sorted(before))}
    assert available_cpus() == before


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no floor")
def test_memory_below_what_can_be_seen_is_noted(make_engine: MakeEngine) -> None:
    large = (sys.executable, "-c", "bytearray(b'x') * 100_000_000")
    engine = make_engine(
        [
            program("small", ("true",)),
            program("large", large, executions=2),
        ]
    )
    small, _, seen, _ = measure(engine, ["small", "large"])
    (note,) = small.notes
    assert note.startswith("peak_rss: values below ")
    assert note.endswith(" cannot be told apart")
    assert seen.notes == ()


def test_an_interruption_ends_the_command_and_runs_nothing_more(
    make_engine: MakeEngine,
    tmp_path: Path,
    alive: Callable[[int], bool],
    eventually: Callable[[Callable[[], bool]], bool],
) -> None:
    pids = tmp_path / "pids"
    spec = shell("a", f"sleep 300 & echo $! $$ > {pids}; sleep 300", cleanup=LOG_CLEANUP)
    engine = make_engine([spec])

    def interrupt() -> None:
        eventually(lambda: pids.exists() and len(pids.read_text().split()) == 2)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        measure(engine, ["a"])
    thread.join()
    assert eventually(lambda: not any(alive(int(pid)) for pid in pids.read_text().split()))
    assert log_of(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it cannot be seen")
@pytest.mark.parametrize(("warmup", "executions"), [(0, 5), (1, 5), (2, 6)])
def test_the_first_execution_shows_whose_code_runs(
    make_engine: MakeEngine, tmp_path: Path, repo: Git, warmup: int, executions: int
) -> None:
    spec = shell("a", f"cat own; {LOG_COMMAND}", executions=4)
    engine = make_engine([spec], checkout=repo.root, warmup=warmup)
    for arm in ArmName:
        (tmp_path / f"{arm}-tree" / "own").touch()
    observations = measure(engine, ["a"])
    assert [o.error for o in observations] == [None, None]
    assert all(m.launches[0].warmup.shape == (warmup,) for o in observations for m in o.metrics)
    assert len(log_of(tmp_path)) == 2 * executions
    measure(engine, ["a"], 1)
    assert len(log_of(tmp_path)) == 2 * (executions + 4), "it is looked at in the first round alone"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it cannot be seen")
def test_code_that_is_not_the_arms_own_is_a_failure(
    make_engine: MakeEngine, tmp_path: Path, repo: Git
) -> None:
    (repo.root / "tool").write_text(LOG_COMMAND.replace("{root}", "{{root}}"))
    specs = [
        shell("users", f"cat {repo.root}/tool {{root}}/../own", cleanup=LOG_CLEANUP),
        shell("nobodys", "true"),
        shell("wanted", f"cat {repo.root}/tool", allow_foreign=True),
    ]
    (tmp_path / "own").touch()
    engine = make_engine(specs, checkout=repo.root)
    users = measure(engine, ["users"])
    assert users[-1].arm is ArmName.HEAD, "who was first is chance, and both are refused"
    for seen in users:
        problem = f"the {seen.arm} opened tool of your checkout {repo.root}, "
        assert (seen.error or "").startswith(problem)
    assert {role for role, _ in log_of(tmp_path)} == {"cleanup"}
    nobodys = measure(engine, ["nobodys"])
    assert nobodys[-1].arm is ArmName.HEAD
    for seen in nobodys:
        assert "opened no file of its own tree" in (seen.error or "")
        assert (seen.error or "").splitlines()[0].endswith("/bin/sh")
    assert [o.error for o in measure(engine, ["wanted"])] == [None, None]
