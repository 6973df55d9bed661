from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.results import measured

from benchgate.config.tables import TABLES
from benchgate.errors import FormatError
from benchgate.model.codec import decode_result, encode_result
from benchgate.model.policy import OVERRIDES, Acceptance, ConfigTables, Options, Policy
from benchgate.tables.fields import keys_of

RESULT = measured({"a": 1e-3}, policy=Policy(None, None))
GIVEN: dict[str, Any] = {
    "rule": "launch",
    "alpha": 0.05,
    "margin": "2%",
    "fail_on": ("failed",),
    "budget": "1m",
    "rounds": 0,
    "until_decided": True,
    "seed": 0,
    "lanes": "2",
    "counter": "none",
    "explain": False,
    "against": "",
    "baseline": "auto",
}


def test_nothing_is_given_by_default() -> None:
    assert Options().given() == {}


@pytest.mark.parametrize("name", OVERRIDES)
def test_each_option_alone_is_what_is_given(name: str) -> None:
    assert Options(**{name: GIVEN[name]}).given() == {name: GIVEN[name]}


def test_a_later_option_holds_and_the_others_stay() -> None:
    earlier = Options(margin="2%", rounds=9, fail_on=("failed",))
    assert Options(margin="3%", seed=0).over(earlier) == Options(
        margin="3%", rounds=9, fail_on=("failed",), seed=0
    )
    assert Options().over(earlier) == earlier


@pytest.mark.parametrize("name", OVERRIDES)
def test_an_option_is_for_keys_that_there_are(name: str) -> None:
    one = OVERRIDES[name]
    keys = keys_of(TABLES[one.table,])
    assert {*one.keys, *one.gives_way} <= {*keys}
    assert one.keys
    assert one.flag == f"--{name.replace('_', '-')}"


def test_an_option_that_a_file_leaves_out_is_missed() -> None:
    whole = json.loads(encode_result(RESULT, str))
    del whole["policy"]["options"]["seed"]
    with pytest.raises(FormatError, match=r'policy\.options: "seed" is missing'):
        decode_result(json.dumps(whole).encode(), "x")


@pytest.mark.parametrize(
    "policy",
    [
        Policy(ConfigTables("x", {}, {"gate": -1}), None),
        Policy(None, None, Options(rounds="9")),  # type: ignore[arg-type]
        Policy(None, None, accepted=Acceptance("x", "chance")),  # type: ignore[arg-type]
    ],
)
def test_what_would_be_refused_is_not_written(policy: Policy) -> None:
    with pytest.raises(ValueError, match=r"policy\."):
        encode_result(replace(RESULT, policy=policy), str)
