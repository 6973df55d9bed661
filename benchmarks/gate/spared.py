"""Checks edits that nothing runs: by rule, none is measured, so none can fail."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.gate.project import EDITS, TEN, Change, check, repository

from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

# Of these, no benchmark runs anything; the others edit the module outside of its functions.
_SPARED = ("docstring", "function")
_FILES = ("README.md", "docs/notes.md", ".github/workflows/ci.yml", "other.py", "CHANGELOG.md")


def check_spared(builds: int, *, seed: int, say: Callable[[str], None]) -> None:
    """Draw edits that nothing runs, and say how many checks failed or measured anything."""
    rng = random.Random(seed)  # noqa: S311 - repeatable on purpose
    failed = measured = 0
    seconds = []
    for index in range(builds):
        edit = rng.choice([*(name for name in EDITS if name in _SPARED), *_FILES])
        change = Change(edit=edit) if edit in EDITS else Change()
        with repository(TEN, change) as folder, tempfile.TemporaryDirectory() as temporary:
            if edit in _FILES:
                (folder / edit).parent.mkdir(parents=True, exist_ok=True)
                (folder / edit).write_text(f"# {rng.random()}\n", encoding="utf-8")
            output = Path(temporary) / "result.json"
            answer = check(folder, output, everything=False)
        outcomes = {row["outcome"] for row in answer.verdict["rows"]}
        failed += answer.exit_code != 0
        measured += outcomes != {Outcome.SAME_CODE.value}
        seconds.append(answer.seconds)
        say(f"{index} {edit}: exit code {answer.exit_code} after {answer.seconds:.1f} s")
    middle_s = sorted(seconds)[len(seconds) // 2]
    say(
        f"an edit that nothing runs: {builds} builds, {failed} failed, {measured} measured "
        f"anything, {middle_s:.1f} s each (median)"
    )
