"""One side of the comparison: its name, and the tree that is measured."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import (
        Mapping,
    )
    from pathlib import Path


class ArmName(StrEnum):
    """The side of the comparison: base or head."""

    BASE = "base"
    HEAD = "head"


@dataclass(frozen=True, slots=True)
class Arm:
    """One tree to measure.

    Attributes:
        root: folder of its files.
        env: folder for its own environment, which `[build]` may fill; it may not exist.
        sha: its commit; "" outside of git.
        variables: added to the environment of all commands that run in it.
        inside: the folder of its configuration, relative to the root.
        is_lent: whether it has the benchmark files of the other side.
    """

    name: ArmName
    root: Path
    env: Path
    sha: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    inside: str = "."
    is_lent: bool = False

    @property
    def folder(self) -> Path:
        """The folder that the paths of its configuration start from, and where commands run."""
        return self.root / self.inside

    def substitute(self, text: str) -> str:
        """Replace {root}, {env} and {sha}; leave other braces alone."""
        for key, value in (("root", self.root), ("env", self.env), ("sha", self.sha)):
            text = text.replace(f"{{{key}}}", str(value))
        return text

    def generalize(self, text: str, *, is_other: bool = False) -> str:
        """Name its folders {env} and {root} in a text: their paths differ in every run.

        Args:
            is_other: the text is about another arm, so say whose folders they are.
        """
        whose = f" of the {self.name}" if is_other else ""
        for name, folder in (("env", self.env), ("root", self.root)):
            text = re.sub(rf"{re.escape(str(folder))}(?![\w-])", f"{{{name}{whose}}}", text)
        return text

    def why_missing(self, program: str) -> str:
        """Say that nothing creates {env}, if a program that was not found would be in there."""
        if self.env.exists() or not program.startswith(f"{self.env}/"):
            return ""
        return (
            "no command of [build] creates {env}: add some, such as "
            'command = ["python3 -m venv {env}", "{env}/bin/pip install ."]'
        )
