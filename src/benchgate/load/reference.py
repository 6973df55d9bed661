"""Makes the tables of docs/scenario-files.md from the classes of the tables.

    python -m benchgate.load.reference docs/scenario-files.md

updates a document, as `benchgate.config.reference` does.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.config.reference import updated
from benchgate.load.drivers import registry
from benchgate.load.drivers.http_tables import Request
from benchgate.load.reading import ScenarioFile
from benchgate.load.tables import Experiment, Load, Ready, Service, Stage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.tables.fields import Table


def tables() -> Mapping[tuple[str, ...], type[Table]]:
    """Every table of a scenario file; those of a driver by its name, too."""
    found: dict[tuple[str, ...], type[Table]] = {
        ("scenario",): ScenarioFile,
        ("load",): Load,
        ("stage",): Stage,
        ("experiment",): Experiment,
        ("service",): Service,
        ("ready",): Ready,
        ("request",): Request,
    }
    for name in registry.BUILT_IN:
        driver = registry.find(name)
        found |= {
            ("target", name): driver.TARGET,
            ("step", name): driver.STEP,
            ("script", name): driver.SCRIPT,
        }
    return found


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(updated(path.read_text(encoding="utf-8"), tables()), encoding="utf-8")
