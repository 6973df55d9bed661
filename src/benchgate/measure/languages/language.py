"""What a language is: how its programs of benchmarks are found, built and started."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from benchgate.config.live_benchmarks import LiveBenchmarks
from benchgate.measure.processes import run_command

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from benchgate.measure.arm import Arm
    from benchgate.measure.processes import Guardian

ADAPTERS: Final = Path(__file__).parent
"""The files that let a program of a benchmark tool speak the worker protocol, unedited."""

# A whole word of a folder's name: pytest_plugin/ is a project, integration_tests/ is not.
NAMED_FOR_TESTS: Final = re.compile(
    r"(?:^|[/_.-])(?:test(?:s|ing)?|bench(?:es|marks?|marking)?|perf(?:ormance)?|asv)(?=$|[/_.-])",
    re.IGNORECASE,
)


class NotBuiltError(Exception):
    """A program of benchmarks could not be built; the text says why, with the tool's output."""


@dataclass(frozen=True, slots=True)
class WorkerProgram:
    """A program that is a worker, in one arm.

    Attributes:
        command: starts it.
        folder: where it starts; None for the folder of the configuration.
        drawn: its file, if it was made for one start: linked in an order that was drawn.
    """

    command: tuple[str, ...]
    folder: Path | None = None
    drawn: Path | None = None


T = TypeVar("T")
B = TypeVar("B", bound=LiveBenchmarks)


class Toolbox:
    """Runs the commands that build programs, and remembers what was made for a session.

    Args:
        timeout_s: the time limit for each command.

    Attributes:
        warnings: what makes the programs' times less reliable.
    """

    def __init__(self, guardian: Guardian, timeout_s: float) -> None:
        self._guardian = guardian
        self._timeout_s = timeout_s
        self._made: dict[Hashable, Any] = {}
        self.warnings: dict[str, None] = {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returned when it was first called for this key."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    def run(
        self,
        arm: Arm,
        benchmark: LiveBenchmarks,
        command: Sequence[str],
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> list[str]:
        """Run a command in the folder of an arm; return the last lines of its output.

        Raises:
            NotBuiltError: it failed.
        """
        lines, failure = self.try_to_run(arm, benchmark, command, more)
        if failure:
            raise NotBuiltError("\n".join([f"{' '.join(command[:3])} {failure}", *lines]))
        return lines

    def try_to_run(
        self,
        arm: Arm,
        benchmark: LiveBenchmarks,
        command: Sequence[str],
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[list[str], str | None]:
        """Run a command; return the last lines of its output, and how it failed, if it did.

        Args:
            more: variables, beside those of the benchmark.
        """
        return run_command(
            arm,
            command,
            timeout_s=self._timeout_s,
            variables={**benchmark.env, **more},
            guardian=self._guardian,
        )


class Language(ABC, Generic[B]):
    """One language, as far as benchgate measures its functions in workers.

    Attributes:
        BUILT_BEFORE: whether `[build]` compiles the benchmarks, and not benchgate.
        FAILS_AS_A_WHOLE: whether no benchmark of a program runs if one of its files is not
            compiled.
        LINKED_IN_ORDER: whether its programs are linked again for each launch, with their functions
            in an order that is drawn.
        LAYOUTS: in how many orders of its functions a program is built; 0 for the usual one only.
        OBSERVED_UNDER_CALLGRIND: whether valgrind observes what is called; if not, the worker does.
    """

    BUILT_BEFORE: ClassVar[bool] = False
    FAILS_AS_A_WHOLE: ClassVar[bool] = False
    LINKED_IN_ORDER: ClassVar[bool] = False
    LAYOUTS: ClassVar[int] = 0
    OBSERVED_UNDER_CALLGRIND: ClassVar[bool] = False

    @abstractmethod
    def find(self, arm: Arm, benchmark: B) -> Iterator[tuple[str, str]]:
        """Find the programs of a table in one arm.

        Yields:
            Of each its path, relative to the configuration's folder, and its group.
        """

    @abstractmethod
    def build(
        self, tools: Toolbox, arm: Arm, benchmark: B, path: str, layout: int
    ) -> WorkerProgram:
        """Build the program at a path, if it has to be built.

        Args:
            layout: the order of its functions, from 1 to LAYOUTS; 0 for the usual one.

        Raises:
            NotBuiltError: it cannot be built.
        """

    def files(self, _arm: Arm, _benchmark: B) -> Iterator[Path]:
        """The benchmark files of a table in one arm, with helpers and data beside them.

        There are none of a program that [build] or the user's own worker compiles.
        """
        yield from ()

    def parts(
        self, _arm: Arm, _benchmark: B, _path: str, described: Mapping[str, Any]
    ) -> dict[str, str]:
        """Identify the work of a benchmark, as far as its text can be told from that of others."""
        source = described.get("source")
        return {"its code": digest(source)} if isinstance(source, str) else {}


def way_of(benchmark: LiveBenchmarks) -> str:
    """Tells how a program is built, or run, from other ways."""
    return digest(benchmark.model_dump_json(include={"arguments", "cwd", "env"}))


def lent(arm: Arm) -> str:
    """Tells a program apart that is built from the benchmark files of the other side."""
    return "-lent" if arm.is_lent else ""


def digest(text: str) -> str:
    """Identify a text."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def text_of(file: Path) -> str:
    """The text of a file; "" if it cannot be read."""
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""
