"""Benchmarks of the head on a base that has none, or others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.contract.scene import SCENE
from tests.contract.server import GitHubServer
from tests.e2e.conftest import BENCHMARK, CODE, PYTHON, QUICK
from tests.e2e.hosted import Hosted, pull_request

from benchgate.cli.world import configuration, real_effects
from benchgate.errors import BaselineError
from benchgate.model.policy import Outcome
from benchgate.report.headline import headline
from benchgate.session.checking import CheckRequest, check

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Literal

    from tests.e2e.conftest import Program, Project

    from benchgate.model.verdict import Verdict

pytestmark = pytest.mark.slow

WIDE = QUICK.replace("[gate]\n", '[gate]\nmargin = "50%"\n').replace(
    "[measure]\n", "[measure]\nrounds = 8\n"
)
# One function uses what the base lacks in its body, one file when it is imported.
BENCHMARKS = {
    "benchmarks/bench_toy.py": "import toy\nfrom helper import TIMES\n\n\ndef bench_work():\n"
    "    for _ in range(TIMES):\n        toy.work()\n\n\ndef bench_later():\n    toy.added()\n",
    "benchmarks/helper.py": "TIMES = 1\n",
    "benchmarks/bench_added.py": "from toy import added\n\n\ndef bench_added():\n    added()\n",
}
ADDED = "\n\ndef added():\n    return sum(range(1000))\n"


@pytest.fixture
def introduced(toy: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose base has no trace of benchgate, and whose change brings it."""
    toy.git.run("rm", "--quiet", "-r", "benchmarks", "benchgate.toml")
    toy.commit()
    toy.write({"benchgate.toml": f"{WIDE}{PYTHON}", "src/toy/__init__.py": CODE + ADDED})
    toy.write(BENCHMARKS)
    monkeypatch.chdir(toy.root)
    return toy


def checked(
    project: Project, benchmarks: Literal["auto", "own", "head"] = "auto"
) -> tuple[Verdict, dict[str, Outcome]]:
    config = configuration(project.root, project.git, None)
    request = CheckRequest(benchmarks=benchmarks)
    verdict, _ = check(request, config, project.git, real_effects(quiet=True))
    return verdict, {row.benchmark: row.outcome for row in verdict.rows}


NEW = {"toy/later": Outcome.NEW, "added/added": Outcome.NEW}


def test_the_first_change_that_brings_benchmarks_has_a_verdict(introduced: Project) -> None:
    verdict, outcomes = checked(introduced)
    assert (verdict.decision, verdict.exit_code) == ("pass", 0), headline(verdict)
    assert outcomes.pop("toy/work") in {Outcome.UNCHANGED, Outcome.INCONCLUSIVE}
    assert outcomes == NEW
    sentence = "the base has no benchmarks, so both sides were measured with those of the head"
    assert sentence in verdict.warnings
    notes = {row.benchmark: " ".join(row.notes) for row in verdict.rows}
    for id_ in NEW:
        assert "it does not run on the base: " in notes[id_]
        assert "added" in notes[id_]


def test_a_slowdown_that_comes_with_the_benchmarks_is_found(introduced: Project) -> None:
    introduced.write({"src/toy/__init__.py": CODE.replace("3000", "9000") + ADDED})
    verdict, outcomes = checked(introduced)
    assert verdict.exit_code == 3
    assert outcomes == {**NEW, "toy/work": Outcome.REGRESSED}


def test_with_its_own_benchmarks_the_base_has_none(introduced: Project) -> None:
    verdict, outcomes = checked(introduced, "own")
    assert set(outcomes.values()) == {Outcome.NEW}
    assert headline(verdict).startswith("First run of ")


def test_benchmarks_of_today_on_code_of_yesterday(
    toy: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The base has benchmarks, other ones, and a helper with another content."""
    toy.configure("", benchmarks=PYTHON)
    toy.write({"benchmarks/helper.py": "TIMES = 7\n", "benchmarks/bench_old.py": BENCHMARK})
    toy.commit()
    (toy.root / "benchmarks" / "bench_old.py").unlink()
    toy.write({"benchgate.toml": f"{WIDE}{PYTHON}", "src/toy/__init__.py": CODE + ADDED})
    toy.write(BENCHMARKS)
    monkeypatch.chdir(toy.root)
    verdict, outcomes = checked(toy, "head")
    assert outcomes.pop("toy/work") in {Outcome.UNCHANGED, Outcome.INCONCLUSIVE}
    assert outcomes == NEW
    assert "both sides were measured with the benchmarks of the head (--benchmarks head)" in (
        verdict.warnings
    )
    # By default, both sides run those of the base.
    assert checked(toy)[1]["old/work"] is Outcome.MISSING


def test_a_base_on_which_nothing_runs_is_an_error_if_somebody_asked_for_it(
    introduced: Project,
) -> None:
    (introduced.root / "benchmarks" / "bench_toy.py").unlink()
    verdict, outcomes = checked(introduced)
    assert (outcomes, verdict.exit_code) == ({"added/added": Outcome.NEW}, 0)
    assert "none of the head's benchmarks runs on the base" in verdict.warnings
    with pytest.raises(BaselineError, match="none of the head's benchmarks") as raised:
        checked(introduced, "head")
    assert "cannot import name 'added'" in raised.value.details


def test_code_that_both_sides_share_is_still_an_error(introduced: Project) -> None:
    src = introduced.root / "src"
    path = f"import sys\n\nsys.path.insert(0, {str(src)!r})\n"
    introduced.write({"benchmarks/bench_toy.py": path + BENCHMARK})
    verdict, outcomes = checked(introduced)
    assert outcomes["toy"] is Outcome.FAILED
    assert verdict.exit_code == 5


def test_a_pull_request_that_brings_benchgate_is_judged(
    introduced: Project, benchgate: Program, tmp_path: Path
) -> None:
    introduced.git.run("stash", "--quiet", "--include-untracked")
    introduced.git.run("config", "uploadpack.allowAnySHA1InWant", "true")
    main = introduced.git.head_sha()
    (tmp_path / "jobs").mkdir()
    with GitHubServer(*SCENE, prefix="/api/v3") as server:
        hosted = Hosted(introduced, server, benchgate, tmp_path / "jobs")
        files = {"benchgate.toml": f"{WIDE}{PYTHON}", **BENCHMARKS}
        head, merge = hosted.topic(main, files, slower=True)
        hosted.open_pull_request(main, head)
        job = hosted.run(pull_request(main, head, merge))
    assert job.outputs["verdict"] == "fail", job.done.out
    assert job.outputs["regressions"] == "1"
    assert "the base has no benchmarks, so both sides were measured with those of" in job.done.out
