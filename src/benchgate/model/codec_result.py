"""The result file: `Result` to versioned JSON and back."""

from dataclasses import replace
from typing import Annotated, Any, Final, Self

from pydantic import FailFast, Field, model_validator

from benchgate.errors import FormatError, UsageError
from benchgate.model.codec_arm import ArmRecord, RunRecord, arm_fields, run_of
from benchgate.model.codec_benchmarks import Benchmarks
from benchgate.model.codec_document import REWRITE, Format
from benchgate.model.codec_environment import EnvironmentRecord, add_unknown_timer
from benchgate.model.codec_screening import ScreeningRecord
from benchgate.model.codec_types import Name, Object, Record, Redact, Text, misplaced
from benchgate.model.policy import Policy
from benchgate.model.result import MAX_SHARDS, Result, Shard
from benchgate.model.shards import join

RESULT_SCHEMA: Final = 4
"""Version of the result file.

1: the first.
2: the environment holds `timer_cost_ns` and `timer_resolution_ns`.
3: the run holds `until_decided`.
4: the result holds `shard`, `other_shards`, `screening` and `policy`.
"""


class ShardRecord(Record):
    """Which of the parts that a suite was split into."""

    number: Annotated[int, Field(ge=1)]
    count: Annotated[int, Field(ge=1, le=MAX_SHARDS)]
    dealt: Annotated[list[Name], FailFast()]

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Self:
        if self.number > self.count:
            raise misplaced(f"there is no shard {self.number} of {self.count}", "number")
        return self

    @classmethod
    def of(cls, shard: Shard) -> Self:
        """What is written of a shard."""
        return cls(number=shard.number, count=shard.count, dealt=list(shard.dealt))

    def shard(self) -> Shard:
        """What was read."""
        return Shard(self.number, self.count, tuple(self.dealt))


class OtherShardRecord(ArmRecord):
    """The result of a shard that was joined to another; its keys are those of a file."""

    tool: Text
    base: ArmRecord | None
    duration_s: Annotated[float, Field(ge=0)]
    warnings: list[Text]
    shard: ShardRecord


class ResultRecord(Record):
    """A result file of benchgate: one run, and the base's run measured in turn with it."""

    version: Annotated[int, Field(ge=RESULT_SCHEMA, le=RESULT_SCHEMA)] = Field(alias="schema")
    tool: Text
    run: RunRecord
    environment: EnvironmentRecord
    benchmarks: Benchmarks
    base: ArmRecord | None
    duration_s: Annotated[float, Field(ge=0)]
    warnings: list[Text]
    shard: ShardRecord | None
    other_shards: Annotated[list[OtherShardRecord], FailFast()]
    screening: ScreeningRecord | None
    policy: Object[Policy] | None


def _second(document: dict[str, Any]) -> dict[str, Any]:
    for arm in (document, document["base"]):
        if arm is not None:
            add_unknown_timer(arm["environment"])
    return document


def _third(document: dict[str, Any]) -> dict[str, Any]:
    for arm in (document, document["base"]):
        if arm is not None:
            arm["run"]["until_decided"] = False
    return document


def _fourth(document: dict[str, Any]) -> dict[str, Any]:
    return document | {"shard": None, "other_shards": [], "screening": None, "policy": None}


RESULT = Format(
    "result file",
    ResultRecord,
    RESULT_SCHEMA,
    hallmark="benchmarks",
    migrations={1: _second, 2: _third, 3: _fourth},
)


def encode_result(result: Result, redact: Redact) -> bytes:
    """The result file, not compressed.

    Args:
        result: every number in it finite, every array of one dimension.
        redact: takes the secrets out of a text; applied to every text of the file.

    Raises:
        ValueError: the result holds what `decode_result` would refuse.
    """
    first, *others = result.shards or (result,)
    return ResultRecord(
        schema=RESULT_SCHEMA,
        **_measured(first, redact),
        other_shards=[OtherShardRecord(**_measured(other, redact)) for other in others],
        screening=ScreeningRecord.of(result.screening, redact) if result.screening else None,
        policy=result.policy,
    ).to_json(redact)


def _measured(result: Result, redact: Redact) -> dict[str, Any]:
    return {
        "tool": result.tool,
        **arm_fields(result.head, redact),
        "base": ArmRecord(**arm_fields(result.base, redact)) if result.base else None,
        "duration_s": result.duration_s,
        "warnings": list(result.warnings),
        "shard": ShardRecord.of(result.shard) if result.shard else None,
    }


def decode_result(data: bytes, name: str) -> Result:
    """The result that a file holds.

    Args:
        data: the file, not compressed.
        name: of the file, for messages.

    Raises:
        FormatError: names the file and the place in it.
    """
    record = RESULT.read(data, name)
    return replace(
        _joined(record, name),
        screening=record.screening.screening() if record.screening else None,
        policy=record.policy,
    )


def _joined(record: ResultRecord, name: str) -> Result:
    """Join the shards that a file holds; alone it is what it is."""
    first = _result(record)
    if not record.other_shards:
        return first
    others = [(f"other_shards[{i}]", _result(o)) for i, o in enumerate(record.other_shards)]
    try:
        return join([("the file itself", first), *others])
    except UsageError as error:
        raise FormatError(f"{name}: {error.message}", hint=REWRITE) from None


def _result(record: ResultRecord | OtherShardRecord) -> Result:
    return Result(
        head=run_of(record.run, record.environment, record.benchmarks),
        base=record.base.arm() if record.base else None,
        duration_s=record.duration_s,
        warnings=tuple(record.warnings),
        tool=record.tool,
        shard=record.shard.shard() if record.shard else None,
    )
