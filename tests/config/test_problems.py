"""Every message that a wrong configuration gets, with its place and its hint."""

from __future__ import annotations

import pytest

from benchgate.config import loads
from benchgate.config.benchmarks import KINDS
from benchgate.errors import ConfigError


def _error(text: str, name: str = "benchgate.toml") -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        loads(text, name)
    return caught.value


KEYS = ", ".join(f"`{kind}`" for kind in KINDS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[gate]\nmargn = "2%"', ":2: gate.margn: unknown key; did you mean 'margin'?"),
        ('[gate]\nbudget = "2m"', ":2: gate.budget: unknown key; it belongs in [measure]"),
        ("[gate]\nxyzzy = 1", ":2: gate.xyzzy: unknown key"),
        ("[gates]", ":1: gates: unknown table or key; did you mean 'gate'?"),
        ('margin = "2%"', ":1: margin: unknown table or key; it belongs in [gate] or [[rule]]"),
        ("[gate]\nmargin = 2", ':2: gate.margin = 2: a percentage is text: write "2%" or "0.5%"'),
        (
            "[gate]\nmargin = '2'",
            ':2: gate.margin = "2": is not a percentage: write it as 2%',
        ),
        ("[gate]\nmargin = '0%'", ':2: gate.margin = "0%": must be more than 0%'),
        ("[gate]\nmargin = '-1%'", ':2: gate.margin = "-1%": must lie between 0% and 1000%'),
        ("[gate]\nalpha = '1%'", ':2: gate.alpha = "1%": must be a number'),
        ("[gate]\nalpha = 0", ":2: gate.alpha = 0: must be more than 0"),
        ("[gate]\nalpha = 0.5", ":2: gate.alpha = 0.5: must be less than 0.5"),
        ("[gate]\nalpha = nan", ":2: gate.alpha = NaN: must be a finite number"),
        ("[gate]\nalpha = true", ":2: gate.alpha = true: must be a number"),
        ("[gate]\nconfidence = 0.4", ":2: gate.confidence = 0.4: must be at least 0.5"),
        (
            "[gate]\nrule = 'lanch'",
            ':2: gate.rule = "lanch": must be "launch" or "classical"; did you mean \'launch\'?',
        ),
        (
            '[[limit]]\nbenchmark = "x"',
            ":1: limit[0]: sets no limit: `max` or `min` is missing",
        ),
        (
            '[[limit]]\nbenchmark = "x"\nmax = 1\nmin = 2',
            ":4: limit[0].min: contradicts `max`: a limit is one value",
        ),
        (
            '[[limit]]\nbenchmark = "x"\nmax = "20 parsecs"',
            ':3: limit[0].max = "20 parsecs": write it as 20, "20ms", "64 MiB", "1000/s" or "1 %"',
        ),
        (
            "[gate]\nfail_on = ['slower']",
            ':2: gate.fail_on[0] = "slower": must be "regressed", "improved", "failed",',
        ),
        ("[gate]\nfail_on = 'failed'", ':2: gate.fail_on = "failed": must be a list, in [ ]'),
        (
            "[gate]\nstatistics = [\n'p25',\n'p98',\n]",
            '"p25", "median", "p95", "p99", "p99.9", "max", "mean" or "min"; did you mean \'p99\'?',
        ),
        ("[gate]\nstatistics = []", ":2: gate.statistics = []: must name at least one"),
        ("[gate]\nmetrics = []", ":2: gate.metrics = []: must name at least one"),
        (501 * '[[rule]]\nbenchmark = "a"\n', "must have at most 500 entries"),
        ("[gate]\nmetrics = ['']", ':2: gate.metrics[0] = "": must not be empty'),
        (
            "[gate]\nmetrics = ['time', 'time']",
            ':2: gate.metrics = ["time", "time"]: \'time\' is listed twice',
        ),
        (
            "[gate]\nmin_compared = -1",
            ':2: gate.min_compared = -1: must be "all" or a whole number that is not negative',
        ),
        ("[gate]\nmin_compared = true", ':2: gate.min_compared = true: must be "all" or a whole'),
        ("gate = 3", ":1: gate = 3: must be a table"),
        ("[[gate]]\nrule = 'launch'", ":1: gate: must be written [gate]"),
        (
            "[build]\ntoolchains = 'rustc'",
            ':2: build.toolchains = "rustc": must be a table',
        ),
        (
            "[build]\ntoolchains = { cc = 'cc --version | head' }",
            ':2: build.toolchains.cc = "cc --version | head": | is for a shell',
        ),
        (
            "[build.toolchains]\npython = 'python3 -V'",
            ':2: build.toolchains.python = "python": leave it out',
        ),
        ("[measure]\nbudget = 10", ":2: measure.budget = 10: a duration is text"),
        ("[measure]\nbudget = '0s'", ':2: measure.budget = "0s": a duration must be longer'),
        ("[measure]\nbudget = '10'", ':2: measure.budget = "10": is not a duration'),
        ("[measure]\npin = 1", ":2: measure.pin = 1: must be true or false"),
        ("[measure]\nsamples = 0", ":2: measure.samples = 0: must be at least 1"),
        ("[measure]\nsamples = 1.0", ":2: measure.samples = 1.0: must be a whole number"),
        ("[measure]\nscreen_rounds = 3", ":2: measure.screen_rounds = 3: must be at least 4"),
        ("[measure]\nwarmup = 'aut'", ':2: measure.warmup = "aut": must be "auto" or a whole'),
        ("[measure]\nexecutions = 10001", ":2: measure.executions = 10001: must be at most 10000"),
        (
            "[measure]\nmax_rounds = 10",
            ":2: measure.max_rounds = 10: must be at least screen_rounds + confirm_rounds, here 17",
        ),
        (
            "[measure]\nuntil_decided = true\nrounds = 8",
            ":2: measure.until_decided: contradicts `rounds`",
        ),
        (
            "[gate]\nrule = 'classical'\n[measure]\nuntil_decided = true",
            ':4: measure.until_decided: needs rule = "launch"',
        ),
        (
            "[gate]\nsettle = ['p59']",
            '"p25", "median", "p95", "p99", "p99.9", "max", "mean" or "min"; did you mean \'p99\'?',
        ),
        ("[gate]\nsettle = 'p95'", ':2: gate.settle = "p95": must be a list, in [ ]'),
        ("[gate]\nsettle = []", ":2: gate.settle = []: must name at least one"),
        (
            "[gate]\nsettle = ['p25', 'mean']",
            ':2: gate.settle = ["p25", "mean"]: names "mean", which `statistics` does not compare',
        ),
        (
            "[[rule]]\nbenchmark = 'a'\nsettle = ['mean']",
            ':3: rule[0].settle = ["mean"]: names "mean", which `statistics` does not compare',
        ),
        (
            "[gate]\nrule = 'classical'\nsettle = ['p95']",
            ':3: gate.settle = ["p95"]: needs rule = "launch"',
        ),
        ("[build]\ncommand = 'pip {x}'", ':2: build.command = "pip {x}": {x} is not one of {root}'),
        ("[build]\ncommand = ['a', '-b']", "-b is an option, not a program"),
        ("[build]\nenv = {A = 1}", ":2: build.env.A = 1: must be text in quotes"),
        ("[build]\nenv = {A = '{x}'}", ':2: build.env.A = "{x}": {x} is not one of {root}'),
        ("[build]\nenv = {'A=B' = 'x'}", "'A=B' cannot be the name of a variable"),
        ("[build]\nenv = 'A=1'", ':2: build.env = "A=1": must be a table'),
        (
            "[baseline]\nsource = 'artefact'",
            ':2: baseline.source = "artefact": must be "auto", "artifact", "git", "directory"',
        ),
        ("[baseline]\nsource = 'file'", ":1: baseline.path: is missing"),
        ("[baseline]\npath = 'x'", ':2: baseline.path = "x": is not used by source = "auto"'),
        (
            "[baseline]\nsource = 'directory'\nagainst = 'main'",
            ':3: baseline.against = "main": is not used by source = "directory"',
        ),
        ("[benchmark]\nname = 'x'", ":1: benchmark: must be written [[benchmark]]"),
        ("benchmark = ['x']", ':1: benchmark[0] = "x": must be a table: write [[benchmark]]'),
        (
            "[[benchmark]]",
            f":1: benchmark[0]: has none of {KEYS}",
        ),
        (
            "[[benchmark]]\ncomand = 'x'",
            f":1: benchmark[0]: has none of {KEYS}; did you mean 'command'",
        ),
        (
            "[[benchmark]]\ncommand = 'x'\npython = 'y'",
            ":1: benchmark[0]: has `command` and `python`: one entry is one of them",
        ),
        ("[[benchmark]]\ncommand = 'x'", ":1: benchmark[0]: `name` is missing"),
        (
            "[[benchmark]]\nsuite = 'x {output}'\noutput = 'y'",
            ':3: benchmark[0].output = "y": contradicts {output} in `suite`',
        ),
        (
            "[[benchmark]]\nsuite = 'x {out}'",
            ':2: benchmark[0].suite = "x {out}": {out} is not one of {root}, {env}, {sha}, {o',
        ),
        (
            "[[benchmark]]\nsuite = 'x'\nprepare = 'y {output}'",
            ':3: benchmark[0].prepare = "y {output}": {output} is not one of {root}, {env}, {sha};',
        ),
        (
            "[[benchmark]]\nsuite = 'x'\nexecutions = 3",
            ":3: benchmark[0].executions: unknown key; it belongs in",
        ),
        (
            "[[benchmark]]\npython = 'x'\nname = 'y'",
            ":3: benchmark[0].name: unknown key; it belongs in [[benchmark]] with `command`",
        ),
        (
            "[[benchmark]]\nname = 'y'\ncommand = 'x'\ntimeout = 5",
            ":4: benchmark[0].timeout = 5: a duration is text",
        ),
        (
            "[[benchmark]]\nname = 'y'\ncommand = 'x | y'",
            ':3: benchmark[0].command = "x | y": | is for a shell: quote it, or add shell = true',
        ),
        (
            "[[benchmark]]\nname = 'y'\ncommand = ['x']",
            ':3: benchmark[0].command = ["x"]: a command is one string',
        ),
        (
            "[[benchmark]]\nname = 'y'\ncommand = 'x'\ncwd = '../z'",
            ':4: benchmark[0].cwd = "../z": must be a path relative to the configuration file',
        ),
        (
            "[[benchmark]]\nname = 'y'\ncommand = 'x'\nok_exit_codes = [0, 256]",
            ":4: benchmark[0].ok_exit_codes[1] = 256: must be at most 255",
        ),
        (
            "[[benchmark]]\nname = ' y'\ncommand = 'x'",
            ':2: benchmark[0].name = " y": must be printable text without spaces at its ends',
        ),
        (
            '[[benchmark]]\nname = "a\\u001bb"\ncommand = "x"',
            ':2: benchmark[0].name = "a\\u001bb": must be printable text',
        ),
        (
            "[[benchmark]]\nname = 'y'\ncommand = 'x'\n[[benchmark]]\nname = 'y'\ncommand = 'z'",
            ':5: benchmark[1].name = "y": benchmark[0] has the same name',
        ),
        (
            "[[benchmark]]\npython = ['a', 'b/test_x.py']",
            ':2: benchmark[0].python[1] = "b/test_x.py": test_x.py is not a benchmark file',
        ),
        (
            "[[benchmark]]\npython = '/a'",
            ':2: benchmark[0].python[0] = "/a": must be a path relative',
        ),
        ("[[benchmark]]\npython = []", ":2: benchmark[0].python = []: must name at least one"),
        ("[[benchmark]]\npython = [3]", ":2: benchmark[0].python[0] = 3: must be text in quotes"),
        ("[rule]\nbenchmark = 'x'", ":1: rule: must be written [[rule]]"),
        ("[[rule]]\nmargin = '2%'", ":1: rule[0]: `benchmark` is missing"),
        ("[[rule]]\nbenchmark = 'x'", ":1: rule[0]: sets nothing: it may set margin, tail_margin"),
        (
            "[[rule]]\nbenchmark = 'x'\nmetric = 'time'\nmetrics = ['cpu']",
            ':4: rule[0].metrics = ["cpu"]: a rule for some metrics cannot also choose',
        ),
        ("[aliases]\na = 3", ":2: aliases.a = 3: must be text in quotes"),
        ("[aliases]\n'a/b' = 'a/b'", ':2: aliases."a/b" = "a/b": is an alias of itself'),
        ("aliases = []", ":1: aliases = []: must be a table"),
        (
            "[aliases]\na = 'b'\nb = 'c'",
            ':2: aliases.a = "b": is itself renamed further on: name the final id',
        ),
        (
            "[aliases]\na = 'c'\nb = 'c'",
            ":3: aliases.b = \"c\": 'a' already became this one, and two benchmarks",
        ),
    ],
)
def test_one_problem(text: str, message: str) -> None:
    error = _error(text)
    assert error.message.startswith("benchgate.toml:")
    assert message in error.message
    assert "\n" not in error.message
    assert error.hint
    assert error.exit_code == 2


def test_the_shared_file_names_the_whole_key() -> None:
    text = "[project]\nname = 'x'\n[tool.benchgate.gate]\nmargn = 1"
    assert _error(text, "pyproject.toml").message == (
        "pyproject.toml:4: tool.benchgate.gate.margn: unknown key; did you mean 'margin'?"
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[gate]\nxyzzy = 1", "keys of [gate]: rule, unit, alpha, margin, tail_margin, statistics"),
        (
            "[xyzzy]",
            (
                "tables: gate, measure, build, baseline, benchmark, rule, limit, waive, accept,"
                " history, aliases"
            ),
        ),
        ("[gate]\nmargin = 2", "`margin`: The smallest change of location"),
        ("[gate]\nfail_on = ['x']", "`fail_on`: The outcomes that fail the build"),
        ("[build]\nenv = {A = 1}", "`env`: Variables added to its environment"),
        (
            "[[benchmark]]\nname = 'y'\ncommand = 'x'\ntimeout = 5",
            "`timeout`: Time limit for each execution, `prepare` and `cleanup`",
        ),
        (
            "[[benchmark]]\npython = 'x'\ntimeout = 5",
            "`timeout`: Time limit for each call of a benchmark, its setup",
        ),
        ("[aliases]\na = 3", "`aliases`: Renamed benchmarks"),
        ("[aliases]\na = 'b'\nb = 'c'", "write 'c' here"),
    ],
)
def test_the_hint_says_what_to_do(text: str, hint: str) -> None:
    assert _error(text).hint.startswith(hint)


def test_several_problems_are_listed_together_in_the_order_of_their_lines() -> None:
    error = _error(
        "[measure]\nsamples = 0\n[gate]\nmargin = 2\nxyzzy = 1\n[[benchmark]]\npython = 3\n"
    )
    assert error.message.splitlines() == [
        "4 problems in the configuration:",
        "  benchgate.toml:2: measure.samples = 0: must be at least 1",
        '  benchgate.toml:4: gate.margin = 2: a percentage is text: write "2%" or "0.5%"',
        "  benchgate.toml:5: gate.xyzzy: unknown key",
        "  benchgate.toml:7: benchmark[0].python = 3: must be a path in quotes, or a list of them",
    ]
    assert "benchgate validate" in error.hint


def test_a_flood_is_cut() -> None:
    lines = _error("[gate]\n" + "".join(f"x{n} = 1\n" for n in range(50))).message.splitlines()
    assert len(lines) == 22
    assert lines[-1] == "  and 30 more"


def test_a_long_value_is_cut() -> None:
    shown = _error(f"[gate]\nrule = '{'x' * 5000}'").message
    assert len(shown) < 200
    assert '...: must be "launch"' in shown


def test_a_circle_of_aliases_is_named_on_every_line_of_it() -> None:
    message = _error("[aliases]\na = 'b'\nb = 'a'\nc = 'a'").message
    assert message.count("leads round in a circle") == 3
