"""The building blocks of the JSON files: a record, and the values that its fields hold.

A record is checked when it is built as when it is read, so a file cannot be written that would be
refused later. Every free text is a `Text`, which passes through the redaction when it is written.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, TypeAlias, TypeVar, cast

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    SerializationInfo,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from benchgate.arrays import FloatArray

Redact: TypeAlias = Callable[[str], str]


class Record(BaseModel):
    """One JSON object: every key is known, none is left out, and no type is guessed at."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)

    def to_json(self, redact: Redact, *, indent: int | None = None) -> bytes:
        """The object as UTF-8, with every text redacted and a line end behind it."""
        text = self.model_dump_json(by_alias=True, indent=indent, context=redact)
        return text.encode() + b"\n"


def misplaced(message: str, *place: str | int) -> PydanticCustomError:
    """The error of a check that sees a whole object and finds fault deep inside it.

    Args:
        message: what is wrong there.
        place: keys and indices from the checked object down to the fault.
    """
    return PydanticCustomError("misplaced", "{message}", {"message": message, "place": place})


def _encodable(value: object) -> object:
    """Output of a program may hold bytes that are no UTF-8; Python keeps them as surrogates."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def _redacted(value: str, info: SerializationInfo[Redact]) -> str:
    return info.context(value)


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many characters a text or a name may have in a file that is read.

    What is written here is far shorter, and never refused for its length.
    """

    text: int = 100_000
    name: int = 10_000


def _no_longer_than_texts_are(text: str, info: ValidationInfo[Lengths | None]) -> str:
    return bounded(text, info.context.text) if info.context else text


def _no_longer_than_names_are(name: str, info: ValidationInfo[Lengths | None]) -> str:
    return bounded(name, info.context.name) if info.context else name


def bounded(text: str, limit: int) -> str:
    """Refuse a text that is too long."""
    if len(text) > limit:
        raise PydanticCustomError("string_too_long", "too long", {"max_length": limit})
    return text


Text: TypeAlias = Annotated[
    str,
    BeforeValidator(_encodable),
    AfterValidator(_no_longer_than_texts_are),
    PlainSerializer(_redacted, return_type=str, when_used="json"),
]


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
T = TypeVar("T")
# JSON knows neither enumerations nor tuples: a string and an array stand for them.
Word: TypeAlias = Annotated[T, Field(strict=False)]
Pair: TypeAlias = Annotated[tuple[T, T], Field(strict=False)]
Many: TypeAlias = Annotated[tuple[T, ...], Field(strict=False)]


class _Object:
    """Lets the object that a file holds stand for a dataclass, whose fields are strict."""

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        schema: Any = {**handler.resolve_ref_schema(handler(source))}
        del schema["ref"]
        arguments = schema["schema"]
        every = [_required(one) for one in arguments["fields"]]
        strict = {"strict": False, "revalidate_instances": "always"}
        return cast("CoreSchema", {**schema, **strict, "schema": {**arguments, "fields": every}})


def _required(argument: Any) -> Any:  # noqa: ANN401 - a part of pydantic's schema
    """An argument that has no default: no key of a file is left out."""
    schema = argument["schema"]
    return {**argument, "schema": schema["schema"]} if schema["type"] == "default" else argument


Object: TypeAlias = Annotated[T, _Object()]

LARGEST = 1e150
"""A sample beyond it is damage: its square, or the sum of many, would be no number."""

Name: TypeAlias = Annotated[Text, Field(min_length=1), AfterValidator(_no_longer_than_names_are)]
Count: TypeAlias = Annotated[int, Field(ge=0)]
Probability: TypeAlias = Annotated[float, Field(ge=0, le=1)]


class IntervalRecord(Record):
    """Where the true value lies with this confidence, and by which method."""

    low: float
    high: float
    confidence: Probability
    method: Text


class _Numbers:
    """An array of numbers in JSON; in Python a read-only float64 array of one dimension."""

    def __init__(self, *, min_length: int) -> None:
        self._min_length = min_length

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        numbers = core_schema.list_schema(
            core_schema.float_schema(strict=True, allow_inf_nan=False, ge=-LARGEST, le=LARGEST),
            strict=True,
            min_length=self._min_length,
            fail_fast=True,
        )
        return core_schema.no_info_wrap_validator_function(
            self._array,
            numbers,
            serialization=core_schema.plain_serializer_function_ser_schema(
                np.ndarray.tolist, return_schema=numbers
            ),
        )

    def _array(self, values: object, numbers: ValidatorFunctionWrapHandler) -> FloatArray:
        """From the list that was read, or from the array that is about to be written."""
        if not isinstance(values, np.ndarray):
            array = np.array(numbers(values), dtype=np.float64)
            array.setflags(write=False)
            return array
        if values.ndim != 1 or values.size < self._min_length:
            raise misplaced(f"an array of shape {values.shape} holds no samples")
        plausible = np.abs(values) <= LARGEST
        if not plausible.all():
            index = int(np.argmin(plausible))
            found = values[index]
            what = "beyond what can be measured" if np.isfinite(found) else "not a finite number"
            raise misplaced(f"{found} is {what}", index)
        return values


Samples: TypeAlias = Annotated[FloatArray, _Numbers(min_length=1)]
Warmup: TypeAlias = Annotated[FloatArray, _Numbers(min_length=0)]
