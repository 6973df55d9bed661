from __future__ import annotations

import pytest

from benchgate.config import RowPolicy, loads, matches
from benchgate.model.row import TAILS

CONFIG = loads(
    """
[gate]
margin = "1%"

[[rule]]
benchmark = "db/*"
margin = "5%"
statistics = ["median"]

[[rule]]
benchmark = "db/insert[rows=1000]"
margin = "10%"
tail_margin = "20%"

[[rule]]
benchmark = "*"
metric = "alloc*"
tolerance = "3%"

[[rule]]
benchmark = "db/insert*"
metrics = ["time", "allocations"]

[[rule]]
benchmark = "nothing/*"
margin = "9%"
""",
    "benchgate.toml",
)


@pytest.mark.parametrize(
    ("glob", "name", "expected"),
    [
        ("parse/large", "parse/large", True),
        ("parse/large", "parse/larger", False),
        ("parse", "parse/large", False),
        ("*", "parse/large[n=1]", True),
        ("parse/*", "parse/a/b", True),
        ("*large", "parse/large", True),
        ("sort[n=1000]", "sort[n=1000]", True),
        ("sort[n=1000]", "sortn", False),
        ("sort[n=*]", "sort[n=1000]", True),
        ("sort[n=?]", "sort[n=1]", True),
        ("sort[n=?]", "sort[n=10]", False),
        ("*[a]*", "b[a]c", True),
        ("*[!a]*", "b", False),
        ("Parse", "parse", False),
    ],
)
def test_globs(glob: str, name: str, expected: bool) -> None:  # noqa: FBT001 - a table's column
    assert matches(glob, name) is expected


@pytest.mark.parametrize(
    ("benchmark", "metric", "policy"),
    [
        ("other", None, RowPolicy(0.01, 0.05, ("p25", "p95"), ("time",), 0)),
        ("other", "allocations", RowPolicy(0.01, 0.05, ("p25", "p95"), ("time",), 0.03)),
        ("other", "time", RowPolicy(0.01, 0.05, ("p25", "p95"), ("time",), 0)),
        ("db/select", None, RowPolicy(0.05, 0.05, ("median",), ("time",), 0)),
        (
            "db/insert[rows=1000]",
            None,
            RowPolicy(0.1, 0.2, ("median",), ("time", "allocations"), 0),
        ),
        (
            "db/insert[rows=10]",
            "allocations",
            RowPolicy(0.05, 0.05, ("median",), ("time", "allocations"), 0.03),
        ),
    ],
)
def test_later_rules_win_key_by_key(benchmark: str, metric: str | None, policy: RowPolicy) -> None:
    assert CONFIG.effective(benchmark, metric) == policy


def test_order_decides_not_precision() -> None:
    text = """
[[rule]]
benchmark = "a"
margin = "1%"
[[rule]]
benchmark = "*"
margin = "7%"
"""
    assert loads(text, "x").effective("a").margin == 0.07


@pytest.mark.parametrize(
    ("statistic", "margin"),
    [
        ("p25", 0.02),
        ("median", 0.02),
        ("mean", 0.02),
        ("min", 0.02),
        *((tail, 0.05) for tail in TAILS),
    ],
)
def test_the_tail_has_its_own_margin(statistic: str, margin: float) -> None:
    assert loads("", "x").effective("any").margin_of(statistic) == margin


@pytest.mark.parametrize(
    ("toml", "metric", "tolerance"),
    [
        ("", "instructions", 0.01),
        ("", "alloc_blocks", 0),
        ("", None, 0),
        ('[gate]\ntolerance = "3%"', "instructions", 0.03),
        ('[gate]\ntolerance = "3%"', "alloc_blocks", 0.03),
        ('[gate]\ntolerance = "0%"', "instructions", 0),
        ('[[rule]]\nbenchmark = "*"\ntolerance = "2%"', "instructions", 0.02),
        ('[[rule]]\nbenchmark = "*"\nmetric = "alloc*"\ntolerance = "2%"', "instructions", 0.01),
    ],
)
def test_what_is_exact_is_tolerated_as_far_as_its_metric_varies(
    toml: str, metric: str | None, tolerance: float
) -> None:
    assert loads(toml, "benchgate.toml").effective("any", metric).tolerance == tolerance


@pytest.mark.parametrize(
    ("toml", "settled"),
    [
        ("", ("p25",)),
        ('gate.statistics = ["p25", "median", "p95"]', ("p25", "median")),
        ('gate.statistics = ["p95"]', ("p95",)),
        ('gate.settle = ["p95", "p25"]', ("p25", "p95")),
        ('gate.settle = ["p95"]', ("p95",)),
        ('rule = [{benchmark = "a*", settle = ["p25", "p95"]}]', ("p25", "p95")),
        ('rule = [{benchmark = "b*", settle = ["p25", "p95"]}]', ("p25",)),
        # What is settled elsewhere is not compared here.
        (
            'gate.settle = ["p95"]\nrule = [{benchmark = "a", statistics = ["min", "mean"]}]',
            ("min", "mean"),
        ),
    ],
)
def test_what_is_settled(toml: str, settled: tuple[str, ...]) -> None:
    policy = loads(toml, "x").effective("a")
    assert policy.settled(policy.statistics) == settled
