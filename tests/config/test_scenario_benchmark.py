"""The table [[benchmark]] with `scenario`."""

from __future__ import annotations

import pytest

from benchgate.config import ScenarioBenchmark, from_kept, loads, loosening, to_keep
from benchgate.errors import ConfigError
from benchgate.model.redact import Redactor

ORDERS = '[[benchmark]]\nscenario = "load/orders.toml"\n'


def test_what_the_table_may_have() -> None:
    text = (
        f'{ORDERS}timeout = "5m"\ntags = ["load"]\ndata = ["load/*.csv"]\npythonpath = ["lib"]\n'
        'env = { PGHOST = "{root}/run" }\nallow_foreign = true\n'
    )
    (found,) = loads(text, "benchgate.toml").benchmarks
    assert isinstance(found, ScenarioBenchmark)
    assert (found.scenario, found.timeout_s, found.tags) == ("load/orders.toml", 300.0, ("load",))
    (plain,) = loads(ORDERS, "benchgate.toml").benchmarks
    assert isinstance(plain, ScenarioBenchmark)
    assert (plain.timeout_s, plain.ids) == (None, ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scenario = '/load/orders.toml'", "must be a path relative to the configuration file"),
        ("scenario = '../orders.toml'", "must be a path relative to the configuration file"),
        (f"scenario = '{'o' * 256}'", "is longer than the path of any file"),
        (f"scenario = '{'o/' * 501}'", "is longer than the path of any file"),
        ("scenario = 'a'\ntimout = '1s'", "unknown key; did you mean 'timeout'?"),
        ("scenario = 'a'\ncommand = 'b'", "has `command` and `scenario`: one entry is one of them"),
        ("scenaro = 'a'", "did you mean 'scenario' instead of 'scenaro'?"),
        (
            "scenario = 'a.toml'\n[[benchmark]]\nscenario = './a.toml'",
            'benchmark[1].scenario = "./a.toml": benchmark[0] has the same file',
        ),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loads(f"[[benchmark]]\n{text}", "benchgate.toml")
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        (ORDERS, "", [("benchmark", "load/orders.toml", "measured", "left out")]),
        (ORDERS, ORDERS.replace("load/", "./load/"), []),
        (
            ORDERS,
            f"{ORDERS}allow_foreign = true",
            [("benchmark[0].allow_foreign", "load/orders.toml", "false", "true")],
        ),
        (
            f"{ORDERS}data = ['a']\ntimeout = '1s'",
            f"{ORDERS}timeout = '2s'",
            [("benchmark[0].data", "load/orders.toml", "a", "none")],
        ),
        (
            f"{ORDERS}tags = ['a']",
            ORDERS,
            [("benchmark[0].tags", "load/orders.toml", "a", "none")],
        ),
    ],
)
def test_what_loosens_the_gate(
    base: str, head: str, expected: list[tuple[str, str, str, str]]
) -> None:
    changes = loosening(loads(base, "base.toml"), loads(head, "benchgate.toml"))
    assert [(one.key, one.about, one.before, one.after) for one in changes] == expected


def test_its_environment_is_not_kept_with_a_result() -> None:
    config = loads(f'{ORDERS}env = {{ PGPASSWORD = "postgres" }}', "benchgate.toml")
    kept = to_keep(config.origin, Redactor({}))
    assert kept.tables == {"benchmark": [{"scenario": "load/orders.toml"}]}
    assert isinstance(from_kept(kept).benchmarks[0], ScenarioBenchmark)
