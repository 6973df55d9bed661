"""A call of benchgate that has ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Done:
    """A call that has ended."""

    code: int
    out: str
    err: str

    def check(self, code: int, *words: str) -> None:
        """It ended as it should, and said so on standard error without a traceback."""
        assert self.code == code, f"exit code {self.code}\n{self.err}\n{self.out}"
        assert "Traceback" not in self.err, self.err
        for word in words:
            assert word in self.err, f"{word!r} is not in:\n{self.err}"


def without_load(warnings: Iterable[str]) -> list[str]:
    """The warnings that do not depend on what else this machine does."""
    return [one for one in warnings if not one.endswith("close other programs, or wait")]
