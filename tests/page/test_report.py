"""The page of a verdict: complete, harmless, and without any network."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.browser.samples import explained
from tests.loads import measured_step
from tests.page.html_page import HtmlPage, source
from tests.report.conftest import SAMPLES, changed, verdict
from tests.report.page import STATES
from tests.results import arm, measured, of_benchmarks, of_series, series_of

from benchgate.config import from_kept
from benchgate.describe.figures import figures_of
from benchgate.gate.verdict import judge
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import TIME, Metric
from benchgate.model.policy import Outcome
from benchgate.model.redact import Redactor
from benchgate.model.result import Result
from benchgate.model.row import Row
from benchgate.model.run import BenchmarkFiles, BenchmarkResult, Run, Series, Source, Tier
from benchgate.model.verdict import Decision
from benchgate.page import plots, report
from benchgate.page.provenance import decided
from benchgate.page.report import render_report
from benchgate.report.links import Links

if TYPE_CHECKING:
    from benchgate.model.verdict import Verdict

ALLOWED = {
    *("html", "head", "meta", "title", "link", "style", "script", "body", "a", "header", "span"),
    *("nav", "button", "main", "footer", "div", "h1", "h2", "h3", "p", "section", "ul", "li"),
    *("form", "label", "input", "output", "table", "thead", "tbody", "tr", "th", "td", "bdi"),
    *("details", "summary", "dl", "dt", "dd", "pre", "code", "b", "figure", "figcaption"),
    *("svg", "defs", "g", "path", "text", "use", "noscript", "select", "option", "wbr"),
}
LINKS = Links(
    "https://github.com/o/r/actions/runs/1",
    "https://github.com/o/r/compare/a...b",
    "https://github.com/o/r/blob/abc",
)


def page_of(result: Result) -> tuple[Verdict, str]:
    config = from_kept(None)
    made = judge(result, config)
    return made, render_report(made, figures_of(result), str)


@pytest.mark.parametrize("state", STATES)
def test_only_own_markup_and_no_network(state: str) -> None:
    page = HtmlPage(render_report(SAMPLES[state], None, str))
    assert {tag for tag, _ in page.tags} <= ALLOWED
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert "src" not in attributes
        address = attributes.get("href", "#")
        assert address.startswith("#") or (tag, address) == ("link", "data:,")


def test_the_policy_allows_what_is_there_and_nothing_else() -> None:
    page = HtmlPage(render_report(SAMPLES["several"], None, str))
    assert page.policy() == (
        f"default-src 'none'; style-src {source(page.styles[0])}; "
        f"script-src {source(page.scripts[0])} {source(page.scripts[1])}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert len(page.styles) == 1
    assert len(page.scripts) == 2
    own = "".join((*page.styles, *page.scripts))
    assert set(re.findall(r"https?://[^\"'\s]+", own)) == {"http://www.w3.org/2000/svg"}
    assert "url(" not in own
    assert "@import" not in own


def test_a_flame_graph_that_fails_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    _, whole = page_of(explained())
    assert 'class="flames' in whole

    def broken(*_: object) -> object:
        raise RecursionError("too deep")

    monkeypatch.setattr(report, "flames", broken)
    _, without = page_of(explained())
    assert 'class="flames' not in without
    assert "No flame graph: benchgate itself failed there" in without


def test_links_go_only_to_what_was_given() -> None:
    page = HtmlPage(render_report(SAMPLES["failed"], None, str, links=LINKS))
    found = {x["href"] for tag, x in page.tags if tag == "a" and not x["href"].startswith("#")}
    assert found == {LINKS.run, LINKS.compare, f"{LINKS.tree}/benchmarks/bench_db.py#L10"}


def test_names_show_as_they_are() -> None:
    page = HtmlPage(render_report(SAMPLES["hostile"], None, str))
    for shown in (
        "<script>alert(1)</script>",
        "`code` ``more``",
        "<!-- benchgate:marker --> ![x](http://evil.example/x.png)",
        "<img src=x onerror=alert(1)> @octocat",
        "</sub> @octocat #1 | https://evil.example",
    ):
        assert shown in page.text


def test_a_name_stays_within_the_data_of_the_figures() -> None:
    nasty = "</script><script>alert(1)</script>\u2028"
    samples = np.linspace(1.0, 2.0, 60)
    series = series_of((samples + r for r in range(12)), metric=Metric(nasty, nasty))
    run = of_benchmarks(of_series(nasty, series))
    found, html = page_of(Result(head=run, base=run))
    page = HtmlPage(html)
    assert len(page.scripts) == 2
    assert any("</script><script>" in str(one) for one in page.data["shared"])
    assert len(found.rows) == len(page.lines()) > 0


def test_every_row_is_there_however_many() -> None:
    ids = {f"g/bench_{index}": 1e-3 for index in range(300)}
    found, html = page_of(measured(ids, ids | {"g/bench_7": 2e-3}))
    page = HtmlPage(html)
    assert len(page.lines()) == len(found.rows)
    assert {name for name, _ in page.lines()} == set(ids)
    assert "With more than 100 benchmarks" in page.text


def test_the_first_of_very_many_have_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (plots, report):
        monkeypatch.setattr(module, "MOST_DRAWN", 120)
    ids = {f"g/bench_{index}": 1e-3 for index in range(130)}
    _, html = page_of(measured(ids, ids | {"g/bench_77": 2e-3}))
    page = HtmlPage(html)
    assert {key.partition("-")[0] for key in page.data["charts"]} == {
        f"b{index}" for index in range(1, 121)
    }
    assert page.lines()[0][0] == "g/bench_77"
    assert "Only the first 120 benchmarks of this page have figures" in page.text


def rich_result(benchmarks: int) -> Result:
    """What Python functions leave: three metrics, of which the times have 40 samples."""
    rng = np.random.default_rng(1)

    def bench(index: int) -> BenchmarkResult:
        def launches(count: int) -> tuple[Launch, ...]:
            return tuple(
                Launch(r, 0, rng.lognormal(-7, 0.05, count), rng.lognormal(-7, 0.05, 5))
                for r in range(12)
            )

        metrics = (("time", "s", 40), ("cpu_time", "s", 40), ("peak_rss", "B", 1))
        series = tuple(Series(Metric(n, u), 1, launches(count)) for n, u, count in metrics)
        return BenchmarkResult(f"group/bench_{index}[n=1]", "w", Tier.LOCKSTEP, series)

    def run() -> Run:
        return of_benchmarks(*map(bench, range(benchmarks)))

    return Result(head=run(), base=run())


@pytest.mark.parametrize(("benchmarks", "most_bytes"), [(10, 2_500_000), (150, 2_500_000)])
def test_a_page_stays_small(benchmarks: int, most_bytes: int) -> None:
    found, html = page_of(rich_result(benchmarks))
    assert len(html.encode()) < most_bytes
    assert len(HtmlPage(html).lines()) == len(found.rows)


def test_figures_of_samples_and_loads() -> None:
    rng = np.random.default_rng(1)
    step = measured_step(rng, rounds=8)
    base = replace(arm({"a": 1e-3}), benchmarks=(*rich_result(1).head.benchmarks, step))
    _, html = page_of(Result(head=base, base=base))
    page = HtmlPage(html)
    titles = {one for one in page.data["shared"] if isinstance(one, str)}
    for title in (
        "Change in each round, typical (p25)",
        "Each launch, in order: time",
        "Distribution of time",
        "Histogram of time",
        "Warm-up of time",
        "Throughput and p95 over time",
        "Latencies",
    ):
        assert title in titles
    keys = {x["data-chart"] for tag, x in page.tags if tag == "figure"}
    assert keys == page.data["charts"].keys()
    assert all("caption" in chart for chart in page.data["charts"].values())
    (load,) = (
        chart
        for chart in page.data["charts"].values()
        if page.data["shared"][chart["title"]] == "Throughput and p95 over time"
    )
    assert "right" in load


def test_a_verdict_without_samples_says_where_they_are() -> None:
    page = HtmlPage(render_report(SAMPLES["fail"], None, str))
    assert "This page was made from a verdict, which holds no samples" in page.text
    assert page.data["charts"] == {}


def test_benchmarks_that_changed_together_are_one_line_with_links_to_each() -> None:
    rows = [changed(f"parser/{name}", Outcome.REGRESSED, 1.2) for name in "abc"]
    html = render_report(verdict(Decision.FAIL, *rows), None, str)
    (changes,) = re.findall('<ul class="changes">.*?\n</ul>', html, re.DOTALL)
    assert changes.count('<li class="row">') == 1
    assert "all 3 <code>parser/*</code>" in changes
    assert re.findall('<a href="#(b.)" dir="auto">parser/<wbr>(.)</a>', changes) == [
        ("b1", "a"),
        ("b2", "b"),
        ("b3", "c"),
    ]


def test_what_to_do_next_is_there() -> None:
    html = render_report(
        verdict(Decision.FAIL, changed("parse", Outcome.REGRESSED, 1.2)), None, str
    )
    commands = re.findall('<pre class="command"><code>(.*?)</code>', html, re.DOTALL)
    assert commands[0] == "benchgate check --against a1b2c3d4e5f6 \\\n  --filter parse"
    assert commands[1].startswith("[[waive]]\nbenchmark = &#34;parse&#34;")


def test_a_row_without_values_says_why_in_the_list() -> None:
    rows = (Row("a", Outcome.FAILED, error="ValueError: gone"), Row("b", Outcome.MISSING))
    html = render_report(verdict(Decision.FAIL, *rows), None, str)
    summaries = re.findall('<summary class="row">.*?</summary>', html, re.DOTALL)
    assert [re.findall('class="values why" dir="auto">(.*?)</span>', one) for one in summaries] == [
        ["ValueError: gone"],
        ["the head does not have it"],
    ]


def test_equal_tracebacks_are_shown_once() -> None:
    failed = next(row for row in SAMPLES["failed"].rows if row.error)
    alike = tuple(replace(failed, benchmark=f"db/{name}") for name in "abc")
    html = render_report(replace(SAMPLES["failed"], rows=alike), None, str)
    assert html.count("Traceback (most recent call last)") == 1
    assert html.count('Its output is the same as <a href="#b1">') == 2


def test_no_secret_anywhere() -> None:
    secret = "hunter2hunter2"  # noqa: S105 - made up
    redact = Redactor({"MY_TOKEN": secret})
    result = measured({f"db/{secret}": 1e-3})
    values = [1.0 + r * 1e-3 + (r % 2) for r in range(12)]
    named = tuple(
        series_of(values, samples=3, metric=metric)
        for metric in (TIME, Metric(f"m-{secret}", secret))
    )
    (one,) = result.head.benchmarks
    run = replace(
        result.head,
        source=Source(sha="a" * 40, why=f"because {secret}"),
        benchmarks=(replace(one, series=named, notes=(f"note {secret}",)),),
        environment=Environment(os=secret, toolchains={secret: secret}),
    )
    config = from_kept(None)
    whole = Result(head=run, base=run)
    html = render_report(judge(whole, config), figures_of(whole), redact)
    assert secret not in html
    assert "[removed]" in html
    assert json.dumps(HtmlPage(html).data).count("[removed]") > 0


@pytest.mark.parametrize(
    ("files", "source_", "said"),
    [
        (BenchmarkFiles.BASE, "git", None),
        (BenchmarkFiles.HEAD, "git", "Both sides ran the benchmark files of the head."),
        (BenchmarkFiles.OWN, "git", "Each side ran its own benchmark files."),
        (BenchmarkFiles.OWN, "file", None),
    ],
)
def test_it_says_whose_benchmark_files_ran_if_not_those_of_the_base(
    files: BenchmarkFiles, source_: str, said: str | None
) -> None:
    result, config = measured({"a": 1.0}), from_kept(None)
    judged = judge(result, config)
    found = decided(replace(judged, files=files, base_source=source_))
    assert [one for one in found if "benchmark files" in one] == ([said] if said else [])


def test_what_was_not_measured_is_one_line_and_its_names_are_folded() -> None:
    text = render_report(SAMPLES["same-code"], None, str)
    assert "5 of 7 benchmarks run no code that changed, and were not measured." in text
    listed, _, folded = text.partition("Benchmarks that were not measured")
    assert "sqlite/" not in listed
    assert "sqlite/" in folded
    assert "All measured benchmarks" in listed


def test_of_what_was_not_measured_no_rule_is_told() -> None:
    said = " ".join(decided(SAMPLES["all-same-code"]))
    assert said.startswith("No benchmark was measured, because none runs code that changed.")
    assert "at most" not in said
