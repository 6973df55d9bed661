from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchgate.interval import Interval
from benchgate.model.policy import Outcome
from benchgate.model.redact import Redactor
from benchgate.model.row import Comparison, Effect, RatioEstimate, Row, Significance
from benchgate.model.run import Source
from benchgate.model.verdict import VERDICT, Decision, GateSettings, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

FOUND = Comparison(
    launches=(17, 12),
    ratios=(
        RatioEstimate(
            "Hodges-Lehmann, of rounds", 1.1, Interval(1.05, 1.15, 0.95, "inverted rank test")
        ),
        RatioEstimate("geometric mean, of rounds", 1.09),
    ),
    tests=(
        Significance("Wilcoxon signed rank", 0.002, 0.001, 1.0),
        Significance("Mann-Whitney, textbook", 0.003),
    ),
    effect=Effect(0.5, 0.75, 1.2, 1.1, "large"),
    q=0.004,
    power=0.8,
    detectable_ratio=1.02,
    launches_needed=9,
    notes=("one",),
)


def as_is(text: str) -> str:
    return text


def written(found: Comparison, redact: Callable[[str], str] = as_is) -> bytes:
    """A verdict with one row, which has these details."""
    rows = (Row("sort", Outcome.UNCHANGED, detail=found),)
    whole = Verdict(Decision.PASS, 0, "", Source(), Source(), GateSettings(), rows)
    return VERDICT.write(whole, redact)


def detail(verdict: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(verdict)["rows"][0]["detail"]
    return found


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
counts = st.integers(0, 10**9)
numbers = st.floats(allow_nan=False, allow_infinity=False)
probabilities = st.floats(0, 1)
intervals = st.builds(Interval, numbers, numbers, probabilities, texts)
comparisons = st.builds(
    Comparison,
    launches=st.tuples(counts, counts),
    ratios=st.lists(st.builds(RatioEstimate, texts, numbers, st.none() | intervals)).map(tuple),
    tests=st.lists(
        st.builds(
            Significance,
            texts,
            probabilities,
            st.none() | probabilities,
            st.none() | probabilities,
        )
    ).map(tuple),
    effect=st.builds(Effect, numbers, numbers, st.none() | numbers, st.none() | numbers, texts),
    q=st.none() | probabilities,
    power=probabilities,
    detectable_ratio=st.none() | numbers,
    launches_needed=st.none() | counts,
    notes=st.lists(texts, max_size=2).map(tuple),
)


VALIDATOR = jsonschema.Draft202012Validator(VERDICT.json_schema())


@settings(deadline=None)
@given(comparisons)
def test_what_is_written_is_read_again(original: Comparison) -> None:
    verdict = written(original)

    assert VERDICT.read(verdict, "a.json").rows[0].detail == original
    VALIDATOR.validate(json.loads(verdict))


def test_every_key_is_there_also_where_nothing_is_known() -> None:
    bare = Comparison((1, 1), (), (), Effect(0.0, 0.5, None, None, "small"), None, 0.8, None, None)

    for found in (FOUND, bare):
        assert detail(written(found)) == json.loads(json.dumps(dataclasses.asdict(found)))


@pytest.mark.parametrize(
    "change",
    [
        {"detectable_ratio": math.inf},
        {"ratios": (RatioEstimate("a", math.nan),)},
        {"ratios": (RatioEstimate("a", 1.0, Interval(-math.inf, 1.0, 0.95, "b")),)},
        {"tests": (Significance("a", 1.5),)},
        {"tests": (Significance("a", 0.5, -0.1),)},
        {"launches": (-1, 2)},
        {"launches_needed": 1.5},
        {"q": 2.0},
    ],
)
def test_nothing_is_written_that_would_be_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=rf"^rows\[0\]\.detail\.{next(iter(change))}\b"):
        written(dataclasses.replace(FOUND, **change))


def test_every_text_is_redacted() -> None:
    text = "a xyzzy123 b"
    found = dataclasses.replace(
        FOUND,
        ratios=(RatioEstimate(text, 1.0, Interval(1.0, 1.0, 0.95, text)),),
        tests=(Significance(text, 1.0),),
        effect=dataclasses.replace(FOUND.effect, magnitude=text),
        notes=(text,),
    )

    verdict = written(found, Redactor({"MY_TOKEN": "xyzzy123"}))

    assert b"xyzzy123" not in verdict
    assert verdict.count(b"a [removed] b") == 5
