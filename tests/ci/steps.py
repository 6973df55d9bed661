"""A step of a job, with everything that it writes kept for a look."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from benchgate.ci.step import JobStep
from benchgate.model.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.report.view import VerdictView

SECRET = "hunter2_hunter2"  # noqa: S105 - nobody's


@dataclass(slots=True)
class Stage:
    """What a step writes to.

    Attributes:
        folder: of GitHub's files.
        shown: verdicts for people.
        said: reasons, for `-v`.
    """

    folder: Path
    stream: io.StringIO = field(default_factory=io.StringIO)
    shown: list[VerdictView] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    _drawn: Iterator[int] = field(default_factory=count)

    def step(self, *, comments: bool = True, check_run: bool = False) -> JobStep:
        environ = {
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "DEPLOY_PASSWORD": SECRET,
        }
        return JobStep(
            environ=environ,
            stream=self.stream,
            draw=lambda: f"drawn{next(self._drawn)}",
            redact=Redactor(environ),
            show=self.shown.append,
            say=self.said.append,
            comments=comments,
            check_run=check_run,
        )

    @property
    def lines(self) -> list[str]:
        """Of standard output."""
        return self.stream.getvalue().splitlines()

    @property
    def summary(self) -> str:
        path = self.folder / "summary"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @property
    def outputs(self) -> list[tuple[str, str]]:
        """Every output in the order in which they were set."""
        path = self.folder / "output"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        entry = re.compile(r"([\w-]+)<<(\w+)\n(.*?)\n\2\n", re.DOTALL)
        assert entry.sub("", text) == ""
        return [(name, value) for name, _, value in entry.findall(text)]
