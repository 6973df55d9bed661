"""Verdicts of every state, as a gate would hand them over."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from benchgate.gate.other_files import TOGETHER
from benchgate.interval import Interval
from benchgate.model.environment import Environment
from benchgate.model.metrics import Better
from benchgate.model.policy import Outcome, PolicyChange, Waiver
from benchgate.model.result import SkippedResult
from benchgate.model.row import Classical, Comparison, Effect, RatioEstimate, Row, Significance
from benchgate.model.run import BenchmarkFiles, Source, Tier
from benchgate.model.verdict import NO_BASELINE, Decision, GateSettings, Reason, Verdict
from benchgate.report.terminal import render_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.report.view import VerdictView

BASE = Source(sha="a1b2c3d4e5f60718293a4b5c6d7e8f9012345678", why="merge base with main")
HEAD = Source(sha="e4f5a6b7c8d90112233445566778899aabbccdde", ref="HEAD", dirty=True)
MACHINE = Environment(os="Debian GNU/Linux 12", cpu_model="AMD EPYC 7763", cpu_count=4)


def changed(benchmark: str, outcome: Outcome, ratio: float, **more: Any) -> Row:  # noqa: ANN401 - any field of Row
    """A row on ratio +- 2.3 points, confirmed on 12 rounds."""
    row = Row(
        benchmark,
        outcome,
        metric="time",
        statistic="p25",
        unit="s",
        base=0.0123,
        head=0.0123 * ratio,
        ratio=ratio,
        interval=(ratio - 0.023, ratio + 0.023),
        margin=0.02,
        p=0.5**12,
        p_adjusted=0.5**12 * 10,
        launches=(12, 12),
        tier=Tier.LOCKSTEP,
        test="wilcoxon",
        detectable=1.016,
        classical=Classical(p=3.1e-5, p95_ratio=ratio + 0.005, result="slower"),
    )
    row = replace(row, **more)
    # The medians know nothing of the rounds, and differ from what the row shows.
    return replace(row, base_median=row.base, head_median=row.head and 0.99 * row.head)


def unchanged(benchmark: str) -> Row:
    return changed(
        benchmark,
        Outcome.UNCHANGED,
        1.001,
        interval=(0.993, 1.009),
        p=None,
        p_adjusted=None,
        launches=(10, 10),
        classical=Classical(p=0.61, p95_ratio=1.004, result="same"),
    )


def same_code(benchmark: str) -> Row:
    return Row(benchmark, Outcome.SAME_CODE)


def only_shown(benchmark: str, outcome: Outcome, **more: Any) -> Row:  # noqa: ANN401 - any field of Row
    """A row of a benchmark that did not run with the files that decide."""
    decided = {"p": None, "p_adjusted": None, "test": None, "detectable": None, "classical": None}
    return changed(benchmark, outcome, more.pop("ratio", 10.0), **decided, **more)


def inconclusive(benchmark: str) -> Row:
    return changed(
        benchmark,
        Outcome.INCONCLUSIVE,
        1.017,
        interval=(0.98, 1.052),
        p=0.08,
        p_adjusted=None,
        detectable=1.038,
        rounds_needed=18,
    )


def tail(row: Row, outcome: Outcome, **more: Any) -> Row:  # noqa: ANN401 - any field of Row
    settled = {"statistic": "p95", "margin": 0.05, "p": None, "p_adjusted": None}
    return changed(row.benchmark, outcome, 1.012, **(settled | more))


def verdict(decision: Decision, *rows: Row, exit_code: int = 0, **more: Any) -> Verdict:  # noqa: ANN401 - any field of Verdict
    plain = Verdict(
        decision,
        exit_code,
        summary="",
        base=BASE,
        head=HEAD,
        settings=GateSettings(),
        rows=rows,
        environment=MACHINE,
        started="2026-01-02T03:04:05Z",
        duration_s=42.0,
        rounds=12,
    )
    return replace(plain, **more)


NAMES = ("json/dumps", "json/loads", "re/match", "sha256", "sort", "sqlite/insert", "template")
CLEAN = tuple(unchanged(name) for name in NAMES)
TRACEBACK = """\
ValueError: the fixture is gone
Traceback (most recent call last):
  File "benchmarks/bench_db.py", line 12, in bench_insert
    insert(load())
\x1b[31mValueError\x1b[0m: the fixture is gone"""

NASTY = "@octocat <!-- x --> | `#1` https://evil.example\x1b[2J"
HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    "a|b|c\\|d",
    "`code` ``more``",
    "@octocat please review #123 GH-7",
    "[click](https://evil.example) www.evil.example me@evil.example",
    "<!-- benchgate:marker --> ![x](http://evil.example/x.png)",
    "\x1b[31mred\x1b[0m\nnew line\r\x00\u202egnp.exe",
    "x" * 5000,
    "",
)


def _estimate(name: str, ratio: float, low: float, high: float, method: str) -> RatioEstimate:
    return RatioEstimate(name, ratio, Interval(low, high, 0.95, method))


COMPARED = Comparison(
    launches=(17, 17),
    ratios=(
        _estimate("Hodges-Lehmann, of rounds", 1.146, 1.123, 1.169, "inverted rank test"),
        _estimate("geometric mean, of rounds", 1.149, 1.119, 1.18, "t on logs"),
        _estimate("Hodges-Lehmann, of launches", 1.144, 1.101, 1.19, "inverted rank test"),
        _estimate("geometric mean, of launches", 1.149, 1.09, 1.211, "Welch t on logs"),
        _estimate("p95 of all samples", 1.187, 0.974, 1.402, "hierarchical bootstrap"),
    ),
    tests=(
        Significance("Wilcoxon signed rank", 0.000488, 0.000244, 1.0),
        Significance("t of log ratios", 3.2e-7, 1.6e-7, 1.0),
        Significance("Mann-Whitney, exact", 0.0018, 0.0009, 0.99912),
        Significance("Mann-Whitney, continuity corrected", 0.0029, 0.0015, 0.9987),
        Significance("Mann-Whitney, textbook", 0.0027),
        Significance("Welch's t of logs", 0.0021, 0.0011, 0.9989),
    ),
    effect=Effect(0.722, 0.861, 1.42, 1.37, "large"),
    q=0.0015,
    power=0.8,
    detectable_ratio=1.013,
    launches_needed=9,
)
# Arms measured apart, of one launch each.
COMPARED_ONCE = Comparison(
    launches=(1, 1),
    ratios=(
        RatioEstimate("Hodges-Lehmann, of launches", 26.0),
        RatioEstimate("geometric mean, of launches", 26.0),
        RatioEstimate("p95 of all samples", 25.0),
    ),
    tests=(
        Significance("Mann-Whitney, exact", 1.0, 0.5, 1.0),
        Significance("Mann-Whitney, continuity corrected", 1.0, 0.5, 0.8413),
        Significance("Mann-Whitney, textbook", 0.3173),
    ),
    effect=Effect(1.0, 1.0, None, None, "large"),
    q=1.0,
    power=0.8,
    detectable_ratio=None,
    launches_needed=None,
    notes=("a rank interval needs 4 v 4 launches, not 1 v 1",),
)


def _hostile(text: str) -> Comparison:
    return Comparison(
        launches=(2, 3),
        ratios=(RatioEstimate(text, 1e300, Interval(0.0, 1.7e308, 0.95, text)),),
        tests=(Significance(text, 0.0),),
        effect=Effect(-1.0, 0.0, -1e300, -9.5e299, text),
        q=None,
        power=0.8,
        detectable_ratio=1.0,
        launches_needed=None,
        notes=(text,),
    )


def limited(benchmark: str, outcome: Outcome, ratio: float) -> Row:
    """A row of the limit 20 ms."""
    return Row(
        benchmark,
        outcome,
        "time",
        "median limit",
        "s",
        base=0.02,
        head=0.02 * ratio,
        ratio=ratio,
        interval=(ratio - 0.02, ratio + 0.02),
        launches=(0, 12),
        test="limit",
        notes=("the limit is at most 20ms",),
    )


def _samples() -> dict[str, Verdict]:
    slow = changed("parse/large", Outcome.REGRESSED, 1.146, notes=("confirmed in 12 of 12 rounds",))
    failed = Row("db/insert", Outcome.FAILED, error=TRACEBACK, location="benchmarks/bench_db.py:10")
    memory = changed(
        "parse/large",
        Outcome.REGRESSED,
        1.31,
        metric="peak_rss",
        unit="B",
        base=52_000_000,
        head=68_120_000,
    )
    return {
        "pass": verdict(Decision.PASS, *CLEAN, *(tail(row, Outcome.UNCHANGED) for row in CLEAN)),
        "same-code": verdict(Decision.PASS, *CLEAN[:2], *map(same_code, NAMES[2:])),
        "all-same-code": verdict(Decision.PASS, *map(same_code, NAMES), rounds=0),
        "fail": verdict(
            Decision.FAIL,
            *CLEAN,
            tail(slow, Outcome.NOT_TESTED, notes=("needs 40 samples per launch",)),
            slow,
            changed("parse/small", Outcome.IMPROVED, 0.8),
            inconclusive("template/loop"),
            *(tail(row, Outcome.NOT_SETTLED, rounds_needed=9) for row in CLEAN),
            exit_code=3,
        ),
        "several": verdict(
            Decision.FAIL,
            slow,
            memory,
            changed("parse/huge[n=1000000]", Outcome.REGRESSED, 26.0, interval=(24.0, 28.0)),
            changed(
                "queue/put",
                Outcome.REGRESSED,
                0.85,
                metric="throughput",
                unit="op/s",
                better=Better.HIGHER,
                base=120_000.0,
                head=102_000.0,
            ),
            Row(
                "sort",
                Outcome.REGRESSED,
                metric="allocations",
                statistic="exact",
                base=0.0,
                head=12.0,
                margin=0.0,
                launches=(12, 12),
                tier=Tier.LOCKSTEP,
                test="exact",
                notes=("from 0 to 12",),
            ),
            changed(
                "db/query",
                Outcome.WAIVED,
                1.06,
                waiver=Waiver(Outcome.REGRESSED, 0.1, "2026-12-31", "checksum added"),
            ),
            exit_code=3,
        ),
        "failed": verdict(Decision.FAIL, *CLEAN, failed, exit_code=5),
        "inconclusive": verdict(
            Decision.NO_VERDICT,
            inconclusive("sort"),
            replace(inconclusive("template"), rounds_needed=1, interval=None),
            Row(
                "slow/one",
                Outcome.NOT_TESTED,
                notes=("too few rounds to decide: 3 rounds, and a test needs 7",),
            ),
            unchanged("sha256"),
            settings=GateSettings(fail_on=("regressed", "failed", "inconclusive")),
            warnings=("the canary moved by 4 %: the machine was busy",),
            exit_code=4,
            reason=Reason.LEFT_OPEN,
        ),
        "missing-and-new": verdict(
            Decision.PASS,
            *CLEAN,
            Row("old/one", Outcome.MISSING),
            Row("new/one", Outcome.NEW),
        ),
        "edited": verdict(
            Decision.PASS,
            *CLEAN,
            replace(
                unchanged("edited/one"),
                notes=(
                    "the pull request edits this benchmark; its new version counts after the merge",
                    "its new version: 1.200 ms -> 1.210 ms (+0.83 %)",
                ),
            ),
            only_shown("new/slow", Outcome.NEW),
            only_shown(
                "together/one",
                Outcome.INCOMPARABLE,
                ratio=1.01,
                changed_together=True,
                notes=(f"{TOGETHER}: the base's version does not run on the head (TypeError: x)",),
            ),
            files=BenchmarkFiles.BASE,
        ),
        "base-failed": verdict(
            Decision.PASS,
            *CLEAN,
            replace(failed, outcome=Outcome.BASE_FAILED, notes=("crashed on the base",)),
        ),
        "incomparable": verdict(
            Decision.NO_VERDICT,
            Row("sort", Outcome.INCOMPARABLE, notes=("CPU: 'AMD EPYC 7763' and 'Xeon 8370C'",)),
            Row("sha256", Outcome.INCOMPARABLE),
            exit_code=4,
            reason=Reason.NOTHING_COMPARED,
        ),
        "nothing": verdict(
            Decision.NO_VERDICT, exit_code=4, rounds=0, reason=Reason.NOTHING_COMPARED
        ),
        "first-run": verdict(
            Decision.NO_VERDICT,
            *(Row(name, Outcome.NEW, tier=Tier.LOCKSTEP) for name in NAMES),
            base=Source(why="no run of main has left a result yet"),
            base_source=NO_BASELINE,
            reason=Reason.FIRST_RUN,
        ),
        "no-baseline": verdict(
            Decision.PASS,
            *CLEAN,
            skipped=(
                SkippedResult("benchgate-baseline.default.linux-x86_64 of run 7", "it has expired"),
                SkippedResult(
                    "benchgate-baseline.default.linux-x86_64 of run 8", "it is from a fork"
                ),
            ),
            warnings=("no stored result could be used: everything was measured here",),
        ),
        "fork": verdict(
            Decision.FAIL,
            *CLEAN,
            slow,
            exit_code=3,
            head=Source(sha=HEAD.sha, ref="octocat:patch-1"),
            warnings=("measured in a fork's own run, judged by the configuration of main",),
            policy_changes=(PolicyChange("gate.margin", "", "2 %", "20 %", "benchgate.toml:3"),),
        ),
        "waived": verdict(
            Decision.PASS,
            *CLEAN,
            changed(
                "db/insert",
                Outcome.WAIVED,
                1.12,
                waiver=Waiver(Outcome.REGRESSED, 0.2, "2026-12-31", "checksum added"),
            ),
            settings=GateSettings(fail_on=("regressed", "failed", "missing")),
        ),
        "loosened": verdict(
            Decision.FAIL,
            *CLEAN,
            changed(
                "db/insert",
                Outcome.REGRESSED,
                1.26,
                waiver=Waiver(Outcome.REGRESSED, 0.2, "2026-12-31", "checksum added"),
            ),
            replace(unchanged("db/put"), renamed_from="db/insert_many"),
            exit_code=3,
            settings=GateSettings(policy="base"),
            warnings=('a1b2c3d:benchgate.toml:20: waive[1]: the waiver of "sort" expired',),
            policy_changes=(
                PolicyChange("gate.margin", "", "2 %", "10 %", "benchgate.toml:3"),
                PolicyChange(
                    "waive[0]",
                    "db/insert*",
                    "up to 20 % until 2026-12-31",
                    "up to 30 % until 2026-12-31",
                    "benchgate.toml:9",
                ),
                PolicyChange("measure.budget", "", "10m", "1m", "benchgate.toml:14"),
                PolicyChange(
                    'aliases."db/insert_many"',
                    "",
                    "none",
                    "db/put",
                    "benchgate.toml:22",
                    in_force=True,
                ),
            ),
        ),
        "canary": verdict(
            Decision.NO_VERDICT,
            *CLEAN[1:],
            replace(
                inconclusive("json/dumps"), notes=("it looked slower, but the canary moved, too",)
            ),
            reason=Reason.DISTURBED,
            warnings=(
                "the canary, the same work on both sides, differed by +4.0 %: it was disturbed",
            ),
            exit_code=4,
        ),
        "limits": verdict(
            Decision.FAIL,
            *CLEAN[1:],
            limited(CLEAN[0].benchmark, Outcome.OVER_LIMIT, 1.15),
            CLEAN[0],
            limited(CLEAN[1].benchmark, Outcome.WITHIN_LIMIT, 0.8),
            limited(CLEAN[2].benchmark, Outcome.NOT_SETTLED, 1.01),
            exit_code=3,
        ),
        "undecided": verdict(
            Decision.NO_VERDICT,
            inconclusive("sort"),
            inconclusive("template"),
            Row(
                "slow/one",
                Outcome.NOT_TESTED,
                notes=("too few rounds to decide: 5 rounds, and a test needs 7",),
            ),
            tail(inconclusive("sort"), Outcome.UNCHANGED),
            reason=Reason.UNDECIDED,
        ),
        "interrupted": verdict(
            Decision.NO_VERDICT,
            changed(
                "parse/large",
                Outcome.INCONCLUSIVE,
                1.66,
                p_adjusted=None,
                launches=(3, 3),
                rounds_needed=9,
                notes=("looked slower at first; 3 of the 12 rounds that confirm it",),
            ),
            *CLEAN,
            reason=Reason.INTERRUPTED,
            complete=False,
            exit_code=4,
            rounds=8,
        ),
        "hostile": verdict(
            Decision.FAIL,
            *(
                changed(name, Outcome.REGRESSED, 1.1 + i / 100)
                for i, name in enumerate(HOSTILE_NAMES)
            ),
            Row(
                "@team/all",
                Outcome.FAILED,
                error="| @octocat <b>#1</b> <!-- x -->\n```\n</details>\x1b[2J\n~~~\n@octocat",
                notes=("see https://evil.example | $x$ *bold* @octocat",),
                renamed_from="@octocat <b>",
            ),
            changed(
                "waived",
                Outcome.WAIVED,
                1.1,
                waiver=Waiver(
                    Outcome.REGRESSED,
                    0.2,
                    "2026-12-31",
                    "</sub> @octocat #1 | https://evil.example",
                ),
            ),
            policy_changes=(PolicyChange(NASTY, NASTY, NASTY, NASTY, NASTY),),
            warnings=("<img src=x onerror=alert(1)> @octocat",),
            exit_code=3,
        ),
        "detailed": verdict(
            Decision.FAIL,
            *CLEAN[:2],
            replace(slow, detail=COMPARED),
            changed(
                "cli/start",
                Outcome.INCONCLUSIVE,
                26.0,
                interval=None,
                launches=(1, 1),
                tier=Tier.STORED,
                test="mann-whitney",
                detectable=None,
                advisory=True,
                detail=COMPARED_ONCE,
            ),
            changed("hostile", Outcome.IMPROVED, 0.5, detail=_hostile(" ".join(HOSTILE_NAMES[:7]))),
            exit_code=3,
        ),
        "many": verdict(
            Decision.FAIL,
            *(unchanged(f"group{i // 50}/bench_{i:03}[size={i * 7}]") for i in range(497)),
            *(changed(f"slow/bench_{i}", Outcome.REGRESSED, 1.05 + i / 20) for i in range(3)),
            exit_code=3,
        ),
    }


def printed_verdict(
    view: VerdictView, width: int | None, encoding: str = "utf-8", *, verbose: bool = False
) -> str:
    """What a command prints of a verdict, as `printed` does it."""

    def render(console: Console) -> None:
        console.file.write(render_verdict(view, console, verbose=verbose))

    return printed(render, width, encoding)


def printed(render: Callable[[Console], None], width: int | None, encoding: str = "utf-8") -> str:
    """What is printed on a terminal of this width, or in a pipe; no colours, no trailing space."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    terminal = width is not None
    console = Console(
        file=stream, width=width or 80, height=1000, force_terminal=terminal, color_system=None
    )
    render(console)
    stream.flush()
    text = raw.getvalue().decode(encoding)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


SAMPLES = _samples()  # of every state, by name


@pytest.fixture(scope="session")
def samples() -> Mapping[str, Verdict]:
    return SAMPLES


def golden(name: str, text: str) -> None:
    """Compare with a file in golden/, or write it where UPDATE_GOLDEN is set."""
    path = Path(__file__).parent / "golden" / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
