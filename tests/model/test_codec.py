"""The schemas, and the page that describes the files to users."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.model.codec import (
    RESULT_SCHEMA,
    VERDICT_SCHEMA,
    decode_result,
    decode_verdict,
    result_schema,
    statistics_schema,
    verdict_schema,
)
from benchgate.model.environment import Environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = Path(__file__).parents[2].joinpath("docs", "formats.md").read_text(encoding="utf-8")


def keys_of(schema: dict[str, Any]) -> Iterator[str]:
    for part in (schema, *schema["$defs"].values()):
        yield from part.get("properties", {})


@pytest.mark.parametrize("schema", [result_schema, verdict_schema, statistics_schema])
def test_every_key_is_described(schema: Callable[[], dict[str, Any]]) -> None:
    described = set(re.findall(r"`(\w+)`", PAGE))
    assert set(keys_of(schema())) <= described


def test_the_examples_are_real() -> None:
    examples = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
    result, _, verdict = (
        json.dumps(example | {"environment": asdict(Environment())}).encode()
        for example in examples
    )
    assert decode_result(result, "example").head.source.ref == "feature"
    assert decode_verdict(verdict, "example").rows[0].ratio == 1.146


@pytest.mark.parametrize(
    ("schema", "version"), [(result_schema, RESULT_SCHEMA), (verdict_schema, VERDICT_SCHEMA)]
)
def test_schemas_say_which_dialect_and_version_they_are(
    schema: Callable[[], dict[str, Any]], version: int
) -> None:
    whole = schema()
    assert whole["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert whole["title"].endswith(f"version {version}")
    assert whole["additionalProperties"] is False
