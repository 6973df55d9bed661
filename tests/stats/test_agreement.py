"""Every statistic against SciPy or its definition, by a tenth of what docs/validation.md tells."""

from __future__ import annotations

from dataclasses import replace

import pytest
from validation.agreement import SECTIONS
from validation.agreement.case import Agreement

ROWS = [row for section in SECTIONS for row in section.rows if isinstance(row, Agreement)]


@pytest.mark.parametrize("row", ROWS, ids=[row.statistic for row in ROWS])
def test_it_agrees(row: Agreement) -> None:
    replace(row, rows=max(2, row.rows // 10)).cells()
