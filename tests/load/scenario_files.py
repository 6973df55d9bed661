"""Reads scenarios from text, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.errors import ConfigError
from benchgate.load.scenario_file import read_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.load.scenario import Scenario


class Reader:
    """Reads a scenario from text."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, text: str, suffix: str = ".toml") -> Scenario:
        path = self.folder / f"orders{suffix}"
        path.write_text(text, encoding="utf-8")
        return read_scenario(path, f"load/{path.name}")

    def error(self, text: str, suffix: str = ".toml") -> ConfigError:
        with pytest.raises(ConfigError) as caught:
            self(text, suffix)
        return caught.value
