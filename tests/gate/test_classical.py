from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.gate.arms import bench, judged
from tests.results import series_of

from benchgate.gate.classical import classical, p95_ratio, remarks
from benchgate.model.metrics import Better, Kind, Metric
from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.model.row import Classical

RISING = [float(x) for x in range(100, 108)]
HIGHER = [float(x) for x in range(110, 118)]
FLAT: list[float] = [100, 101, 99, 100, 102, 98, 100, 101, 99, 100]
REGRESSED, IMPROVED, UNCHANGED, NOT_TESTED = (
    Outcome.REGRESSED,
    Outcome.IMPROVED,
    Outcome.UNCHANGED,
    Outcome.NOT_TESTED,
)

# (base, head, p, p95 ratio, outcome)
GOLDEN: dict[str, tuple[list[float], list[float], float | None, float, Outcome]] = {
    "slower": (RISING, HIGHER, 0.00077753, 1.093458, REGRESSED),
    "significant, within the threshold": (
        RISING,
        [x + 3 for x in RISING],
        0.03983262,
        1.028037,
        UNCHANGED,
    ),
    "tail alone": (FLAT, [*FLAT[:-1], 120], 0.69686175, 1.176471, UNCHANGED),
    "faster": (HIGHER, RISING, 0.00077753, 0.914530, IMPROVED),
    "identical": (RISING, RISING, 1.0, 1.0, UNCHANGED),
    "all equal": ([100] * 6, [100] * 6, 1.0, 1.0, UNCHANGED),
    "4 v 4": ([100] * 4, [200] * 4, None, 2.0, NOT_TESTED),
    "4 v 8": ([100] * 4, RISING, None, 1.07, NOT_TESTED),
    "5 v 5": ([100] * 5, [105] * 5, 0.00269980, 1.05, REGRESSED),
    "just not slower": ([100] * 8, [104.99] * 8, 0.00010751, 1.0499, UNCHANGED),
    "just slower": ([100] * 8, [105] * 8, 0.00010751, 1.05, REGRESSED),
    "just faster": ([100] * 8, [95] * 8, 0.00010751, 0.95, IMPROVED),
    "just not faster": ([100] * 8, [95.01] * 8, 0.00010751, 0.9501, UNCHANGED),
}


@pytest.mark.parametrize("unit", ["launch", "sample"])
@pytest.mark.parametrize("case", GOLDEN.values(), ids=GOLDEN)
def test_golden_cases(
    case: tuple[list[float], list[float], float | None, float, Outcome], unit: str
) -> None:
    base, head, p, p95_ratio, outcome = case
    # As launches of one sample each, or as the samples of one launch.
    arms = [series_of(x if unit == "launch" else [x]) for x in (base, head)]
    toml = f'[gate]\nrule = "classical"\nunit = "{unit}"\nstatistics = ["median"]'
    found = judged([bench("b", arms[0])], [bench("b", arms[1])], toml, paired=False, waves=None)
    (row,) = found.rows
    assert row.outcome is outcome
    assert row.p == (None if p is None else pytest.approx(p, abs=5e-9))
    assert row.classical is not None
    assert row.classical.p95_ratio == pytest.approx(p95_ratio, abs=5e-7)
    assert row.test == "classical"
    assert row.p_adjusted is None


def one(base: Sequence[float], head: Sequence[float], better: Better = Better.LOWER) -> Classical:
    x, y = np.array(base, float), np.array(head, float)
    return classical([x], [y], [p95_ratio(x, y)], [better])[0]


@pytest.mark.parametrize(
    ("name", "remark"),
    [
        ("slower", ("p95 changed by +9.3 % (p = 0.00078), so the classical rule decides",)),
        (
            "significant, within the threshold",
            ("significant (p = 0.04), but p95 changed by +2.8 %, which is within the threshold",),
        ),
        ("tail alone", ("p95 changed by +17.6 %, but not significantly (p = 0.7)",)),
        ("faster", ("p95 changed by -8.5 % (p = 0.00078), so the classical rule decides",)),
        ("identical", ()),
        ("4 v 4", ("the classical rule needs 5 values of each side, and a p95 above 0",)),
    ],
)
def test_a_golden_case_says_what_decided_it(name: str, remark: tuple[str, ...]) -> None:
    base, head, *_ = GOLDEN[name]
    assert remarks(one(base, head)) == remark


def test_more_is_better_where_the_metric_says_so() -> None:
    assert one([100] * 8, [106] * 8, Better.HIGHER).result == "faster"
    assert one([100] * 8, [94] * 8, Better.HIGHER).result == "slower"


@pytest.mark.parametrize(("base", "head"), [([0] * 8, [1] * 8), ([1] * 8, [0] * 8), ([], [1] * 8)])
def test_without_a_ratio_nothing_is_tested(base: list[float], head: list[float]) -> None:
    assert one(base, head).result == "not tested"


def test_the_classical_result_stands_beside_every_tested_row() -> None:
    (row,) = judged([bench("b", RISING)], [bench("b", HIGHER)], '[gate]\nstatistics = ["p25"]').rows
    assert row.test == "mann-whitney"
    assert row.classical is not None
    assert row.classical.result == "slower"


def test_an_exact_metric_is_no_matter_of_the_classical_rule() -> None:
    count = Metric("count", "", kind=Kind.EXACT)
    toml = '[gate]\nrule = "classical"\nmetrics = ["count"]'
    found = judged([bench(values=[5], metric=count)], [bench(values=[6], metric=count)], toml)
    assert [row.outcome for row in found.rows] == [REGRESSED]
