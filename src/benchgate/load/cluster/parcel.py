"""What a group on another machine needs of a launch: no file of the project has to be there."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.load.launch import make_launch
from benchgate.load.substitution import SCRATCH, variables_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.load.launch import Launch
    from benchgate.load.order import LoadOrder
    from benchgate.load.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Parcel:
    """What is sent to a group; it can be pickled, and has secrets.

    Attributes:
        variables: those of the environment that the scenario names.
        files: what the steps read, by path relative to the configuration.
        workers: the indices of the group's workers.
    """

    order: LoadOrder
    scenario: Scenario
    variables: Mapping[str, str]
    files: Mapping[str, bytes]
    workers: tuple[int, ...]


def parcel_of(launch: Launch, environ: Mapping[str, str], workers: tuple[int, ...]) -> Parcel:
    """Put together what one group needs.

    Raises:
        OSError: a file of a step cannot be read.
    """
    scenario = launch.scenario
    target = scenario.target(launch.order.target)
    texts = [*target.texts(), *(text for step in scenario.steps for text in step.texts())]
    names = {name for text in texts for name in variables_in(text)}
    folder = Path(launch.order.folder)
    return Parcel(
        order=launch.order,
        scenario=scenario,
        variables={name: environ[name] for name in sorted(names) if name in environ},
        files={
            file: (folder / file).read_bytes()
            for step in scenario.steps
            for file in step.own_files()
        },
        workers=workers,
    )


@contextmanager
def unpacked(parcel: Parcel) -> Iterator[Launch]:
    """Make the launch of a group, in a temporary folder with the files of the steps.

    Raises:
        TargetError: the target's texts or files do not fit.
    """
    with tempfile.TemporaryDirectory(prefix="benchgate-", ignore_cleanup_errors=True) as root:
        folder, scratch = Path(root, "folder"), Path(root, "scratch")
        folder.mkdir()
        scratch.mkdir()
        for file, content in parcel.files.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        order = replace(
            parcel.order,
            folder=str(folder),
            scratch=str(scratch),
            placeholders={**parcel.order.placeholders, SCRATCH: str(scratch)},
        )
        launch = make_launch(order, parcel.scenario, parcel.variables)
        try:
            yield launch
        finally:
            launch.driver.close()
