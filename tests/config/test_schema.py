from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.config.key_reference import config_schema, table_schema
from benchgate.config.tables import TABLES
from benchgate.tables.fields import keys_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.tables.fields import Table


def _nodes(schema: object) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for child in schema.values():
            yield from _nodes(child)
    elif isinstance(schema, list):
        for child in schema:
            yield from _nodes(child)


def test_it_is_json_and_knows_no_null() -> None:
    text = json.dumps(config_schema(), allow_nan=False)
    assert "null" not in text
    assert config_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("table", TABLES.values())
def test_every_key_is_described_and_nothing_else_is_allowed(table: type[Table]) -> None:
    schema = table_schema(table)
    assert tuple(schema["properties"]) == keys_of(table)
    assert schema["additionalProperties"] is False
    for name, info in table.model_fields.items():
        assert info.description, name
        assert info.description.endswith((".", "`.")), name


def test_defaults_are_written_as_people_write_them() -> None:
    gate = table_schema(TABLES["gate",])["properties"]
    measure = table_schema(TABLES["measure",])["properties"]
    assert (gate["margin"]["default"], gate["min_compared"]["default"]) == ("2%", "all")
    assert (measure["budget"]["default"], measure["launch_time"]["default"]) == ("10m", "15ms")
    assert "default" not in measure["seed"]


def test_what_a_field_may_be() -> None:
    gate = table_schema(TABLES["gate",])["properties"]
    assert gate["rule"]["enum"] == ["launch", "classical"]
    assert gate["fail_on"]["items"]["enum"] == [
        *("regressed", "improved", "failed", "missing", "new"),
        *("inconclusive", "incomparable"),
    ]
    assert gate["min_compared"]["anyOf"] == [{"const": "all"}, {"type": "integer", "minimum": 0}]
    command = table_schema(TABLES["benchmark", "command"])
    assert command["required"] == ["name", "command"]
    assert command["properties"]["command"]["type"] == "string"
    build = table_schema(TABLES["build",])["properties"]
    assert [choice["type"] for choice in build["command"]["anyOf"]] == ["string", "array"]


def test_every_reference_leads_somewhere() -> None:
    schema = config_schema()
    references = {node["$ref"] for node in _nodes(schema) if isinstance(node.get("$ref"), str)}
    assert references == {f"#/$defs/{name}" for name in schema["$defs"]}
