"""Results, verdicts and statistics as versioned JSON, and the schemas, made from the same code."""

from __future__ import annotations

from typing import Any

from benchgate.model.codec_result import RESULT, RESULT_SCHEMA, decode_result, encode_result
from benchgate.model.codec_statistics import (
    STATISTICS_SCHEMA,
    encode_statistics,
    statistics_schema,
)
from benchgate.model.codec_verdict import VERDICT, VERDICT_SCHEMA, decode_verdict, encode_verdict

__all__ = [
    "RESULT_SCHEMA",
    "STATISTICS_SCHEMA",
    "VERDICT_SCHEMA",
    "decode_result",
    "decode_verdict",
    "encode_result",
    "encode_statistics",
    "encode_verdict",
    "result_schema",
    "statistics_schema",
    "verdict_schema",
]


def result_schema() -> dict[str, Any]:
    """The JSON Schema of a result file."""
    return RESULT.json_schema()


def verdict_schema() -> dict[str, Any]:
    """The JSON Schema of a verdict."""
    return VERDICT.json_schema()
