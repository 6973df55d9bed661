"""A call of benchgate that has ended."""

from __future__ import annotations

from dataclasses import dataclass


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
