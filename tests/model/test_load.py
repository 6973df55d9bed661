"""What a result holds of a scenario, and which files are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest
from tests.loads import GENERATOR, WINDOWS, load_launch, load_result, step

from benchgate.errors import FormatError
from benchgate.model.codec import decode_result, encode_result
from benchgate.model.environment import Environment
from benchgate.model.load import MOST_WINDOWS, LoadResult, Windows
from benchgate.model.result import RESULT, Result
from benchgate.model.run import Run, Source

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "result.json"


def result(load: LoadResult | None = None) -> Result:
    one = step({"throughput": [1.0, 2.0]}, load=load)
    return Result(Run(Source(), "2025-01-31T09:30:00Z", Environment(), (one,)))


def document() -> Any:  # noqa: ANN401 - JSON of any shape
    return json.loads(encode_result(result(), str))


def test_what_is_written_is_read_again() -> None:
    data = encode_result(result(), str)
    assert decode_result(data, NAME).head.benchmarks[0].load == result().head.benchmarks[0].load
    jsonschema.Draft202012Validator(RESULT.json_schema()).validate(json.loads(data))


LAUNCH = "head.benchmarks[0].load.launches[1]"


def put(load: Any, place: str, value: object) -> None:  # noqa: ANN401 - JSON of any shape
    *steps, last = place.split(".")
    for name in steps:
        load = load[name]
    load[last] = value


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("round", 0, "round: round 0 comes after round 0"),
        ("ops", 4, "ops: 4 is not the sum of the windows, 3"),
        ("errors", 0, "errors: 0 is not the sum of the windows, 1"),
        ("kept_errors", [{"at_s": 1.0, "text": "x"}] * 2, "kept_errors: more errors than the 1"),
        ("kept_errors", [{"at_s": 1.0, "text": "x"}] * 51, "kept_errors: holds more than 50"),
        ("histogram", "<b>", "histogram: is not base64"),
        ("histogram", "A" * 1_000_001, "is longer than 1000000 characters"),
        ("sample", "A\n", "sample: is not base64"),
        ("duration_s", 0, "duration_s: 0: must be greater than 0"),
        ("windows.errors", [0, 1], "windows.errors: 2 values for 3 windows"),
        ("windows.p99_ns", [1, None, 3, 4], "windows.p99_ns: 4 values for 3 windows"),
        ("windows.p50_ns", [1, 2, 3], "windows.p50_ns[1]: 2 cannot be a percentile of 0"),
        ("windows.p50_ns", [1, None, None], "p50_ns[2]: None cannot be a percentile of 1"),
        ("windows.last_s", 1.5, "windows.last_s: 1.5 is wider than the other windows"),
        ("windows.ops", [1] * (MOST_WINDOWS + 1), "windows.ops: holds more than 3600"),
        ("generator.groups", [{}], 'generator.groups[0]: "place" is missing'),
    ],
)
def test_what_cannot_be_is_refused(place: str, value: object, message: str) -> None:
    whole = document()
    put(whole["head"]["benchmarks"][0]["load"]["launches"][1], place, value)
    with pytest.raises(FormatError) as caught:
        decode_result(json.dumps(whole).encode(), NAME)
    assert message in caught.value.message
    assert caught.value.message.startswith(f"{NAME}: {LAUNCH}")
    assert caught.value.hint


@pytest.mark.parametrize(
    "change",
    [
        lambda launch: replace(launch, ops=4),
        lambda launch: replace(launch, windows=replace(WINDOWS, ops=(3,))),
        lambda launch: replace(launch, generator=replace(GENERATOR, start_spread_s=np.nan)),
    ],
)
def test_what_reading_would_refuse_is_not_written(change: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match=r"launches\[0\]"):
        encode_result(result(load_result(change(load_launch()))), str)


def test_a_secret_in_an_error_or_a_setting_is_removed() -> None:
    load = load_result(load_launch(), server={"version": "3 secret"})
    data = encode_result(result(load), lambda text: text.replace("secret", "[removed]"))
    assert b"secret" not in data
    assert b"3 [removed]" in data


def test_nothing_at_all_can_be_recorded() -> None:
    nothing = Windows(1.0, 0.0, (), (), (), (), ())
    launch = load_launch(ops=0, errors=0, kept_errors=(), windows=nothing)
    data = encode_result(result(load_result(launch)), str)
    assert decode_result(data, NAME).head.benchmarks[0].load == load_result(launch)
