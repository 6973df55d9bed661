"""The time of every reader and pattern grows no faster than its input, however hostile that is.

Each input is a function of a length in characters, and is as long as its reader accepts.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from tests.growth import grows_too_fast
from tests.results import measured

from benchgate.baselines.base_config import MOST_BYTES
from benchgate.config import loads
from benchgate.errors import ConfigError, FormatError
from benchgate.model.codec import decode_result, encode_result
from benchgate.model.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable

    Input = Callable[[int], str]


def entries(form: str, *, around: str = "{}") -> Input:
    """Repeat a form that contains `%x`, a different number each time, until the text is so long."""
    length = len(form % 0xFFF)
    return lambda size: around.format("".join(form % n for n in range(size // length)))


def run(unit: str, *, around: str = "{}") -> Input:
    """Repeat a text."""
    before, _, after = around.partition("{}")
    return lambda size: before + unit * (size // len(unit)) + after


def config(text: str) -> None:
    with suppress(ConfigError):
        loads(text, "benchgate.toml")


CONFIGURATIONS = {
    "digits of a duration": run("1", around='[measure]\ntimeout = "{}"'),
    "parts of a duration": run("1s", around='[measure]\ntimeout = "{}"'),
    "spaces in a duration": run(" ", around='[measure]\ntimeout = "1{}"'),
    "digits of a percentage": run("1", around='[gate]\nmargin = "1.{}x"'),
    "spaces in a percentage": run(" ", around='[gate]\nmargin = "1{}x"'),
    "digits of a number": run("1", around="[gate]\nalpha = {}"),
    "paths": entries('"%x",', around="[[benchmark]]\npython = [{}]"),
    "equal paths": run('"a",', around="[[benchmark]]\npython = [{}]"),
    "data": entries('"%x",', around='[[benchmark]]\nname = "a"\ncommand = "a"\ndata = [{}]'),
    "metrics": entries('"%x",', around="[gate]\nmetrics = [{}]"),
    "wrong metrics": run("1,", around="[gate]\nmetrics = [{}]"),
    "wrong statistics": run('"a",', around="[gate]\nstatistics = [{}]"),
    "aliases": entries('%x = "new"\n', around="[aliases]\n{}"),
    "a chain of aliases": lambda size: (
        "[aliases]\n" + "".join(f'{n:x} = "{n + 1:x}"\n' for n in range(size // 14))
    ),
    "wrong aliases": entries("%x = 1\n", around="[aliases]\n{}"),
    "unknown keys": entries("%x = 1\n"),
    "unknown tables": entries("[a%x]\n"),
    "empty lists": run('[[rule]]\nbenchmark = "a"\nstatistics = []\n'),
    "empty entries": run("[[benchmark]]\n"),
    "benchmarks": entries('[[benchmark]]\nname = "%x"\ncommand = "a"\n'),
    "paths in entries": entries('[[benchmark]]\npython = "a%x"\n'),
    "waivers": entries('[[waive]]\nbenchmark = "%x"\nuntil = 2027-01-01\nreason = "a"\n'),
    "variables": entries('"%x" = "="\n', around="[build.env]\n{}"),
    "commands": entries('"%x",', around="[build]\ncommand = [{}]"),
    "a dotted key": run("a.", around="{}a = 1"),
    "two dotted keys": lambda size: 2 * f"{'a.' * (size // 4)}a = 1\n",
    "a dotted table": run("a.", around="[{}a]"),
    "arrays in arrays": run("[", around="a = {}"),
    "a word of a command": run("a", around='[[benchmark]]\nname = "a"\ncommand = "{}"'),
    "words of a command": run("a ", around='[[benchmark]]\nname = "a"\ncommand = "{}"'),
    "braces in a command": run("{{a", around='[[benchmark]]\nname = "a"\ncommand = "a {}"'),
    "quotes in a command": run("'a'", around='[[benchmark]]\nname = "a"\ncommand = "{}"'),
    "lines": run("\n", around="[gate]\na = 1\n{}"),
    "lines in a text": run("\n", around='a = 1\nb = """{}"""'),
    "lines in an array": run("1,\n", around="a = [\n{}]"),
    "an open text": run('\\"', around='a = "{}'),
    "an open text of many lines": run('\\"\n', around='a = """{}'),
    "quotes in a text": run("''a", around="a = '''{}'''"),
}


@pytest.mark.parametrize("make", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_reading_a_configuration(make: Input) -> None:
    assert not grows_too_fast(make, config, MOST_BYTES)


TEXT_CHARACTERS = 50_000
"""More than the longest text of a result that has any output of a program."""

PIECES = [
    *("a.", "a://b:", "a://b:a:@", "a:b@tcp", "x@", "password=", "pwd: ", "]", "\\'", "'", '"'),
    *("eyJ-", "-eyJ", "-eyJaaaaaa", "eyJaaaaaa.", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----"),
    *("authorization: ", "bearer ", "-ghp_a", "-sk-a", "pypi-", ",a=1", "hunter2", " ", "[removed]"),
]
BEFORE = ["", 'password="', "a://b:", "authorization: a "]


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("piece", PIECES)
def test_removing_secrets(piece: str, before: str) -> None:
    make = run(piece, around=before + "{}")
    assert not grows_too_fast(make, Redactor({"A_TOKEN": "hunter2"}), TEXT_CHARACTERS)


RESULT_BYTES = 4_000_000


def result(text: str) -> None:
    with suppress(FormatError):
        decode_result(text.encode(), "it")


def within(place: str, around: str = "{}") -> str:
    """A valid result, with `around` in the place of a value, and braces doubled nowhere."""
    before, after = GENUINE.split(place, 1)
    return f"{before}{around}{after}"


GENUINE = encode_result(measured({"a": 1e-3}, {"a": 1e-3}), str).decode()
RESULTS = {
    "keys": entries('"%x":1,', around="{{{}"),
    "keys of a result": entries('"%x":1,', around="{{" + "{}" + GENUINE[1:].replace("{", "{{").replace("}", "}}")),
}
