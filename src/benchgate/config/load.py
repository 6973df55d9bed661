"""Finds and reads a project's configuration."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from benchgate.config.origin import Origin
from benchgate.config.resolved import resolve
from benchgate.errors import ConfigError
from benchgate.tables.document import parse_toml, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from benchgate.config.resolved import Config
    from benchgate.model.policy import ConfigTables

OWN_FILE = "benchgate.toml"
SHARED_FILE = "pyproject.toml"
_TABLE = ("tool", "benchgate")


def load(start: Path, stop: Path | None = None, explicit: Path | None = None) -> Config:
    """Read the configuration that applies to a folder, or the defaults if there is none.

    Args:
        start: the folder where the search starts; it goes upwards.
        stop: the last folder to search, the root of the repository; None searches `start` alone,
            which is then the root of the tree.
        explicit: the file to read instead; if it lies outside of the tree, its paths start at the
            root.

    Raises:
        ConfigError: a file cannot be read or is not valid, or two files of one folder configure
            benchgate.
    """
    if explicit is not None:
        origin = _origin(explicit, str(explicit))
        if origin is None:
            raise ConfigError(
                f"{explicit} has no [tool.benchgate] table",
                hint=f"add the table, or name a {OWN_FILE} with --config",
            )
        place = (start / explicit).parent
        return resolve(replace(origin, named=True, folder=_inside(place, stop or start)))
    for folder in _folders(start.resolve(), stop.resolve() if stop else None):
        origin = _origin_in(folder, start)
        if origin is not None:
            return resolve(replace(origin, folder=_inside(folder, stop or start)))
    return resolve(Origin())


def _inside(folder: Path, root: Path) -> str:
    """A folder relative to the root of the tree; the root itself for a folder outside of it."""
    folder, root = folder.resolve(), root.resolve()
    return folder.relative_to(root).as_posix() if folder.is_relative_to(root) else "."


def loads(text: str, name: str) -> Config:
    """Read a configuration from text, such as the base commit's.

    Args:
        text: a whole TOML document.
        name: what messages call it; if it ends in pyproject.toml, the text is read as one, and
            gives the defaults if it has no [tool.benchgate].
    """
    origin = _parsed(text, name, None)
    return resolve(origin or Origin())


def loads_folder(files: Mapping[str, str], folder: str = ".") -> Config | None:
    """Read the configuration in the files of one folder, such as a commit's.

    Args:
        files: text by name; a benchgate.toml before a pyproject.toml.
        folder: that folder, relative to the root of the commit's tree.

    Returns:
        None if none of them configures benchgate.
    """
    origin = _only(_parsed(text, name, None) for name, text in files.items())
    return resolve(replace(origin, folder=folder)) if origin else None


def from_kept(kept: ConfigTables | None) -> Config:
    """Read a configuration that was stored with a result; the defaults if there is none."""
    if kept is None:
        return resolve(Origin())
    tables = _with_days(kept.tables)
    prefix = _prefix(kept.name)
    return resolve(Origin(name=kept.name, prefix=prefix, tables=tables, kept_lines=kept.lines))


def _with_days(tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Turn the dates of waivers, which are text in JSON, back into dates as in TOML."""
    waivers = tables.get("waive")
    if not isinstance(waivers, list):
        return tables
    return {**tables, "waive": [_with_day(one) for one in waivers]}


def _with_day(waiver: Any) -> Any:  # noqa: ANN401 - whatever the file holds
    if not isinstance(waiver, dict):
        return waiver
    with suppress(KeyError, TypeError, ValueError):
        return {**waiver, "until": date.fromisoformat(waiver["until"])}
    return waiver


def _folders(start: Path, stop: Path | None) -> Iterator[Path]:
    yield start
    if stop is None or not start.is_relative_to(stop):
        return
    for folder in start.parents:
        if not folder.is_relative_to(stop):
            return
        yield folder


def _origin_in(folder: Path, start: Path) -> Origin | None:
    """Read the document of one folder; messages name files relative to the start of the search."""
    return _only(
        _origin(folder / name, os.path.relpath(folder / name, start))
        for name in (OWN_FILE, SHARED_FILE)
        if (folder / name).is_file()
    )


def _only(origins: Iterable[Origin | None]) -> Origin | None:
    """The one document of a folder that configures benchgate; None if there is none."""
    found = [origin for origin in origins if origin]
    if len(found) > 1:
        own, shared = found
        raise ConfigError(
            f"both {own.name} and [tool.benchgate] in {shared.name} configure benchgate",
            hint=f"delete one of them: the [tool.benchgate] tables, if {own.name} is to stay",
        )
    return found[0] if found else None


def _origin(path: Path, name: str) -> Origin | None:
    return _parsed(read_text(path, name), name, path)


def _parsed(text: str, name: str, path: Path | None) -> Origin | None:
    """Parse the document; None for a pyproject.toml that does not configure benchgate."""
    prefix = _prefix(name)
    if prefix and "benchgate" not in text:
        return None
    tables = parse_toml(text, name)
    for key in prefix:
        if key not in tables:
            return None
        tables = tables[key]
        if not isinstance(tables, dict):
            raise ConfigError(
                f"{name}: {key} must be a table", hint="write [tool.benchgate.gate] and so on"
            )
    return Origin(path=path, name=name, prefix=prefix, tables=tables, text=text)


def _prefix(name: str) -> tuple[str, ...]:
    """The names of the tables that contain benchgate's tables in a file of this name."""
    return _TABLE if name.endswith(SHARED_FILE) else ()
