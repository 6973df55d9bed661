from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.ci.publishing import GATE, LAX, WAIVED
from tests.contract.client import client_of
from tests.contract.conftest import github
from tests.contract.faults import Fault
from tests.contract.records import ARTIFACTS_KEPT, START, Artifact
from tests.contract.scene import BASELINE, HELLO, MAIN_RUN, PERSONAL_TOKEN, PULL_RUN, zip_of
from tests.results import MEMBER, arm, as_archive, kept, measured

from benchgate.ci.replay import config_of, replay
from benchgate.config import policy_from
from benchgate.config.load import loads
from benchgate.errors import ConfigError, FormatError, GitHubError, UsageError
from benchgate.gate.verdict import judge
from benchgate.github.client import RunUrl
from benchgate.model.policy import OVERRIDES, Options, Outcome, Policy
from benchgate.model.result import Screening, Shard, SkippedResult, StoredRun, join
from benchgate.model.run import Tier
from benchgate.model.verdict import VERDICT

if TYPE_CHECKING:
    from tests.contract.server import GitHubServer

    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict

__all__ = ["github"]

RUN = PULL_RUN.id
RESULT = "benchgate-result.default.linux-x86_64"
STRICT_DOCUMENT, LAX_DOCUMENT = (kept("benchgate.toml", text) for text in (GATE, LAX))


def slower(policy: Policy | None, **more: Any) -> Result:  # noqa: ANN401 - any field of the result
    """Benchmark `a` takes twice as long, `b` as long as before."""
    return measured({"a": 1e-3, "b": 1e-3}, {"a": 2e-3, "b": 1e-3}, policy=policy, **more)


def leave(server: GitHubServer, data: bytes | Result, name: str = RESULT, **more: Any) -> None:  # noqa: ANN401 - any field
    """Have the run leave an artifact."""
    archive = data if isinstance(data, bytes) else as_archive(data)
    id_ = server.state.new_id()
    server.state.put(Artifact(**{"id": id_, "run_id": RUN, "name": name, "data": archive, **more}))


def again(
    server: GitHubServer,
    name: str | None = None,
    run_id: int = RUN,
    attempt: int | None = None,
) -> Verdict:
    url = RunUrl(server.api_url, HELLO.full_name, run_id, attempt)
    return replay(url, client_of(server, PERSONAL_TOKEN), name=name)[0]


def replayed(server: GitHubServer, result: Result) -> Verdict:
    leave(server, result)
    return again(server)


@pytest.mark.parametrize(
    ("policy", "exit_code"),
    [
        (None, 3),
        (Policy(None, None), 3),
        (Policy(STRICT_DOCUMENT, None), 3),
        (Policy(LAX_DOCUMENT, None), 0),
        (Policy(LAX_DOCUMENT, STRICT_DOCUMENT), 3),
        (Policy(STRICT_DOCUMENT, LAX_DOCUMENT), 0),
        # It has a configuration that says nothing, and its defaults decide.
        (Policy(LAX_DOCUMENT, kept("b1c2d3e:benchgate.toml", "")), 3),
        (Policy(None, LAX_DOCUMENT), 0),
        # An option is no part of the change: it holds over both.
        (Policy(STRICT_DOCUMENT, None, Options(margin="300%")), 0),
        (Policy(STRICT_DOCUMENT, STRICT_DOCUMENT, Options(margin="300%")), 0),
        (Policy(LAX_DOCUMENT, LAX_DOCUMENT, Options(margin="2%")), 3),
        (Policy(STRICT_DOCUMENT, STRICT_DOCUMENT, Options(alpha=1e-9)), 4),
        (Policy(STRICT_DOCUMENT, None, Options(fail_on=("missing",))), 0),
        (Policy(STRICT_DOCUMENT, None, Options(rule="classical")), 3),
        (Policy(kept("pyproject.toml", "[tool.benchgate.gate]\nmargin = '300%'"), None), 0),
        (Policy(kept("pyproject.toml", "[project]\nname = 'x'"), None), 3),
    ],
)
def test_a_verdict_is_made_by_what_it_was_made_by(
    github: GitHubServer, policy: Policy | None, exit_code: int
) -> None:
    verdict = replayed(github, slower(policy))
    assert verdict.exit_code == exit_code
    has_base = bool(policy and policy.base)
    assert verdict.settings.policy == ("base" if has_base else "head")


def test_every_option_is_laid_over(github: GitHubServer) -> None:
    options = Options(
        rule="classical",
        alpha=0.05,
        margin="7%",
        fail_on=("missing",),
        budget="5m",
        rounds=9,
        seed=3,
        lanes="2",
        counter="valgrind",
        explain=False,
        baseline="git:v1",
    )
    config = config_of(Policy(STRICT_DOCUMENT, STRICT_DOCUMENT, options))
    assert (config.gate.rule, config.gate.alpha, config.gate.margin) == ("classical", 0.05, 0.07)
    assert (config.gate.fail_on, config.gate.statistics) == (("missing",), ("p25",))
    assert (config.measure.budget_s, config.measure.rounds, config.measure.seed) == (300, 9, 3)
    assert (config.measure.lanes, config.measure.counter) == (2, "valgrind")
    assert not config.measure.explain
    assert (config.baseline.source, config.baseline.against) == ("git", "v1")
    decided = config_of(Policy(None, None, Options(until_decided=True)))
    assert decided.measure.until_decided
    assert options.given().keys() == OVERRIDES.keys() - {"until_decided", "against"}
    assert replayed(github, slower(Policy(None, None, options))).settings.alpha == 0.05


def test_it_is_the_same_verdict_to_the_last_byte(github: GitHubServer) -> None:
    policy = Policy(kept("benchgate.toml", LAX + WAIVED), kept("b1c2d3e:x.toml", GATE))
    result = slower(policy, warnings=("careful",), duration_s=12.5)
    head, base = loads(LAX + WAIVED, "benchgate.toml"), loads(GATE, "b1c2d3e:x.toml")
    config = policy_from(base, head)
    first = judge(result, config)
    verdict = replayed(github, result)
    assert VERDICT.write(verdict, str) == VERDICT.write(first, str)
    assert {change.key for change in verdict.policy_changes} == {"gate.margin", "waive[0]"}


@pytest.mark.parametrize(
    ("started", "base", "head", "outcome"),
    [
        ("2026-01-02T23:59:59Z", GATE + WAIVED, GATE, Outcome.WAIVED),
        ("2026-01-03T00:00:00Z", GATE + WAIVED, GATE, Outcome.REGRESSED),
        ("2026-01-02T00:00:00Z", GATE, GATE + WAIVED, Outcome.REGRESSED),
        ("2026-01-02T00:00:00Z", None, GATE + WAIVED, Outcome.WAIVED),
    ],
)
def test_waivers_hold_on_the_day_of_the_measurement(
    github: GitHubServer, started: str, base: str | None, head: str, outcome: Outcome
) -> None:
    policy = Policy(kept("head", head), kept("base", base) if base else None)
    result = slower(policy)
    result = replace(result, head=replace(result.head, started=started))
    rows = {row.benchmark: row.outcome for row in replayed(github, result).rows}
    assert rows["a"] is outcome


def test_what_stored_runs_said_first_counts_again(github: GitHubServer) -> None:
    policy = Policy(STRICT_DOCUMENT, None)
    earlier = tuple(
        StoredRun(
            f"artifact {day}",
            "the base commit's own run",
            arm({"a": 1e-3, "b": 1e-3}, started=f"2025-12-{28 - day:02}T00:00:00Z"),
        )
        for day in range(12)
    )
    alone = arm({"a": 2e-3, "b": 1e-3})
    screening = Screening(
        alone, earlier, (SkippedResult("artifact 99", "it has expired"),), ("hm",)
    )
    both = replace(measured({"a": 1e-3}, {"a": 2e-3}), screening=screening, policy=policy)
    verdict = replayed(github, both)
    rows = {row.benchmark: (row.outcome, row.tier) for row in verdict.rows}
    assert rows == {
        "a": (Outcome.REGRESSED, Tier.LOCKSTEP),
        "b": (Outcome.UNCHANGED, Tier.STORED),
    }
    assert verdict.skipped == screening.skipped
    assert "hm" in verdict.warnings


def test_a_first_run_needs_no_base(github: GitHubServer) -> None:
    screening = Screening(arm({"a": 1e-3}), (), is_first=True)
    result = replace(
        measured({"a": 1e-3}), base=None, screening=screening, policy=Policy(None, None)
    )
    verdict = replayed(github, result)
    assert [row.outcome for row in verdict.rows] == [Outcome.NEW]
    assert verdict.exit_code == 0


def test_joined_parts_are_a_whole(github: GitHubServer) -> None:
    parts = [
        replace(measured({"a": 1e-3}, {"a": 2e-3}), shard=Shard(1, 2, ("a", "b"))),
        replace(measured({"b": 1e-3}), shard=Shard(2, 2, ("a", "b"))),
    ]
    joined = join([(f"part {i}", one) for i, one in enumerate(parts)])
    verdict = replayed(github, replace(joined, policy=Policy(STRICT_DOCUMENT, None)))
    assert verdict.exit_code == 3
    assert verdict.settings.correction == "holm, bonferroni over 2 shards"


def test_one_arm_alone_cannot_be_judged(github: GitHubServer) -> None:
    with pytest.raises(UsageError, match="holds only one side"):
        replayed(github, replace(slower(None), base=None))


def test_of_several_results_one_must_be_named(github: GitHubServer) -> None:
    leave(github, slower(None))
    leave(github, slower(Policy(LAX_DOCUMENT, None)), "benchgate-result.slow.linux-x86_64")
    leave(github, b"", "benchgate-baseline.default.linux-x86_64")
    leave(github, b"", "dist")
    with pytest.raises(UsageError, match="left 2 results") as raised:
        again(github)
    assert raised.value.hint == (
        f"Name one of them with --artifact: {RESULT}, benchgate-result.slow.linux-x86_64"
    )
    assert again(github, RESULT).exit_code == 3
    assert again(github, "benchgate-result.slow.linux-x86_64").exit_code == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (None, "left no benchgate result"),
        ("nonsense", "left no artifact named 'nonsense'"),
        (BASELINE.name, "left no artifact named 'benchgate-baseline'"),
    ],
)
def test_a_run_that_left_no_result_is_named(
    github: GitHubServer, name: str | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        again(github, name, MAIN_RUN.id)
    assert raised.value.message.startswith(f"run {MAIN_RUN.id} of octo-org/hello left ")
    assert "the run's artifacts may also have expired" in raised.value.hint


def test_of_two_attempts_the_newest_counts(github: GitHubServer) -> None:
    leave(github, slower(None), created_at=START)
    leave(github, measured({"a": 1e-3}), created_at=START + ARTIFACTS_KEPT / 2)
    assert again(github).exit_code == 0


@pytest.mark.parametrize("attempt", [1, 3])
def test_an_attempt_that_is_not_the_newest_is_refused(github: GitHubServer, attempt: int) -> None:
    leave(github, slower(None))
    github.state.put(replace(PULL_RUN, attempt=2))
    with pytest.raises(
        UsageError, match=f"attempt {attempt} of run {RUN} .* attempt 2 is newer, and has"
    ):
        again(github, attempt=attempt)
    assert again(github, attempt=2).exit_code == 3
    assert again(github).exit_code == 3


def test_a_run_that_github_does_not_know_is_an_error(github: GitHubServer) -> None:
    with pytest.raises(GitHubError, match="404"):
        again(github, run_id=4)


def test_a_result_that_has_expired_is_an_error(github: GitHubServer) -> None:
    leave(github, slower(None), created_at=START - ARTIFACTS_KEPT, expires_at=START)
    with pytest.raises(GitHubError, match="has expired"):
        again(github)


def test_a_github_that_is_down_is_an_error(github: GitHubServer) -> None:
    github.faults.always("*", Fault(status=503))
    with pytest.raises(GitHubError, match="503"):
        again(github)


@pytest.mark.parametrize("data", [b"no zip", zip_of({MEMBER: b"{}"}), zip_of({"x": b""})])
def test_what_is_no_result_is_an_error(github: GitHubServer, data: bytes) -> None:
    leave(github, data)
    with pytest.raises(FormatError, match=r"benchgate-result\.default"):
        again(github)


@pytest.mark.parametrize(
    ("policy", "place"),
    [
        (
            Policy(kept("perf/benchgate.toml", "[gate]\ngone = 1\n"), None),
            r"perf/benchgate\.toml:2: gate\.gone",
        ),
        (
            Policy(None, kept("b1c2d3e:benchgate.toml", "[old]\nkey = 1\n")),
            r"b1c2d3e:benchgate\.toml:1: old",
        ),
        (Policy(None, None, Options(margin="many")), "--margin"),
    ],
)
def test_a_configuration_that_is_known_no_more_is_named(
    github: GitHubServer, policy: Policy, place: str
) -> None:
    leave(github, slower(policy))
    with pytest.raises(ConfigError, match=place):
        again(github)
