"""The pages that are opened: of every state of a verdict, of results, and of many benchmarks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from tests.loads import measured_step
from tests.report.conftest import changed, inconclusive, unchanged, verdict
from tests.results import arm

from benchgate.config import loads
from benchgate.describe.figures import figures_of
from benchgate.describe.result_statistics import describe
from benchgate.gate.verdict import judge
from benchgate.model.calls import CallTree, ObservedFunction
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Metric
from benchgate.model.policy import Outcome
from benchgate.model.result import Result
from benchgate.model.run import BenchmarkResult, Run, Series, Tier
from benchgate.model.verdict import Decision
from benchgate.page.plots import plots
from benchgate.page.report import render_report
from benchgate.page.run_page import render_run
from benchgate.report.arrangement import arrange

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.model.verdict import Verdict
    from benchgate.page.charts import Chart

# Nothing of these is removed from a name: a reader sees them as they are.
HOSTILE: Final = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "' onmouseover='alert(3)' x='",
    "</script><script>alert(4)</script>",
    "</details></table></main><svg onload=alert(5)>",
    "{{7*7}} {% raw %} ${alert(6)}",
    "javascript:alert(7)",
    "größe/überall 漢字 🐌🚀",
    "מהירות/מיון[גודל=10]",
    "سرعة/فرز[حجم=10]",
    "<!-- --> <![CDATA[ ]]> &lt;b&gt;",
    "a/b\\c|d `e` *f* _g_",
)
LONG: Final = "x" * 10_000
# What is invisible, or turns other text around, is left out of the page.
UNSEEN: Final = "\u202egnp.exe\u2066a\u200bb\u00ad\ufeff\x1b[31m"


def verdict_of(result: Result) -> Verdict:
    """The verdict on a result of both sides."""
    config = loads("", "benchgate.toml")
    return judge(result, config)


def judged(result: Result) -> str:
    """The page of a result of both sides."""
    return render_report(verdict_of(result), figures_of(result), str)


def first_charts(result: Result) -> dict[str, Chart]:
    """The charts of the benchmark that the page has first, by their keys in the page."""
    arranged = arrange(verdict_of(result))
    first = next(iter((*arranged.shown, *(rows for group in arranged.folded for rows in group))))
    own = figures_of(result)[first[0].benchmark]
    return {f"b1-{index}": one.chart for index, one in enumerate(plots(own, str, first))}


def python_run(names: Mapping[str, float], seed: int) -> Run:
    """What functions leave that take about so many seconds: three metrics, 40 samples a launch."""
    rng = np.random.default_rng(seed)

    def series(metric: Metric, scale: float, count: int) -> Series:
        every = (
            Launch(r, 0, scale * rng.lognormal(0, 0.03, count), scale * rng.lognormal(0.4, 0.1, 5))
            for r in range(12)
        )
        return Series(metric, 1, tuple(every))

    return arm(
        {},
        benchmarks=tuple(
            BenchmarkResult(
                name,
                "w",
                Tier.LOCKSTEP,
                (
                    series(Metric("time", "s"), value_s, 40),
                    series(Metric("cpu_time", "s"), value_s, 40),
                    series(Metric("peak_rss", "B"), 5e7, 1),
                ),
            )
            for name, value_s in names.items()
        ),
    )


def measured() -> Result:
    """Four benchmarks: one is slower, one is faster."""
    names = {"parse/large": 1e-3, "parse/small": 2e-5, "sort[n=1000]": 3e-4, "template": 5e-3}
    return Result(
        head=python_run(names | {"parse/large": 1.2e-3, "template": 4e-3}, 2),
        base=python_run(names, 1),
    )


def explained() -> Result:
    """The same, with what the slower one calls on both sides."""

    def calling(run: Run, *calls: tuple[int, str, int, float]) -> Run:
        functions = tuple(
            ObservedFunction("m.py", 1, name, own_ms / 1e3, is_own=True)
            for _, name, _, own_ms in calls
        )
        nodes = tuple((above, at, count) for at, (above, _, count, _) in enumerate(calls))
        first, *others = run.benchmarks
        observed = replace(first, calls={"time": CallTree(1, functions, nodes)})
        return replace(run, benchmarks=(observed, *others))

    result = measured()
    assert result.base is not None
    bench, load, parse = (-1, "bench", 1, 0.1), (0, "load", 1, 0.4), (0, "parse", 1, 0.5)
    base = calling(result.base, bench, load, parse)
    return replace(
        result, base=base, head=calling(result.head, bench, load, parse, (2, "compile", 20, 0.02))
    )


def _hostile() -> Result:
    names = dict.fromkeys((*HOSTILE, LONG, UNSEEN), 1e-3)
    return Result(
        head=python_run(dict.fromkeys(names, 1.2e-3), 2),
        base=python_run(names, 1),
    )


def scenario() -> Result:
    """Two steps under load, of which one is slower."""

    def run(slower: float) -> Run:
        rng = np.random.default_rng(7)
        steps = (
            measured_step(rng, slower, rounds=8, id_="orders/lookup"),
            measured_step(rng, rounds=8, stall=True, failing=3, id_="orders/insert"),
        )
        return replace(arm({}), benchmarks=steps)

    return Result(head=run(1.5), base=run(1.0))


def many(count: int) -> Result:
    """So many benchmarks, three of them slower."""
    names = {f"group{i // 50}/bench_{i:04}[size={i * 7}]": 1e-5 * (1 + i % 9) for i in range(count)}
    slow = {name: names[name] * 1.3 for name in list(names)[:3]}
    return Result(head=python_run(names | slow, 2), base=python_run(names, 1))


def _hostile_verdict() -> str:
    rows = (
        changed(UNSEEN, Outcome.REGRESSED, 1.3, error=LONG, notes=HOSTILE, location=HOSTILE[1]),
        changed(HOSTILE[3], Outcome.FAILED, 1.1, error="\n".join(HOSTILE)),
        inconclusive(HOSTILE[5]),
        unchanged(LONG),
    )
    return render_report(verdict(Decision.FAIL, *rows, warnings=HOSTILE), None, str)


def _alone() -> str:
    result = Result(head=measured().head)
    return render_run(describe(result), figures_of(result), str)


def _scenario_alone() -> str:
    result = Result(head=scenario().head)
    return render_run(describe(result), figures_of(result), str)


# Beside the states of verdicts, which hold no samples.
PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "measured": lambda: judged(measured()),
    "explained": lambda: judged(explained()),
    "scenario": lambda: judged(scenario()),
    "alone": _alone,
    "scenario-alone": _scenario_alone,
    "hostile-names": lambda: judged(_hostile()),
    "hostile-verdict": _hostile_verdict,
    "thousand": lambda: judged(many(1000)),
}
