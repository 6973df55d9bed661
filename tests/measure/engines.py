"""What fixtures that make engines share: a folder for their trees, and an end for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchgate.measure.processes.guardian import Guardian


class Closes(Protocol):
    def close(self) -> None: ...


Made = TypeVar("Made", bound=Closes)


@dataclass
class Making:
    """Makes engines; how, says `__call__` of each subclass."""

    folder: Path
    guardian: Guardian
    made: list[Closes] = field(default_factory=list, kw_only=True)

    def keep(self, engine: Made) -> Made:
        """Have it closed in the end."""
        self.made.append(engine)
        return engine

    def close(self) -> None:
        for engine in self.made:
            engine.close()


def write(root: Path, files: Mapping[str, str | None]) -> None:
    """Write files of a tree, but those without text."""
    for name, text in files.items():
        if text is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
