"""What a check leaves out because the change cannot reach it, and what it measures all the same."""

from __future__ import annotations

from contextlib import chdir
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.cli.world import configuration, real_effects
from benchgate.model.policy import Outcome
from benchgate.session.checking import CheckRequest, check
from benchgate.session.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.git.repository import Git
    from benchgate.model.verdict import Verdict

BENCH = """
from kit import join, split

def bench_join():
    join()

def bench_split():
    split()

def bench_read():
    open("words.txt").read()
"""
KIT = """
def join():
    return "".join(["a"] * 100)

def split():
    return ("a " * 100).split()
"""
CONFIG = "[measure]\nrounds = 1\nsamples = 2\ncanary = false\nexplain = false\n"
SPLIT = {"kit.py": KIT.replace("100).split", "99).split")}


def judged(
    git: Git,
    head: Mapping[str, str],
    *,
    config: str = "",
    choice: Choice | None = None,
    only_affected: bool = True,
) -> tuple[Verdict, set[str]]:
    """Check a change; return the verdict, and what was measured."""
    base = {"benchgate.toml": CONFIG + config, "kit.py": KIT, "words.txt": "a", "README": "a"}
    for name, text in {**base, "benchmarks/bench_kit.py": BENCH}.items():
        path = git.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    git.run("add", "--all")
    git.run("commit", "--quiet", "--message", "work")
    for name, text in head.items():
        (git.root / name).write_text(text)
    request = CheckRequest(choice or Choice(), only_affected=only_affected)
    with chdir(git.root):
        settings = configuration(git.root, git, None)
        verdict, result = check(request, settings, git, real_effects(quiet=True))
    assert result.base
    measured = [
        {one.id for one in run.benchmarks if one.series} for run in (result.base, result.head)
    ]
    assert measured[0] == measured[1]
    same = {row.benchmark for row in verdict.rows if row.outcome is Outcome.SAME_CODE}
    assert not same & measured[0]
    return verdict, measured[0]


def test_a_change_of_a_document_measures_nothing_and_passes(repo: Git) -> None:
    verdict, measured = judged(repo, {"README": "b"})
    assert measured == set()
    assert verdict.exit_code == 0
    assert len(verdict.rows) == 3


def test_a_benchmark_that_is_edited_itself_is_measured_in_both_versions(repo: Git) -> None:
    head = {"benchmarks/bench_kit.py": BENCH.replace("    join()", "    join(), join()")}
    assert judged(repo, head)[1] == {"kit/join", "kit/join (new version)"}


def test_what_runs_an_edited_function_is_measured(repo: Git) -> None:
    assert judged(repo, SPLIT)[1] == {"kit/split"}


@pytest.mark.parametrize(
    ("given", "measured"),
    [
        ({"only_affected": False}, {"kit/join", "kit/split", "kit/read"}),
        ({"config": "only_affected = false\n"}, {"kit/join", "kit/split", "kit/read"}),
        ({"choice": Choice(("kit/join",))}, {"kit/join"}),
        ({"choice": Choice(("kit/j*", "kit/s*"))}, {"kit/split"}),
        (
            {"config": '[[limit]]\nbenchmark = "kit/join"\nmetric = "time"\nmax = "1s"\n'},
            {"kit/join", "kit/split"},
        ),
    ],
)
def test_what_is_measured_all_the_same(
    repo: Git, given: dict[str, Any], measured: set[str]
) -> None:
    assert judged(repo, SPLIT, **given)[1] == measured


def test_code_that_is_compared_with_itself_is_measured(repo: Git) -> None:
    config = '[baseline]\nagainst = "HEAD"\n'
    assert judged(repo, {}, config=config)[1] == {"kit/join", "kit/split", "kit/read"}


@pytest.mark.parametrize(("ignored", "measured"), [("", {"kit/read"}), ("words*", set())])
def test_an_ignored_file_is_no_difference(repo: Git, ignored: str, measured: set[str]) -> None:
    config = f'ignore = ["{ignored}"]\n' if ignored else ""
    assert judged(repo, {"words.txt": "b"}, config=config)[1] == measured
