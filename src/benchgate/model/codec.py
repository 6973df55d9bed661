"""Results and verdicts as versioned JSON, and the schemas of both, made from what reads them."""

from __future__ import annotations

from typing import Any

from benchgate.model.codec_result import RESULT, RESULT_SCHEMA, decode_result, encode_result
from benchgate.model.codec_verdict import VERDICT, VERDICT_SCHEMA, decode_verdict, encode_verdict

__all__ = [
    "RESULT_SCHEMA",
    "VERDICT_SCHEMA",
    "decode_result",
    "decode_verdict",
    "encode_result",
    "encode_verdict",
    "result_schema",
    "verdict_schema",
]


def result_schema() -> dict[str, Any]:
    """The JSON Schema of a result file."""
    return RESULT.json_schema()


def verdict_schema() -> dict[str, Any]:
    """The JSON Schema of a verdict."""
    return VERDICT.json_schema()
