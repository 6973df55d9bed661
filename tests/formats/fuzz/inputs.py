"""The inputs of a fuzzer for one format: its genuine files, damaged at random."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

from tests.formats.cases import CASES, Case
from tests.fuzz.mutations import damaged

from benchgate.formats.contents import ForeignFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CRASHERS = Path(__file__).parents[1] / "crashers"
"""Inputs that once were too much for a format, as `FORMAT/FILE` or `FORMAT/FOLDER/FILE`."""
NAME = "it"


def crashers() -> list[Case]:
    """Each input that is kept."""
    return [
        Case(folder.name, f"../crashers/{folder.name}/{each.name}")
        for folder in sorted(CRASHERS.glob("*"))
        for each in sorted(folder.iterdir())
    ]


def seeds_of(name: str) -> list[ForeignFile]:
    """The genuine files of a format, and those that once were too much for it."""
    return [each.source() for each in (*CASES, *crashers()) if each.format == name]


def inputs_of(name: str, seed: int) -> Iterator[ForeignFile]:
    """Make inputs for a format without end; the same ones for the same seed."""
    rng = random.Random(f"{name}/{seed}")  # noqa: S311 - to repeat the same faults
    seeds = seeds_of(name)
    others = [data for each in seeds for data in (each.data, *each.files.values()) if data]
    others += [each.source().data for each in rng.sample(CASES, 8) if each.source().data]
    while True:
        chosen = rng.choice(seeds)
        if chosen.files:
            yield ForeignFile(NAME, files=_damaged_folder(chosen.files, rng, others))
        else:
            yield ForeignFile(NAME, damaged(chosen.data, rng, others))


def _damaged_folder(
    files: Mapping[str, bytes], rng: random.Random, others: list[bytes]
) -> dict[str, bytes]:
    changed = dict(files)
    path = rng.choice(sorted(changed))
    match rng.randrange(8):
        case 0:
            del changed[path]
        case 1:
            changed[path] = changed[rng.choice(sorted(changed))]
        case 2:
            changed[f"{rng.choice(('a', 'new', 'x/new', '.'))}/{path}"] = changed[path]
        case 3:
            changed[path] = rng.choice(others)
        case _:
            pass
    for path in rng.sample(sorted(changed), min(len(changed), rng.choice((1, 1, 2)))):
        changed[path] = damaged(changed[path], rng, others)
    return changed
