"""Writes the text of a configuration."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.project.build_steps import (
        BuildSteps,
        Value,
    )


_WIDTH = 98
_FIRST = "# What benchgate measures. `benchgate schema config` describes all keys.\n"


def configuration_text(
    build: BuildSteps, tables: Sequence[str], to_edit: Iterable[str] = ()
) -> str:
    """The text of a configuration.

    Args:
        to_edit: what a person has to look at, one sentence each.
    """
    notes = [f"{comment(f'To do: {sentence}')}\n" for sentence in to_edit]
    return "\n".join([_FIRST, *notes, *_build_table(build), *tables])


def comment(text: str) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent="# ",
        subsequent_indent="# ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def value_text(value: Value) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_quoted(text)}' for name, text in value.items())} }}"
    if not isinstance(value, tuple):
        return _quoted(value)
    return _listed(value, _WIDTH - len("pytest = "))


def _listed(texts: Sequence[str], width: int) -> str:
    quoted = [_quoted(text) for text in texts]
    line = f"[{', '.join(quoted)}]"
    return line if len(line) <= width else "\n".join(["[", *(f"  {each}," for each in quoted), "]"])


def _quoted(value: str | bool) -> str:  # noqa: FBT001 - a value of the configuration
    """A value as TOML; where quotes and backslashes are many, text stays as it is."""
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and "\\" in text and "'" not in value and value.isprintable():
        return f"'{value}'"
    return text


def _build_table(build: BuildSteps) -> list[str]:
    if not build.commands:
        return []
    reason = f"{build.reason[:1].upper()}{build.reason[1:]}, so each side is "
    if any("{env}/bin/" in command or "uv " in command for command in build.commands):
        reason += (
            "installed into an environment of its own, {env}. benchgate measures what is installed "
            "there."
        )
    else:
        reason += "built."
    value = _quoted(build.commands[0])
    if len(build.commands) > 1 or len(value) > _WIDTH:
        value = _listed(build.commands, _WIDTH)
    lines = [comment(reason), "[build]", f"command = {value}"]
    if build.env:
        lines.append(f"env = {value_text(dict(build.env))}")
    return ["\n".join([*lines, ""])]
