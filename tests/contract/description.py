"""GitHub's own description of its REST API, as openapi-core reads it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft4Validator
from jsonschema_path import SchemaPath
from openapi_core import Config, OpenAPI

HOST = "https://api.github.com"
# More than all tests look up. Without it, every request resolves each reference again.
_PLACES_KEPT = 100_000


@cache
def document() -> dict[str, Any]:
    """The description, with what GitHub really answers where the two differ."""
    content: dict[str, Any] = json.loads(
        Path(__file__).with_name("openapi.json").read_text(encoding="utf-8")
    )
    schemas = content["components"]["schemas"]
    # A check run that goes on has no conclusion, as GitHub's own example shows.
    schemas["check-run"]["properties"]["conclusion"]["enum"].append(None)
    # A fork that was deleted is null in what came from it.
    for properties, name in (
        (schemas["pull-request"]["properties"]["head"]["properties"], "repo"),
        (schemas["pull-request-simple"]["properties"]["head"]["properties"], "repo"),
        (schemas["workflow-run"]["properties"], "head_repository"),
    ):
        kind = properties[name]["$ref"].rpartition("/")[2]
        properties[name] = schemas[kind] | {"nullable": True}
    return content


@cache
def api() -> OpenAPI:
    config = Config(spec_validator_cls=None)  # type: ignore[arg-type] # None is to trust it
    described = SchemaPath.from_dict(document(), resolved_cache_maxsize=_PLACES_KEPT)
    return OpenAPI(described, config=config)


@cache
def refusal() -> Draft4Validator:
    """The schema of an error, whose dialect is that of OpenAPI 3.0 as far as it goes."""
    return Draft4Validator(document()["components"]["schemas"]["validation-error"])


def operation(method: str, template: str) -> dict[str, Any]:
    found: dict[str, Any] = document()["paths"][template][method.lower()]
    return found


def query_parameters(method: str, template: str) -> frozenset[str]:
    """Names of those that the operation takes."""
    parameters = [resolved(one) for one in operation(method, template).get("parameters", ())]
    return frozenset(one["name"] for one in parameters if one["in"] == "query")


def body_schema(method: str, template: str) -> dict[str, Any] | None:
    """The schema of the JSON that the operation takes; None where it takes none."""
    body = operation(method, template).get("requestBody")
    if body is None:
        return None
    schema: dict[str, Any] = body["content"]["application/json"]["schema"]
    return resolved(schema)


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """What a reference stands for."""
    if "$ref" not in part:
        return part
    _, section, kind, name = part["$ref"].split("/")
    found: dict[str, Any] = document()[section][kind][name]
    return found
