"""Checks in one lane and in two: measures them, and says what a simulation makes of them."""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from statistics import median
from textwrap import fill
from typing import TYPE_CHECKING

from benchmarks.gate.lanes import Check, Costs, check_of, costs_of, later_rounds_s
from benchmarks.gate.project import TEN, Change, check, repository
from benchmarks.gate.recordings import RECORDINGS

from benchgate.baselines.stored_files import read_result

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.gate.recordings import Recordings

_NAME = "lanes"
_MEASURED = (1, 2)
_MORE = 4
_WIDTH = 96


def record_lanes(checks: int, say: Callable[[str], None]) -> None:
    """Measure clean checks in one lane and in two, in turn, and keep what they cost.

    Args:
        checks: how many of each.
    """
    results = []
    load_average = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temporary:
        for seed in range(1, checks + 1):
            for lanes in _MEASURED:
                output = Path(temporary) / f"{lanes}-{seed}.json"
                with repository(TEN, Change()) as folder:
                    answer = check(folder, output, ["--lanes", str(lanes), "--seed", str(seed)])
                say(f"{lanes} lanes, seed {seed}: {answer.seconds:.1f} s")
                results.append(read_result(output))
    found = [check_of(result) for result in results]
    alone = [result for result, one in zip(results, found, strict=True) if one.lanes == 1]
    document = {
        "load": round(load_average, 1),
        "costs": asdict(costs_of(alone)),
        "checks": [asdict(one) for one in found],
    }
    RECORDINGS.add(_NAME, document)


def lanes_text(recordings: Recordings = RECORDINGS) -> str:
    """Say how long the checks took, and how long they would take in more lanes; "" without any."""
    if _NAME not in recordings:
        return ""
    document = recordings.document(_NAME)
    costs = Costs(**document["costs"])
    checks = [Check(**one) for one in document["checks"]]
    measured = [
        f"{median(one.total_s for one in own):.1f} s in {_lanes(lanes)} (simulated:"
        f" {median(_total_s(one, costs, lanes) for one in own):.1f} s)"
        for lanes in _MEASURED
        if (own := [one for one in checks if one.lanes == lanes])
    ]
    more_s = median(_total_s(one, costs, _MORE) for one in checks)
    fixed_s = median(one.before_lanes_s for one in checks)
    text = (
        f"A clean check took {' and '.join(measured)}: medians of {len(checks)} checks, at a load"
        f" average of {document['load']}. In {_lanes(_MORE)} it would take {more_s:.1f} s. The"
        f" simulation leaves {fixed_s:.1f} s of that as measured: the start, the search for"
        " benchmarks, the first round, decisions, and saving. Late rounds measure few benchmarks,"
        " each task starts processes of its own, and a benchmark cannot be divided. The simulation"
        " runs benchgate's own scheduling with the measured costs, and assumes that lanes do not"
        " disturb each other."
    )
    return fill(text, _WIDTH)


def _total_s(one: Check, costs: Costs, lanes: int) -> float:
    return one.before_lanes_s + later_rounds_s(one, costs, lanes)


def _lanes(number: int) -> str:
    return "one lane" if number == 1 else f"{number} lanes"
