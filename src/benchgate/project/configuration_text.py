"""Writes the text of a first configuration."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.project.needs import Build
    from benchgate.project.suites import Suite, Value

_WIDTH = 98
_FIRST = "# What benchgate measures. `benchgate schema config` describes all keys.\n"


def configuration(build: Build, tables: Sequence[str], to_edit: Iterable[str] = ()) -> str:
    """The text of a configuration.

    Args:
        to_edit: what a person has to look at, one sentence each.
    """
    notes = [f"{comment(f'To do: {sentence}')}\n" for sentence in to_edit]
    return "\n".join([_FIRST, *notes, *_build(build), *tables])


def suite_table(suite: Suite) -> str:
    """The table of a suite, with what it measures and what is left to do."""
    lines = [comment(suite.comment), *(comment(f"To do: {each}") for each in suite.to_edit)]
    return "\n".join([*lines, table(suite.table)])


def table(keys: Mapping[str, Value]) -> str:
    """A [[benchmark]] with its keys."""
    lines = ["[[benchmark]]", *(f"{key} = {_value(value)}" for key, value in keys.items())]
    return "\n".join(lines) + "\n"


def comment(text: str) -> str:
    """A comment, wrapped."""
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent="# ",
        subsequent_indent="# ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _value(value: Value) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_quoted(text)}' for name, text in value.items())} }}"
    if not isinstance(value, tuple):
        return _quoted(value)
    line = f"[{', '.join(map(_quoted, value))}]"
    if len(line) <= _WIDTH - len("pytest = "):
        return line
    return "\n".join(["[", *(f"  {_quoted(each)}," for each in value), "]"])


def _quoted(value: str | bool) -> str:  # noqa: FBT001 - a value of the configuration
    """A value as TOML; where quotes and backslashes are many, text stays as it is."""
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and "\\" in text and "'" not in value and value.isprintable():
        return f"'{value}'"
    return text


def _build(build: Build) -> list[str]:
    if not build.commands:
        return []
    reason = f"{build.reason[:1].upper()}{build.reason[1:]}, so each side is built."
    if any("{env}/bin/" in command or "uv " in command for command in build.commands):
        reason = (
            f"{build.reason[:1].upper()}{build.reason[1:]}, so each side is installed into an "
            "environment of its own, {env}. benchgate measures what is installed there."
        )
    quoted = [_quoted(command) for command in build.commands]
    value = quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"
    if len(value) > _WIDTH:
        value = "\n".join(["[", *(f"  {each}," for each in quoted), "]"])
    lines = [comment(reason), "[build]", f"command = {value}"]
    if build.env:
        lines.append(f"env = {_value(dict(build.env))}")
    return ["\n".join(lines) + "\n"]
