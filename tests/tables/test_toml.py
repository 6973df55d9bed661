from __future__ import annotations

import tomllib

import pytest

from benchgate.tables.document import (
    Document,
    KeyPath,
    dotted,
    line_numbers,
    parse_toml,
    statements,
)

DOCUMENT = '''\
# a comment
top = 1

[gate]  # [not.a.table]
margin = "2%"
metrics = [
  "time",  # "x = 1"
  "cpu",
]

[tool.benchgate.gate]
text = """
[no]
no = 1
"""
a.b = 2

[[benchmark]]
name = "x\u2028y"
env = { A = "1", "B C" = "2" }
[[benchmark]]
  [benchmark.env]
  C = "3"
  [[benchmark.step]]
  run = 1
  [[benchmark.step]]
  run = 2
[aliases]
"old/id" = 'new'
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("top",), 2),
        (("gate",), 4),
        (("gate", "margin"), 5),
        (("gate", "metrics"), 6),
        (("tool", "benchgate", "gate"), 11),
        (("tool", "benchgate", "gate", "text"), 12),
        (("tool", "benchgate", "gate", "a", "b"), 16),
        (("benchmark",), 18),
        (("benchmark", 0), 18),
        (("benchmark", 0, "name"), 19),
        (("benchmark", 0, "env", "B C"), 20),
        (("benchmark", 1), 21),
        (("benchmark", 1, "env"), 22),
        (("benchmark", 1, "env", "C"), 23),
        (("benchmark", 1, "step", 0, "run"), 25),
        (("benchmark", 1, "step", 1), 26),
        (("benchmark", 1, "step", 1, "run"), 27),
        (("aliases", "old/id"), 29),
    ],
)
def test_the_line_of_every_key(path: KeyPath, line: int) -> None:
    assert line_numbers(DOCUMENT)[path] == line


def test_nothing_inside_a_text_or_a_comment_is_a_key() -> None:
    words = {part for path in line_numbers(DOCUMENT) for part in path}
    assert not words & {"no", "not", "x"}


def test_windows_line_ends() -> None:
    assert line_numbers("[gate]\r\n\r\nmargin = '2%'\r\n")["gate", "margin"] == 3


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("gate", "margin"), 5),
        (("gate", "absent"), 4),
        (("gate", "metrics", 1), 6),
        (("gate", "margin", "deeper", 3), 5),
        (("absent", "absent"), None),
        ((), None),
    ],
)
def test_what_is_not_written_is_placed_in_its_table(path: KeyPath, line: int | None) -> None:
    lines = {dotted(key): number for key, number in line_numbers(DOCUMENT).items()}
    assert Document("a.toml", {}, lines).line(path) == line


@pytest.mark.parametrize(
    "statement",
    [
        'x = "]#[{"  # ["',
        "x = ']\"{'",
        'x = "\\"[\\\\"',
        'x = """\n"]\n\\""" ["" """"" # [',
        "x = '''\n'\\['''''",
        "x = [ # ]\n  \"]\", [\n[1],\n], '['\n]",
        "x = { a = [\n1\n], b = '}' }",
        "[x.'[']",
        "[[x]] # [",
        '"[#" = 1',
        "",
        "# [[",
    ],
)
def test_a_statement_ends_where_all_is_closed(statement: str) -> None:
    found = list(statements(f"{statement}\ny = 1\n{statement}"))
    lines = statement.count("\n") + 1
    assert found[:2] == [(1, f"{statement}\n"), (lines + 1, "y = 1\n")]
    assert found[2:3] == [(lines + 2, statement)]
    tomllib.loads(statement)


def test_a_long_array_takes_no_long_time() -> None:
    # Read anew with each line, it took minutes.
    assert line_numbers("x = [\n" + "[1],\n" * 20_000 + "]\ny = 1\n")["y",] == 20_003


def test_dots_and_brackets_in_texts_and_numbers_are_no_levels() -> None:
    dots, brackets = "." * 100, "[{" * 100
    text = f"a = '{dots}{brackets}'  # {dots}{brackets}\nb = [{'1.5, ' * 100}]\n"
    assert parse_toml(text, "it") == {"a": f"{dots}{brackets}", "b": [1.5] * 100}
