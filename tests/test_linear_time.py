"""The time of every reader and pattern grows no faster than its input, however hostile that is.

Each input is a function of a length in characters, and is as long as its reader accepts.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.formats.cases import CASES
from tests.growth import grows_too_fast
from tests.report.conftest import changed, verdict
from tests.results import measured

from benchgate.baselines.base_config import MOST_BYTES
from benchgate.config import loads
from benchgate.config.loosening import loosening
from benchgate.config.resolved import matches
from benchgate.config.tables import MOST_RULES
from benchgate.errors import ConfigError, FormatError
from benchgate.formats import find_format
from benchgate.formats.contents import ForeignFile
from benchgate.gate.judging import judge_runs
from benchgate.gate.verdict import judge
from benchgate.json_object import MAX_NAME
from benchgate.load.scenario_file import read_scenario
from benchgate.measure.workers.replies import read_reply
from benchgate.model.codec import decode_result, encode_result
from benchgate.model.policy import Outcome
from benchgate.model.redact import Redactor
from benchgate.model.run import Status
from benchgate.model.verdict import VERDICT, Decision
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.formats.cases import Case

    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict

    Input = Callable[[int], str]

pytestmark = pytest.mark.slow


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
    *(
        "authorization: ",
        "bearer ",
        "-ghp_a",
        "-sk-a",
        "pypi-",
        ",a=1",
        "hunter2",
        " ",
        "[removed]",
    ),
]
BEFORE = ["", 'password="', "a://b:", "authorization: a "]


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("piece", PIECES)
def test_removing_secrets(piece: str, before: str) -> None:
    make = run(piece, around=before + "{}")
    assert not grows_too_fast(make, Redactor({"A_TOKEN": "hunter2"}), TEXT_CHARACTERS)


CONFIG = loads("", "benchgate.toml")
FORMAT_BYTES = 100_000
RESULT_BYTES = 4_200_000
GENUINE = encode_result(measured({"a": 1e-3}, {"a": 1e-3}), str).decode()


def result(text: str) -> None:
    with suppress(FormatError):
        decode_result(text.encode(), "it")


def inside(place: str, filling: Input) -> Input:
    """Put an input into a genuine result, in the place of the first text that equals `place`."""
    before, after = GENUINE.split(place, 1)
    return lambda size: f"{before}{filling(size)}{after}"


RESULTS = {
    "keys": entries('"%x":1,', around="{{{}"),
    "keys of a result": inside("{", entries('"%x":1,', around="{{{}")),
    "arrays": run("["),
    "objects": run('{"a":'),
    "arrays in a result": inside('"warnings":[]', run("[", around='"warnings":{}')),
    "warnings": inside('"warnings":[]', run('"a",', around='"warnings":[{}"a"]')),
    "wrong warnings": inside('"warnings":[]', run("1,", around='"warnings":[{}1]')),
    "samples": inside('"samples":[', run("1,", around='"samples":[{}')),
    "wrong samples": inside('"samples":[', run('"a",', around='"samples":[{}')),
    "a number": inside('"samples":[', run("1", around='"samples":[{},')),
    "values": inside('"values":"', run("A", around='"values":"{}')),
    "rounds": inside('"round":[', run("0,", around='"round":[{}')),
    "launches": inside('"launches":{', entries('"%x":1,', around='"launches":{{{}')),
    "benchmarks": inside('"benchmarks":[', run("{},", around='"benchmarks":[{}')),
    "an open text": run('\\"', around='["{}'),
    "escapes": run("\\u0041", around='["{}"]'),
}


@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS)
def test_reading_a_result(make: Input) -> None:
    assert not grows_too_fast(make, result, RESULT_BYTES)


VERDICT_FILE = VERDICT.write(judge(decode_result(GENUINE.encode(), "it"), CONFIG), str).decode()


def in_verdict(place: str, filling: Input) -> Input:
    before, after = VERDICT_FILE.split(place, 1)
    return lambda size: f"{before}{filling(size)}{after}"


VERDICTS = {
    "keys": in_verdict("{", entries('"%x":1,', around="{{{}")),
    "rows": in_verdict('"rows": [', run("{},", around='"rows": [{}')),
    "warnings": in_verdict('"warnings": []', run('"a",', around='"warnings": [{}"a"]')),
    "arrays": in_verdict('"warnings": []', run("[", around='"warnings": {}')),
}


@pytest.mark.parametrize("make", VERDICTS.values(), ids=VERDICTS)
def test_reading_a_verdict(make: Input) -> None:
    def read(text: str) -> None:
        with suppress(FormatError):
            VERDICT.read(text.encode(), "it")

    assert not grows_too_fast(make, read, RESULT_BYTES)


SCENARIO = 'name = "a"\n[load]\nworkers = 1\n'
SCENARIOS = {
    "steps": (
        ".toml",
        entries('[[step]]\nname = "a%x"\nsql = "select 1"\n', around=SCENARIO + "{}"),
    ),
    "equal steps": (
        ".toml",
        run('[[step]]\nname = "a"\nsql = "select 1"\n', around=SCENARIO + "{}"),
    ),
    "targets": (".toml", entries('[[target]]\nname = "a%x"\n', around=SCENARIO + "{}")),
    "services": (
        ".toml",
        entries('[[service]]\nname = "a%x"\nstart = "a"\n', around=SCENARIO + "{}"),
    ),
    "unknown keys": (".toml", entries("a%x = 1\n")),
    "braces": (".toml", run("{{a", around=SCENARIO + '[[step]]\nname = "a"\nsql = "{}"')),
    "names in braces": (
        ".toml",
        entries("{%x}", around=SCENARIO.replace("{", "{{") + '[[step]]\nname = "a"\nsql = "{}"'),
    ),
    "digits": (".toml", run("1", around='name = "a"\n[load]\nduration = "{}"')),
    "keys in JSON": (".json", entries('"%x":1,', around='{{{}"a":1}}')),
    "arrays in JSON": (".json", run("[")),
    "an open text in JSON": (".json", run('\\"', around='{"a":"{}')),
    "lines in JSON": (".json", run("\n", around='{"a":{}1}')),
    "keys in YAML": (".yaml", entries("a%x: 1\n")),
    "lists in YAML": (".yaml", run("[")),
    "dashes in YAML": (".yaml", run("- ")),
    "spaces in YAML": (".yaml", run(" ", around="a:{}1")),
    "texts in YAML": (".yaml", run("''", around="a: '{}'")),
}


@pytest.mark.parametrize(("suffix", "make"), SCENARIOS.values(), ids=SCENARIOS)
def test_reading_a_scenario(tmp_path: Path, suffix: str, make: Input) -> None:
    path = tmp_path / f"a{suffix}"

    def read(text: str) -> None:
        path.write_text(text, encoding="utf-8")
        with suppress(ConfigError):
            read_scenario(path, "it")

    assert not grows_too_fast(make, read, FORMAT_BYTES)


REPLIES = {
    "arrays": run("["),
    "keys": entries('"%x":1,', around='{{{}"a":1}}'),
    "a number": run("1"),
    "a text": run("a", around='{"error":"{}"}'),
    "an open text": run('\\"', around='{"error":"{}'),
    "times": run("[1,1],", around='{"samples":[{}[1,1]]}'),
}


@pytest.mark.parametrize("step", ["open", "sample", "close"])
@pytest.mark.parametrize("make", REPLIES.values(), ids=REPLIES)
def test_reading_the_reply_of_a_worker(step: str, make: Input) -> None:
    assert not grows_too_fast(make, lambda text: read_reply(step, text.encode()), 200_000)


GLOBS = {
    "stars": "*a" * 100 + "b",
    "stars in a row": "*" * 200 + "b",
    "question marks": "*" + "?" * 200 + "b",
    "a star and more": "*" + "a" * 200 + "b",
}


@pytest.mark.parametrize("glob", GLOBS.values(), ids=GLOBS)
def test_matching_a_glob(glob: str) -> None:
    assert not grows_too_fast(run("a"), lambda name: matches(glob, name), MAX_NAME)


def test_comparing_rules_for_many_benchmarks() -> None:
    rules = "".join(f'[[rule]]\nbenchmark = "g/{n}*"\nmargin = "3%"\n' for n in range(MOST_RULES))
    head = loads(rules, "benchgate.toml")

    def make(size: int) -> list[str]:
        return [f"g/{n}" for n in range(size)]

    assert not grows_too_fast(make, lambda ids: loosening(CONFIG, head, ids), 8000)


def unread(count: int) -> Result:
    """A result with many files that the head cannot read, and many benchmarks of the base."""
    whole = measured({"a": 1e-3}, {"a": 1e-3})
    (one,) = whole.head.benchmarks
    assert whole.base is not None
    failed = replace(one, series=(), status=Status.FAILED, error="boom")
    files = tuple(replace(failed, id=f"file{n}") for n in range(count))
    lone = tuple(replace(one, id=f"file{n}/it", series=()) for n in range(count))
    return replace(
        whole,
        head=replace(whole.head, benchmarks=files),
        base=replace(whole.base, benchmarks=lone),
    )


@pytest.mark.parametrize("swapped", [False, True])
def test_judging_files_that_cannot_be_read(*, swapped: bool) -> None:
    def make(size: int) -> Result:
        found = unread(size)
        assert found.base is not None
        return replace(found, base=found.head, head=found.base) if swapped else found

    assert not grows_too_fast(make, lambda found: judge_runs(found, CONFIG), 4000)


@pytest.mark.parametrize("alike", [False, True])
def test_joining_what_changed_alike(*, alike: bool) -> None:
    def make(size: int) -> Verdict:
        rows = (
            changed(
                f"pkg{n % 37}/mod{n % 101}/it[{n}]",
                Outcome.REGRESSED,
                1.1 if alike else 1.1 + n,
                interval=(1.1, 1.2) if alike else (1.1 + n, 1.101 + n),
            )
            for n in range(size)
        )
        return verdict(Decision.FAIL, *rows, exit_code=3)

    assert not grows_too_fast(make, view_verdict, 4000)


def case_inputs(case: Case) -> dict[str, Callable[[int], ForeignFile]]:
    """A file of a tool again and again, and with one long line, element by element."""
    data = case.source().data

    def again(size: int) -> ForeignFile:
        return ForeignFile("it", data * (size // len(data) + 1))

    def long_line(piece: bytes) -> Callable[[int], ForeignFile]:
        at = data.find(b"\n", len(data) // 2)
        return lambda size: ForeignFile("it", data[:at] + piece * (size // len(piece)) + data[at:])

    found: dict[str, Callable[[int], ForeignFile]] = {"again": again}
    for piece in (b" ", b"1", b"a", b"1.", b"a ", b"1 a/", b"(", b"[", b'"', b'"a":', b",", b"\t:"):
        found[f"a line of {piece!r}"] = long_line(piece)
    return found


def parse(name: str) -> Callable[[ForeignFile], None]:
    def read(source: ForeignFile) -> None:
        with suppress(FormatError):
            found = find_format(source, name)
            assert found is not None
            found.parse(source)

    return read


LARGEST_CASES = {
    case.format: case
    for case in sorted(CASES, key=lambda case: len(case.source().data))
    if case.source().data
}


@pytest.mark.parametrize("case", LARGEST_CASES.values(), ids=LARGEST_CASES)
def test_reading_the_output_of_a_tool(case: Case) -> None:
    for what, make in case_inputs(case).items():
        assert not grows_too_fast(make, parse(case.format), FORMAT_BYTES), what
