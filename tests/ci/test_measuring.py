from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from tests.contract.conftest import github
from tests.jobs import FORKS, OWN, job_of, pull_request
from tests.results import measured

from benchgate.baselines.stored_files import read_result
from benchgate.ci import measuring as module
from benchgate.ci.measuring import CiRequest, ci
from benchgate.config.load import loads
from benchgate.errors import BaselineError, ConfigError
from benchgate.gate.stored import OF_PULL_REQUEST, StoredResults
from benchgate.model.policy import Options
from benchgate.model.result import Screening, Shard, SkippedResult
from benchgate.session.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.contract.server import GitHubServer
    from tests.world import World

    from benchgate.ci.change import ChangeRequest
    from benchgate.ci.measuring import CiOutcome
    from benchgate.git.repository import Git
    from benchgate.github.runner import EventRepository
    from benchgate.model.result import Result

__all__ = ["github"]


@dataclass(slots=True)
class Deciding:
    """`ci` on a pull request, with nothing measured.

    Attributes:
        asked_for: whose stored runs were read.
        changes: what was to be measured.
    """

    server: GitHubServer
    git: Git
    world: World
    folder: Path
    asked_for: list[str]
    changes: list[ChangeRequest]

    found: StoredResults = field(default_factory=lambda: StoredResults("artifact"))

    def read_stored(self, *_: object, name: str, **__: object) -> StoredResults:
        self.asked_for.append(name)
        return self.found

    def measure_change(self, request: ChangeRequest, *_: object) -> Result:
        self.changes.append(request)
        result, found = measured({"a": 1e-3}), request.found
        if not request.by_stored_alone:
            return result
        held = Screening(result.head, (), found.skipped, found.warnings, is_first=found.is_first)
        return replace(result, base=None, screening=held)

    def run(
        self,
        toml: str = "",
        *,
        head_repository: EventRepository = OWN,
        actor: str = "octocat",
        shard: Shard | None = None,
        options: Options | None = None,
    ) -> CiOutcome:
        base, head = self.git.parents(self.git.head_sha())
        event = pull_request(head, base, repository=head_repository)
        sha = self.git.head_sha()
        return ci(
            CiRequest(self.folder, Choice(shard=shard)),
            loads(toml, "benchgate.toml").with_overrides(options or Options()),
            replace(self.world.effects, cwd=self.git.root),
            job_of(self.server, self.git, event, sha=sha, actor=actor),
            keep_baseline=lambda _: pytest.fail("a pull request is no baseline"),
            say=lambda _: None,
        )


@pytest.fixture
def merge_commit(repo: Git, commit: Callable[[Git, Mapping[str, str]], str]) -> Git:
    """As GitHub checks a pull request out."""
    base = commit(repo, {"a": "1"})
    head = commit(repo, {"a": "2"})
    repo.run("reset", "--quiet", "--hard", base)
    repo.run("merge", "--quiet", "--no-ff", "--message", "merge", head)
    return repo


@pytest.fixture
def deciding(
    github: GitHubServer,
    merge_commit: Git,
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Deciding:
    one = Deciding(github, merge_commit, world, tmp_path, [], [])
    monkeypatch.setattr(module, "read_stored", one.read_stored)
    monkeypatch.setattr(module, "measure_change", one.measure_change)
    return one


def test_stored_runs_have_a_say_in_a_pull_request(deciding: Deciding) -> None:
    deciding.run()
    assert deciding.asked_for == ["benchgate-baseline.default.linux-x86_64"]
    (change,) = deciding.changes
    assert change.base is not None
    assert change.base.sha == deciding.git.parents(deciding.git.head_sha())[0]
    assert change.keep is None


def test_what_another_job_judges_again_is_measured_whole(deciding: Deciding) -> None:
    # That job believes nothing of stored runs, so that it needs both arms.
    deciding.run(head_repository=FORKS)
    deciding.run(actor="dependabot[bot]")
    deciding.run(shard=Shard(1, 2))
    assert deciding.asked_for == []
    assert len(deciding.changes) == 3


def test_the_options_are_kept_with_the_result(deciding: Deciding) -> None:
    options = Options(margin="7%", seed=0, fail_on=("missing",))
    outcome = deciding.run(options=options)
    assert outcome.result
    kept = read_result(outcome.result.path).policy
    assert kept
    assert (kept.head, kept.base, kept.options) == (None, None, options)


def test_a_base_from_git_reads_nothing_stored(deciding: Deciding) -> None:
    deciding.run('[baseline]\nsource = "git"\n')
    assert deciding.asked_for == []


BY_STORED = '[baseline]\nsource = "artifact"\nrequired = true\n'


@pytest.mark.parametrize("source", ["directory", "file"])
def test_files_of_earlier_jobs_are_refused_with_what_github_has_instead(
    deciding: Deciding, source: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        deciding.run(f'[baseline]\nsource = "{source}"\npath = "results"\n')
    assert raised.value.message.endswith("a job on GitHub does not keep files for the next one")
    assert "benchgate.toml:2: baseline.source" in raised.value.message
    assert 'source = "auto"' in raised.value.hint
    assert deciding.changes == []


@pytest.mark.parametrize(
    ("found", "words", "details"),
    [
        (StoredResults("artifact"), "the base has no benchmarks", ""),
        (
            StoredResults("artifact", warnings=("no stored results: GET /x: GitHub answered 403",)),
            "no stored results: GET /x: GitHub answered 403",
            "",
        ),
        (
            StoredResults("artifact", skipped=(SkippedResult("artifact 7", OF_PULL_REQUEST),) * 6),
            "6 stored results cannot be used",
            "6 results: its run was for a pull request; for example artifact 7",
        ),
        (
            StoredResults("artifact", skipped=(SkippedResult("artifact 8", "damaged"),)),
            "1 stored result cannot be used",
            "artifact 8: damaged",
        ),
    ],
)
def test_a_required_baseline_that_cannot_be_had_says_why(
    deciding: Deciding, found: StoredResults, words: str, details: str
) -> None:
    deciding.found = found
    with pytest.raises(BaselineError, match="there is nothing to compare with") as raised:
        deciding.run(BY_STORED)
    assert raised.value.message.startswith("there is nothing to compare with, but ")
    assert raised.value.message.endswith(f"baseline.required requires it: {words}")
    assert raised.value.details.startswith(details)
    assert raised.value.exit_code == 6
