"""The search for a commit in a real history, with checks that measure nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING

import pytest
from tests.results import measured

from benchgate.config import loads
from benchgate.errors import BaselineError, BenchgateError, Interrupted, UsageError
from benchgate.gate.verdict import judge
from benchgate.session.bisecting import BisectRequest, Teller, bisect
from benchgate.session.measuring import NOTHING_RUNS_ON_BASE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict
    from benchgate.session.checking import CheckRequest
    from benchgate.session.trials import BisectResult, BisectStep

CONFIG = loads('[[benchmark]]\npython = "benchmarks/"\n[[rule]]\nbenchmark="*"\nmargin="3%"\n', "")
BENCHMARK = "toy/work"
FILES = {"benchmarks/bench_toy.py": "def bench_work():\n    pass\n"}


@dataclass
class Told(Teller):
    """Remembers what it was told."""

    kept: int = 0
    steps: list[BisectStep] = field(default_factory=list)

    def begins(self, commits: int, steps: int, resumed: int) -> None:  # noqa: ARG002
        self.kept = resumed

    def stepped(self, step: BisectStep) -> None:
        self.steps.append(step)


@dataclass
class Checks:
    """Checks that know what each commit takes, in seconds, or why it cannot be measured."""

    values: Mapping[str, float | BenchgateError]
    pairs: list[tuple[str, str]] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    interrupted_at: int = 0

    def __call__(self, request: CheckRequest, config: Config) -> tuple[Verdict, Result]:
        assert request.head
        base, head = config.baseline.against or "", request.head.head_sha()
        self.pairs.append((base, head))
        self.margins.append(config.effective(BENCHMARK).margin)
        if len(self.pairs) == self.interrupted_at:
            raise Interrupted("interrupted")
        before, after = self.values[base], self.values[head]
        if isinstance(before, BenchgateError):
            raise before
        assert isinstance(after, float)
        result = measured({BENCHMARK: before}, {BENCHMARK: after})
        return judge(result, config), result


@pytest.fixture
def history(repo: Git, commit: Callable[[Git, Mapping[str, str]], str]) -> list[str]:
    """Ten commits; the first is `good`."""
    return [commit(repo, {**FILES, "src/toy.py": f"N = {number}\n"}) for number in range(10)]


def searched(
    git: Git, checks: Checks, *, good: str = "HEAD~9", told: Teller | None = None, **more: object
) -> BisectResult:
    request = replace(BisectRequest(BENCHMARK, good), **more)  # type: ignore[arg-type]
    return bisect(request, CONFIG, git, checks, told or Teller())


@pytest.mark.parametrize(("first", "factor"), [(1, 1.05), (2, 0.8), (5, 2.0), (8, 1.2), (9, 0.5)])
def test_the_commit_is_found(repo: Git, history: list[str], first: int, factor: float) -> None:
    values = {sha: factor if index >= first else 1.0 for index, sha in enumerate(history)}
    checks = Checks(values)
    found = searched(repo, checks)
    assert [one.sha for one in found.commits] == [history[first]]
    assert found.row
    assert found.row.ratio == pytest.approx(factor, rel=1e-3)
    assert found.probability > 0.99
    assert checks.pairs[0] == (history[0], history[9])
    assert checks.pairs[-1] == (history[first - 1], history[first])
    assert {head for _, head in checks.pairs[:-1]} == {history[9]}
    assert found.checks == len(checks.pairs) <= 6


def test_a_step_decides_about_half_of_the_change(repo: Git, history: list[str]) -> None:
    checks = Checks({sha: 1.21 if index > 4 else 1.0 for index, sha in enumerate(history)})
    searched(repo, checks)
    assert checks.margins[1:-1] == pytest.approx([0.1] * (len(checks.pairs) - 2))
    assert checks.margins[0] == checks.margins[-1] == 0.03


def test_commits_that_cannot_be_measured_are_skipped(repo: Git, history: list[str]) -> None:
    values: dict[str, float | BenchgateError]
    values = {sha: 2.0 if index >= 4 else 1.0 for index, sha in enumerate(history)}
    values[history[5]] = BaselineError("the build failed")
    values[history[2]] = BaselineError(NOTHING_RUNS_ON_BASE, details="SyntaxError: no\nmore")
    told = Told()
    found = searched(repo, Checks(values), told=told)
    assert [one.sha for one in found.commits] == [history[4]]
    assert found.untried.items() <= {
        (history[5], "the build failed"),
        (history[2], "SyntaxError: no"),
    }
    assert found.untried == {s.commit.sha: s.trial.why_not for s in told.steps if s.trial.why_not}
    assert found.untried


def test_what_cannot_be_told_apart_is_named_together(repo: Git, history: list[str]) -> None:
    values: dict[str, float | BenchgateError]
    values = {sha: 2.0 if index >= 5 else 1.0 for index, sha in enumerate(history)}
    values |= dict.fromkeys(history[3:5], BaselineError("the build failed"))
    checks = Checks(values)
    found = searched(repo, checks)
    assert [one.sha for one in found.commits] == history[3:6]
    assert checks.pairs[-1] == (history[2], history[5])
    assert found.row
    assert found.row.ratio == pytest.approx(2.0)


def test_a_step_that_misled_is_corrected(repo: Git, history: list[str]) -> None:
    """The commit looks slow only beside the head: its parent is as slow."""

    class Misled(Checks):
        def __call__(self, request: CheckRequest, config: Config) -> tuple[Verdict, Result]:
            is_first = config.baseline.against == history[4] and len(self.pairs) < 2
            known = self.values
            self.values = {**known, history[4]: 2.0} if is_first else known
            try:
                return super().__call__(request, config)
            finally:
                self.values = known

    values = {sha: 2.0 if index >= 7 else 1.0 for index, sha in enumerate(history)}
    checks = Misled(values)
    found = searched(repo, checks)
    assert (history[3], history[4]) in checks.pairs
    assert [one.sha for one in found.commits] == [history[7]]
    assert found.row


def test_the_largest_of_two_changes_is_found(repo: Git, history: list[str]) -> None:
    values = {sha: (1.0, 1.1, 2.0)[(i >= 2) + (i >= 6)] for i, sha in enumerate(history)}
    found = searched(repo, Checks(values))
    assert [one.sha for one in found.commits] == [history[6]]
    assert found.row
    assert found.row.ratio == pytest.approx(2.0 / 1.1)


@pytest.mark.parametrize("factors", [(1.2,) * 9, (1.1, 1.0, 1.3, 1.0, 1.1, 1.2, 1.0, 1.1, 1.0)])
def test_of_many_changes_a_real_one_is_found(
    repo: Git, history: list[str], factors: tuple[float, ...]
) -> None:
    values = dict(zip(history, accumulate((1.0, *factors), mul), strict=True))
    told = Told()
    found = searched(repo, Checks(values), told=told)
    [commit] = found.commits
    assert found.row
    assert found.row.ratio == pytest.approx(factors[history.index(commit.sha) - 1])
    assert (found.row.ratio or 0.0) >= 1.2
    assert any(step.is_between for step in told.steps)
    assert found.checks <= 7


def test_an_interrupted_search_goes_on(repo: Git, history: list[str], tmp_path: Path) -> None:
    values = {sha: 2.0 if index >= 7 else 1.0 for index, sha in enumerate(history)}
    state, whole = tmp_path / "bisect.json", Checks(values)
    searched(repo, whole)
    first = Checks(values, interrupted_at=4)
    with pytest.raises(Interrupted):
        searched(repo, first, state=state)
    second, told = Checks(values), Told()
    found = searched(repo, second, state=state, told=told)
    assert told.kept == 3
    assert first.pairs[:3] + second.pairs == whole.pairs
    assert found.checks == len(whole.pairs)
    assert not state.exists()


@pytest.mark.parametrize("change", ["another benchmark file", "damage", "another range"])
def test_only_the_same_search_goes_on(
    repo: Git, history: list[str], tmp_path: Path, change: str
) -> None:
    values = {sha: 2.0 if index >= 7 else 1.0 for index, sha in enumerate(history)}
    state = tmp_path / "bisect.json"
    with pytest.raises(Interrupted):
        searched(repo, Checks(values, interrupted_at=4), state=state)
    if change == "damage":
        state.write_text(state.read_text()[:-9])
    elif change == "another benchmark file":
        (repo.root / "benchmarks" / "bench_toy.py").write_text("def bench_work():\n    1\n")
    told = Told()
    searched(
        repo,
        Checks(values),
        state=state,
        told=told,
        good="HEAD~8" if change == "another range" else "HEAD~9",
    )
    assert told.kept == 0


def test_the_benchmarks_are_those_of_the_working_tree(repo: Git, history: list[str]) -> None:
    """Also of a commit that lacks them, and without any other change of the working tree."""
    (repo.root / "benchmarks" / "bench_new.py").write_text("NEW = 1\n")
    (repo.root / "src" / "toy.py").write_text("N = 'changed'\n")
    seen = []

    class Looking(Checks):
        def __call__(self, request: CheckRequest, config: Config) -> tuple[Verdict, Result]:
            assert request.head
            root = request.head.root
            seen.append((root / "benchmarks" / "bench_new.py").read_text())
            seen.append((root / "src" / "toy.py").read_text())
            return super().__call__(request, config)

    searched(repo, Looking({s: 2.0 if i >= 9 else 1.0 for i, s in enumerate(history)}))
    assert set(seen) == {"NEW = 1\n", "N = 9\n"}
    assert len(repo.worktrees()) == 1


def test_branches_are_searched_if_that_is_asked_for(
    repo: Git, commit: Callable[[Git, Mapping[str, str]], str]
) -> None:
    first = commit(repo, FILES)
    repo.run("checkout", "--quiet", "-b", "side")
    side = [commit(repo, {"side.py": str(number)}) for number in range(3)]
    repo.run("checkout", "--quiet", "main")
    own = commit(repo, {"own.py": ""})
    repo.run("merge", "--quiet", "--no-ff", "-m", "Merge", "side")
    merge = repo.head_sha()
    slow = {side[1], side[2], merge}
    checks = Checks({sha: 2.0 if sha in slow else 1.0 for sha in (first, *side, own, merge)})
    found = searched(repo, checks, good=first)
    assert [one.sha for one in found.commits] == [merge]
    assert found.searched == 2
    found = searched(repo, checks, good=first, first_parent=False)
    assert [one.sha for one in found.commits] == [side[1]]
    assert found.searched == 5


@pytest.mark.parametrize(
    ("request_", "said", "hint"),
    [
        ({"good": "HEAD"}, "HEAD and HEAD are the same commit", ""),
        ({"good": "HEAD", "bad": "HEAD~2"}, "HEAD comes after HEAD~2", "Swap them"),
        ({"good": "mian"}, "--good 'mian': there is no such commit", "did you mean 'main'?"),
        ({"bad": "--all"}, "--bad '--all': there is no such commit", ""),
        ({"good": "other"}, "other is not an ancestor of HEAD", "--good"),
        ({"benchmark": "toy/*"}, "toy/* is a glob", "`benchgate list`"),
    ],
)
def test_what_cannot_be_searched_is_refused(
    repo: Git, history: list[str], request_: dict[str, str], said: str, hint: str
) -> None:
    repo.run("branch", "other", "HEAD~5")
    repo.run("checkout", "--quiet", "other")
    repo.run("commit", "--quiet", "--allow-empty", "--message", "elsewhere")
    repo.run("checkout", "--quiet", "main")
    with pytest.raises(UsageError) as error:
        searched(repo, Checks({}), **request_)  # type: ignore[arg-type]
    assert said in error.value.message
    assert hint in error.value.hint + error.value.message
    assert history


def test_without_a_difference_nothing_is_searched(repo: Git, history: list[str]) -> None:
    checks = Checks(dict.fromkeys(history, 1.0))
    with pytest.raises(UsageError, match="toy/work does not differ between HEAD~9 and HEAD"):
        searched(repo, checks)
    assert len(checks.pairs) == 1


def test_a_good_commit_that_cannot_be_measured_is_an_error(repo: Git, history: list[str]) -> None:
    values: dict[str, float | BenchgateError] = dict.fromkeys(history, 1.0)
    values[history[0]] = BaselineError("the build of the base failed")
    with pytest.raises(BaselineError, match="the build of the base failed"):
        searched(repo, Checks(values))
