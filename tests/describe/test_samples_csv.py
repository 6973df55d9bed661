from __future__ import annotations

from dataclasses import replace

from tests.results import arm, bench

from benchgate.describe.export import samples_csv
from benchgate.model.result import Result
from benchgate.model.run import NEW_VERSION


def test_new_versions_are_not_exported() -> None:
    run = arm({"a": 1.0})
    version = bench(f"a{NEW_VERSION}", 2.0, new_version_of="a")
    with_version = replace(run, benchmarks=(*run.benchmarks, version))
    assert samples_csv(Result(with_version, with_version)) == samples_csv(Result(run, run))
