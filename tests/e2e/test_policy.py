"""What is allowed, for how long, and by whom: waivers, aliases, and the base's configuration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from benchgate.cli.world import configuration, real_effects
from benchgate.model.policy import Outcome
from benchgate.model.verdict import Decision
from benchgate.session.checking import CheckRequest, check

if TYPE_CHECKING:
    import pytest
    from tests.e2e.conftest import Program, Project

    from benchgate.model.verdict import Verdict

# One row: eight rounds reach p = 1/256.
ROUNDS = ("--rounds", "8")


WAIVER = {
    "outcome": "regressed",
    "ceiling": 9.0,
    "until": "2099-12-31",
    "reason": "three times the work",
    "accepted": None,
}


def waive(ceiling: str, until: str) -> str:
    return (
        f'[[waive]]\nbenchmark = "toy/*"\nceiling = "{ceiling}"\nuntil = {until}\n'
        'reason = "three times the work"\n\n'
    )


def test_a_regression_is_waived_and_shown(benchgate: Program, toy: Project) -> None:
    toy.configure(waive("900%", "2099-12-31"))
    toy.slow_down()
    outputs = ("--output", "../result.json", "--json", "../verdict.json")
    done = benchgate(toy.root, "check", *ROUNDS, *outputs)
    done.check(0)
    assert "Slower, but waived: toy/work +" in done.out.splitlines()[0]
    assert "# waived up to 900 % until 2099-12-31: three times the work" in done.out
    rows = json.loads((toy.root.parent / "verdict.json").read_text())["rows"]
    assert [(row["outcome"], row["waiver"]) for row in rows] == [("waived", WAIVER)]
    replayed = benchgate(toy.root, "compare", "--json", "-", "../result.json")
    replayed.check(0)
    assert json.loads(replayed.out)["rows"] == rows

    toy.configure(waive("10%", "2099-12-31"))
    beyond = benchgate(toy.root, "compare", "../result.json")
    beyond.check(3)
    assert "beyond the waiver of 10 % until 2099-12-31" in beyond.out

    toy.configure(waive("900%", "2020-12-31"))
    expired = benchgate(toy.root, "compare", "../result.json")
    expired.check(3)
    assert 'the waiver of "toy/*" expired on 2020-12-31: delete it' in expired.out


def test_aliases_join_what_was_renamed(benchgate: Program, toy: Project) -> None:
    toy.write({"benchmarks/bench_other.py": "def bench_before():\n    return sum(range(500))\n"})
    toy.commit()
    toy.write({"benchmarks/bench_other.py": "def bench_after():\n    return sum(range(500))\n"})
    toy.git.run("mv", "benchmarks/bench_toy.py", "benchmarks/bench_moved.py")
    aliases = '[aliases]\n"toy/work" = "moved/work"\n"other/before" = "other/after"\n'
    toy.configure(aliases + waive("900%", "2099-12-31").replace("toy/*", "tyo/work"))
    done = benchgate(toy.root, "check", "--all", "--json", "-", "--rounds", "1")
    assert done.out, done.err
    verdict = json.loads(done.out)
    rows = verdict["rows"]
    assert {row["benchmark"]: row["renamed_from"] for row in rows} == {
        "moved/work": "toy/work",
        "other/after": "other/before",
    }
    assert {row["outcome"] for row in rows} == {"not tested"}  # one round, but compared
    waiver = 'waive[0].benchmark = "tyo/work": matches no benchmark; did you mean'
    assert [warning for warning in verdict["warnings"] if waiver in warning]


def test_a_change_is_judged_by_its_base(toy: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(toy.root)
    toy.configure("rounds = 8\n")
    toy.commit()
    toy.slow_down()
    lax = (toy.root / "benchgate.toml").read_text().replace("[gate]\n", '[gate]\nmargin = "900%"\n')
    toy.write({"benchgate.toml": lax})

    def judged(policy: Literal["base", "head"]) -> Verdict:
        config = configuration(toy.root, toy.git, None)
        request = CheckRequest(policy=policy)
        return check(request, config, toy.git, real_effects(quiet=True))[0]

    own, bases = judged("head"), judged("base")
    assert (own.decision, own.rows[0].outcome) == (Decision.PASS, Outcome.UNCHANGED)
    assert (bases.decision, bases.rows[0].outcome) == (Decision.FAIL, Outcome.REGRESSED)
    assert (own.settings.policy, bases.settings.policy) == ("head", "base")
    assert own.policy_changes == ()
    (change,) = bases.policy_changes
    assert (change.key, change.after, change.place) == ("gate.margin", "900 %", "benchgate.toml:2")

    # The base's cannot be read any more.
    toy.write({"benchgate.toml": "[gate]\nmargn = 2\n"})
    toy.commit()
    toy.write({"benchgate.toml": lax})
    unread = judged("base")
    assert (unread.settings.policy, unread.decision) == ("head", Decision.PASS)
    assert any("because the base's is not" in warning for warning in unread.warnings)
