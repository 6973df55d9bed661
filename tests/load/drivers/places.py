"""Places for drivers, and short ways to use them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchgate.load import drivers
from benchgate.load.drivers.driver import LaunchPlace, one_line
from benchgate.load.placeholders import expanded
from benchgate.load.scenario_file import secrets_in
from benchgate.model.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.load.drivers.driver import Connection, Driver


def place_in(folder: Path, **placeholders: str) -> LaunchPlace:
    """A place whose placeholders and variables are those given, and {scratch}."""
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    known = {**placeholders, "scratch": str(scratch)}

    def expand(text: str) -> str:
        return expanded(text, known, known)

    return LaunchPlace(folder, scratch, expand=expand, environ={**os.environ, **known})


def driver_of(
    name: str, target: Mapping[str, Any], steps: Sequence[Mapping[str, Any]], place: LaunchPlace
) -> Driver[Any, Any, Any]:
    """A driver from tables as a file has them; steps without a name get one."""
    kind = drivers.find(name)
    checked = kind.TARGET.model_validate({"driver": name, **target})
    found = [
        kind.STEP.model_validate({"name": f"step{number}", **step})
        for number, step in enumerate(steps)
    ]
    texts = [*checked.texts(), *(text for step in found for text in step.texts())]
    redact = Redactor({}, secrets_in(texts, place.environ))
    return kind(checked, found, replace(place, conceal=lambda text: one_line(redact(text))))


@contextmanager
def connected(driver: Driver[Any, Any, Any]) -> Iterator[Connection]:
    """A connection of the first worker; everything is closed at the end."""
    try:
        connection = driver.connect(0)
        try:
            yield connection
        finally:
            connection.close()
    finally:
        driver.close()
