"""A configuration that names what nothing has is refused; what a side has lost is no typo."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.gate.arms import bench

from benchgate.config import loads, policy_from
from benchgate.errors import ConfigError
from benchgate.gate.effect import is_of_other_tools, require_effect, untested_metrics
from benchgate.model.environment import Environment
from benchgate.model.metrics import Metric
from benchgate.model.result import Result, Screening
from benchgate.model.run import Run, Source, Status, Tier

if TYPE_CHECKING:
    from benchgate.model.run import BenchmarkResult

SIZE = Metric("B/op", "B")


def having(id_: str, *, sized: bool = True) -> BenchmarkResult:
    """Make a benchmark with a time and, unless it has lost it, a size."""
    timed, size = bench(id_, [1.0]), bench(id_, [1.0], metric=SIZE)
    return replace(timed, series=(*timed.series, *(size.series if sized else ())))


def result_of(head: list[BenchmarkResult], base: list[BenchmarkResult] | None = None) -> Result:
    runs = [
        Run(Source(), "2026-01-01T00:00:00Z", Environment(), tuple(arm))
        for arm in (head, base or [])
    ]
    return Result(runs[0], None if base is None else runs[1])


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("", ""),
        ('[[rule]]\nbenchmark = "parse/*"\nmargin = "5%"', ""),
        ('[[limit]]\nbenchmark = "*"\nmetric = "B/op"\nmax = 500', ""),
        ('[[limit]]\nbenchmark = "sort"\nmetric = "B/op"\nmax = 500', ""),
        ('[gate]\nmetrics = ["time", "B/op", "instructions"]', ""),
        ('[[rule]]\nbenchmark = "*"\nmetric = "alloc_*"\ntolerance = "5%"', ""),
        (
            '[[rule]]\nbenchmark = "prase/*"\nmargin = "5%"',
            (
                'x.toml:2: rule[0].benchmark = "prase/*": matches no benchmark; '
                "did you mean 'parse/a'?"
            ),
        ),
        (
            '[[rule]]\nbenchmark = "*"\nmetric = "B/ops"\ntolerance = "5%"',
            (
                'x.toml:3: rule[0].metric = "B/ops": no benchmark has this metric; '
                "did you mean 'B/op'?"
            ),
        ),
        (
            '[[limit]]\nbenchmark = "*"\nmetric = "B/ops"\nmax = 500',
            (
                'x.toml:3: limit[0].metric = "B/ops": no benchmark that "*" matches has this '
                "metric; did you mean 'B/op'?"
            ),
        ),
        (
            '[[limit]]\nbenchmark = "*"\nmetric = "time"\nmax = "10 MiB"',
            'x.toml:4: limit[0].max = "10 MiB": time has another unit: s',
        ),
        ('[[limit]]\nbenchmark = "sort"\nmetric = "B/op"\nmin = "10 MiB"', ""),
        (
            '[[limit]]\nbenchmark = "serve"\nmax = "1ms"',
            'x.toml:2: limit[0].benchmark = "serve": matches no benchmark',
        ),
        (
            '[gate]\nmetrics = ["time", "B/ops"]',
            (
                'x.toml:2: gate.metrics = ["time", "B/ops"]: "B/ops": no benchmark has this '
                "metric; did you mean 'B/op'?"
            ),
        ),
        (
            '[[rule]]\nbenchmark = "*"\nmetrics = ["timm"]',
            (
                'x.toml:3: rule[0].metrics = ["timm"]: "timm": no benchmark has this metric; '
                "did you mean 'time'?"
            ),
        ),
    ],
)
def test_what_nothing_has_is_an_error(toml: str, message: str) -> None:
    # Each side has lost something: the head a metric, the base a benchmark.
    result = result_of([having("parse/a", sized=False)], [having("parse/a"), having("sort")])
    config = loads(toml, "x.toml")
    if not message:
        require_effect(config, [result], is_whole=True)
        return
    with pytest.raises(ConfigError) as refused:
        require_effect(config, [result], is_whole=True)
    assert refused.value.message == message
    assert refused.value.hint


@pytest.mark.parametrize(
    ("toml", "is_refused"),
    [
        ('[[rule]]\nbenchmark = "serve"\nmargin = "5%"', False),
        ('[[limit]]\nbenchmark = "serve"\nmax = "1ms"', False),
        ('[[limit]]\nbenchmark = "*"\nmetric = "throughput"\nmin = 5', False),
        ('[gate]\nmetrics = ["time", "time_p95"]', False),
        ('[[limit]]\nbenchmark = "*"\nmetric = "B/ops"\nmax = 500', True),
        ('[gate]\nmetrics = ["time", "B/ops"]', True),
    ],
)
def test_of_a_part_only_a_typo_is_refused(toml: str, *, is_refused: bool) -> None:
    result, config = result_of([having("parse")], [having("parse")]), loads(toml, "x.toml")
    if is_refused:
        with pytest.raises(ConfigError, match="did you mean 'B/op'"):
            require_effect(config, [result], is_whole=False)
    else:
        require_effect(config, [result], is_whole=False)


@pytest.mark.parametrize(
    "toml",
    [
        '[[rule]]\nbenchmark = "sort"\nmargin = "5%"',
        '[[limit]]\nbenchmark = "parse"\nmetric = "B/op"\nmax = 500',
        '[gate]\nmetrics = ["time", "B/op"]',
    ],
)
def test_what_could_not_be_read_may_have_anything(toml: str) -> None:
    broken = bench("parse", status=Status.FAILED, error="boom")
    result = result_of([broken, having("emit", sized=False)])
    require_effect(loads(toml, "x.toml"), [result], is_whole=True)


def test_all_that_was_compared_counts() -> None:
    config = loads('[[rule]]\nbenchmark = "sort"\nmargin = "5%"', "x.toml")
    few, more = result_of([having("parse")]), result_of([having("sort")])
    require_effect(config, [few, more], is_whole=True)
    require_effect(config, [replace(few, screening=Screening(more.head, ()))], is_whole=True)


def test_the_head_s_own_configuration_is_refused_so_that_it_can_repair_the_base_s() -> None:
    wrong = loads('[[rule]]\nbenchmark = "prase"\nmargin = "5%"', "base.toml")
    right = loads('[[rule]]\nbenchmark = "parse"\nmargin = "5%"', "head.toml")
    result = result_of([having("parse")])
    require_effect(policy_from(wrong, right), [result], is_whole=True)
    with pytest.raises(ConfigError, match=r"base\.toml:2"):
        require_effect(policy_from(right, wrong), [result], is_whole=True)


def test_files_of_other_tools_are_known_by_their_tier() -> None:
    own, other = having("a"), replace(having("b"), tier=Tier.STORED)
    assert is_of_other_tools([result_of([other])])
    assert not is_of_other_tools([result_of([other, own])])


@pytest.mark.parametrize(
    ("toml", "known", "missing"),
    [
        ("", True, ()),
        ('[gate]\nmetrics = ["time", "B/op"]', True, ("B/op",)),
        ('[gate]\nmetrics = ["time", "B/op"]', False, ("B/op",)),
        ('[gate]\nmetrics = ["time", "allocs/op"]', True, ("allocs/op",)),
        ('[gate]\nmetrics = ["time", "instructions"]', True, ()),
        ('[[limit]]\nbenchmark = "*"\nmetric = "B/op"\nmax = 500', True, ("B/op",)),
    ],
)
def test_what_a_fork_left_out_of_both_sides_is_missed(
    toml: str, missing: tuple[str, ...], *, known: bool
) -> None:
    of_fork = result_of([having("a", sized=False)]).head
    of_branch = result_of([having("a")]).head if known else None
    assert untested_metrics(loads(toml, "x.toml"), of_fork, of_branch) == missing
