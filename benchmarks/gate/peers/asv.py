"""asv: `continuous` measures two commits in turn and compares them."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from benchmarks.gate.peers.lab import ARMS, ENVIRONMENT, LOCK
from benchmarks.gate.peers.sessions import SLOWER, PeerBuild, in_ns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.gate.peers.lab import Lab
    from benchmarks.gate.peers.sessions import ValuesNs

DEFAULT_FACTOR = "1.1"
FACTORS = (DEFAULT_FACTOR, "1.05", "1.02")
ROUNDS = 4
ENVIRONMENTS = ENVIRONMENT / "asv"
_WHEEL = (
    "python -m pip wheel --no-deps --no-build-isolation --no-index -w {build_cache_dir} {build_dir}"
)
CONFIG = {
    "version": 1,
    "project": "ten",
    "repo": ".",
    "branches": ["main"],
    "environment_type": "virtualenv",
    "benchmark_dir": "asv_benchmarks",
    "env_dir": str(ENVIRONMENTS),
    "results_dir": ".asv/results",
    "build_command": [_WHEEL],
}
_ROW = re.compile(r"^\| (.) +\|.*\| +ten\.time_(\w+) +\|$", re.MULTILINE)


def measure(lab: Lab) -> list[PeerBuild]:
    """Compare each arm with the previous one."""
    config = lab.folder / "asv.conf.json"
    config.write_text(json.dumps(CONFIG), encoding="utf-8")
    _set_up(lab)
    return [_build(lab, base, head) for base, head in pairwise(ARMS)]


def _set_up(lab: Lab) -> None:
    """Make the environment that commits are installed into, unless an earlier session did."""
    # It ends with exit code 1 even if it succeeds, because its list of environments is not 0.
    done = lab.run("asv", "setup", codes=(0, 1), environ={"PIP_CONSTRAINT": str(LOCK)})
    if not list(ENVIRONMENTS.glob("*/asv-env-info.json")):
        raise RuntimeError(f"asv setup made no environment:\n{done.out}{done.err}")
    lab.run("asv", "machine", "--yes", environ=_home(lab))


def _home(lab: Lab) -> dict[str, str]:
    """Variables that keep asv's file about the machine out of the user's home."""
    return {"HOME": str(lab.kept)}


def _build(lab: Lab, base: str, head: str) -> PeerBuild:
    options = ("--interleave-rounds", "--attribute", f"rounds={ROUNDS}")
    done = lab.run(
        *lab.pinned("asv", "continuous", *options, "--no-only-changed", base, head),
        codes=(0, 1),
        environ=_home(lab),
    )
    slower = {DEFAULT_FACTOR: slower_in(done.out)}
    if bool(done.exit_code) != bool(slower[DEFAULT_FACTOR]):
        raise RuntimeError(f"exit {done.exit_code}:\n{done.out}{done.err}")
    for factor in FACTORS[1:]:
        judged = lab.run("asv", "compare", f"--factor={factor}", base, head, environ=_home(lab))
        slower[factor] = slower_in(judged.out)
    before, after = (_values(lab, arm) for arm in (base, head))
    return PeerBuild(
        head != SLOWER,
        done.seconds,
        {f"continuous --factor={factor}": names for factor, names in slower.items()},
        {name: (values, after[name]) for name, values in before.items()},
    )


def slower_in(table: str) -> list[str]:
    """Read from a table of all benchmarks which workloads are slower.

    Raises:
        ValueError: if there is no row, or one that was not compared.
    """
    rows: list[tuple[str, str]] = _ROW.findall(table)
    if not rows or not {mark for mark, _ in rows} <= set("+- "):
        raise ValueError(f"not a table of compared benchmarks: {table}")
    return sorted(name for mark, name in rows if mark == "+")


def _values(lab: Lab, arm: str) -> ValuesNs:
    commit = lab.run("git", "rev-parse", arm).out.strip()
    (path,) = lab.folder.glob(f".asv/results/*/{commit[:8]}-*.json")
    return values_of(json.loads(path.read_text(encoding="utf-8")))


def values_of(result: Mapping[str, Any]) -> ValuesNs:
    """Give all samples by workload from the result of a commit."""
    column = result["result_columns"].index("samples")
    return {
        name.removeprefix("ten.time_"): in_ns(columns[column][0])
        for name, columns in result["results"].items()
    }
