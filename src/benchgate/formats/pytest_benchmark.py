"""What pytest-benchmark writes: JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.formats.contents import Node, read_json
from benchgate.formats.origin import cpu_of, environment, told
from benchgate.formats.rows import begins, reads, usual_loops
from benchgate.model.run import PYTHON

if TYPE_CHECKING:
    from benchgate.formats.contents import ForeignFile
    from benchgate.formats.rows import ReadRows
    from benchgate.model.environment import Environment


@reads("pytest-benchmark", "pytest --benchmark-json=FILE", begins(b"{", b'"machine_info"'))
def pytest_benchmark(source: ForeignFile, rows: ReadRows) -> None:
    """pytest-benchmark: `pytest --benchmark-json=FILE`, or what `--benchmark-save` stores.

    The file of `--benchmark-json` has every sample, at `stats.data`, in seconds per iteration. A
    saved one has only statistics.
    """
    root = read_json(source)
    nodes = list(root["benchmarks"].each())
    if version := root.get("version"):
        rows.version = version.text
    commit = root.get("commit_info")
    is_dirty = commit is not None and dict(commit.items()).get("dirty")
    rows.measured(told(commit, "id"), dirty=bool(is_dirty and is_dirty.value))
    rows.ran_on(_pytest_machine(root.get("machine_info")))
    for node in nodes:
        with rows.row() as row:
            row.id = node["fullname"].text
            stats = node["stats"]
            if data := stats.get("data"):
                iterations = stats.get("iterations")
                row.samples(data, loops=usual_loops([iterations.number]) if iterations else 1)
            else:
                row.time(stats["median"])


def _pytest_machine(info: Node | None) -> Environment:
    return environment(
        cpu=told(info, "cpu", "brand_raw") or cpu_of(told(info, "node")),
        machine=told(info, "machine"),
        cores=told(info, "cpu", "count"),
        os=told(info, "system"),
        kernel=told(info, "release"),
        tools={
            PYTHON: f"{told(info, 'python_implementation')} {told(info, 'python_version')}".strip()
        },
    )
