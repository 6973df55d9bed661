from __future__ import annotations

import threading
from functools import partial
from itertools import count, repeat
from typing import TYPE_CHECKING

import pytest
from tests.load.virtual_time import VirtualTime

from benchgate.load.drivers.driver import OperationError
from benchgate.load.ramps import ramps
from benchgate.load.recording import OperationRecorder, Windowing
from benchgate.load.schedule import Arrivals, LoadPhase, Plan, Timetable, TurnOrder
from benchgate.load.worker import LoadWork, LoadWorker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchgate.load.drivers.driver import Operation
    from benchgate.load.parameters import Parameters
    from benchgate.load.recording import StepRecord

S = 1_000_000_000
MS = 1_000_000
SERVICE_NS = MS


class Scene:
    """Workers in virtual time."""

    def __init__(self, *, workers: int = 1, duration_s: float = 10, warm_up_s: float = 0) -> None:
        self.time = VirtualTime()
        self.stopped = threading.Event()
        self.count = workers
        self.duration_s = duration_s
        self.begin_ns = round(warm_up_s * S)
        self.workers: list[LoadWorker] = []
        self.recorder = OperationRecorder(
            ["lookup"], Windowing.of(duration_s), times=Timetable(self.begin_ns), seed="1"
        )

    def closed(self, operation: Operation) -> StepRecord:
        return self._run(operation, None)

    def open(self, operation: Operation, rate: float) -> StepRecord:
        return self._run(operation, rate)

    def _run(self, operation: Operation, rate: float | None) -> StepRecord:
        plan = Plan(
            self._phase(0, self.begin_ns, rate) if self.begin_ns else None,
            self._phase(self.begin_ns, self.begin_ns + round(self.duration_s * S), rate),
        )
        takes = [count().__next__, count().__next__]
        parameters: Iterator[Parameters] = repeat({})
        self.workers = [
            LoadWorker(
                index,
                LoadWork([operation], [parameters], repeat(0)),
                stopped=self.stopped,
                timing=self.time.timing,
                conceal=lambda text: text.replace("secret", "[removed]"),
            )
            for index in range(self.count)
        ]

        def work(worker: LoadWorker) -> Callable[[], None]:
            return lambda: worker.run(plan, self.recorder, takes)

        self.time.run([work(worker) for worker in self.workers])
        return self.recorder.records()["lookup"]

    def _phase(self, begin_ns: int, end_ns: int, rate: float | None) -> LoadPhase:
        times, length_s = Timetable(begin_ns), (end_ns - begin_ns) / S
        if rate is None:
            return LoadPhase(times, end_ns, workers=tuple(ramps(self.count, (), length_s)))
        return LoadPhase(times, end_ns, arrivals=Arrivals(ramps(rate, (), length_s)))

    def service(self, begin_s: float = 0, end_s: float = 0) -> Operation:
        """A server that answers after 1 ms, and not at all between those times."""

        def serve(_: Parameters) -> None:
            now_ns, answer_ns = self.time.now_ns, self.time.now_ns + SERVICE_NS
            if begin_s * S <= now_ns < end_s * S:
                answer_ns = max(answer_ns, round(end_s * S))
            self.time.sleep_until(answer_ns)

        return serve


def percentiles_ms(record: StepRecord) -> list[float]:
    found = [record.histogram.percentile(p) for p in (0.5, 0.95, 0.99, 1)]
    return [0 if one is None else one / MS for one in found]


def test_a_closed_loop_hides_a_stall_of_a_second() -> None:
    scene = Scene()
    record = scene.closed(scene.service(5, 6))
    assert (record.ops, record.errors, record.unfinished) == (9001, 0, 0)
    assert percentiles_ms(record) == pytest.approx([1, 1, 1, 1000], rel=1e-3)
    ops = {index: window.ops for index, window in record.windows.items()}
    assert ops == {
        0: 999,
        1: 1000,
        2: 1000,
        3: 1000,
        4: 1000,
        5: 1,
        6: 1000,
        7: 1000,
        8: 1000,
        9: 1001,
    }


def test_an_open_loop_charges_it_to_everything_that_it_delayed() -> None:
    scene = Scene(workers=100)
    record = scene.open(scene.service(5, 6), 1000)
    assert (record.ops, record.errors, record.unfinished) == (10_000, 0, 0)
    assert percentiles_ms(record) == pytest.approx([1, 500, 900, 1000], rel=0.02)


def test_also_at_the_end() -> None:
    scene = Scene(workers=100)
    record = scene.open(scene.service(9.5, 10.5), 1000)
    # 100 workers are in the stall; 400 operations are due, and no worker is free for them.
    assert (record.ops, record.errors, record.unfinished) == (9600, 0, 400)
    assert record.histogram.count == 10_000
    assert percentiles_ms(record) == pytest.approx([1, 1, 900, 1000], rel=0.02)
    # One operation of the eighth second ended in the ninth.
    assert record.windows[9].ops == 1 + 500 + 100


def test_a_worker_that_waited_for_the_clock_is_late_by_itself_and_one_in_a_stall_is_not() -> None:
    scene = Scene()
    record = scene.open(scene.service(5, 6), 500)
    assert record.ops == 5000
    assert scene.recorder.late.max == 0
    # Those that were due in the stall, and until the backlog was gone, began late for no fault of
    # the generator: 500 of them, and as many again while it was worked off.
    assert scene.recorder.late.count == pytest.approx(5000 - 1000, abs=2)


def test_an_overload_counts_what_it_could_not_begin() -> None:
    scene = Scene(duration_s=4)
    record = scene.open(scene.service(), 2000)
    assert record.ops == pytest.approx(4000, abs=1)
    assert record.ops + record.unfinished == 8000
    # Of those that were begun, the last waited 2 s; of the others, the first waited 2 s.
    assert percentiles_ms(record)[0] == pytest.approx(1000, rel=0.01)
    assert percentiles_ms(record)[3] == pytest.approx(2000, rel=0.01)


def test_an_operation_that_began_in_time_counts_however_long_it_takes() -> None:
    scene = Scene(duration_s=2)
    record = scene.closed(scene.service(1, 5))
    assert record.ops == 1001
    assert percentiles_ms(record)[3] == 4000
    assert sorted(record.windows) == [0, 1]
    assert record.windows[1].ops == 2


def test_the_warm_up_is_not_recorded() -> None:
    scene = Scene(workers=2, duration_s=2, warm_up_s=3)
    calls = []

    def serve(parameters: Parameters) -> None:
        calls.append(parameters)
        scene.time.sleep(MS)
        if scene.time.now_ns < 2 * S:
            raise OperationError("cold")

    record = scene.closed(serve)
    assert (record.ops, record.errors) == (4000, 0)
    assert len(calls) > 4000 + 1500
    assert [worker.started_ns for worker in scene.workers] == [0, 0]


def test_a_stall_in_the_warm_up_delays_what_is_due_after_it() -> None:
    scene = Scene(workers=1, duration_s=2, warm_up_s=1)
    record = scene.open(scene.service(0.5, 1.5), 100)
    assert (record.ops, record.unfinished) == (200, 0)
    assert percentiles_ms(record)[3] == pytest.approx(501, rel=0.01)


def test_errors_are_counted_and_their_latencies_are_not() -> None:
    scene = Scene(duration_s=2)
    numbers = count()

    def serve(_: Parameters) -> None:
        scene.time.sleep(10 * MS)
        if next(numbers) % 10 == 9:
            scene.time.sleep(90 * MS)
            raise OperationError("refused: secret")

    record = scene.closed(serve)
    # The last one began 10 ms before the end.
    assert (record.ops, record.errors) == (99, 11)
    assert percentiles_ms(record)[3] == 10
    assert [error.text for error in record.kept_errors] == ["refused: [removed]"] * 11
    assert [round(error.at_s, 3) for error in record.kept_errors[:2]] == [0.19, 0.38]
    assert [window.errors for window in record.windows.values()] == [5, 6]


def test_only_the_first_errors_keep_their_text() -> None:
    scene = Scene(duration_s=3)
    numbers = count()

    def serve(_: Parameters) -> None:
        scene.time.sleep(20 * MS)
        raise OperationError(f"refused {next(numbers)}")

    record = scene.open(serve, 40)
    assert (record.ops, record.errors) == (0, 120)
    assert [error.text for error in record.kept_errors] == [f"refused {n}" for n in range(50)]
    assert record.histogram.count == 0


def test_a_target_that_refuses_at_once_does_not_keep_a_cpu_busy() -> None:
    scene = Scene(duration_s=10)
    calls = []

    def serve(_: Parameters) -> None:
        calls.append(scene.time.now_ns)
        raise OperationError("refused")

    record = scene.closed(serve)
    assert len(calls) == record.errors
    assert record.errors < 10 * 10 + 15
    assert 9 * S < scene.workers[0].paused_ns <= 10 * S


def test_it_is_back_at_once_when_the_target_is() -> None:
    scene = Scene(duration_s=10)

    def serve(_: Parameters) -> None:
        if scene.time.now_ns < 5 * S:
            raise OperationError("refused")
        scene.time.sleep(MS)
        if scene.time.now_ns % (100 * MS) < MS:
            raise OperationError("a single error")

    record = scene.closed(serve)
    assert record.ops > 4800


def test_a_mistake_of_a_driver_is_an_error_with_its_type() -> None:
    scene = Scene(duration_s=1)

    def serve(_: Parameters) -> None:
        scene.time.sleep(100 * MS)
        raise KeyError("secret")

    record = scene.closed(serve)
    assert record.errors > 5
    assert record.kept_errors[0].text == "KeyError: '[removed]'"


@pytest.mark.parametrize("rate", [None, 100.0])
def test_a_stopped_worker_begins_nothing_more(rate: float | None) -> None:
    scene = Scene(duration_s=10)
    calls = []

    def serve(_: Parameters) -> None:
        calls.append(scene.time.now_ns)
        scene.time.sleep(MS)
        if len(calls) == 50:
            scene.stopped.set()

    record = scene.closed(serve) if rate is None else scene.open(serve, rate)
    assert len(calls) == 50
    assert record.unfinished == 0
    assert scene.time.now_ns < S


def test_a_worker_that_waits_long_notices_that_it_is_stopped() -> None:
    scene = Scene(workers=2, duration_s=1000)
    calls = count()

    def serve(_: Parameters) -> None:
        if next(calls) == 0:
            scene.time.sleep(S)
            scene.stopped.set()

    scene.open(serve, 0.01)
    assert scene.time.now_ns < 2 * S


def test_what_no_worker_will_begin_is_counted_when_all_hang() -> None:
    scene = Scene(duration_s=10)

    def serve(_: Parameters) -> None:
        scene.time.sleep(S)
        scene.stopped.set()

    scene.open(serve, 10)
    phase = LoadPhase(Timetable(0), 10 * S, arrivals=Arrivals(ramps(10, (), 10)))
    scene.workers[0].give_up(phase, 12 * S, count(1).__next__)
    record = scene.recorder.records()["lookup"]
    assert (record.ops, record.unfinished) == (0, 99)
    assert percentiles_ms(record)[3] == pytest.approx(11_900, rel=1e-3)


def test_each_step_has_its_own_record() -> None:
    time = VirtualTime()
    recorder = OperationRecorder(["fast", "slow"], Windowing.of(1), times=Timetable(0), seed="1")
    steps = [0, 1, 1, 0]

    def choices() -> Iterator[int]:
        while True:
            yield from steps

    def operation(duration_ns: int) -> Operation:
        return lambda parameters: time.sleep(duration_ns * int(str(parameters["factor"])))

    worker = LoadWorker(
        0,
        LoadWork(
            [operation(MS), operation(10 * MS)],
            [repeat({"factor": 1}), repeat({"factor": 2})],
            choices(),
        ),
        stopped=threading.Event(),
        timing=time.timing,
        conceal=str,
    )
    phase = LoadPhase(Timetable(0), S, workers=tuple(ramps(1, (), 1)))
    time.run([lambda: worker.run(Plan(None, phase), recorder, [int, int])])
    records = recorder.records()
    assert records["fast"].histogram.percentile(0.5) == MS
    assert records["slow"].histogram.percentile(0.5) == 20 * MS
    assert abs(records["fast"].ops - records["slow"].ops) <= 2


def test_virtual_time_runs_threads_in_the_order_of_their_wakes() -> None:
    time, order, lock = VirtualTime(), list[int](), threading.Lock()

    def wake_at(ns: int) -> Callable[[], None]:
        def work() -> None:
            time.sleep_until(ns)
            with lock:
                order.append(time.now_ns)

        return work

    time.run([wake_at(ns) for ns in (30, 10, 20)])
    assert order == [10, 20, 30]


@pytest.mark.parametrize("takes_ms", [1, 7, 13, 30, 45])
def test_launches_that_take_turns_work_as_long_as_planned_and_not_at_once(takes_ms: int) -> None:
    time, spent = VirtualTime(), takes_ms * MS
    works: list[Callable[[], None]] = []
    recorders: list[OperationRecorder] = []
    begun: list[list[int]] = [[], []]
    phases: list[LoadPhase] = []
    for place in (0, 1):
        times = Timetable.of(MS, S, TurnOrder(place=place, turn_ns=20 * MS, meeting="/nowhere"))
        phase = LoadPhase(times, times.at_ns(S), workers=tuple(ramps(1, (), 1)))
        recorder = OperationRecorder(["lookup"], Windowing.of(1), times=times, seed="1")

        def operate(_: Parameters, place: int = place) -> None:
            begun[place].append(time.now_ns)
            time.sleep(spent)

        worker = LoadWorker(
            0,
            LoadWork([operate], [repeat({})], repeat(0)),
            stopped=threading.Event(),
            timing=time.timing,
            conceal=str,
        )
        plan = Plan(None, phase)
        works.append(partial(worker.run, plan, recorder, [int, int]))
        recorders.append(recorder)
        phases.append(phase)
    time.run(works)
    for recorder, phase, starts in zip(recorders, phases, begun, strict=True):
        record = recorder.records()["lookup"]
        assert record.ops == pytest.approx(S / spent, abs=1.1)
        assert record.windows[0].ops == record.ops
        turns = phase.working_times_ns(0)
        for at_ns in starts:
            assert any(begin_ns <= at_ns < end_ns for begin_ns, end_ns in turns)


@pytest.mark.parametrize(
    ("takes_ms", "workers", "stalls_s"), [(1, 1, 0), (9, 1, 0), (15, 1, 0), (30, 2, 0), (1, 1, 0.5)]
)
def test_an_open_loop_that_takes_turns_waits_for_a_slow_target_as_it_does_alone(
    takes_ms: int, workers: int, stalls_s: float
) -> None:
    alone = open_loop(None, takes_ms, workers, stalls_s)
    turns = TurnOrder(place=1, turn_ns=100 * MS, meeting="/nowhere")
    record = open_loop(turns, takes_ms, workers, stalls_s)
    assert record.ops == pytest.approx(alone.ops, abs=1)
    assert record.unfinished == pytest.approx(alone.unfinished, abs=1)
    assert percentiles_ms(record) == pytest.approx(percentiles_ms(alone), rel=0.02)


def open_loop(turns: TurnOrder | None, takes_ms: int, workers: int, stalls_s: float) -> StepRecord:
    """100 operations per second for 4 s; the target stalls once, in the middle of a turn."""
    time, length_ns = VirtualTime(), 4 * S
    times = Timetable.of(MS, length_ns, turns)
    phase = LoadPhase(times, times.at_ns(length_ns), arrivals=Arrivals(ramps(100, (), 4)))
    recorder = OperationRecorder(["lookup"], Windowing.of(4), times=times, seed="1")
    stall_ns = times.at_ns(round(2.05 * S))

    def operate(_: Parameters) -> None:
        now_ns = time.now_ns
        assert any(begin_ns <= now_ns < end_ns for begin_ns, end_ns in times.parts_ns(0, length_ns))
        stalls = stall_ns <= now_ns < stall_ns + stalls_s * S
        time.sleep_until(stall_ns + round(stalls_s * S) if stalls else now_ns + takes_ms * MS)

    take = count().__next__
    crew = [
        LoadWorker(
            index,
            LoadWork([operate], [repeat({})], repeat(0)),
            stopped=threading.Event(),
            timing=time.timing,
            conceal=str,
        )
        for index in range(workers)
    ]
    plan = Plan(None, phase)
    time.run([partial(one.run, plan, recorder, [take, take]) for one in crew])
    return recorder.records()["lookup"]
