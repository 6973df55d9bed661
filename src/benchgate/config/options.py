"""Options of the command line, laid over the tables of the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.config.origin import Origin

_SOURCES = {
    "auto": "auto",
    "artifact": "artifact",
    "git": "git",
    "dir": "directory",
    "file": "file",
}
_REPLACED = ("source", "against", "path")
GIVES_WAY = {
    ("measure", "until_decided"): ("rounds", "budget"),
    ("measure", "rounds"): ("until_decided",),
}
"""What the file says of the keys on the right gives way to an option."""


def overridden(
    origin: Origin,
    keys: Mapping[tuple[str, str], Any],
    *,
    against: str | None,
    baseline: str | None,
) -> Origin:
    """The document with these values in it, unchecked, and the options they came from.

    Args:
        origin: the document as it was read.
        keys: table, key and new value; the option is named after the key.
        against: value of `--against`.
        baseline: value of `--baseline`.

    Raises:
        UsageError: when the two last contradict each other or cannot be read.
    """
    document = dict(origin.document)
    options = dict(origin.options)
    for (table, key), value in keys.items():
        gone = {k for k in GIVES_WAY.get((table, key), ()) if (table, k) not in keys}
        kept = {k: v for k, v in document.get(table, {}).items() if k not in gone}
        document[table] = {**kept, key: value}
        options[table, key] = f"--{key.replace('_', '-')}"
    source = _baseline_keys(against, baseline)
    if source:
        option = "--baseline" if against is None else "--against"
        kept = {k: v for k, v in document.get("baseline", {}).items() if k not in _REPLACED}
        document["baseline"] = {**kept, **source}
        options |= {("baseline", key): option for key in _REPLACED}
    return replace(origin, document=document, options=options) if keys or source else origin


def _baseline_keys(against: str | None, baseline: str | None) -> Mapping[str, str]:
    """What the two options say of [baseline]; nothing when neither is given."""
    if against is not None and baseline is not None:
        raise UsageError(
            "--against and --baseline both say what to compare with",
            hint=f"give one of them: --against {against}, or --baseline {baseline}",
        )
    if against is not None:
        return {"source": "git", "against": against}
    if baseline is None:
        return {}
    kind, _, rest = baseline.partition(":")
    if (
        kind not in _SOURCES
        or (kind in {"auto", "artifact"} and rest)
        or (kind == "file" and not rest)
    ):
        raise UsageError(
            f'--baseline "{baseline}": must be auto, artifact, git, git:REF, dir:PATH or file:PATH'
            f"{did_you_mean(kind, _SOURCES) if kind not in _SOURCES else ''}",
            hint="for example --baseline git:main or --baseline file:baseline.json",
        )
    keys = {"source": _SOURCES[kind]}
    if rest:
        # A path from the command line is relative to where it was typed.
        keys |= {"against": rest} if kind == "git" else {"path": str(Path(rest).absolute())}
    return keys
