from __future__ import annotations

import subprocess
import sys
from typing import Any

from benchmarks.gate.executed import count
from benchmarks.gate.loads import load_range
from benchmarks.gate.record import BUILDS, SESSIONS
from benchmarks.gate.tally import with_bounds


def about(slower: list[str], regressed: list[str], seconds: float = 8.0) -> dict[str, Any]:
    rows = {f"ten/{name} {statistic}": "unchanged" for name in "ab" for statistic in ("p25", "p95")}
    rows |= dict.fromkeys(regressed, "regressed")
    return {
        "slower": slower,
        "outcomes": rows,
        "exit_code": 3 if regressed else 0,
        "seconds": seconds,
    }


def test_a_regression_of_what_did_not_change_is_a_false_alarm() -> None:
    builds = [about([], []), about([], ["ten/a p95"]), about([], ["ten/a p25", "ten/a p95"])]
    found = count(builds)
    assert (found.alarms.hits, found.alarms.trials) == (2, 3)
    assert (found.rows.hits, found.rows.trials) == (3, 12)
    assert found.found is None


def test_a_change_is_found_in_any_row_of_its_benchmark() -> None:
    slower = ["ten/b"]
    builds = [about(slower, ["ten/b p95"]), about(slower, ["ten/a p25"]), about(slower, [])]
    found = count(builds)
    assert found.found is not None
    assert (found.found.hits, found.found.trials) == (1, 3)
    assert (found.alarms.hits, found.rows.hits, found.rows.trials) == (1, 1, 6)


def test_what_stayed_open_and_what_had_no_verdict_is_counted() -> None:
    doubted = about([], []) | {"exit_code": 4}
    doubted["outcomes"]["ten/a p25"] = "inconclusive"
    doubted["outcomes"]["ten/a p95"] = "inconclusive"
    found = count([doubted, about([], [])])
    assert (found.no_verdict.hits, found.no_verdict.trials) == (1, 2)
    assert (found.open_locations.hits, found.open_locations.trials) == (1, 4)


def test_the_seconds_are_a_median_and_what_19_of_20_stay_within() -> None:
    found = count([about([], [], float(seconds)) for seconds in range(1, 22)])
    assert (found.typical_seconds, found.long_seconds) == (11.0, 20.0)


def test_what_has_no_row_that_did_not_change_has_no_rate_of_them() -> None:
    slower = ["ten/a", "ten/b"]
    found = count([about(slower, ["ten/a p25", "ten/b p25"])])
    assert found.rows.trials == 0
    assert with_bounds(found.rows) == ""


def test_every_kind_of_build_has_words_of_its_own() -> None:
    for scenarios in (SESSIONS, BUILDS):
        assert len({(one.words, one.name) for one in scenarios}) == len(scenarios)
    words = [one.words for one in BUILDS]
    assert len(set(words)) == len(words)
    assert "+2 %, margin 1 %" in words
    assert "a program, +10 %, two builds at a time" in words


def test_recording_ends_with_its_time() -> None:
    """Its processes are started all the same, one on each CPU."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gate", "record", "--budget", "1ms", "--only", "5-lanes"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout in {
        "the time is over; run it again to go on\n",
        "nothing is missing\n",
    }


def test_the_load_is_told_where_it_is_known() -> None:
    assert load_range([{"load": 1.26}, {"load": None}, {}, {"load": 0.84}]) == "0.8 to 1.3"
    assert load_range([{"load": None}, {}]) == "unknown"
