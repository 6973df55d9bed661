from __future__ import annotations

import json
import re
from datetime import date
from typing import Any

import pytest

from benchgate.config import from_kept, loads, loosening, to_keep
from benchgate.config.loosening import policy_from
from benchgate.errors import ConfigError
from benchgate.model.policy import MOST_CHARACTERS, ConfigTables, Options
from benchgate.model.redact import Redactor

REDACT = Redactor({"DEPLOY_TOKEN": "correct horse"})
OWN = """\
# password: hunter2
gate.margin = "3%"  # correct horse

[build]
command = "make"
env = { PGPASSWORD = "postgres" }

[[benchmark]]
name = "a"
command = "curl -H 'Authorization: Basic dXNlcjpwYXNz' https://example.org"
tags = [
  "slow",  # "]
  "net",
]
prepare = "psql --password=postgres"
[benchmark.env]
PGPASSWORD = "postgres"

[[benchmark]]
name = "b"
command = "true"
env.PGPASSWORD = "postgres"
cleanup = "psql --password=postgres"

[[rule]]
benchmark = "login[password=hunter2,n=1]"
margin = "9%"
[[waive]]
benchmark = "*"
ceiling = "9%"
until = 2025-01-31
reason = '''
two lines,
"quoted"'''

[aliases]
"old/id" = "new/id"
"login[password=hunter2]" = "login"
"""
KEPT: dict[str, Any] = {
    "gate": {"margin": "3%"},
    "benchmark": [
        {"name": "a", "command": "not-kept", "tags": ["slow", "net"]},
        {"name": "b", "command": "not-kept"},
    ],
    "rule": [{"benchmark": "login[password=[removed],n=1]", "margin": "9%"}],
    "waive": [
        {
            "benchmark": "*",
            "ceiling": "9%",
            "until": "2025-01-31",
            "reason": 'two lines,\n"quoted"',
        }
    ],
    "aliases": {"old/id": "new/id", "login[password=[removed]]": "login"},
}
LINES = {
    "gate": 2,
    "gate.margin": 2,
    "benchmark": 8,
    "benchmark[0]": 8,
    "benchmark[0].name": 9,
    "benchmark[0].command": 10,
    "benchmark[0].tags": 11,
    "benchmark[0].tags[0]": 11,
    "benchmark[0].tags[1]": 11,
    "benchmark[1]": 19,
    "benchmark[1].name": 20,
    "benchmark[1].command": 21,
    "rule": 25,
    "rule[0]": 25,
    "rule[0].benchmark": 26,
    "rule[0].margin": 27,
    "waive": 28,
    "waive[0]": 28,
    "waive[0].benchmark": 29,
    "waive[0].ceiling": 30,
    "waive[0].until": 31,
    "waive[0].reason": 32,
    "aliases": 36,
    'aliases."old/id"': 37,
    'aliases."login[password=[removed]]"': 38,
}


def test_what_decides_is_kept_with_its_lines_and_no_secret() -> None:
    kept = to_keep(loads(OWN, "benchgate.toml").origin, REDACT)
    assert kept == ConfigTables("benchgate.toml", KEPT, LINES)
    text = json.dumps(kept.tables)
    assert "postgres" not in text
    assert REDACT(text) == text
    again = from_kept(kept)
    assert again.waivers == loads(OWN, "benchgate.toml").waivers
    assert again.where("rule[0].margin") == "benchgate.toml:27: rule[0].margin"
    assert again.source is None


def _within(prefix: str, start: str) -> str:
    return f"{start}{prefix}" if start.startswith("[") else f"{prefix}{start}"


@pytest.mark.parametrize("name", ["benchgate.toml", "1234567:pyproject.toml"])
def test_what_is_read_again_judges_and_says_the_same(name: str) -> None:
    prefix = "tool.benchgate." if name.endswith("pyproject.toml") else ""
    written = re.sub(r"(?m)^(\[+|gate)", lambda match: _within(prefix, match[0]), OWN)
    head = loads(written, name).with_overrides(Options(alpha=0.05))
    again = from_kept(to_keep(head.origin, str)).with_overrides(head.origin.options)
    assert (again.gate, again.measure, again.baseline) == (head.gate, head.measure, head.baseline)
    assert (again.rules, again.aliases, again.accept) == (head.rules, head.aliases, head.accept)
    for key in ("gate.margin", "gate.alpha", "gate.rule", "waive[0].until", "measure.seed"):
        assert again.where(key) == head.where(key)
    assert again.expired(date(2026, 1, 1)) == head.expired(date(2026, 1, 1)) != ()
    assert again.origin.place(("rule", 0)) == head.origin.place(("rule", 0))
    base = loads("", "base")
    assert loosening(base, again, ["x"]) == loosening(base, head, ["x"]) != ()
    assert policy_from(base, again).where("build.command") == "build.command (default)"


@pytest.mark.parametrize(
    ("shared", "kept", "lines"),
    [
        (
            "[project]\nname = 'x'\n[tool.benchgate.gate]\nalpha = 0.02",
            {"gate": {"alpha": 0.02}},
            {"tool.benchgate.gate": 3, "tool.benchgate.gate.alpha": 4},
        ),
        (
            "[tool]\nother.x = 1\nbenchgate.gate.rule = 'launch'",
            {"gate": {"rule": "launch"}},
            {
                "tool": 1,
                "tool.benchgate": 3,
                "tool.benchgate.gate": 3,
                "tool.benchgate.gate.rule": 3,
            },
        ),
        (
            "tool = {other = 1, benchgate = {build = {}, gate = {}}, x = 2}",
            {"gate": {}},
            {"tool": 1, "tool.benchgate": 1, "tool.benchgate.gate": 1},
        ),
        (
            "[[x]]\n[tool.benchgate]\nbuild.shell = true\ngate = {}\n[tool.other]",
            {"gate": {}},
            {"tool.benchgate": 2, "tool.benchgate.gate": 4},
        ),
        ("[tool.benchgate.build]\ncommand = 'x'\n[other.tool.benchgate]\nx = 1", {}, {}),
    ],
)
def test_of_a_shared_file_our_tables_are_kept(
    shared: str, kept: dict[str, Any], lines: dict[str, int]
) -> None:
    config = loads(shared, "pyproject.toml")
    assert to_keep(config.origin, REDACT) == ConfigTables("pyproject.toml", kept, lines)


@pytest.mark.parametrize("until", ["soon", 3, None])
def test_a_day_that_is_none_is_named(until: object) -> None:
    waiver = {**KEPT["waive"][0], "until": until}
    with pytest.raises(ConfigError, match=r"x\.toml:9: waive\[0\]\.until.*must be a date"):
        from_kept(ConfigTables("x.toml", {"waive": [waiver]}, {"waive[0].until": 9}))


@pytest.mark.parametrize("waivers", [3, [3], {"until": "2025-01-31"}])
def test_waivers_that_are_none_are_refused(waivers: Any) -> None:  # noqa: ANN401 - any JSON
    with pytest.raises(ConfigError, match=r"x\.toml: waive"):
        from_kept(ConfigTables("x.toml", {"waive": waivers}, {}))


def test_other_tools_may_say_more_than_can_be_kept() -> None:
    others = f"[tool.other]\nx = '{'x' * 2 * MOST_CHARACTERS}'\n"
    ours = "[tool.benchgate.gate]\nmargin = '3%'\n"
    config = loads(others + ours, "pyproject.toml")
    assert to_keep(config.origin, REDACT).tables == {"gate": {"margin": "3%"}}
    aliases = "".join(f"a{n} = 'b{n}'\n" for n in range(10_000))
    config = loads(f"{ours}[tool.benchgate.aliases]\n{aliases}", "pyproject.toml")
    with pytest.raises(ConfigError, match=r"pyproject\.toml: has more than 100000 characters"):
        to_keep(config.origin, REDACT)


def test_the_command_of_a_suite_is_not_kept() -> None:
    text = "[[benchmark]]\nsuite = 'tool --token=postgres'\n"
    kept = to_keep(loads(text, "benchgate.toml").origin, str)
    assert kept is not None
    assert kept.tables == {"benchmark": [{"suite": "not-kept"}]}
    base, again = loads(text, "base"), from_kept(kept)
    assert loosening(base, again, []) == ()
    assert loosening(again, again, []) == ()
