"""`compare` on many result files: which of them count, and what they decide."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest

from benchgate.cli.options import VERDICT_FILES
from benchgate.files.writing import write_atomic
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Kind, Metric
from benchgate.model.result import Result
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Tier
from benchgate.model.verdict import VERDICT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Call
    from tests.done import Done

TIME = Metric("time", "s")
COUNT = Metric("count", "", kind=Kind.EXACT)
HERE = Environment(os="Debian", cpu_model="A", cpu_count=2)
IDS = ("parse", "sort")
CONFIG = """
[gate]
statistics = ["p25"]
metrics = ["time", "count"]
"""


def run_of(day: int, levels: dict[str, float], *, count: int = 7, **more: Any) -> Run:  # noqa: ANN401
    """A run of a day in January whose launches lie within 1 % of the levels given."""
    rng = np.random.default_rng(day)
    benchmarks = []
    for id_, level in levels.items():
        values = level * np.exp(rng.uniform(-0.01, 0.01, (10, 5)))
        launches = tuple(Launch(i, 0, x, np.empty(0)) for i, x in enumerate(values))
        counted = (Launch(0, 0, np.array([float(count)]), np.empty(0)),)
        series = (Series(TIME, 1, launches), Series(COUNT, 1, counted))
        benchmarks.append(BenchmarkResult(id_, "w", Tier.LOCKSTEP, series))
    made = Run(
        Source(f"{day:07x}"), f"2026-01-{day:02}T00:00:00Z", HERE, tuple(benchmarks), seed=day
    )
    return replace(made, **more)


def write(folder: Path, run: Run) -> Path:
    path = folder / f"{run.started[8:10]}.json.gz"
    write_atomic(path, encode_result(Result(run), str))
    return path


@pytest.fixture
def history(tmp_path: Path) -> list[Path]:
    """Twelve days of the same code on a machine whose days differ by 2 %."""
    (tmp_path / "benchgate.toml").write_text(CONFIG)
    rng = np.random.default_rng(1)
    days = np.exp(0.02 * rng.standard_normal((12, 2)))
    return [
        write(tmp_path, run_of(day, dict(zip(IDS, (1e-3 * level).tolist(), strict=True))))
        for day, level in enumerate(days, start=1)
    ]


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """A head whose sort takes a third longer."""
    return write(tmp_path, run_of(31, {"parse": 1e-3, "sort": 1.33e-3}))


def verdict_of(done: Done) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(done.out)
    jsonschema.validate(loaded, VERDICT.json_schema())
    return loaded


def rows_of(verdict: dict[str, Any], metric: str = "time") -> dict[str, dict[str, Any]]:
    return {row["benchmark"]: row for row in verdict["rows"] if row["metric"] == metric}


def test_what_lies_beyond_the_spread_of_twelve_runs_fails(
    call: Call, history: list[Path], slow: Path
) -> None:
    done = call(slow.parent, "compare", *reversed(history), slow, "--json", "-")
    assert done.code == 3
    verdict = verdict_of(done)
    assert verdict["decision"] == "fail"
    assert verdict["base"]["sha"] == "000000c"
    assert verdict["base"]["why"] == "the newest of 12 earlier runs"
    assert verdict["warnings"] == []
    row = rows_of(verdict)["sort"]
    assert (row["outcome"], row["tier"], row["advisory"]) == ("regressed", "stored", False)
    known = row["calibration"]
    assert (known["floor"] is None, known["runs"]) == (False, 12)
    assert 0.01 < known["spread"] < 0.04
    assert known["floor"] < row["ratio"] - 1
    assert row["ratio"] == pytest.approx(row["head"] / row["base"])
    assert row["interval"][0] < row["ratio"] < row["interval"][1]


@pytest.mark.parametrize(
    "renderer",
    [
        ("benchgate.page.report.render", "--html"),
        ("benchgate.cli.outputs.render_junit", "--junit"),
        ("benchgate.cli.outputs.render_markdown", "--markdown"),
        ("benchgate.cli.outputs.render_verdict", "report"),
        ("benchgate.cli.outputs.view_verdict", "report"),
        ("benchgate.report.row_view.draw_course", "sparkline"),
    ],
)
def test_a_renderer_that_fails_costs_only_itself(
    call: Call,
    history: list[Path],
    slow: Path,
    monkeypatch: pytest.MonkeyPatch,
    renderer: tuple[str, str],
) -> None:
    place, what = renderer

    def broken(*_: object, **__: object) -> str:
        raise IndexError("it is broken")

    monkeypatch.setattr(place, broken)
    files = ("html", "json", "junit", "markdown", "csv")
    asked = [part for name in files for part in (f"--{name}", slow.parent / name)]
    done = call(slow.parent, "compare", *history, slow, *asked)
    assert done.code == 3
    assert f"no {what}: benchgate itself failed there" in (done.err + done.out).lower()
    assert json.loads((slow.parent / "json").read_text())["decision"] == "fail"
    assert "sort" in (slow.parent / "csv").read_text()
    assert ("slower" if what != "report" else "fail") in done.out


def test_the_terminal_gets_no_secrets(
    call: Call, history: list[Path], slow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SORT_PASSWORD", "sorted_hunter2")
    secret = run_of(31, {"parse": 1e-3, "sorted_hunter2": 1.33e-3})
    done = call(slow.parent, "compare", *history, write(slow.parent, secret))
    assert "sorted_hunter2" not in done.out
    assert "[removed]" in done.out


def test_people_read_what_it_rests_on(call: Call, history: list[Path], slow: Path) -> None:
    done = call(slow.parent, "compare", *history, slow)
    assert done.code == 3
    assert "Slower: sort +" in done.out
    assert "calibrated on 12 runs: run-to-run spread" in " ".join(done.out.split())
    assert "(the newest of 12 earlier runs)" in " ".join(done.out.split())


def test_the_same_change_by_fewer_runs_advises(call: Call, history: list[Path], slow: Path) -> None:
    done = call(slow.parent, "compare", *history[:9], slow, "--json", "-")
    assert done.code == 0
    verdict = verdict_of(done)
    assert verdict["decision"] == "no verdict"
    (warning,) = verdict["warnings"]
    assert warning.startswith("advisory: only 9 of the 10 earlier runs")
    row = rows_of(verdict)["sort"]
    assert (row["outcome"], row["advisory"]) == ("regressed", True)
    assert row["calibration"]["floor"] is None
    assert row["calibration"]["runs"] == 9
    done = call(slow.parent, "compare", *history[:9], slow)
    assert "advisory: 9 of the 10 earlier runs needed" in " ".join(done.out.split())


def test_advice_fails_where_that_is_asked_for(call: Call, history: list[Path], slow: Path) -> None:
    (slow.parent / "benchgate.toml").write_text(CONFIG + "[baseline]\nadvisory_fails = true\n")
    assert call(slow.parent, "compare", *history[:2], slow).code == 3


def test_every_file_has_the_verdict(call: Call, history: list[Path], slow: Path) -> None:
    files = {name: slow.parent / f"verdict.{name}" for name in VERDICT_FILES}
    options = [f"--{name}={path}" for name, path in files.items()]
    done = call(slow.parent, "compare", *history, slow, *options)
    assert done.code == 3
    assert "Slower: sort +" in done.out
    written = {name: path.read_bytes().decode() for name, path in files.items()}
    assert json.loads(written["json"])["decision"] == "fail"
    assert "❌ Slower: " in written["markdown"].splitlines()[0]
    assert '<failure type="slower"' in written["junit"]
    assert "\r\nsort,time,p25,regressed,true," in written["csv"]
    for name, text in written.items():
        alone = call(slow.parent, "compare", *history, slow, f"--{name}", "-")
        assert (alone.code, alone.out) == (3, text)


def test_advice_fails_no_test_case(call: Call, history: list[Path], slow: Path) -> None:
    arguments: list[str | Path] = ["compare", *history[:2], slow, "--junit", "-"]
    advised = call(slow.parent, *arguments)
    assert 'failures="0"' in advised.out
    assert '<skipped message="slower: +3' in advised.out
    (slow.parent / "benchgate.toml").write_text(CONFIG + "[baseline]\nadvisory_fails = true\n")
    assert '<failure type="slower" message="slower: +3' in call(slow.parent, *arguments).out


def test_a_result_that_is_read_is_not_overwritten(
    call: Call, history: list[Path], slow: Path
) -> None:
    done = call(slow.parent, "compare", *history[:2], slow, "--junit", slow)
    done.check(2, f"--junit {slow} would overwrite the result")


def test_two_files_are_compared_as_ever(call: Call, history: list[Path], slow: Path) -> None:
    done = call(slow.parent, "compare", history[-1], slow, "--json", "-")
    assert done.code == 0
    verdict = verdict_of(done)
    assert (verdict["decision"], verdict["warnings"]) == ("no verdict", [])
    assert verdict["base"]["why"] == ""
    row = rows_of(verdict)["sort"]
    assert (row["outcome"], row["advisory"]) == ("regressed", True)
    assert row["calibration"] == {"runs": 1, "spread": None, "floor": None}


def test_runs_of_another_machine_are_not_compared(
    call: Call, history: list[Path], slow: Path
) -> None:
    elsewhere = replace(HERE, cpu_model="B")
    fast = [
        write(slow.parent, run_of(day, dict.fromkeys(IDS, 5e-4), count=5, environment=elsewhere))
        for day in range(1, 13)
    ]
    assert fast == history  # overwritten
    done = call(slow.parent, "compare", *fast, slow, "--json", "-")
    assert done.code == 4
    verdict = verdict_of(done)
    assert verdict["decision"] == "no verdict"
    why = "another machine: CPU: 'B' and 'A'"
    assert verdict["warnings"] == [
        f"11 of 12 stored results are left out: 11 because {why}",
        f"no earlier run qualifies: compared only with {fast[-1]}",
        "measured on different machines: CPU: 'B' and 'A'",
    ]
    assert verdict["skipped"] == [{"what": str(x), "reason": why} for x in fast[-2::-1]]
    assert {row["outcome"] for row in verdict["rows"]} == {"incomparable"}
    assert verdict["environment"]["cpu_model"] == ""
    done = call(slow.parent, "compare", fast[-1], slow)
    assert (done.code, "look" in done.out) == (4, False)


def test_counts_of_the_same_machine_decide_alone(call: Call, history: list[Path]) -> None:
    head = write(history[0].parent, run_of(31, dict.fromkeys(IDS, 1e-3), count=8))
    done = call(head.parent, "compare", history[-1], head, "--json", "-")
    assert done.code == 3
    row = rows_of(verdict_of(done), "count")["sort"]
    assert (row["outcome"], row["advisory"], row["calibration"]) == ("regressed", False, None)


def test_what_does_not_count_is_named(call: Call, history: list[Path], slow: Path) -> None:
    torn = write(slow.parent, run_of(20, dict.fromkeys(IDS, 1e-3), complete=False))
    done = call(slow.parent, "compare", *history, history[0], torn, slow, slow, "--json", "-")
    assert done.code == 3
    verdict = verdict_of(done)
    assert sorted(verdict["warnings"]) == [
        f"{history[0]} is left out: it is the same run as {history[0]}",
        f"{torn} is left out: it was interrupted",
        f"{slow} is left out: it is the head's own run",
    ]
    assert rows_of(verdict)["sort"]["calibration"]["runs"] == 12
    assert len(verdict["skipped"]) == 3


def test_many_that_do_not_count_are_a_number_until_they_are_asked_for(
    call: Call, history: list[Path], slow: Path
) -> None:
    torn = [
        write(slow.parent, run_of(day, dict.fromkeys(IDS, 1e-3), complete=False))
        for day in range(13, 20)
    ]
    done = call(slow.parent, "compare", *history, *torn, slow)
    done.check(3)
    said = " ".join(done.out.split())
    assert "7 of 19 stored results are left out: 7 because it was interrupted" in said
    assert "not shown: 7 stored results left out (-v shows them)" in said
    assert str(torn[3]) not in done.out
    assert (
        f"{torn[3]}: it was interrupted"
        in call(slow.parent, "compare", "-v", *history, *torn, slow).out
    )


def test_other_work_under_the_same_name_does_not_count(
    call: Call, history: list[Path], slow: Path
) -> None:
    for day in range(1, 6):
        run = run_of(day, dict.fromkeys(IDS, 1e-3))
        parse, sort = run.benchmarks
        write(slow.parent, replace(run, benchmarks=(parse, replace(sort, workload="other"))))
    done = call(slow.parent, "compare", *history, slow, "--json", "-")
    assert done.code == 0
    rows = rows_of(verdict_of(done))
    assert rows["parse"]["calibration"]["runs"] == 12
    assert not rows["parse"]["advisory"]
    assert rows["sort"]["calibration"]["runs"] == 7
    assert rows["sort"]["advisory"]


def test_a_clean_head_passes_and_claims_no_more_than_it_knows(
    call: Call, history: list[Path]
) -> None:
    head = write(history[0].parent, run_of(31, dict.fromkeys(IDS, 1.01e-3)))
    done = call(head.parent, "compare", *history, head, "--json", "-")
    assert done.code == 0
    verdict = verdict_of(done)
    assert verdict["decision"] == "pass"
    assert {row["outcome"] for row in rows_of(verdict).values()} == {"inconclusive"}
    assert verdict["summary"].startswith("Nothing was found to be slower")


def test_details_and_outputs_are_those_of_two(call: Call, history: list[Path], slow: Path) -> None:
    done = call(slow.parent, "compare", *history, slow, "--detail")
    assert done.code == 3
    assert "Mann-Whitney, exact" in done.out
    call(slow.parent, "compare", *history, slow, "--json", history[3]).check(
        2, "would overwrite the result that this command reads"
    )
