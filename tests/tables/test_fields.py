from __future__ import annotations

import re

import pytest

from benchgate.tables import fields


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("make", ("make",)),
        ("python -m mypkg --version", ("python", "-m", "mypkg", "--version")),
        ("echo 'a b' \"c d\" e\\ f", ("echo", "a b", "c d", "e f")),
        ("{env}/bin/python {root}/x {sha}", ("{env}/bin/python", "{root}/x", "{sha}")),
        ("grep '|' file", ("grep", "|", "file")),
        ('grep "&&" file', ("grep", "&&", "file")),
        ("curl http://x/?a=1&b=2", ("curl", "http://x/?a=1&b=2")),
        ("env A=1 tool", ("env", "A=1", "tool")),
        ("tool --data '{\"a\": 1}'", ("tool", "--data", '{"a": 1}')),
        ("tool ''", ("tool", "")),
    ],
)
def test_a_command_is_split_as_a_shell_would(text: str, words: tuple[str, ...]) -> None:
    assert fields.argv(text, in_shell=False) == words


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("", "needs the name of a program"),
        ("   ", "needs the name of a program"),
        ("'' x", "needs the name of a program"),
        ("echo 'a", "no closing quotation"),
        ("a && b", "&& is for a shell"),
        ("a | b", "| is for a shell"),
        ("a > out.txt", "> is for a shell"),
        ("a; b", "a; is for a shell"),
        ("A=1 tool", "set variables in the env table"),
        ("-m mypkg", "each string is a whole command"),
        ("echo \0", "NUL"),
        ("a" * 20_001, "is longer than 20000 characters: put it into a script"),
        (["echo", "a"], "one string"),
        (3, "one string"),
    ],
)
def test_what_is_not_a_command_without_a_shell(value: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        fields.argv(value, in_shell=False)


def test_a_shell_is_given_the_text_as_it_is() -> None:
    assert fields.argv("A=1 x && y | z", in_shell=True) == ("/bin/sh", "-c", "A=1 x && y | z")


@pytest.mark.parametrize("text", ["", "  "])
def test_a_shell_needs_something_to_run(text: str) -> None:
    with pytest.raises(ValueError, match="needs the name of a program"):
        fields.argv(text, in_shell=True)


@pytest.mark.parametrize(
    "text",
    [
        *("{root}", "{env}/bin", "x{sha}y", "${HOME}/x", "{{word}}", "{ word }", "{}", "{1}"),
        *('{"a": 1}', "{a,b}", "{", "}", "{a b}", ""),
    ],
)
def test_braces_that_are_ours_or_nobodys(text: str) -> None:
    assert fields.checked_template(text) == text


@pytest.mark.parametrize("name", ["evn", "Root", "output", "x_1"])
def test_an_unknown_placeholder_says_what_is_allowed(name: str) -> None:
    with pytest.raises(ValueError, match="is not one of") as caught:
        fields.checked_template(f"a {{{name}}} b {{root}}")
    assert str(caught.value).startswith(f"{{{name}}} is not one of {{root}}, {{env}}, {{sha}}")
    assert f"{{ {name} }}" in str(caught.value)


@pytest.mark.parametrize("value", ["0s", "9" * 400 + "s", 10, 10.0, True, None, ["10m"], "10"])
def test_what_is_no_duration(value: object) -> None:
    with pytest.raises(ValueError, match="duration"):
        fields.duration_s(value)


@pytest.mark.parametrize("value", [2, 0.02, "2", "-1%", "1001%", None])
def test_what_is_no_tolerance(value: object) -> None:
    with pytest.raises(ValueError, match="%"):
        fields.tolerance_ratio(value)


def test_a_tolerance_may_be_zero_and_a_margin_not() -> None:
    assert fields.tolerance_ratio("0%") == 0
    with pytest.raises(ValueError, match="more than 0%"):
        fields.margin_ratio("0%")
