"""What valid tables become."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from benchgate.config import (
    Benchmark,
    CommandBenchmark,
    PythonBenchmark,
    SuiteBenchmark,
    loads,
)


def _benchmark(text: str) -> Benchmark:
    (benchmark,) = loads(f"[[benchmark]]\n{text}", "benchgate.toml").benchmarks
    return benchmark


def test_a_command_with_everything() -> None:
    benchmark = _benchmark("""
name = "cli/startup"
command = "python -m mypkg '{root}/a b' --version"
prepare = "rm -rf .cache"
cleanup = "rm -rf out"
cwd = "sub/folder"
ok_exit_codes = [0, 3]
timeout = "5s"
env = { LANG = "C", HOME = "{env}/home" }
executions = 9
tags = ["slow", "cli"]
parallel = true
in_turn = true
""")
    assert isinstance(benchmark, CommandBenchmark)
    assert benchmark.name == "cli/startup"
    assert benchmark.command == ("python", "-m", "mypkg", "{root}/a b", "--version")
    assert (benchmark.prepare, benchmark.cleanup) == (("rm", "-rf", ".cache"), ("rm", "-rf", "out"))
    assert (benchmark.cwd, benchmark.ok_exit_codes) == ("sub/folder", (0, 3))
    assert (benchmark.timeout_s, benchmark.executions) == (5, 9)
    assert (benchmark.parallel, benchmark.in_turn) == (True, True)
    assert benchmark.env == {"LANG": "C", "HOME": "{env}/home"}
    assert benchmark.tags == ("slow", "cli")


def test_the_defaults_of_a_command() -> None:
    benchmark = _benchmark("name = 'x'\ncommand = 'true'")
    assert benchmark == CommandBenchmark.model_construct(
        name="x",
        shell=False,
        command=("true",),
        prepare=None,
        cleanup=None,
        cwd=".",
        ok_exit_codes=(0,),
        timeout_s=None,
        env={},
        executions=None,
        tags=(),
        parallel=False,
        in_turn=False,
    )


def test_a_shell_reads_all_three_commands_wherever_it_is_asked_for() -> None:
    benchmark = _benchmark("""
command = "a | b"
prepare = "c > d"
cleanup = "e && f"
name = "x"
shell = true
""")
    assert isinstance(benchmark, CommandBenchmark)
    assert benchmark.command == ("/bin/sh", "-c", "a | b")
    assert benchmark.prepare == ("/bin/sh", "-c", "c > d")
    assert benchmark.cleanup == ("/bin/sh", "-c", "e && f")


def test_python_with_everything() -> None:
    benchmark = _benchmark("""
python = ["benchmarks/", "more/bench_parse.py"]
interpreter = "{env}/bin/python"
pythonpath = ["lib", "{root}/src"]
isolate = true
parallel = true
timeout = "1m 30s"
tags = ["fast"]
env = { A = "1" }
group = "core"
""")
    assert isinstance(benchmark, PythonBenchmark)
    assert benchmark.paths == ("benchmarks/", "more/bench_parse.py")
    assert benchmark.interpreter == "{env}/bin/python"
    assert benchmark.pythonpath == ("lib", "{root}/src")
    assert (benchmark.isolate, benchmark.parallel, benchmark.timeout_s) == (True, True, 90)
    assert (benchmark.tags, benchmark.env, benchmark.group) == (("fast",), {"A": "1"}, "core")


def test_the_defaults_of_python() -> None:
    benchmark = _benchmark("python = 'benchmarks'")
    assert benchmark == PythonBenchmark.model_construct(
        paths=("benchmarks",),
        interpreter=None,
        pythonpath=None,
        isolate=False,
        parallel=False,
        timeout_s=None,
        tags=(),
        env={},
        group=None,
    )


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("command = 'make release'", (("make", "release"),)),
        (
            "command = ['python -m venv {env}', '{env}/bin/pip install .']",
            (("python", "-m", "venv", "{env}"), ("{env}/bin/pip", "install", ".")),
        ),
        ("command = 'a && b'\nshell = true", (("/bin/sh", "-c", "a && b"),)),
        ("command = []", ()),
    ],
)
def test_builds(text: str, commands: tuple[tuple[str, ...], ...]) -> None:
    assert loads(f"[build]\n{text}", "benchgate.toml").build.commands == commands


@pytest.mark.parametrize(("text", "value"), [("'all'", None), ("0", 0), ("7", 7)])
def test_how_many_must_be_compared(text: str, value: int | None) -> None:
    assert loads(f"[gate]\nmin_compared = {text}", "x").gate.min_compared == value


@pytest.mark.parametrize(("text", "value"), [("'auto'", "auto"), ("0", 0), ("20", 20)])
def test_warm_up(text: str, value: int | str) -> None:
    assert loads(f"[measure]\nwarmup = {text}", "x").measure.warmup == value


def test_nothing_fails_the_build_where_people_only_want_a_report() -> None:
    assert loads("[gate]\nfail_on = []", "x").gate.fail_on == ()


def test_nobody_changes_a_configuration() -> None:
    config = loads("", "x")
    with pytest.raises(ValidationError, match="frozen"):
        config.gate.margin = 0.5


def test_aliases() -> None:
    config = loads("[aliases]\n'parse/big' = 'parse/large'\n'a[n=1]' = 'b[n=1]'", "x")
    assert config.aliases == {"parse/big": "parse/large", "a[n=1]": "b[n=1]"}


def test_a_suite_with_everything() -> None:
    benchmark = _benchmark("""
suite = "tool --out={output} {root}"
format = "go"
group = "unit"
prepare = "make clean"
timeout = "20m"
ok_exit_codes = [0, 1]
""")
    assert isinstance(benchmark, SuiteBenchmark)
    assert benchmark.command == ("tool", "--out={output}", "{root}")
    assert (benchmark.format, benchmark.group, benchmark.title) == ("go", "unit", "unit")
    assert (benchmark.timeout_s, benchmark.ok_exit_codes) == (1200, (0, 1))
    assert (benchmark.prepare, benchmark.output) == (("make", "clean"), None)
    assert (benchmark.ids, benchmark.subjects) == ((), ("unit",))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("suite = 'cargo bench'", "cargo bench"),
        ("suite = 'go test | tee x'\nshell = true", "go test | tee x"),
        ("suite = 'go test'\ncwd = 'lib'", "go test in lib"),
        (f"suite = 'tool {'x' * 60}'", f"tool {'x' * 52}..."),
    ],
)
def test_what_a_suite_is_called(text: str, title: str) -> None:
    benchmark = _benchmark(text)
    assert isinstance(benchmark, SuiteBenchmark)
    assert benchmark.title == title
    assert benchmark.timeout_s == 600
