"""docs/formats.md names every format of other tools."""

from __future__ import annotations

import re
from pathlib import Path

from benchgate.formats import NAMES

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"


def test_every_format_has_a_row() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("\n| format | file |")[2]
    cells = re.findall(r"^\| (`.+?`) \|", table.partition("\n\n")[0], re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r"`(.+?)`", cell)]
    assert sorted(names) == sorted(NAMES)
