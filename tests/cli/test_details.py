"""`show` and `compare` on results that were not measured but written down."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest

from benchgate.cli.last_result import last_result_path
from benchgate.files.writing import write_atomic
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Kind, Metric
from benchgate.model.result import Result
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Status, Tier
from benchgate.model.statistics import STATISTICS
from benchgate.model.verdict import VERDICT
from benchgate.stats.spread import OUTLIER_MODES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Call
    from tests.done import Done

    from benchgate.git.repository import Git

TIME = Metric("time", "s")
COUNT = Metric("alloc_blocks", "", kind=Kind.EXACT)
SOME = ("--detail", "--filter", "sort*")  # which is quicker
IDS = ("parse/large", "sort[n=10]", "sort[n=1000]")


def series_of(rng: np.random.Generator, level: float, samples: int) -> Series:
    """Twelve launches, of which some samples are disturbed."""
    launches = []
    for round_ in range(12):
        disturbed = 0.5 * (rng.random(samples) < 0.05)
        noise = rng.normal(0, 0.01) + rng.normal(0, 0.02, samples) + disturbed
        warmup = level * np.array([3.0, 1.5])
        launches.append(Launch(round_, round_ % 2, level * np.exp(noise), warmup))
    return Series(TIME, 10, tuple(launches))


def run_of(seed: int, *, change: float = 0.0, source: Source | None = None) -> Run:
    rng = np.random.default_rng(seed)
    counted = Series(COUNT, 1, (Launch(0, 0, np.array([1204.0]), np.empty(0)),))
    sampled = [
        series_of(rng, (1 + change) * level, samples)
        for level, samples in ((2e-3, 45), (1e-6, 12), (1e-4, 12))
    ]
    series = [(sampled[0], counted), (sampled[1],), (sampled[2],)]
    measured = [
        BenchmarkResult(id_, "w", Tier.LOCKSTEP, some)
        for id_, some in zip(IDS, series, strict=True)
    ]
    failed = BenchmarkResult(
        "db/insert", "w", Tier.LOCKSTEP, status=Status.FAILED, error="ValueError: gone"
    )
    return Run(
        source or Source(sha="1f3"),
        "2026-11-21T07:29:04Z",
        Environment(os="Debian", timer_cost_ns=50.0),
        (*measured, failed),
        seed=seed,
    )


def write(path: Path, result: Result) -> Path:
    write_atomic(path, encode_result(result, str))
    return path


@pytest.fixture
def result(tmp_path: Path) -> Path:
    """A result of one arm."""
    return write(tmp_path / "result.json.gz", Result(run_of(1), warnings=("the machine was busy",)))


@pytest.fixture
def checked(tmp_path: Path) -> Path:
    """A result of both arms, of which the head is slower by a tenth."""
    without_failure = [
        replace(run, benchmarks=run.benchmarks[:-1]) for run in (run_of(2), run_of(3, change=0.1))
    ]
    base, head = without_failure
    return write(tmp_path / "checked.json", Result(head, base=base, duration_s=42.0))


def document(done: Done) -> dict[str, Any]:
    """The JSON on standard output, where nothing else stands."""
    done.check(0)
    assert done.err == ""
    assert done.out.endswith("}\n")
    loaded: dict[str, Any] = json.loads(done.out)
    return loaded


def blocks(text: str) -> list[str]:
    """The first line of every block."""
    return [block.splitlines()[0] for block in text.split("\n\n")]


def test_show_is_a_line_for_each_metric(call: Call, result: Path) -> None:
    done = call(result.parent, "show", result)

    done.check(0)
    assert done.err == ""
    for id_ in IDS:
        assert re.search(rf"^{re.escape(id_)} +time +12 x (45|12) ", done.out, re.MULTILINE)
    assert "warning: the machine was busy" in done.out
    assert "ValueError: gone" in done.out
    assert "of all samples" not in done.out


def test_details_are_a_block_for_each_metric(call: Call, result: Path) -> None:
    done = call(result.parent, "show", "--detail", result)

    done.check(0)
    titles = blocks(done.out)
    for id_ in IDS:
        assert f"{id_}, time" in titles
    assert "sort, time, by its parameters" in titles
    assert done.out.count("12 launches x 45 samples of 10 operations: 540 samples") == 1
    assert done.out.count("12 launches x 12 samples of 10 operations: 144 samples") == 2
    for label in ("spread", "variation", "order", "within", "could see", "warm-up", "timer"):
        assert len(re.findall(rf"^{label} ", done.out, re.MULTILINE)) == 3
    assert re.search(r"^parse/large +alloc_blocks +1 x 1 ", done.out, re.MULTILINE)
    assert "the parameters matter (Mann-Whitney p < 0.0001; Kruskal-Wallis" in done.out
    assert "\x1b" not in done.out
    assert all(line == line.rstrip() for line in done.out.splitlines())


@pytest.mark.parametrize("mode", OUTLIER_MODES)
def test_outliers_are_left_out_as_asked(call: Call, result: Path, mode: str) -> None:
    done = call(result.parent, "show", "--detail", "--outliers", mode, "--json", "-", result)

    series = document(done)["runs"][0]["series"][0]["detail"]
    trimmed = series["trimmed"]
    left_out = (trimmed["dropped_low"], trimmed["dropped_high"])
    assert trimmed["mode"] == mode
    assert trimmed["mean"]["n"] == 540 - sum(left_out)
    match mode:
        case "none":
            assert left_out == (0, 0)
        case "top5":
            assert left_out == (0, 27)
        case "both5":
            assert left_out == (27, 27)
        case _:
            assert left_out[1] > 10
    # Only that mean leaves them out.
    assert series["full"]["n"] == 540
    assert series["quantiles"][-1]["value"] > 2.9e-3


def test_the_outliers_of_the_terminal_are_those_asked_for(call: Call, result: Path) -> None:
    mad = call(result.parent, "show", *SOME, "--outliers", "mad", result)
    none = call(result.parent, "show", *SOME, "--outliers", "none", result)

    assert "without outliers (mad)" in mad.out
    assert "without outliers" not in none.out
    assert "iqr" not in mad.out + none.out


def test_the_confidence_of_intervals_is_the_one_asked_for(call: Call, result: Path) -> None:
    ends = []
    for options in ((), ("--confidence", "0.99")):
        done = call(result.parent, "show", "--detail", *options, "--json", "-", result)
        detail = document(done)["runs"][0]["series"][0]["detail"]
        median = detail["quantiles"][2]["interval"]
        mean = detail["between"]["mean"]["interval"]
        assert median["confidence"] == mean["confidence"]
        ends.append((mean["confidence"], mean["low"], mean["high"]))
    (usual, low, high), (higher, lower, upper) = ends
    assert (usual, higher) == (0.95, 0.99)
    assert lower < low < high < upper
    shown = call(result.parent, "show", *SOME, "--confidence", "0.99", result)
    assert "99 % interval" in shown.out


def test_only_the_metrics_named_are_shown(call: Call, result: Path) -> None:
    plain = call(result.parent, "show", "--metric", "alloc_blocks", result)
    detailed = call(result.parent, "show", "--detail", "--metric", "time", result)
    both = ("--metric", "time", "--metric", "alloc_blocks")

    plain.check(0)
    assert re.search(r"^parse/large +alloc_blocks ", plain.out, re.MULTILINE)
    assert "time" not in plain.out
    assert "sort[n=10]" not in plain.out
    assert "ValueError: gone" in plain.out  # what failed is never left out
    assert "parse/large, time" in blocks(detailed.out)
    assert "alloc_blocks" not in detailed.out
    every = call(result.parent, "show", "--json", "-", result)
    assert call(result.parent, "show", *both, "--json", "-", result).out == every.out


def test_metrics_are_chosen_for_json_too(call: Call, checked: Path) -> None:
    arguments = ("show", "--detail", "--metric", "alloc_blocks", "--json", "-")
    found = document(call(checked.parent, *arguments, checked))

    for run in found["runs"]:
        assert {series["metric"] for series in run["series"]} == {"alloc_blocks"}
        assert run["grids"] == []


NONE = ("no benchmark matches prase/*", *IDS, "db/insert")
REFUSED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("--detail --outliers maad", ("--outliers", "maad", "'mad'")),
    ("--outliers mad", ("--outliers changes nothing without --detail", "hint: Add --detail")),
    ("--outliers iqr", ("--outliers changes nothing without --detail",)),
    ("--confidence 0.99", ("--confidence changes nothing without --detail", "hint: ")),
    ("--detail --confidence 95", ("--confidence",)),
    ("--detail --confidence 1", ("--confidence",)),
    ("--detail --confidence 0.4", ("--confidence",)),
    ("--detail --confidence nan", ("--confidence",)),
    ("--metric tiem", ("'tiem'; did you mean 'time'?", "Available: alloc_blocks, time.")),
    ("--metric time --metric Time", ("metric 'Time'",)),
    ("--metric alloc_blocks --filter sort*", ("'alloc_blocks'", "Available: time.")),
    ("--metric time --filter db/*", ("Available: none.",)),
    ("--filter prase/*", NONE),
    ("--filter prase/* --detail", NONE),
    ("--filter prase/* --json -", NONE),
    ("--json no/folder/statistics.json", ("no/folder", "hint: mkdir -p")),
)


@pytest.mark.parametrize(("options", "words"), REFUSED)
def test_what_cannot_be_shown_is_refused(
    call: Call, result: Path, options: str, words: tuple[str, ...]
) -> None:
    done = call(result.parent, "show", *options.split(), result)

    done.check(2, *words)
    assert done.out == ""


def test_a_filter_chooses(call: Call, result: Path) -> None:
    options = ("--filter", "sort*", "--filter", "db/*")
    found = document(call(result.parent, "show", *options, "--json", "-", result))["runs"][0]

    assert [series["benchmark"] for series in found["series"]] == ["sort[n=10]", "sort[n=1000]"]
    assert [failure["benchmark"] for failure in found["failures"]] == ["db/insert"]


@pytest.mark.parametrize("options", [(), ("--detail",)])
def test_json_alone_on_standard_output(call: Call, result: Path, options: tuple[str, ...]) -> None:
    found = document(call(result.parent, "show", *options, "--json", "-", result))

    jsonschema.validate(found, STATISTICS.json_schema())
    (run,) = found["runs"]
    assert all(bool(series["detail"]) is bool(options) for series in run["series"])
    assert bool(run["grids"]) is bool(options)


def test_json_follows_the_schema_that_is_printed(call: Call, checked: Path) -> None:
    schema = json.loads(call(checked.parent, "schema", "statistics").out)
    found = document(call(checked.parent, "show", "--detail", "--json", "-", checked))

    jsonschema.Draft202012Validator(schema).validate(found)
    assert [run["arm"] for run in found["runs"]] == ["head", "base"]
    assert found["duration_s"] == 42.0


def test_json_in_a_file_beside_the_report(call: Call, result: Path) -> None:
    plain, packed = result.with_name("statistics.json"), result.with_name("statistics.json.gz")

    done = call(result.parent, "show", *SOME, "--json", plain, result)
    call(result.parent, "show", *SOME, "--json", packed, result).check(0)

    done.check(0)
    assert "sort[n=10], time" in done.out
    found = json.loads(plain.read_bytes())
    jsonschema.validate(found, STATISTICS.json_schema())
    assert json.loads(gzip.decompress(packed.read_bytes())) == found


def test_the_same_file_gives_the_same_statistics(call: Call, result: Path) -> None:
    arguments = ("show", *SOME, "--json", "-", result)

    assert call(result.parent, *arguments).out == call(result.parent, *arguments).out


@pytest.mark.parametrize("command", ["show", "compare"])
@pytest.mark.parametrize("name", ["checked.json", "./checked.json", "link.json"])
def test_the_result_itself_is_never_overwritten(
    call: Call, checked: Path, command: str, name: str
) -> None:
    checked.with_name("link.json").symlink_to(checked.name)
    before = checked.read_bytes()

    done = call(checked.parent, command, "--json", name, checked)

    done.check(2, "would overwrite the result that this command reads", "--json", "hint:")
    assert done.out == ""
    assert checked.read_bytes() == before


def test_secrets_of_the_environment_are_not_written(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "xyzzy123")
    named = replace(run_of(1).benchmarks[0], id="query[key=xyzzy123]")
    path = write(tmp_path / "a.json", Result(replace(run_of(1), benchmarks=(named,))))

    done = call(tmp_path, "show", "--detail", "--json", "-", path)

    assert "query[key=[removed]]" in done.out
    assert "xyzzy123" not in done.out


@pytest.mark.parametrize("command", ["show", "compare"])
def test_without_a_name_it_is_the_last_result(
    call: Call, repo: Git, tmp_path: Path, checked: Path, command: str
) -> None:
    last = last_result_path(repo.root, {"XDG_STATE_HOME": str(tmp_path / "state")})
    last.parent.mkdir(parents=True)
    last.write_bytes(gzip.compress(checked.read_bytes()))

    unnamed = call(repo.root, command)

    assert "parse/large" in unnamed.out
    assert unnamed.out == call(repo.root, command, checked).out


def without_details(verdict: dict[str, Any]) -> dict[str, Any]:
    return verdict | {"rows": [row | {"detail": None} for row in verdict["rows"]]}


@pytest.mark.parametrize("rule", ["launch", "classical"])
def test_details_of_a_check_change_nothing_of_its_verdict(
    call: Call, checked: Path, rule: str
) -> None:
    arguments = ("compare", "--rule", rule, "--json", "-", checked)
    plain = call(checked.parent, *arguments)
    detailed = call(checked.parent, *arguments, "--detail")

    plain.check(3)
    detailed.check(3)
    verdict = json.loads(detailed.out)
    jsonschema.validate(verdict, VERDICT.json_schema())
    assert without_details(verdict) == json.loads(plain.out)
    rows = {row["benchmark"]: row for row in verdict["rows"] if row["statistic"] == "p25"}
    assert rows.keys() == set(IDS)
    for row in rows.values():
        found = row["detail"]
        assert found["launches"] == [12, 12]
        assert found["tests"][0]["name"] == "Wilcoxon signed rank"
        assert found["ratios"][0]["ratio"] == pytest.approx(1.1, abs=0.03)
        assert found["tests"][0]["p"] <= found["q"]


def test_details_of_a_check_are_printed(call: Call, checked: Path) -> None:
    done = call(checked.parent, "compare", "--detail", checked)

    done.check(3)
    assert done.err == ""
    titles = blocks(done.out)
    for id_ in IDS:
        assert f"{id_}, typical (p25)" in titles
    assert "parse/large, tail (p95)" in titles  # the others have too few samples for a tail
    assert done.out.count("Wilcoxon signed rank") == 4
    assert "\x1b" not in done.out
    assert all(line == line.rstrip() for line in done.out.splitlines())


def test_details_of_two_results_share_no_rounds(call: Call, checked: Path, result: Path) -> None:
    done = call(checked.parent, "compare", "--detail", result, checked)

    assert done.err == ""
    assert "Mann-Whitney, exact" in done.out
    assert "Hodges-Lehmann, of launches" in done.out
    assert "Wilcoxon" not in done.out
    assert "of rounds" not in done.out


def test_details_are_in_the_markdown_where_they_were_asked_for(call: Call, checked: Path) -> None:
    arguments = ("compare", "--markdown", "-", checked)
    plain, detailed = (call(checked.parent, *arguments, *more).out for more in ((), ("--detail",)))

    assert "Hodges-Lehmann" not in plain
    assert detailed.count("| Hodges-Lehmann, of rounds |") == 4
