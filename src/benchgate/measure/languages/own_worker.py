"""The user's own workers, in any language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchgate.config.live_benchmarks import WorkerBenchmark
from benchgate.measure.languages.language import Language, Toolbox, WorkerProgram, digest, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.measure.arm import Arm


class OwnWorker(Language[WorkerBenchmark]):
    """Programs that speak the worker protocol themselves."""

    def find(self, _arm: Arm, benchmark: WorkerBenchmark) -> Iterator[tuple[str, str]]:
        yield benchmark.title, ""

    def build(
        self, _tools: Toolbox, arm: Arm, benchmark: WorkerBenchmark, _path: str, _layout: int
    ) -> WorkerProgram:
        return WorkerProgram(tuple(arm.substitute(word) for word in benchmark.command))

    def parts(
        self, arm: Arm, benchmark: WorkerBenchmark, _path: str, _described: Mapping[str, Any]
    ) -> dict[str, str]:
        texts = (text_of(arm.folder / each) for each in benchmark.paths)
        return {"its files": digest("\0".join(texts))}
