"""What a parameter may look like, and what it stands for."""

from __future__ import annotations

import re

import pytest

from benchgate.load.parameters import Literal, NumberSequence, RandomChoice, RandomInt, parsed


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (5, Literal(5)),
        (-0.5, Literal(-0.5)),
        (True, Literal(value=True)),
        ("new", Literal("new")),
        (" spaces stay ", Literal(" spaces stay ")),
        ("", Literal("")),
        ("Ann (admin)", Literal("Ann (admin)")),
        ("SELECT now() AS x", Literal("SELECT now() AS x")),
        ("random_int(1, 1000)", RandomInt(1, 1000)),
        ("random_int(-5,-5)", RandomInt(-5, -5)),
        (" random_int ( +1 , 2 ) ", RandomInt(1, 2)),
        (f"random_int({-(2**63)}, {2**63 - 1})", RandomInt(-(2**63), 2**63 - 1)),
        ("random_choice(x)", RandomChoice(("x",))),
        (
            "random_choice(new, \"a, b\", 'it, is', 3, -0.5, 1e3, true, false, null)",
            RandomChoice(("new", "a, b", "it, is", 3, -0.5, 1000.0, True, False, None)),
        ),
        (r"""random_choice("say \"hi\"", 'it\'s', '"')""", RandomChoice(('say "hi"', "it's", '"'))),
        ("random_choice('', \"3\", 'true')", RandomChoice(("", "3", "true"))),
        ("random_choice(two, words, )", RandomChoice(("two", "words"))),
        ("random_choice(1_000, .5, 1., nan, None)", RandomChoice((1000, 0.5, 1.0, "nan", None))),
        (r"random_choice('\d')", RandomChoice((r"\d",))),
        ("sequence", NumberSequence(1, 1)),
        (" sequence ", NumberSequence(1, 1)),
        ("sequence()", NumberSequence(1, 1)),
        ("sequence(100)", NumberSequence(100, 1)),
        ("sequence(100, -2)", NumberSequence(100, -2)),
        ('literal("random_int(1, 2)")', Literal("random_int(1, 2)")),
        ("literal('sequence')", Literal("sequence")),
        ("literal(random_int(1, 2))", Literal("random_int(1, 2)")),
        ("literal( f(a, 'b') )", Literal("f(a, 'b')")),
        ("literal(3)", Literal("3")),
        ("literal('')", Literal("")),
        ("literal('a', 'b')", Literal("'a', 'b'")),
    ],
)
def test_what_it_stands_for(written: str | float | bool, expected: object) -> None:  # noqa: FBT001
    found = parsed(written)
    assert found == expected
    assert repr(found) == repr(expected)  # 1 == True == 1.0


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("random_int(9, 1)", "is an empty range: 9 is more than 1"),
        ("random_int(1)", "random_int takes whole numbers: random_int(1, 1000)"),
        ("random_int(1, 2, 3)", "random_int takes whole numbers"),
        ("random_int(1, 2.5)", "random_int takes whole numbers"),
        ("random_int(1, true)", "random_int takes whole numbers"),
        ("random_int('1', 2)", "random_int takes whole numbers"),
        ("random_int(1, 9223372036854775808)", "has a number of more than 64 bits"),
        (f"random_int(1, 0x{'f' * 5000})", "has a number of more than 64 bits"),
        (f"random_int(1, {'9' * 5000})", "cannot be read: write it like random_int(1, 1000)"),
        ("random_int", "random_int needs arguments: random_int(1, 1000)"),
        (
            "random_int(1, 2",
            "cannot be read: write it like random_int(1, 1000), with quotes around",
        ),
        ("random_int(1, 2) + 1", "cannot be read: write it like random_int(1, 1000)"),
        ("random_int(low=1, high=2)", "cannot be read: write it like random_int(1, 1000)"),
        ("random_choice()", "random_choice has nothing to choose from"),
        *(
            (f"random_choice({inner})", 'cannot be read: write it like random_choice(new, "paid')
            for inner in [
                *(
                    "a,, b",
                    ",a",
                    '"a, b',
                    "'a' b",
                    "two words",
                    "in-progress",
                    "class",
                    "\0",
                    "\ud800",
                ),
                *("[a]", "1j", "b'a'", "...", "*a", f"{'(' * 5000}", f"{'-' * 50_000}1"),
            ]
        ),
        ("sequence(1, 0)", "a sequence with step 0 repeats one number: write the number"),
        ("sequence(a)", "sequence takes whole numbers: sequence, sequence(start) or"),
        ("literal()", 'literal needs a text: literal("text")'),
        ("literal(a", 'literal needs a text: literal("text")'),
        ("literal", 'literal needs arguments: literal("text")'),
        ("randomint(1, 2)", "there is no generator 'randomint'; did you mean 'random_int'? If you"),
        (
            "now()",
            (
                "there is no generator 'now'; there are random_int, random_choice, sequence,"
                " literal. If you mean the text itself, write literal('now()')"
            ),
        ),
        ('f("x")', "write literal('f(\"x\")')"),
        (2**63, "has more than 64 bits"),
    ],
)
def test_what_is_refused(written: str | int, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parsed(written)


@pytest.mark.parametrize("text", ["now()", 'f("x")', r"f('\d', \"x\")", "f(a, 1)"])
def test_any_text_can_be_written_as_a_literal(text: str) -> None:
    with pytest.raises(ValueError, match="write literal") as caught:
        parsed(text)
    assert parsed(str(caught.value).partition(" write ")[2]) == Literal(text)
