"""Finds, builds and starts the programs of benchmarks, each by its language."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from benchgate.config.live_benchmarks import (
    CppBenchmark,
    GoBenchmark,
    NodeBenchmark,
    RustBenchmark,
    WorkerBenchmark,
)
from benchgate.measure.languages.cpp import Cpp
from benchgate.measure.languages.go import Go
from benchgate.measure.languages.language import (
    Language,
    NotBuiltError,
    Toolbox,
    WorkerProgram,
    way_of,
)
from benchgate.measure.languages.linking import LINKS, LinkError, linked_again
from benchgate.measure.languages.node import NodeJs
from benchgate.measure.languages.own_worker import OwnWorker
from benchgate.measure.languages.rust import Rust
from benchgate.measure.machine import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.config.live_benchmarks import LiveBenchmarks
    from benchgate.measure.arm import Arm
    from benchgate.measure.processes import Guardian

LANGUAGES: Final[Mapping[str, Language[Any]]] = {
    CppBenchmark.KIND: Cpp(),
    GoBenchmark.KIND: Go(),
    NodeBenchmark.KIND: NodeJs(),
    RustBenchmark.KIND: Rust(),
    WorkerBenchmark.KIND: OwnWorker(),
}
"""By the key of their tables. Python has workers of its own."""


def find(arm: Arm, benchmark: LiveBenchmarks) -> Iterator[tuple[str, str]]:
    """Find the programs of a table; see `Language.find`."""
    return LANGUAGES[benchmark.KIND].find(arm, benchmark)


def files_of(arm: Arm, benchmark: LiveBenchmarks) -> set[Path]:
    """The benchmark files of a table; see `Language.files`. There are none of Python here."""
    language = LANGUAGES.get(benchmark.KIND)
    found = language.files(arm, benchmark) if language else ()
    return {each for each in found if each.is_symlink() or each.is_file()}


def parts(
    arm: Arm, benchmark: LiveBenchmarks, path: str, described: Mapping[str, Any]
) -> dict[str, str]:
    """Identify the work of a benchmark; see `Language.parts`."""
    return LANGUAGES[benchmark.KIND].parts(arm, benchmark, path, described)


_AS_IT_IS: Final = Layout()


class Programs:
    """Builds the programs of the arms, each once; see `Toolbox`."""

    def __init__(self, guardian: Guardian, timeout_s: float) -> None:
        self._tools = Toolbox(guardian, timeout_s)
        self._built: dict[str, dict[tuple[Path, int], WorkerProgram]] = {}
        self._building = Lock()  # two lanes may need the same program

    @property
    def warnings(self) -> Mapping[str, None]:
        """What makes the programs' times less reliable."""
        return self._tools.warnings

    def program(
        self, arm: Arm, benchmark: LiveBenchmarks, path: str, memory: Layout = _AS_IT_IS
    ) -> WorkerProgram:
        """The program at a path, which is built first if it has to be.

        Args:
            memory: decides the order of its functions, where this is possible, if it has a seed.

        Raises:
            NotBuiltError: it cannot be built.
        """
        language = LANGUAGES[benchmark.KIND]
        built = self._built.setdefault(f"{benchmark.KIND} {path} {way_of(benchmark)}", {})
        links, seed = Path(arm.substitute(LINKS)), memory.hash_seed
        layout = 1 + memory.round_index % language.LAYOUTS if seed and language.LAYOUTS else 0
        with self._building:
            if (links, layout) not in built:
                built[links, layout] = language.build(self._tools, arm, benchmark, path, layout)
            program = built[links, layout]
        if not seed or not language.LINKED_IN_ORDER:
            return program
        others = [(each, Path(it.command[0])) for (each, _), it in built.items() if each != links]
        try:
            drawn = linked_again((links, Path(program.command[0])), others, seed)
        except LinkError as error:
            raise NotBuiltError(str(error)) from None
        if drawn is None:
            return program
        return replace(program, command=(str(drawn), *program.command[1:]), drawn=drawn)
