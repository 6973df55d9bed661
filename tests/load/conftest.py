from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.load.scenario_files import Reader

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)
