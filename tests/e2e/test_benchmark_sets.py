"""The base's benchmarks judge a change, whatever it does to its own files of benchmarks."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest
from tests.contract.scene import SCENE
from tests.contract.server import GitHubServer
from tests.e2e.conftest import DECISIVE, PYTHON
from tests.e2e.hosted import Hosted, pull_request
from tests.e2e.test_interrupt import wait_for_rounds

from benchgate.errors import UsageError
from benchgate.gate.other_files import TOGETHER
from benchgate.measure.machine.cpus import supports_pinning
from benchgate.model.policy import Outcome
from benchgate.report.headline import headline
from benchgate.session.benchmark_sets import EDITED
from benchgate.session.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeAlias

    from tests.e2e.conftest import Program, Project

    from benchgate.model.row import Row
    from benchgate.model.verdict import Verdict

    Attack: TypeAlias = Callable[[Project], None]

pytestmark = pytest.mark.slow

CODE = (
    "import time\n\n\ndef work({}):\n    time.sleep({})\n\n\ndef other():\n    time.sleep(0.003)\n"
)
SLOW = {"src/toy/__init__.py": CODE.format("", 0.009)}
FILE = "benchmarks/bench_toy.py"
BENCHMARK = """\
import toy
from helper import TIMES


def bench_work():
    for _ in range(TIMES):
        toy.work()
"""
# Its author hopes that it takes as long as the old one did.
EASIER = BENCHMARK.replace("range(TIMES)", "range(1)")
HELPER = """\
from pathlib import Path

TIMES = len(Path(__file__).with_name("words.txt").read_text())
"""
PROJECT = {
    "benchgate.toml": DECISIVE + PYTHON,
    "src/toy/__init__.py": CODE.format("", 0.003),
    FILE: BENCHMARK,
    "benchmarks/bench_other.py": "import toy\n\n\ndef bench_it():\n    toy.other()\n",
    "benchmarks/helper.py": HELPER,
    "benchmarks/words.txt": "xxx",
}


# Where the other benchmark is not looked at, it is not measured.
WORK = Choice(globs=("toy/*",))


@pytest.fixture
def project(toy: Project) -> Project:
    """A project with two benchmarks; its working tree makes what one of them measures slower."""
    toy.git.run("rm", "--quiet", "-r", ".")
    toy.write(PROJECT)
    toy.commit()
    toy.write(SLOW)
    return toy


def less_data(project: Project) -> None:
    project.write({"benchmarks/words.txt": "x"})


def other_helper(project: Project) -> None:
    (project.root / "benchmarks/helper.py").unlink()
    project.write({"benchmarks/helper/__init__.py": "TIMES = 1\n"})


def moved(project: Project) -> None:
    project.git.run("mv", "benchmarks", "perf")
    table = PYTHON.replace("benchmarks", "perf")
    project.write({FILE.replace("benchmarks", "perf"): EASIER, "benchgate.toml": DECISIVE + table})


def renamed(project: Project) -> None:
    alias = '[aliases]\n"toy/work" = "toy/fast"\n'
    project.write({FILE: EASIER.replace("bench_work", "bench_fast")})
    project.write({"benchgate.toml": DECISIVE + PYTHON + alias})


def data_is_code(project: Project) -> None:
    project.write({FILE: f'{EASIER}\n\nbench_work.data = ["src/**/*.py"]\n'})


def from_another_file(project: Project) -> None:
    (project.root / FILE).unlink()
    (project.root / FILE).symlink_to("../easier.py")
    project.write({"easier.py": EASIER})


def from_another_folder(project: Project) -> None:
    project.git.run("mv", "benchmarks", "perf")
    project.write({"perf/bench_toy.py": EASIER})
    (project.root / "benchmarks").symlink_to("perf")


def from_the_code(project: Project) -> None:
    """The base's files must not come between the modules of the code."""
    names = [name for name in PROJECT if name.startswith("benchmarks/")]
    project.git.run("mv", *names, "src/toy")
    (project.root / "benchmarks").rmdir()
    (project.root / "benchmarks").symlink_to("src/toy")


def patched(project: Project) -> None:
    patch = "import toy\n\ntoy.work = int\n\n\n"
    other = PROJECT["benchmarks/bench_other.py"]
    project.write({"benchmarks/bench_other.py": patch + other, "benchmarks/random.py": patch})


def row_of(verdict: Verdict, benchmark: str = "toy/work") -> Row:
    ids = ((row.renamed_from or row.benchmark, row) for row in verdict.rows if not row.is_tail)
    (row,) = (row for id_, row in ids if id_ == benchmark)
    return row


def assert_found(verdict: Verdict, *, is_noted: bool) -> None:
    row = row_of(verdict)
    assert (row.outcome, verdict.exit_code) == (Outcome.REGRESSED, 3), (headline(verdict), row)
    assert (EDITED in row.notes) is is_noted


@pytest.mark.parametrize(
    ("attack", "is_noted"),
    [
        (less_data, True),
        (other_helper, True),
        (moved, True),
        (renamed, True),
        (data_is_code, True),
        (from_another_file, True),
        (from_another_folder, True),
        (from_the_code, True),
        (patched, False),
    ],
)
def test_the_slowdown_is_found(project: Project, attack: Attack, *, is_noted: bool) -> None:
    attack(project)
    choice = Choice() if attack is patched else WORK
    assert_found(project.checked(policy="base", choice=choice), is_noted=is_noted)


@pytest.mark.parametrize("policy", ["base", "head"])
@pytest.mark.parametrize(
    "table",
    [
        'python = "benchmarks"\nenv = { FAST = "1" }',
        'python = "benchmarks"\ndata = ["src/**/*.py"]',
        'python = "benchmarks"\npythonpath = ["perf", "src"]',
        'python = ["benchmarks"]\ngroup = "toys"',
    ],
)
def test_the_base_configures_its_benchmarks(project: Project, table: str, policy: str) -> None:
    project.write({"benchgate.toml": f"{DECISIVE}[[benchmark]]\n{table}\n", FILE: EASIER})
    project.write({"perf/toy.py": "def work(): ...\n"})
    verdict = project.checked(policy=policy, choice=WORK)
    if "group" in table:
        assert row_of(verdict).outcome is Outcome.MISSING
        assert verdict.exit_code == 4
    else:
        assert_found(verdict, is_noted=True)


def without_table(project: Project) -> None:
    table = PYTHON.replace("benchmarks", "benchmarks/bench_other.py")
    project.write({"benchgate.toml": DECISIVE + table})


def deleted(project: Project) -> None:
    (project.root / FILE).unlink()


def renamed_without_alias(project: Project) -> None:
    project.write({FILE: EASIER.replace("bench_work", "bench_fast")})


@pytest.mark.parametrize("policy", ["base", "head"])
@pytest.mark.parametrize("attack", [without_table, deleted, renamed_without_alias])
def test_what_is_no_longer_there_is_missing(project: Project, attack: Attack, policy: str) -> None:
    attack(project)
    verdict = project.checked(policy=policy)
    outcomes = {row.benchmark: row.outcome for row in verdict.rows}
    assert outcomes.pop("toy/work") is Outcome.MISSING
    assert outcomes.pop("other/it") in {Outcome.UNCHANGED, Outcome.INCONCLUSIVE}
    assert set(outcomes.values()) <= {Outcome.NEW}
    assert (verdict.exit_code, verdict.decision) == (4, "no verdict")
    assert "toy/work was removed" in headline(verdict)


def test_a_benchmark_that_must_change_with_the_code_is_not_compared(project: Project) -> None:
    """The rest of the suite may pass, and the first line says what was not compared."""
    project.write({"src/toy/__init__.py": CODE.format("n", 0.009)})
    project.write({FILE: EASIER.replace("toy.work()", "toy.work(1)")})
    verdict = project.checked(policy="base")
    row = row_of(verdict)
    assert (row.outcome, row.changed_together) == (Outcome.INCOMPARABLE, True)
    assert row.notes[0] == (
        f"{TOGETHER}: the base's version does not run on the head "
        "(TypeError: work() missing 1 required positional argument: 'n')"
    )
    assert "toy/work changed together with the code" in headline(verdict)
    assert verdict.exit_code == 0
    (project.root / "benchmarks/bench_other.py").unlink()
    project.commit()
    verdict = project.checked(policy="base", choice=Choice(globs=("toy/*",)))
    assert (verdict.exit_code, verdict.decision) == (4, "no verdict")


@pytest.mark.parametrize(
    ("files", "error"),
    [
        ({FILE: f"{EASIER}\n\ndef ("}, "SyntaxError"),
        ({FILE: f"import nothing\n{EASIER}"}, "No module named 'nothing'"),
    ],
)
def test_a_new_version_that_cannot_be_read_has_failed(
    project: Project, files: dict[str, str], error: str
) -> None:
    (project.root / FILE).unlink()
    project.write(files)
    verdict = project.checked(policy="base")
    assert_found(verdict, is_noted=False)
    failed = row_of(verdict, "toy")
    assert failed.outcome is Outcome.FAILED
    assert error in (failed.error or "")


def test_a_benchmark_with_a_folder_in_its_place_is_missing(project: Project) -> None:
    (project.root / FILE).unlink()
    project.write({f"{FILE}/bench_toy.py": EASIER})
    verdict = project.checked(policy="base")
    assert row_of(verdict).outcome is Outcome.MISSING
    assert (verdict.exit_code, verdict.decision) == (5, "fail")


def test_a_file_in_the_place_of_the_benchmarks_is_an_error(project: Project) -> None:
    project.git.run("rm", "--quiet", "-r", "benchmarks")
    project.write({"benchmarks": "no folder"})
    verdict = project.checked(policy="base")
    assert row_of(verdict).outcome is Outcome.MISSING
    assert row_of(verdict, "benchmarks").error == "{root}/benchmarks is not a Python file"
    assert (verdict.exit_code, verdict.decision) == (5, "fail")


def test_a_module_with_the_name_of_the_code_is_refused(project: Project) -> None:
    project.write({"benchmarks/toy.py": "def work(): ...\n"})
    with pytest.raises(UsageError, match="the benchmarks would measure it instead of"):
        project.checked(policy="base")


TESTS = """\
import toy


def test_work(benchmark, lowest, middle, top):
    benchmark(lambda: [toy.work() for _ in range(lowest + middle + top)])
"""
FIXTURE = "import pytest\n\n\n@pytest.fixture\ndef {}():\n    return {}\n"
PLACES = {
    "lowest": "tests/speed/conftest.py",
    "middle": "tests/conftest.py",
    "top": "conftest.py",
}


def test_what_pytest_reads_beside_the_tests_is_the_bases(project: Project) -> None:
    """Any of the head's files would hide that the code got slower."""
    table = '[[benchmark]]\npytest = "tests/speed"\n'
    project.git.run("rm", "--quiet", "-r", "benchmarks")
    files = {"tests/speed/test_toy.py": TESTS, "benchgate.toml": DECISIVE + table}
    project.write({**PROJECT, **files})
    project.write({place: FIXTURE.format(name, 1) for name, place in PLACES.items()})
    project.commit()
    cheat = "import toy\n\ntoy.work = int\n"
    project.write(SLOW)
    project.write({place: cheat + FIXTURE.format(name, 1) for name, place in PLACES.items()})
    verdict = project.checked(policy="base")
    row = row_of(verdict, "tests/speed/test_toy.py::test_work")
    assert (row.outcome, verdict.exit_code) == (Outcome.REGRESSED, 3)


def test_what_asv_reads_above_its_suite_is_the_bases(project: Project) -> None:
    conf = '{"benchmark_dir": "asv", "matrix": {"env": {"WORK_S": ["%s"]}}}'
    code = "import os, time\n\n\ndef work():\n    time.sleep({} * float(os.environ['WORK_S']))\n"
    project.git.run("rm", "--quiet", "-rf", "benchmarks")
    files = {
        "benchgate.toml": f'{DECISIVE}[[benchmark]]\nasv = "asv"\n',
        "asv/__init__.py": "",
        "asv/toys.py": "import toy\n\n\ndef time_work():\n    toy.work()\n",
    }
    project.write({**files, "src/toy/__init__.py": code.format(1), "asv.conf.json": conf % 0.003})
    project.commit()
    project.write({"src/toy/__init__.py": code.format(3), "asv.conf.json": conf % 0.001})
    verdict = project.checked(policy="base")
    row = row_of(verdict, "toys.time_work")
    assert (row.outcome, verdict.exit_code) == (Outcome.REGRESSED, 3)
    assert EDITED in row.notes


def of_pytest(project: Project) -> str:
    test = BENCHMARK.replace("bench_work()", "repeated()")
    test += "\n\ndef test_work(benchmark):\n    benchmark(repeated)\n"
    project.write({"benchmarks/test_toy.py": test})
    return "benchmarks/test_toy.py::test_work"


def of_asv(project: Project) -> str:
    suite = BENCHMARK.replace("from helper", "from .helper").replace("bench_", "time_")
    project.write({"benchmarks/toys.py": suite, "benchmarks/__init__.py": ""})
    return "toys.time_work"


@pytest.mark.parametrize("mode", ["timestamp", "unchecked-hash"])
@pytest.mark.parametrize("tool", ["python", "pytest", "asv"])
def test_what_was_compiled_from_the_heads_files_does_not_run(
    project: Project, tool: str, mode: str
) -> None:
    """Python takes a compiled file for that of a source with the same time and size."""
    words = f"{sys.executable} -m compileall -q --invalidation-mode {mode} benchmarks"
    table = f'[build]\ncommand = "{words}"\n\n[[benchmark]]\n{tool} = "benchmarks"\n'
    project.write({**PROJECT, "benchgate.toml": DECISIVE + table})
    project.write({"benchmarks/helper.py": "TIMES = 3\n"})
    makers = {"pytest": of_pytest, "asv": of_asv}
    id_ = makers[tool](project) if tool in makers else "toy/work"
    project.commit()
    project.write({**SLOW, "benchmarks/helper.py": "TIMES = 1\n"})
    verdict = project.checked(policy="base", choice=Choice(globs=(id_,)))
    row = row_of(verdict, id_)
    assert (row.outcome, verdict.exit_code) == (Outcome.REGRESSED, 3)
    assert EDITED in row.notes


# Each asserts which files lie beside it while it runs.
SEES = """\
import os

import toy

def bench_{name}():
    assert sorted(os.listdir(os.path.dirname(__file__))) == {files}
    toy.work()
"""
BOTH = ["bench_edited.py", "bench_same.py"]


def seeing(name: str, text: str, *more: str) -> dict[str, str]:
    return {f"benchmarks/bench_{name}.py": text.format(name=name, files=sorted([*BOTH, *more]))}


@pytest.fixture
def changed(project: Project) -> Project:
    """A project with a benchmark that is new, one that is edited, one that is gone, and another."""
    project.git.run("rm", "--quiet", "-r", "benchmarks")
    old = ("bench_gone.py", "old.txt")
    new = ("bench_fresh.py", "new.txt", "more")
    project.write({**PROJECT, "benchmarks/old.txt": ""})
    for name in PROJECT:
        if name.startswith("benchmarks/"):
            (project.root / name).unlink()
    for name in ("edited", "same", "gone"):
        project.write(seeing(name, SEES, *old))
    project.commit()
    for name in ("bench_gone.py", "old.txt"):
        (project.root / "benchmarks" / name).unlink()
    project.write({**SLOW, "benchmarks/new.txt": "", "benchmarks/more/new.txt": ""})
    for name in ("edited", "fresh"):
        project.write(seeing(name, SEES, *new))
    return project


def assert_clean(outcomes: dict[str, str]) -> None:
    assert outcomes == {
        "edited/edited": "regressed",
        "same/same": "regressed",
        "gone/gone": "missing",
        "fresh/fresh": "new",
    }


def test_every_benchmark_sees_the_files_of_its_own_side(changed: Project) -> None:
    verdict = changed.checked(policy="base")
    assert_clean({row.benchmark: row.outcome for row in verdict.rows})
    assert not [one for one in verdict.warnings if "wrote to files" in one]
    (note,) = (
        note for note in row_of(verdict, "edited/edited").notes if "new version" in note[:16]
    )
    assert "->" in note  # it ran on both sides


@pytest.mark.skipif(
    not supports_pinning() or len(os.sched_getaffinity(0)) < 2, reason="lanes need two CPUs"
)
def test_so_it_does_in_lanes(changed: Project, benchgate: Program) -> None:
    done = benchgate(changed.root, "check", "--lanes", "2", "--json", "-")
    done.check(3)
    assert_clean({row["benchmark"]: row["outcome"] for row in json.loads(done.out)["rows"]})


def test_so_it_does_after_an_interruption(changed: Project, benchgate: Program) -> None:
    process = benchgate.start(changed.root, "check", "--rounds", "7")
    wait_for_rounds(benchgate, 2)
    process.send_signal(signal.SIGINT)
    benchgate.end(process).check(130)
    done = benchgate(changed.root, "check", "--continue", "--rounds", "7", "--json", "-")
    done.check(3)
    assert_clean({row["benchmark"]: row["outcome"] for row in json.loads(done.out)["rows"]})


def test_so_it_does_in_a_pull_request(changed: Project, benchgate: Program, tmp_path: Path) -> None:
    git = changed.git
    git.run("config", "uploadpack.allowAnySHA1InWant", "true")
    main = git.head_sha()
    git.run("checkout", "--quiet", "-b", "topic")
    head = changed.commit()
    git.run("checkout", "--quiet", "-b", "merged", main)
    git.run("merge", "--quiet", "--no-ff", "--message", "merge", head)
    merge = git.head_sha()
    git.run("checkout", "--quiet", "main")
    (tmp_path / "jobs").mkdir()
    with GitHubServer(*SCENE, prefix="/api/v3") as server:
        hosted = Hosted(changed, server, benchgate, tmp_path / "jobs")
        hosted.open_pull_request(main, head)
        job = hosted.run(pull_request(main, head, merge))
    assert job.outputs["verdict"] == "fail", job.done.out
    assert job.outputs["regressions"] == "2"
    assert EDITED in job.done.out
