"""The schemas, and the page that describes the files to users."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.model.codec import decode_result
from benchgate.model.environment import Environment
from benchgate.model.result import RESULT
from benchgate.model.statistics import STATISTICS
from benchgate.model.verdict import VERDICT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = Path(__file__).parents[2].joinpath("docs", "formats.md").read_text(encoding="utf-8")


def keys_of(schema: dict[str, Any]) -> Iterator[str]:
    for part in (schema, *schema["$defs"].values()):
        yield from part.get("properties", {})


@pytest.mark.parametrize(
    "schema", [RESULT.json_schema, VERDICT.json_schema, STATISTICS.json_schema]
)
def test_every_key_is_described(schema: Callable[[], dict[str, Any]]) -> None:
    described = set(re.findall(r"`(\w+)`", PAGE))
    assert set(keys_of(schema())) <= described


def with_machine(example: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    """The example with all keys of an environment, which it leaves out."""
    if isinstance(example, list):
        return [with_machine(one) for one in example]
    if not isinstance(example, dict):
        return example
    machine = {"environment": asdict(Environment())} if "environment" in example else {}
    return {key: with_machine(value) for key, value in example.items()} | machine


def test_the_examples_are_real() -> None:
    examples = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
    result, verdict = (json.dumps(with_machine(one)).encode() for one in examples)
    assert decode_result(result, "example").head.source.ref == "feature"
    assert VERDICT.read(verdict, "example").rows[0].ratio == 1.146


@pytest.mark.parametrize(
    ("schema", "version"),
    [(RESULT.json_schema, RESULT.version), (VERDICT.json_schema, VERDICT.version)],
)
def test_schemas_say_which_dialect_and_version_they_are(
    schema: Callable[[], dict[str, Any]], version: int
) -> None:
    whole = schema()
    assert whole["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert whole["title"].endswith(f"version {version}")
    assert whole["additionalProperties"] is False
