from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest
from pydantic import TypeAdapter, ValidationError

from benchgate.json_object import JsonObject
from benchgate.model.document import first_fault


@dataclass(frozen=True, slots=True)
class Versions(JsonObject):
    """Numbers by name."""

    versions: dict[str, int] = field(default_factory=dict)


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("gcc", "versions.gcc"),
        ("a b", 'versions."a b"'),
        ("k" * 200_000, f'versions."{"k" * 39}...'),
    ],
)
def test_a_key_of_any_length_gives_a_short_place(key: str, shown: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(Versions).validate_json(json.dumps({"versions": {key: "x"}}))
    assert first_fault(caught.value) == f'{shown}: "x" is not a whole number'
