from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.config import kept_text, loads
from benchgate.config.kept import MOST_CHARACTERS
from benchgate.config.origin import Origin, line_numbers
from benchgate.errors import ConfigError
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
"""
KEPT = """\

gate.margin = "3%"





[[benchmark]]
name = "a"
command = "not-kept"
tags = ["slow", "net"]







[[benchmark]]
name = "b"
command = "not-kept"


[[rule]]
benchmark = "login[password=[removed],n=1]"
margin = "9%"
[[waive]]
benchmark = "*"
ceiling = "9%"
until = 2025-01-31
reason = "two lines,\\n\\"quoted\\""



[aliases]
"old/id" = "new/id\""""


def test_what_decides_is_kept_on_its_lines_and_no_secret() -> None:
    text = kept_text(loads(OWN, "benchgate.toml").origin, REDACT)
    assert text == KEPT
    assert REDACT(text) == text
    again = loads(text, "benchgate.toml")
    assert again.waivers == loads(OWN, "benchgate.toml").waivers
    assert again.where("rule[0].margin") == "benchgate.toml:26: rule[0].margin"


@pytest.mark.parametrize(
    ("shared", "kept"),
    [
        ("[project]\nname = 'x'\n[tool.benchgate.gate]\nalpha = 0.02", {"gate": {"alpha": 0.02}}),
        ("[tool]\nother.x = 1\nbenchgate.gate.rule = 'launch'", {"gate": {"rule": "launch"}}),
        ("tool = {other = 1, benchgate = {build = {}, gate = {}}, x = 2}", {"gate": {}}),
        ("[[x]]\n[tool.benchgate]\nbuild.shell = true\ngate = {}\n[tool.other]", {"gate": {}}),
        ("[tool.benchgate.build]\ncommand = 'x'\n[other.tool.benchgate]\nx = 1", {}),
    ],
)
def test_of_a_shared_file_our_tables_are_kept(shared: str, kept: dict[str, Any]) -> None:
    config = loads(shared, "pyproject.toml")
    document = tomllib.loads(kept_text(config.origin, REDACT))
    assert document.get("tool", {}).get("benchgate", {}) == kept
    assert document.keys() <= {"tool"}
    assert document.get("tool", {}).keys() <= {"benchgate"}


VALUES = st.recursive(
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.dates()
    | st.datetimes()
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab .", min_size=1), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["a", "b c", "d.e"]), VALUES), st.booleans())
def test_it_means_what_was_written(values: dict[str, Any], again: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    # Written by the same code, which is read back by another: Python's.
    document = {"x": list(values.values()), "table": values}
    once = kept_text(Origin(text=written(document)), str)
    assert tomllib.loads(once) == document
    if again:
        assert kept_text(Origin(text=once), str) == once
    assert line_numbers(once)["x",] == 1


def written(document: dict[str, Any]) -> str:
    def value(one: object) -> str:
        match one:
            case bool():
                return str(one).lower()
            case str():
                return '"' + "".join(f"\\U{ord(c):08x}" for c in one) + '"'
            case list():
                return "[" + "".join(f"\n  {value(x)}, # ]" for x in one) + "\n]"
            case dict():
                return "{" + ", ".join(f"{value(k)} = {value(v)}" for k, v in one.items()) + "}"
            case _:
                return str(one)

    return "".join(f"{key} = {value(one)}\n" for key, one in document.items())


def test_other_tools_may_say_more_than_can_be_kept() -> None:
    others = f"[tool.other]\nx = '{'x' * 2 * MOST_CHARACTERS}'\n"
    ours = "[tool.benchgate.gate]\nmargin = '3%'\n"
    config = loads(others + ours, "pyproject.toml")
    assert len(kept_text(config.origin, REDACT)) < 100
    aliases = "".join(f"a{n} = 'b{n}'\n" for n in range(10_000))
    config = loads(f"{ours}[tool.benchgate.aliases]\n{aliases}", "pyproject.toml")
    with pytest.raises(ConfigError, match=r"pyproject\.toml: has more than 100000 characters"):
        kept_text(config.origin, REDACT)
