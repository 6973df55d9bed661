"""What `show` does with a file that is no result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.cli.show import show
from benchgate.errors import FormatError
from benchgate.model.run import Source
from benchgate.model.verdict import VERDICT, Decision, GateSettings, Verdict
from benchgate.session.choice import Choice

if TYPE_CHECKING:
    from pathlib import Path


def test_a_verdict_is_said_to_be_no_result(tmp_path: Path) -> None:
    path = tmp_path / "verdict.json"
    verdict = Verdict(Decision.PASS, 0, "fine", Source(), Source(), GateSettings(), rows=())
    path.write_bytes(VERDICT.write(verdict, str))

    with pytest.raises(FormatError, match="holds no `tool`, so it is not a result file"):
        show(path, Choice(), None)
