"""The worker beside pyperf itself: the same benchmarks, ids, work and times."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.measure.test_worker import PLAIN, launch

from benchgate.formats.contents import ForeignFile
from benchgate.formats.pyperf import pyperf
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.workers.start import WorkerSetting
from benchgate.measure.workers.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.measure.processes.guardian import Guardian
    from benchgate.model.run import BenchmarkResult

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

LOOPS, VALUES = 3, 5
# How much faster or slower a busy machine may run the same work.
FACTOR = 10
SCRIPT = """\
import os
import sys
import tempfile

import pyperf


def log(text):
    with open(os.environ["LOG"], "a") as file:
        file.write(text + "\\n")


def work(text, count):
    log(text)
    return sum(range(count))


def timed(loops, text):
    log("setup")
    start = pyperf.perf_counter()
    for _ in range(loops):
        work(text, 100_000)
    return pyperf.perf_counter() - start


async def coroutine(text):
    work(text, 200_000)


def more(cmd, args):
    cmd.extend(("--count", str(args.count)))


def main():
    runner = pyperf.Runner(add_cmdline_args=more, metadata={"description": "work"})
    runner.argparser.add_argument("--count", type=int, default=1)
    args = runner.parse_args()
    for count in (1, args.count):
        runner.bench_func(f"work {count}", work, f"work {count}", count * 100_000)
    runner.bench_time_func("timed", timed, "timed", inner_loops=5)
    with tempfile.TemporaryDirectory() as folder:
        runner.bench_func("inside", lambda: work("inside", 100_000 if folder else 0))
    runner.bench_async_func("async", coroutine, "async")
    runner.timeit("statement", stmt="work('statement', 100_000)", setup="log('setup')",
                  globals=globals())
    runner.timeit("twice", "work('twice', 50_000)", duplicate=4, globals=globals())
    runner.bench_command("command", [sys.executable, "-c",
        "import os; open(os.environ['LOG'], 'a').write('command\\\\n')"])


if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module", params=["2.8.0", "2.10.0"])
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with this version of pyperf."""
    env = tmp_path_factory.mktemp("pyperf") / "env"
    subprocess.run([sys.executable, "-m", "venv", env], check=True)
    pip = [str(env / "bin" / "pip"), "install", "--quiet", f"pyperf=={request.param}"]
    subprocess.run(pip, check=True)
    return env / "bin" / "python"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    return file


@pytest.fixture
def environ(tmp_path: Path) -> Mapping[str, str]:
    return {"PATH": os.environ["PATH"], "LOG": str(tmp_path / "log")}


def calls(environ: Mapping[str, str]) -> Counter[str]:
    """How often each text was logged since the last look."""
    with Path(environ["LOG"]).open("a+", encoding="utf-8") as file:
        file.seek(0)
        found = Counter(file.read().splitlines())
        file.truncate(0)
    return found


def by_pyperf(python: Path, file: Path, environ: Mapping[str, str]) -> Mapping[str, float]:
    """Run the script; return the shortest time of each benchmark, in seconds."""
    output = file.with_name("out.json")
    numbers = f"-p 1 -w 0 -n {VALUES} -l {LOOPS} --count 2 --inherit-environ LOG"
    command = [str(python), str(file), *numbers.split(), "-o", str(output)]
    subprocess.run(command, check=True, env=environ, capture_output=True)
    rows = pyperf.parse(ForeignFile("out.json", output.read_bytes())).benchmarks
    return {row.id: shortest_of(row) for row in rows}


def shortest_of(row: BenchmarkResult) -> float:
    (time,) = (each for each in row.series if each.metric.name == "time")
    shortest: float = min(value for launch in time.launches for value in launch.samples)
    return shortest


def test_the_worker_does_what_pyperf_does(
    python: Path, file: Path, environ: Mapping[str, str], guardian: Guardian
) -> None:
    times = by_pyperf(python, file, environ)
    called = calls(environ)
    setting = WorkerSetting(
        interpreter=(str(python),),
        file=file,
        path=[],
        cpus=None,
        forbidden=(),
        variables={**environ, **guardian.variables},
        layout=PLAIN,
        host="pyperf",
        arguments=["--count", "2"],
    )
    arm = Arm(ArmName.HEAD, file.parent, file.parent / "env")
    worker = Worker(arm, setting, guardian, describe=True)
    try:
        assert [each["id"] for each in worker.ready(30)["benchmarks"]] == list(times)
        for name in times:
            worker.allow(30)
            worker.ask("open", name)
            # In operations: pyperf's loops times the inner loops.
            inner = {"timed": 5, "twice": 4}.get(name, 1)
            worker.ask("loops", LOOPS * inner)
            for _ in range(VALUES):
                worker.sample()
            worker.ask("close")
        assert calls(environ) == called
        for name, time_s in times.items():
            replies = launch(worker, name, samples=VALUES)
            own_s = min(wall_ns for wall_ns, _ in replies["samples"]) / 1e9 / replies["loops"]
            assert time_s / FACTOR < own_s < time_s * FACTOR, name
    finally:
        worker.kill()
