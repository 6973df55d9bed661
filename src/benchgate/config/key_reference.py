"""Makes the JSON schema and the tables of docs/configuration.md from the classes of the tables.

    python -m benchgate.config.key_reference docs/configuration.md

updates a document: it rewrites the text between `<!-- table: gate -->` and
`<!-- end -->`.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import GenerateJsonSchema

from benchgate.config.tables import TABLES, Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import core_schema

    from benchgate.tables.fields import Table

_GO = ("benchmark", "go")
_FUNCTIONS = (("benchmark", "python"), "[Python functions](#python-functions)")
_COMMAND = (("benchmark", "command"), "[a command](#a-command)")

Likeness = tuple[tuple[str, ...], str]
"""The table in which some keys of another one stand already, and a link to it."""

OTHER_LANGUAGES: Final = ("go", "node", "rust", "cpp", "worker")

ALIKE: Final[Mapping[tuple[str, ...], Likeness]] = {
    **dict.fromkeys((("benchmark", kind) for kind in ("pytest", "asv", "pyperf")), _FUNCTIONS),
    **dict.fromkeys((("benchmark", kind) for kind in OTHER_LANGUAGES), (_GO, "`go`")),
    **dict.fromkeys((_GO, ("benchmark", "worker")), _FUNCTIONS),
    **dict.fromkeys((("benchmark", kind) for kind in ("suite", "scenario")), _COMMAND),
    ("benchmark", "python"): _COMMAND,
    ("rule",): (("gate",), "[`[gate]`](#gate)"),
}

DIALECT: Final = GenerateJsonSchema.schema_dialect

_BLOCK = re.compile(r"(<!-- table: ([a-z ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_WIDTH = 100
_AS_THERE = "| As in `[gate]`. |"
_PLURAL = re.compile(r"\b(integer|number|command|table(?! of)|value)\b")
_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
}
_FORMATS = {"duration", "percentage", "command", "date"}
_TYPES = {"boolean": "`true`/`false`", "string": "text", "": "any value"}


class _TomlSchema(GenerateJsonSchema):
    """TOML has no null: an optional key is left out, never written without a value."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if described.get("default", "") is None:
            del described["default"]
        return described

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401, ARG002 - inherited
        return False


def config_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a whole benchgate.toml."""
    return {
        "$schema": DIALECT,
        **table_schema(Settings),
        "title": "benchgate.toml",
    }


def table_schema(table: type[Table]) -> dict[str, Any]:
    return table.model_json_schema(schema_generator=_TomlSchema)


def updated(
    document: str,
    tables: Mapping[tuple[str, ...], type[Table]] = TABLES,
    alike: Mapping[tuple[str, ...], Likeness] = ALIKE,
) -> str:
    """Rewrite all tables of a document.

    Args:
        tables: by the words of their markers.
        alike: for tables that need not repeat the keys of another one.
    """

    def block(match: re.Match[str]) -> str:
        words = tuple(match[2].split())
        if words not in alike:
            return match[1] + markdown_table(tables[words]) + match[3]
        other, link = alike[words]
        shown = _beside(tables[words], tables[other], link, is_short=other == _GO)
        return match[1] + shown + match[3]

    return _BLOCK.sub(block, document)


def markdown_table(table: type[Table]) -> str:
    """Key, value, default and meaning of every key of a table, in Markdown."""
    return _markdown(_rows(table).values())


def _beside(table: type[Table], other: type[Table], link: str, *, is_short: bool) -> str:
    """The keys of a table, and the names of those that another one has in the same words.

    Args:
        is_short: do not name them.
    """
    rows, there = _rows(table), _rows(other)
    own = [row for key, row in rows.items() if there.get(key) != row and _AS_THERE not in row]
    same = [f"`{key}`" for key, row in rows.items() if row not in own]
    names = "all other keys" if is_short else ", ".join(same)
    listed = fill(f"As for {link}: {names}.", _WIDTH, break_on_hyphens=False)
    return f"{_markdown(own)}\n{listed}\n" if own else f"{listed}\n"


def _rows(table: type[Table]) -> dict[str, str]:
    """The line of every key."""
    schema = table_schema(table)
    required = schema.get("required", ())
    rows = {}
    for key, value in schema["properties"].items():
        default = "required" if key in required else _default(value)
        allowed = ", ".join(filter(None, (_allowed(value), default)))
        rows[key] = f"| `{key}` | {allowed} | {value['description']} |"
    return rows


def _markdown(rows: Iterable[str]) -> str:
    lines = ["| key | value | meaning |", "|---|---|---|", *rows]
    return "\n".join(lines) + "\n"


def _default(value: dict[str, Any]) -> str:
    if value.get("default") in (None, []):
        return ""
    return f"default `{json.dumps(value['default'])}`"


def _allowed(value: dict[str, Any]) -> str:
    """Describe in a few words what a JSON schema allows."""
    if "anyOf" in value:
        return " or ".join(_allowed(choice) for choice in value["anyOf"])
    if "const" in value:
        return f'`"{value["const"]}"`'
    if "enum" in value:
        return ", ".join(f'`"{word}"`' for word in value["enum"])
    return "table" if "$ref" in value else _of_type(value)


def _of_type(value: dict[str, Any]) -> str:
    kind = value.get("type", "")
    if kind == "array":
        return f"list of {_several(value['items'])}"
    if kind == "object":
        items = value.get("additionalProperties", True)
        return "table" if items is True else f"table of {_several(items)}"
    if kind in {"integer", "number"}:
        return ("integer" if kind == "integer" else "number") + _range(value)
    return value["format"] if value.get("format") in _FORMATS else _TYPES[kind]


def _several(items: dict[str, Any]) -> str:
    return _PLURAL.sub(r"\1s", _allowed(items))


def _range(value: dict[str, Any]) -> str:
    # A bound of a thousand million only protects the program; it is not worth showing.
    bounds = {key: f"{value[key]:g}" for key in _BOUNDS if abs(value.get(key, 1e9)) < 1e9}
    if bounds.keys() >= {"minimum", "maximum"}:
        return f", {bounds['minimum']} to {bounds['maximum']}"
    phrases = [f"{_BOUNDS[key]} {bound}" for key, bound in bounds.items()]
    return f", {' and '.join(phrases)}" if phrases else ""


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(updated(path.read_text(encoding="utf-8")), encoding="utf-8")
