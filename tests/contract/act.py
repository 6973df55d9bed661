"""Artifacts that act's own artifact server has taken, so that one run's are the next one's.

They lie at `FOLDER/<run id>/<name>/<name>.zip`. A run that the state does not know is left out:
GitHub knows its runs before they upload anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.contract.records import ARTIFACTS_KEPT, Artifact, Run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contract.state import State


class ActArtifacts:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ids: dict[Path, int] = {}

    def refresh(self, state: State) -> None:
        """Put what lies in the folder now into the state."""
        for path in sorted(self._folder.glob("*/*/*.zip")):
            run_id, name = path.relative_to(self._folder).parts[:2]
            run = state.get(Run, int(run_id)) if run_id.isdecimal() else None
            if run is None or path.stem != name:
                continue
            if path not in self._ids:
                self._ids[path] = state.new_id()
            state.put(
                Artifact(
                    id=self._ids[path],
                    run_id=run.id,
                    name=name,
                    data=path.read_bytes(),
                    created_at=run.created_at,
                    expires_at=run.created_at + ARTIFACTS_KEPT,
                )
            )
