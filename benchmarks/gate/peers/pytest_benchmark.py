"""pytest-benchmark: a run is saved, and the next one is compared with it and fails."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from benchmarks.gate.peers.lab import ARMS
from benchmarks.gate.peers.sessions import PeerRun, builds_of, in_ns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.gate.peers.lab import Lab
    from benchmarks.gate.peers.sessions import PeerBuild, Slower, ValuesNs

FIELDS = ("min", "median", "mean")
EXPRESSIONS = tuple(f"{field}:{percent}%" for percent in (5, 2) for field in FIELDS)
FAIL = "--benchmark-compare-fail"
CPU_TIMER = "--benchmark-timer=time.process_time"
_FAILED = re.compile(
    r"^\ttest_ten\[(\w+)\] \(\w+\) - Field '(\w+)' has failed PercentageRegressionCheck: "
    r"\S+ > (\d+)\.0+$",
    re.MULTILINE,
)


def measure(lab: Lab, options: Sequence[str] = ()) -> list[PeerBuild]:
    """Run the tests once for each arm, compared with the run before by the tool itself."""
    runs = []
    for index, arm in enumerate(ARMS):
        lab.checkout(arm)
        done = lab.run(
            *lab.pinned("python", "-m", "pytest", "test_ten.py", *options),
            f"--benchmark-storage=file://{lab.kept}",
            f"--benchmark-save={arm}",
            *_comparison(index),
            codes=(0, 1),
        )
        slower = slower_by(done.err)
        if bool(done.exit_code) != any(slower.values()):
            raise RuntimeError(f"exit {done.exit_code}:\n{done.out}{done.err}")
        said = {" ".join((*options, f"{FAIL}={expression}")): n for expression, n in slower.items()}
        (saved,) = lab.kept.glob(f"*/*_{arm}.json")
        values_ns = values_of(json.loads(saved.read_text(encoding="utf-8")))
        runs.append(PeerRun(arm, done.seconds, said, values_ns))
    return builds_of(runs)


def _comparison(saved: int) -> tuple[str, ...]:
    """The options that compare with the newest of so many saved runs."""
    if not saved:
        return ()
    # Given twice, the option's second list would replace the first.
    return (f"--benchmark-compare={saved:04}", FAIL, *EXPRESSIONS)


def slower_by(errors: str) -> Slower:
    """Read from standard error which workloads failed by each expression."""
    failed = {(f"{field}:{percent}%", name) for name, field, percent in _FAILED.findall(errors)}
    return {
        wanted: sorted(name for expression, name in failed if expression == wanted)
        for wanted in EXPRESSIONS
    }


def values_of(saved: Mapping[str, Any]) -> ValuesNs:
    """Give min, median and mean by workload from a saved run."""
    return {
        test["params"]["name"]: in_ns([test["stats"][field] for field in FIELDS])
        for test in saved["benchmarks"]
    }
