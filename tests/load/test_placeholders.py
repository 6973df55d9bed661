"""Placeholders and variables in the texts of a scenario."""

from __future__ import annotations

import pytest

from benchgate.load.placeholders import (
    UnsetVariableError,
    expanded,
    known_placeholders,
    placeholders_in,
    variables_in,
    wrong_in,
)

PLACES = {"root": "/tree", "port": "5432", "api_port": "80", "scratch": "/tmp/x"}  # noqa: S108
ENVIRON = {"TOKEN": "{root} ${PORT}", "EMPTY": "", "PORT": "no"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("{root}/a:{port}{api_port}", "/tree/a:543280"),
        ("{{port}} {unknown} { port } {}", "{{port}} {unknown} { port } {}"),
        ('{"port": 1}', '{"port": 1}'),
        ("Bearer ${TOKEN}", "Bearer {root} ${PORT}"),  # a value is not expanded again
        ("[${EMPTY}]", "[]"),
        ("$${TOKEN} $TOKEN $$ 5$", "${TOKEN} $TOKEN $$ 5$"),
        ("${PORT}{port}${PORT}", "no5432no"),
    ],
)
def test_what_becomes_of_a_text(text: str, expected: str) -> None:
    assert expanded(text, PLACES, ENVIRON) == expected


def test_the_variables_of_commands_stay() -> None:
    assert expanded("sh -c 'x ${HOME} $${A} {port}'", PLACES) == "sh -c 'x ${HOME} $${A} 5432'"


def test_an_unset_variable() -> None:
    with pytest.raises(UnsetVariableError, match="the variable MISSING is not set"):
        expanded("${TOKEN}${MISSING}", PLACES, ENVIRON)


def test_what_a_text_names() -> None:
    text = "{root} ${A}/${B_2} $${C} {{port}} {api_port}"
    assert variables_in(text) == ("A", "B_2")
    assert placeholders_in(text) == ("root", "api_port")


def test_which_placeholders_there_are() -> None:
    assert known_placeholders([]) == ("root", "env", "sha", "scratch")
    assert known_placeholders(["api"])[4:] == ("port", "api_port")
    assert known_placeholders(["api", "db"])[4:] == ("api_port", "db_port")
    assert known_placeholders(["api", "db"], own=True)[4:] == ("port", "api_port", "db_port")


def test_what_is_wrong_in_a_text() -> None:
    known = known_placeholders(["api"])
    assert list(wrong_in("{root}${A}{api_port}$${ $A {{x}}", known)) == []
    found = [what for what, _ in wrong_in("{x}${1}${A\0", known)]
    assert found == [
        "contains a NUL character, which no program can be given",
        "there is no placeholder {x}",
        "${1} is not the name of a variable",
        "${A\0 has no } at its end",
    ]
    assert list(wrong_in("${A:-b}", known, variables=False)) == []
