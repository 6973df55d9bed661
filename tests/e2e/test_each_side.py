"""What each side's own configuration builds and measures, and what a change cannot leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from tests.contract.scene import SCENE
from tests.contract.server import GitHubServer
from tests.e2e.conftest import BENCHMARK, PYTHON, QUICK
from tests.e2e.hosted import Hosted, pull_request

from benchgate.cli.world import configuration, real_effects
from benchgate.model.policy import Outcome
from benchgate.model.verdict import Decision
from benchgate.report.headline import headline
from benchgate.session.benchmark_sets import EDITED
from benchgate.session.checking import CheckRequest, check
from benchgate.session.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import TypeAlias

    from tests.e2e.conftest import Program, Project

    from benchgate.model.verdict import Verdict

    Check: TypeAlias = Callable[..., Verdict]

pytestmark = pytest.mark.slow

# One row: eight rounds reach p = 1/256, and chance stays inside of 50 %.
ROUNDS = "rounds = 8\n"
WIDE = QUICK.replace("[gate]\n", '[gate]\nmargin = "50%"\n')
OTHER = "def bench_sum():\n    return sum(range(2000))\n"


def command(name: str, words: str, more: str = "") -> str:
    return f'[[benchmark]]\nname = "{name}"\ncommand = "{words}"\n{more}\n'


def outcomes(verdict: Verdict) -> dict[str, Outcome]:
    return {row.benchmark: row.outcome for row in verdict.rows}


@pytest.fixture
def judged(toy: Project, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Check the working tree: as on a laptop, or as a pull request of it would be."""
    monkeypatch.chdir(toy.root)

    def check_it(
        policy: Literal["base", "head"] = "base", *, choice: Choice | None = None
    ) -> Verdict:
        config = configuration(toy.root, toy.git, None)
        request = CheckRequest(choice or Choice(), policy=policy)
        return check(request, config, toy.git, real_effects(quiet=True))[0]

    return check_it


def start(
    toy: Project, text: str, files: Mapping[str, str] | None = None, *, gate: str = WIDE
) -> None:
    """Commit the base."""
    toy.write({"benchgate.toml": f"{gate}{ROUNDS}\n{text}", **(files or {})})
    toy.commit()


def change(toy: Project, text: str) -> None:
    """Configure the working tree."""
    toy.write({"benchgate.toml": f"{WIDE}{ROUNDS}\n{text}"})


@pytest.mark.parametrize("policy", ["base", "head"])
def test_what_a_change_no_longer_measures_is_missing(
    toy: Project, judged: Check, policy: str
) -> None:
    files = {"benchmarks/fast/bench_other.py": OTHER}
    start(toy, PYTHON + command("tool", "cat README"), files)
    toy.slow_down()

    change(toy, PYTHON.replace('"benchmarks"', '"benchmarks/fast"'))
    narrowed = judged(policy)
    assert outcomes(narrowed) == {
        "toy/work": Outcome.MISSING,
        "fast/other/sum": Outcome.MISSING,
        "other/sum": Outcome.NEW,
        "tool": Outcome.MISSING,
    }
    assert (narrowed.decision, narrowed.exit_code) == (Decision.NO_VERDICT, 4)

    change(toy, command("tool", "cat README"))
    deleted = judged(policy)
    assert outcomes(deleted)["toy/work"] is Outcome.MISSING
    assert (deleted.decision, deleted.exit_code) == (Decision.NO_VERDICT, 4)
    assert "were removed" in headline(deleted)
    chosen = judged(policy, choice=Choice(globs=("tool",)))
    assert outcomes(chosen).keys() == {"tool"}


def test_a_change_cannot_take_a_tag_away(toy: Project, judged: Check) -> None:
    start(toy, PYTHON.replace('"\n', '"\ntags = ["gated"]\n') + command("tool", "cat README"))
    change(toy, PYTHON + command("tool", "cat README", 'tags = ["gated"]\n'))
    assert outcomes(judged(choice=Choice(tags=("gated",)))).keys() == {"toy/work", "tool"}


@pytest.mark.parametrize("policy", ["base", "head"])
def test_a_folder_is_moved_and_the_code_gets_slower(
    toy: Project, judged: Check, policy: str
) -> None:
    start(toy, PYTHON)
    toy.git.run("mv", "benchmarks", "perf")
    toy.slow_down()
    change(toy, PYTHON.replace("benchmarks", "perf"))
    verdict = judged(policy)
    assert outcomes(verdict) == {"toy/work": Outcome.REGRESSED}
    assert (verdict.decision, verdict.exit_code) == (Decision.FAIL, 3)


def test_each_side_is_built_by_its_own_configuration(toy: Project, judged: Check) -> None:
    build = '[build]\nshell = true\ncommand = "cat {name} > {{env}}-built"\n\n'
    run = command("built", "cat {env}-built")
    start(toy, build.format(name="README") + run)
    toy.write({"requirements/new.txt": "new\n"})
    change(toy, build.format(name="requirements/new.txt") + run)
    verdict = judged()
    assert all(row.launches == (8, 8) for row in verdict.rows)
    (warning,) = (text for text in verdict.warnings if "[build]" in text)
    assert warning == (
        "base and head have different [build] tables, and each was built with its own: this may "
        "cause a difference"
    )


def test_a_build_cannot_put_the_heads_code_in_the_bases_place(toy: Project, judged: Check) -> None:
    start(toy, PYTHON)
    toy.slow_down()
    copies = "for file in ../../*/*/src/toy/__init__.py; do cp $PWD/src/toy/__init__.py $file; done"
    change(toy, f"[build]\nshell = true\ncommand = '{copies} || true'\n\n{PYTHON}")
    verdict = judged()
    assert outcomes(verdict)["benchgate/files"] is Outcome.FAILED
    (row,) = (row for row in verdict.rows if row.benchmark == "benchgate/files")
    said = "in the base, src/toy/__init__.py was changed while another side was built"
    assert said in (row.error or "")
    assert verdict.exit_code == 5


def test_a_command_whose_script_is_new_is_new(toy: Project, judged: Check) -> None:
    start(toy, PYTHON)
    toy.write({"tool.sh": "exit 0\n"})
    change(toy, PYTHON + command("tool", "sh tool.sh"))
    verdict = judged()
    assert outcomes(verdict)["tool"] is Outcome.NEW
    assert verdict.exit_code == 0


def test_a_command_keeps_its_history_under_another_name(toy: Project, judged: Check) -> None:
    start(toy, command("old", "cat README"))
    change(toy, command("new", "cat README") + '[aliases]\nold = "new"\n')
    verdict = judged()
    assert {(row.benchmark, row.renamed_from) for row in verdict.rows} == {("new", "old")}
    assert all(row.launches == (8, 8) for row in verdict.rows)


def test_other_work_under_an_old_name_does_not_decide(toy: Project, judged: Check) -> None:
    start(toy, PYTHON + command("tool", "cat README README"))
    change(toy, PYTHON.replace('"\n', '"\nenv = { FAST = "1" }\n') + command("tool", "cat README"))
    verdict = judged()
    assert outcomes(verdict).keys() == {"toy/work", "tool"}
    assert all(EDITED in row.notes and row.launches == (8, 8) for row in verdict.rows)
    change(toy, command("toy/work", "cat README") + command("tool", "cat README README"))
    # The base's function decides, although the name is that of a command now.
    verdict = judged()
    assert outcomes(verdict).keys() == {"toy/work", "tool"}
    assert {row.benchmark for row in verdict.rows if EDITED in row.notes} == {"toy/work"}
    assert all(row.launches == (8, 8) for row in verdict.rows)


@pytest.mark.parametrize("policy", ["base", "head"])
def test_how_a_benchmark_runs_is_the_heads_unless_the_base_judges(
    toy: Project, judged: Check, policy: str
) -> None:
    """A developer follows the hint of an error, and must see that it helps."""
    tool = command("tool", "cat README && sleep 0.2", 'shell = true\ntimeout = "{}"\n')
    start(toy, tool.format("50ms"))
    change(toy, tool.format("5s"))
    expected = Outcome.BASE_FAILED if policy == "base" else Outcome.UNCHANGED
    verdict = judged(policy)
    assert outcomes(verdict) == {"tool": expected}, verdict.rows
    assert not any(EDITED in row.notes for row in verdict.rows)


BROKEN_BASE = "import toy\n\n\ndef bench_work():\n    toy.gone()\n"


def test_what_fails_on_the_base_alone_does_not_fail_the_head(toy: Project, judged: Check) -> None:
    broken = {"benchmarks/bench_toy.py": BROKEN_BASE, "tool.sh": "exit 1\n"}
    start(toy, PYTHON + command("tool", "sh tool.sh"), broken)
    toy.write({"benchmarks/bench_toy.py": BENCHMARK, "tool.sh": "exit 0\n"})
    verdict = judged()
    assert outcomes(verdict) == {"toy/work": Outcome.BASE_FAILED, "tool": Outcome.BASE_FAILED}
    assert (verdict.decision, verdict.exit_code) == (Decision.NO_VERDICT, 5)
    assert headline(verdict) == (
        "No verdict: nothing could be compared; tool, toy/work crash on the base"
    )


def test_what_fails_on_both_sides_fails_on_the_base_whichever_is_run_first(
    toy: Project, judged: Check
) -> None:
    names = "abcdef"
    broken = {
        f"benchmarks/bench_{name}.py": f"def bench_{name}():\n    raise ValueError\n"
        for name in names
    }
    commands = "".join(command(f"tool/{name}", "no-such-program-anywhere") for name in names)
    start(toy, PYTHON + commands, broken)
    toy.write({"README": "changed"})
    verdict = judged()
    expected = dict.fromkeys(
        [id_ for name in names for id_ in (f"{name}/{name}", f"tool/{name}")], Outcome.BASE_FAILED
    )
    assert outcomes(verdict) == {"toy/work": outcomes(verdict)["toy/work"], **expected}
    assert {row.notes[0] for row in verdict.rows if row.error} == {"crashed on base and head"}
    assert verdict.exit_code == 0


def test_a_pass_says_what_failed_on_the_base(toy: Project, judged: Check) -> None:
    # On a busy machine, one disturbed round may leave the other benchmark undecided at 50 %.
    gate = WIDE.replace("50%", "900%")
    start(toy, PYTHON, {"benchmarks/bench_broken.py": BROKEN_BASE}, gate=gate)
    toy.write({"benchmarks/bench_broken.py": BENCHMARK})
    verdict = judged()
    assert outcomes(verdict)["broken/work"] is Outcome.BASE_FAILED
    assert (verdict.decision, verdict.exit_code) == (Decision.PASS, 0), headline(verdict)
    assert headline(verdict).startswith("Nothing was found to be slower")
    assert headline(verdict).endswith("broken/work crashes on the base")
    (row,) = (row for row in verdict.rows if row.outcome is Outcome.BASE_FAILED)
    assert "AttributeError" in (row.error or "")


def test_a_base_that_the_head_disturbs_fails_the_head(
    toy: Project, judged: Check, tmp_path: Path
) -> None:
    lock = str(tmp_path / "lock")
    fails = f"    if os.path.exists({lock!r}):\n        raise OSError\n"
    start(toy, PYTHON, {"src/toy/__init__.py": f"import os\n\n\ndef work():\n{fails}"})
    held = f"open({lock!r}, 'w').close()"
    toy.write({"src/toy/__init__.py": f"{held}\n\n\ndef work():\n    return sum(range(3000))\n"})
    verdict = judged()
    assert outcomes(verdict) == {"toy/work": Outcome.FAILED}
    assert verdict.exit_code == 5
    assert "did not fail before the head was built or run: OSError" in (verdict.rows[0].error or "")


@pytest.fixture
def hosted(toy: Project, benchgate: Program, tmp_path: Path) -> Iterator[Hosted]:
    start(toy, PYTHON)
    toy.git.run("config", "uploadpack.allowAnySHA1InWant", "true")
    (tmp_path / "jobs").mkdir()
    with GitHubServer(*SCENE, prefix="/api/v3") as server:
        yield Hosted(toy, server, benchgate, tmp_path / "jobs")


HOSTILE = """\
[gate]
margin = "900%"
fail_on = []

[measure]
budget = "1s"
rounds = 1
samples = 1
launch_time = "1ms"
executions = 1
command_warmup = 9000
warmup = 9000
timeout = "1ms"
pin = false
canary = false

[[benchmark]]
python = "benchmarks"
parallel = true
isolate = true
tags = ["other"]
"""


def test_a_pull_request_cannot_measure_too_little_to_be_caught(hosted: Hosted) -> None:
    main = hosted.origin.git.head_sha()
    files = {"benchgate.toml": HOSTILE}
    head, merge = hosted.topic(main, files, slower=True)
    hosted.open_pull_request(main, head)
    job = hosted.run(pull_request(main, head, merge))
    assert (job.done.code, job.outputs["verdict"]) == (3, "fail"), job.done.out
    comment = hosted.comments()[-1]
    assert "measure.rounds: 8 -&gt; 1" in comment or "measure.rounds: 8 -> 1" in comment
    assert "this verdict already does so" not in comment


def test_a_pull_request_that_brings_benchgate_does_not_fail(hosted: Hosted) -> None:
    origin = hosted.origin
    origin.git.run("rm", "--quiet", "-r", "benchgate.toml", "benchmarks")
    main = origin.commit()
    build = '[build]\nshell = true\ncommand = "cat requirements/new.txt"\n\n'
    files = {
        "benchgate.toml": f"{WIDE}{ROUNDS}\n{build}{PYTHON}{command('tool', 'sh tool.sh')}",
        "benchmarks/bench_toy.py": BENCHMARK,
        "requirements/new.txt": "new\n",
        "tool.sh": "exit 0\n",
    }
    head, merge = hosted.topic(main, files)
    hosted.open_pull_request(main, head)
    job = hosted.run(pull_request(main, head, merge))
    assert (job.done.code, job.outputs["verdict"]) == (0, "no verdict"), job.done.out
    assert "there is nothing to compare with yet" in job.done.out
    assert "First run of 2 benchmarks" in job.done.out


def test_a_base_without_a_configuration_is_gated_by_the_defaults(hosted: Hosted) -> None:
    origin = hosted.origin
    origin.git.run("rm", "--quiet", "benchgate.toml")
    main = origin.commit()
    files = {
        "benchgate.toml": HOSTILE.replace('"benchmarks"', '"perf"'),
        "perf/bench_other.py": OTHER,
    }
    head, merge = hosted.topic(main, files)
    hosted.open_pull_request(main, head)
    job = hosted.run(pull_request(main, head, merge), "ci", "-v", "--rounds", "1")
    assert (job.done.code, job.outputs["verdict"]) == (4, "no verdict"), job.done.out
    assert "toy/work was removed" in job.done.out
