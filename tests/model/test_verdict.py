from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.damage import read_damaged

from benchgate.errors import FormatError
from benchgate.json_object import Text
from benchgate.model.environment import Environment
from benchgate.model.metrics import Better
from benchgate.model.policy import Outcome, PolicyChange, Waiver
from benchgate.model.redact import Redactor
from benchgate.model.result import SkippedResult
from benchgate.model.row import Calibration, Classical, ConfirmationCost, Row
from benchgate.model.run import Source, Tier
from benchgate.model.verdict import VERDICT, Decision, GateSettings, Reason, Verdict
from benchgate.units import TIME_UNITS

NAME = "verdict.json"


def as_is(text: str) -> str:
    return text


def row(**changes: Any) -> Row:  # noqa: ANN401 - fields of a row
    regressed = Row(
        benchmark="parse/large",
        outcome=Outcome.REGRESSED,
        metric="time",
        statistic="p25",
        unit="s",
        base=0.0123,
        head=0.0141,
        ratio=1.146,
        interval=(1.121, 1.17),
        margin=0.02,
        p=1.2e-4,
        p_adjusted=2.4e-3,
        launches=(12, 12),
        tier=Tier.LOCKSTEP,
        test="wilcoxon",
        detectable=1.016,
        classical=Classical(p=3.1e-5, p95_ratio=1.151, result="slower"),
    )
    return dataclasses.replace(regressed, **changes)


def verdict(*rows: Row) -> Verdict:
    return Verdict(
        decision=Decision.FAIL,
        exit_code=3,
        summary="1 of 1 regressed",
        base=Source("abc", "main", why="merge base with main"),
        head=Source("def", None, dirty=True),
        settings=GateSettings(),
        rows=rows or (row(),),
        environment=Environment(os="Debian"),
        duration_s=42.0,
        rounds=12,
    )


def document(*rows: Row) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(VERDICT.write(verdict(*rows), as_is))
    return loaded


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
optional_texts = st.none() | texts
counts = st.integers(0, 10**9)
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
probabilities = st.floats(0, 1)
ends = st.floats(allow_nan=False)
days = st.dates().map(lambda day: day.isoformat())
rows = st.builds(
    Row,
    benchmark=texts.filter(bool),
    outcome=st.sampled_from(Outcome),
    metric=texts,
    statistic=texts,
    unit=texts,
    better=st.sampled_from(Better),
    base=numbers.filter(lambda base: base != 0),
    head=numbers,
    base_median=numbers,
    head_median=numbers,
    ratio=numbers,
    interval=st.none()
    | st.tuples(ends, ends)
    .map(sorted)
    .map(tuple)
    .filter(lambda pair: pair[0] < math.inf and pair[1] > -math.inf),
    confidence=probabilities,
    margin=numbers,
    p=st.none() | probabilities,
    p_adjusted=st.none() | probabilities,
    launches=st.tuples(counts, counts),
    tier=st.none() | st.sampled_from(Tier),
    test=optional_texts,
    detectable=numbers,
    rounds_needed=st.none() | counts,
    unconfirmed=st.none() | st.builds(ConfirmationCost, counts, st.none() | st.floats(0, 1e9)),
    advisory=st.booleans(),
    calibration=st.none()
    | st.builds(Calibration, counts, st.none() | st.floats(0, 1e9), st.none() | st.floats(0, 1e9)),
    waiver=st.none()
    | st.builds(Waiver, st.just(Outcome.REGRESSED), st.floats(0, 10, exclude_min=True), days, texts)
    | st.builds(
        Waiver,
        st.sampled_from([Outcome.MISSING, Outcome.INCOMPARABLE]),
        st.none(),
        days,
        texts,
    ),
    classical=st.none() | st.builds(Classical, st.none() | probabilities, numbers, texts),
    renamed_from=optional_texts,
    notes=st.lists(texts, max_size=2).map(tuple),
    error=optional_texts,
    location=optional_texts,
    display_unit=st.none() | st.sampled_from(TIME_UNITS),
)
sources = st.builds(Source, optional_texts, optional_texts, st.booleans(), texts)
verdicts = st.builds(
    Verdict,
    decision=st.sampled_from(Decision),
    exit_code=st.integers(0, 130),
    summary=texts,
    base=sources,
    head=sources,
    settings=st.builds(
        GateSettings,
        rule=texts,
        alpha=probabilities,
        correction=texts,
        confidence=probabilities,
        fail_on=st.lists(texts, max_size=2).map(tuple),
        min_compared=st.none() | counts,
        policy=texts,
    ),
    rows=st.lists(rows, max_size=3).map(tuple),
    warnings=st.lists(texts, max_size=2).map(tuple),
    environment=st.builds(
        Environment,
        os=texts,
        cpu_count=counts,
        governor=optional_texts,
        timer_cost_ns=st.none() | st.floats(0, 1e9),
    ),
    duration_s=st.floats(0, 1e9),
    rounds=counts,
    base_source=texts,
    skipped=st.lists(st.builds(SkippedResult, texts, texts), max_size=2).map(tuple),
    policy_changes=st.lists(
        st.builds(PolicyChange, texts, texts, texts, texts, texts, st.booleans()), max_size=2
    ).map(tuple),
    reason=st.none() | st.sampled_from(Reason),
    complete=st.booleans(),
)


@settings(deadline=None)
@given(verdicts)
def test_what_is_written_is_read_again(original: Verdict) -> None:
    assert VERDICT.read(VERDICT.write(original, as_is), NAME) == original


@settings(deadline=None, max_examples=50)
@given(verdicts)
def test_verdicts_follow_the_schema(original: Verdict) -> None:
    validator = jsonschema.Draft202012Validator(VERDICT.json_schema())
    validator.validate(json.loads(VERDICT.write(original, as_is)))


def test_the_schema_refuses_what_reading_refuses() -> None:
    schema = VERDICT.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert not validator.is_valid(document() | {"schema": VERDICT.version + 1})
    assert not validator.is_valid(document() | {"more": 1})
    assert not validator.is_valid(document() | {"decision": "maybe"})


@settings(deadline=None)
@given(st.data())
def test_a_damaged_file_is_refused_or_still_a_verdict(data: st.DataObject) -> None:
    read_damaged(VERDICT.read, VERDICT.write(verdict(), as_is), NAME, data)


def test_the_layout_is_the_documented_one() -> None:
    whole = document()
    assert list(whole)[:3] == ["schema", "decision", "exit_code"]
    assert whole["decision"] == "fail"
    assert whole["settings"]["rule"] == "launch"
    documented = {
        "benchmark": "parse/large",
        "metric": "time",
        "statistic": "p25",
        "unit": "s",
        "better": "lower",
        "outcome": "regressed",
        "base": 0.0123,
        "head": 0.0141,
        "ratio": 1.146,
        "interval": [1.121, 1.17],
        "margin": 0.02,
        "p": 1.2e-4,
        "p_adjusted": 2.4e-3,
        "launches": [12, 12],
        "tier": "lockstep",
        "test": "wilcoxon",
        "detectable": 1.016,
        "classical": {"p": 3.1e-5, "p95_ratio": 1.151, "result": "slower"},
        "notes": [],
    }
    assert whole["rows"][0].items() >= documented.items()


def test_it_is_indented_for_people() -> None:
    assert VERDICT.write(verdict(), as_is).startswith(b'{\n  "schema": 1,\n  "decision": "fail",')


@pytest.mark.parametrize(
    ("calibration", "written"),
    [
        (Calibration(12, 0.021, 0.094), {"runs": 12, "spread": 0.021, "floor": 0.094}),
        (Calibration(1, None, None), {"runs": 1, "spread": None, "floor": None}),
        (None, None),
    ],
)
def test_a_row_tells_what_calibrates_it(
    calibration: Calibration | None, written: dict[str, Any] | None
) -> None:
    assert document(row(calibration=calibration))["rows"][0]["calibration"] == written


def test_infinity_is_written_as_null() -> None:
    written = row(base=0.0, head=5.0, ratio=math.inf, interval=(1.2, math.inf), detectable=math.inf)
    shown = document(written)["rows"][0]
    assert shown["ratio"] is None
    assert shown["interval"] == [1.2, None]
    assert shown["detectable"] is None
    (read,) = VERDICT.read(VERDICT.write(verdict(written), as_is), NAME).rows
    assert read.interval == (1.2, math.inf)


def test_nan_never_appears() -> None:
    written = row(p=math.nan, interval=(math.nan, 2.0), classical=Classical(None, math.nan, "same"))
    assert b"NaN" not in VERDICT.write(verdict(written), as_is)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"schema": 7},
            "schema: version 7 was written by a newer benchgate; this one reads up to 1",
        ),
        ({"decision": "maybe"}, "decision: \"maybe\": must be 'pass', 'fail' or 'no verdict'"),
        ({"exit_code": True}, "exit_code: true is not a whole number"),
        ({"rows": [5]}, "rows[0]: 5 is not an object"),
        ({"base": None}, "base: null is not an object"),
        ({"more": 1}, 'unknown key "more"'),
    ],
)
def test_wrong_values_are_refused_with_their_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        VERDICT.read(json.dumps(document() | change).encode(), NAME)
    assert caught.value.message == f"{NAME}: {message}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": 1.5}, "rows[0].p: 1.5: must be at most 1"),
        ({"ratio": "1"}, 'rows[0].ratio: "1" is not a number'),
        ({"ratio": math.nan}, "rows[0].ratio: NaN is not a finite number"),
        ({"interval": [1.0, math.inf]}, "rows[0].interval[1]: Infinity is not a finite number"),
        ({"interval": 3}, "rows[0].interval: 3 is not an array"),
        ({"launches": [1.5, 2]}, "rows[0].launches[0]: 1.5 is not a whole number"),
        ({"classical": {}}, 'rows[0].classical: "p" is missing'),
        (
            {"calibration": {"runs": 3, "spread": -0.1, "floor": None}},
            "rows[0].calibration.spread: -0.1: must be at least 0",
        ),
    ],
)
def test_wrong_rows_are_refused_with_their_place(change: dict[str, Any], message: str) -> None:
    whole = document()
    whole["rows"][0] |= change
    with pytest.raises(FormatError) as caught:
        VERDICT.read(json.dumps(whole).encode(), NAME)
    assert caught.value.message == f"{NAME}: {message}"


def test_an_interval_of_three_is_refused() -> None:
    whole = document()
    whole["rows"][0]["interval"] = [1, 2, 3]
    with pytest.raises(FormatError, match=r"rows\[0\]\.interval"):
        VERDICT.read(json.dumps(whole).encode(), NAME)


@pytest.mark.parametrize("until", ["2026-02-30", "20260228", "2026-W01-1", "soon", ""])
def test_a_waiver_ends_on_a_day_that_exists(until: str) -> None:
    whole = document(
        row(outcome=Outcome.WAIVED, waiver=Waiver(Outcome.REGRESSED, 0.2, "2026-12-31", "why"))
    )
    whole["rows"][0]["waiver"]["until"] = until
    with pytest.raises(FormatError, match=r"rows\[0\]\.waiver\.until: is not a day such as 20"):
        VERDICT.read(json.dumps(whole).encode(), NAME)


def test_a_result_is_no_verdict() -> None:
    with pytest.raises(FormatError, match="holds no `rows`, so it is not a verdict"):
        VERDICT.read(b'{"schema": 1, "tool": ""}', NAME)


def texts_of(kind: type, text: str) -> dict[str, Any]:
    """The text for every field of a dataclass that holds one."""
    fields = dataclasses.fields(kind)
    return {
        field.name: text for field in fields if field.type in {"Name", "Text", "Text | None", Text}
    }


def test_every_text_is_redacted() -> None:
    text = "a xyzzy123 b"
    leaky_row = Row(
        **texts_of(Row, text),
        outcome=Outcome.FAILED,
        classical=Classical(None, None, text),
        waiver=Waiver(Outcome.REGRESSED, 0.2, "2026-12-31", text),
        notes=(text,),
    )
    leaky = Verdict(
        **texts_of(Verdict, text),
        decision=Decision.FAIL,
        exit_code=5,
        base=Source(**texts_of(Source, text)),
        head=Source(**texts_of(Source, text)),
        settings=GateSettings(**texts_of(GateSettings, text), fail_on=(text,)),
        rows=(leaky_row,),
        warnings=(text,),
        policy_changes=(PolicyChange(**texts_of(PolicyChange, text)),),
        environment=Environment(**texts_of(Environment, text), toolchains={text: text}),
    )
    data = VERDICT.write(leaky, Redactor({"MY_TOKEN": "xyzzy123"}))
    assert b"xyzzy123" not in data
    assert data.count(b"a [removed] b") > 20


def test_redaction_leaves_the_words_of_the_format_alone() -> None:
    redact = Redactor({"A_SECRET": "regressed", "B_SECRET": "lockstep"})
    read = VERDICT.read(VERDICT.write(verdict(), redact), NAME)
    assert read.rows[0].outcome is Outcome.REGRESSED


def test_a_benchmark_that_no_row_decides_is_refused() -> None:
    document = json.loads(VERDICT.write(verdict(row(), row(decides=False)), as_is))
    VERDICT.read(json.dumps(document).encode(), NAME)
    document["rows"][0]["decides"] = False
    with pytest.raises(
        FormatError, match=r"verdict.json: rows\[0\].decides: no row of 'parse/large'"
    ):
        VERDICT.read(json.dumps(document).encode(), NAME)


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("display_unit", "parsec", "'parsec' is none of ns, us, ms, s"),
        ("rounds_needed", 10**400, r"1000\d+\.\.\.: must be at most 9.0072e\+15"),
    ],
)
def test_a_unit_and_a_count_that_nobody_writes_are_refused(
    key: str, value: object, fault: str
) -> None:
    document = json.loads(VERDICT.write(verdict(row()), as_is))
    document["rows"][0][key] = value
    with pytest.raises(FormatError, match=rf"rows\[0\].{key}: {fault}"):
        VERDICT.read(json.dumps(document).encode(), NAME)
