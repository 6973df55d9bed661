"""A project with a suite of asv, as a user has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.conftest import QUICK

from benchgate.cli.world import configuration, real_effects
from benchgate.model.policy import Outcome
from benchgate.session.checking import CheckRequest, check
from benchgate.session.choice import Choice

if TYPE_CHECKING:
    from tests.e2e.conftest import Project

pytestmark = pytest.mark.slow

# The folder is not named for tests or benchmarks.
CONFIG = QUICK.replace("[gate]\n", '[gate]\nmargin = "50%"\nalpha = 0.2\n').replace(
    "[measure]\n", "[measure]\nrounds = 8\n"
) + ('\n[[benchmark]]\nasv = "asv"\n')
SUITE = """\
import toy
from .common import SIZE


class Work:
    params = [1, 2]

    def setup(self, n):
        if n == 2:
            raise NotImplementedError("not here")

    def time_work(self, n):
        toy.work()

    def track_size(self, n):
        return toy.SIZE

    def track_rate(self, n):
        return 1000 / toy.SIZE

    track_rate.unit = "items/s"

    def peakmem_work(self, n):
        return bytearray(toy.SIZE * 1_000_000)

    def track_same(self, n):
        return SIZE


def timeraw_import():
    return "import toy"
"""
FILES = {"asv/__init__.py": "", "asv/common.py": "SIZE = 3\n", "asv/suite.py": SUITE}
CODE = "SIZE = {}\n\n\ndef work():\n    return sum(range(1000))\n"


@pytest.fixture
def suite(toy: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    toy.git.run("rm", "--quiet", "-r", "benchmarks")
    toy.write({"benchgate.toml": CONFIG, "src/toy/__init__.py": CODE.format(20), **FILES})
    toy.commit()
    monkeypatch.chdir(toy.root)
    return toy


# What is not looked at is not measured.
TRACKED = Choice(globs=("suite", "suite.Work.track_*", "other.*"))


def judged(project: Project, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - of any type
    config = configuration(project.root, project.git, None)
    verdict, _ = check(CheckRequest(**request), config, project.git, real_effects(quiet=True))
    found = {row.benchmark: row.outcome for row in verdict.rows if not row.is_tail}
    return {**found, "warnings": verdict.warnings}


def test_numbers_are_judged_in_their_direction(suite: Project) -> None:
    suite.write({"src/toy/__init__.py": CODE.format(60)})
    found = judged(suite)
    assert any("setup raised NotImplementedError('not here')" in one for one in found["warnings"])
    del found["warnings"]
    # How exactly a time is measured depends on the machine.
    assert found["suite.Work.time_work(1)"] in {Outcome.UNCHANGED, Outcome.INCONCLUSIVE}
    assert found == {
        "suite.Work.time_work(1)": found["suite.Work.time_work(1)"],
        "suite.Work.track_size(1)": Outcome.REGRESSED,
        "suite.Work.track_rate(1)": Outcome.REGRESSED,
        "suite.Work.track_same(1)": Outcome.UNCHANGED,
        "suite.Work.peakmem_work(1)": Outcome.REGRESSED,
        "suite.timeraw_import": found["suite.timeraw_import"],
    }


def test_one_suite_measures_both_sides(suite: Project) -> None:
    suite.write({"asv/common.py": "SIZE = 4\n"})
    found = judged(suite, choice=TRACKED)
    assert found["suite.Work.track_same(1)"] is Outcome.UNCHANGED
    found = judged(suite, choice=TRACKED, benchmarks="own")
    assert found["suite.Work.track_same(1)"] is Outcome.INCOMPARABLE
    found = judged(suite, choice=TRACKED, benchmarks="head")
    assert found["suite.Work.track_same(1)"] is Outcome.UNCHANGED
    assert found["suite.Work.track_size(1)"] is Outcome.UNCHANGED


def test_a_module_that_cannot_be_imported_stands_for_its_benchmarks(suite: Project) -> None:
    suite.write({"asv/suite.py": SUITE + "\nimport nothing_like_it\n"})
    suite.write({"asv/other.py": "def track_one():\n    return 1\n"})
    found = judged(suite, choice=TRACKED)
    assert (found["suite"], found["other.track_one"]) == (Outcome.FAILED, Outcome.NEW)
    # The base's version of it decides.
    assert found["suite.Work.track_size(1)"] is Outcome.UNCHANGED


def test_variables_of_the_matrix_are_set_and_the_rest_is_told(suite: Project) -> None:
    conf = '{"benchmark_dir": "asv", "matrix": {"env": {"MODE": ["12"], "OMP": ["1", "4"]}}}'
    lines = "import os\n\n\ndef track_mode():\n    return int(os.environ['MODE'])\n"
    suite.write({"asv.conf.json": conf, "asv/suite.py": lines})
    suite.commit()
    found = judged(suite)
    assert found["suite.track_mode"] is Outcome.NEW
    (warning,) = (one for one in found["warnings"] if "matrix" in one)
    assert warning.endswith("asv.conf.json: the variable OMP (1, 4): name one value in `env`")
