"""The JSON schema of benchgate.toml, for editors and for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema

from benchgate.config.models import Settings

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import core_schema

    from benchgate.config.table import Table


class _TomlSchema(GenerateJsonSchema):
    """TOML has no null: a key that may be absent is left out, never written as nothing."""

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
        "$schema": GenerateJsonSchema.schema_dialect,
        **table_schema(Settings),
        "title": "benchgate.toml",
    }


def table_schema(table: type[Table]) -> dict[str, Any]:
    """JSON Schema of one table."""
    return table.model_json_schema(schema_generator=_TomlSchema)
