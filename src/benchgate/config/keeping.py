"""The judging part of a configuration, as a result stores it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from benchgate.config.program_benchmarks import NOT_KEPT
from benchgate.errors import ConfigError
from benchgate.model.policy import MOST_CHARACTERS, ConfigTables
from benchgate.model.redact import redacted
from benchgate.tables.document import dotted, paths

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.config.origin import Origin

_MEASURES_ONLY: Final = frozenset(
    {
        ("build",),
        ("benchmark", "env"),
        ("benchmark", "prepare"),
        ("benchmark", "cleanup"),
    }
)
_COMMANDS: Final = frozenset({("benchmark", "command"), ("benchmark", "suite")})


def to_keep(origin: Origin, redact: Callable[[str], str]) -> ConfigTables:
    """Extract the part of a configuration that is stored with a result, without the options.

    It leaves out the tables of other tools, and what judging a result never uses: [build], the
    commands of benchmarks, and their environment variables.
    """
    tables = _without_measuring(origin.tables)
    kept = redacted(tables, redact)
    if len(json.dumps(kept, ensure_ascii=False)) > MOST_CHARACTERS:
        raise ConfigError(
            f"{origin.name}: has more than {MOST_CHARACTERS} characters",
            hint="A glob, in [[rule]] or [[waive]], can stand for many benchmarks.",
        )
    around = (origin.prefix[:length] for length in range(1, len(origin.prefix) + 1))
    keys = [*around, *((*origin.prefix, *path) for path in paths(tables))]
    lines = {
        dotted(tuple(redact(part) if isinstance(part, str) else part for part in key)): line
        for key in keys
        if (line := origin.lines.get(dotted(key))) is not None
    }
    return ConfigTables(origin.name, kept, lines)


def _without_measuring(value: Any, path: tuple[str, ...] = ()) -> Any:  # noqa: ANN401 - TOML, then JSON
    """A value as JSON, without the parts that only measuring uses."""
    if isinstance(value, Mapping):
        return {
            key: _without_measuring(one, (*path, key))
            for key, one in value.items()
            if (*path, key) not in _MEASURES_ONLY
        }
    if isinstance(value, list):
        return [_without_measuring(one, path) for one in value]
    if path in _COMMANDS:
        return NOT_KEPT
    return value.isoformat() if isinstance(value, date) else value
