"""The building blocks of JSON documents: objects with one key per field, and typed values.

Each dataclass of a document is defined once, with these types. pydantic reads and writes it and
makes its JSON Schema. Inside the program it is a plain dataclass: constructing one checks
nothing. A document is checked as a whole when it is read and before it is written.

Reading takes JSON, but writing takes the objects themselves: a type that treats the two
differently has one schema for each (`json_or_python_schema`).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeAlias

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializationInfo,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue

Redact: TypeAlias = Callable[[str], str]

MAX_TEXT = 100_000
"""Most characters of a text in a file that is read. Texts are written at any length."""
MAX_NAME = 10_000


class JsonObject:
    """A dataclass that stands for an object of a JSON document.

    The document must have every key and no others (the defaults of the dataclass are only for the
    program). Types are not converted, and no number is NaN or infinite.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        strict=True, extra="forbid", allow_inf_nan=False, revalidate_instances="always"
    )

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Require every field, and keep them in the order of their definition.

        pydantic would report every missing key, each with a copy of the object around it, which
        takes many times the memory of the document. So a missing key is reported here, once.
        """
        schema = handler(source)
        outer: Any = handler.resolve_ref_schema(schema)
        while outer["schema"]["type"] != "dataclass-args":
            outer = outer["schema"]
        fields: Any = outer["schema"]
        for field in fields["fields"]:
            inner = field["schema"]
            inner = inner["schema"] if inner["type"] == "default" else inner
            field["schema"] = core_schema.with_default_schema(inner, default_factory=_missing)
        names = list(cls.__dataclass_fields__)
        fields["fields"].sort(key=lambda field: names.index(field["name"]))
        outer["schema"] = core_schema.no_info_after_validator_function(_complete, fields)
        return schema

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the object by its class docstring, without the Attributes section."""
        found = handler(schema)
        described = handler.resolve_ref_schema(found)
        described["required"] = list(described["properties"])
        description = inspect.cleandoc(cls.__doc__ or "").partition("\n\nAttributes:")[0]
        described["description"] = description
        return found


_MISSING: Final = object()


def _missing() -> object:
    return _MISSING  # without a function, the JSON Schema would name a default


def _complete(values: tuple[dict[str, Any], Any]) -> tuple[dict[str, Any], Any]:
    for key, value in values[0].items():
        if value is _MISSING:
            raise misplaced(f'"{key}" is missing')
    return values


def misplaced(message: str, *place: str | int) -> PydanticCustomError:
    """The error of a check that sees a whole object and finds a fault deep inside it.

    Args:
        place: keys and indices from the checked object down to the fault.
    """
    return PydanticCustomError("misplaced", "{message}", {"message": message, "place": place})


class _Text:
    """Redacts a text when it is written as JSON."""

    def __init__(self, *, max_length: int, min_length: int = 0) -> None:
        self._max_length = max_length
        self._min_length = min_length

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        text = core_schema.str_schema(strict=True, min_length=self._min_length or None)
        return core_schema.json_or_python_schema(
            json_schema=text | {"max_length": self._max_length},
            python_schema=core_schema.no_info_before_validator_function(_encodable, text),
            serialization=core_schema.plain_serializer_function_ser_schema(
                _redacted, info_arg=True, return_schema=text, when_used="json"
            ),
        )


def _encodable(value: object) -> object:
    """Output of a program may hold bytes that are not UTF-8; Python keeps them as surrogates."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def _redacted(value: str, info: SerializationInfo[Redact]) -> str:
    return info.context(value)


Text: TypeAlias = Annotated[str, _Text(max_length=MAX_TEXT)]
Name: TypeAlias = Annotated[str, _Text(max_length=MAX_NAME, min_length=1)]
MOST_COUNTED: Final = 2**53
"""A larger number is not exact as a float, and nobody counts as far."""

Count: TypeAlias = Annotated[int, Field(ge=0, le=MOST_COUNTED)]
Positive: TypeAlias = Annotated[int, Field(ge=1, le=MOST_COUNTED)]
Probability: TypeAlias = Annotated[float, Field(ge=0, le=1)]
NotNegative: TypeAlias = Annotated[float, Field(ge=0)]


class _NullUnlessFinite:
    """JSON has no infinity and no NaN: both are written as null. Neither is accepted when read."""

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        number = handler(source)
        return core_schema.json_or_python_schema(
            json_schema=number,
            python_schema=core_schema.no_info_before_validator_function(
                _none_unless_finite, number
            ),
        )


def _none_unless_finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


Estimate: TypeAlias = Annotated[float | None, _NullUnlessFinite()]
PValue: TypeAlias = Annotated[Probability | None, _NullUnlessFinite()]


class _OpenEnds:
    """Two numbers; in JSON, an end that is infinite or NaN is null."""

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        end = core_schema.float_schema(strict=True, allow_inf_nan=False)
        ends = core_schema.tuple_positional_schema([core_schema.nullable_schema(end)] * 2)
        return core_schema.json_or_python_schema(
            json_schema=core_schema.no_info_after_validator_function(_opened, ends),
            python_schema=core_schema.tuple_positional_schema(
                [core_schema.float_schema(strict=True, allow_inf_nan=True)] * 2, strict=True
            ),
        )


def _opened(ends: tuple[float | None, float | None]) -> tuple[float, float]:
    low, high = ends
    return -math.inf if low is None else low, math.inf if high is None else high


Ends: TypeAlias = Annotated[tuple[float, float], _OpenEnds()]


def _exists(time: str) -> str:
    try:
        datetime.fromisoformat(time)
    except ValueError as error:
        raise PydanticCustomError("string_pattern_mismatch", "no such time") from error
    return time


def _is_day(day: str) -> str:
    try:
        is_day = date.fromisoformat(day).isoformat() == day
    except ValueError:
        is_day = False
    if not is_day:
        raise misplaced("is not a day such as 2025-01-31")
    return day


Timestamp: TypeAlias = Annotated[
    str,
    Field(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$"),
    AfterValidator(_exists),
]
Day: TypeAlias = Annotated[
    str, AfterValidator(_is_day), WithJsonSchema({"type": "string", "format": "date"})
]
