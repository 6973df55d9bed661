"""What is read from a scenario file, and every message that a wrong one gets."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from benchgate.errors import ConfigError
from benchgate.load.drivers.http import HttpDriver
from benchgate.load.drivers.sqlite import SqliteDriver
from benchgate.load.scenario_file import read_scenario
from benchgate.model.load import Loop

if TYPE_CHECKING:
    from pathlib import Path

    from tests.load.scenario_files import Reader

STEP = '[[step]]\nname = "lookup"\nquery = "SELECT 1"\n'
NAME = 'name = "orders"\n'
WHOLE = """\
name = "orders"

[[target]]
name = "memory"

[[target]]
name = "disk"
driver = "sqlite"
dsn = "{scratch}/orders.db"

[load]
concurrency = 4
duration = "1m 30s"
warmup = "0s"
max_error_rate = 0.1

[experiment]
iterations = 5
seed = 42
pause = "500ms"

[setup]
files = ["schema.sql"]

[teardown]
queries = ["DROP TABLE orders"]

[[step]]
name = "lookup"
query = "SELECT * FROM orders WHERE id = :id"
params = { id = "random_int(1, 1000)" }
weight = 4

[[step]]
name = "report"
file = "queries/report.sql"
"""


def test_a_whole_scenario(reader: Reader) -> None:
    found = reader(WHOLE)
    assert [(one.title, type(one)) for one in found.targets] == [
        ("memory", SqliteDriver.TARGET),
        ("disk", SqliteDriver.TARGET),
    ]
    assert (found.duration_s, found.load.warmup_s, found.experiment.pause_s) == (90.0, 0.0, 0.5)
    assert (found.loop, found.most_workers, found.most_rate) == (Loop.CLOSED, 4, 0.0)
    assert found.ids == (
        *("orders/memory/lookup", "orders/memory/report"),
        *("orders/disk/lookup", "orders/disk/report"),
    )
    assert found.setup is not None
    assert found.setup.own_files() == ("schema.sql",)
    assert found.steps[0].weight == 4
    assert found.lines["step[0].params.id"] == 31
    assert found.file == "load/orders.toml"


def test_sqlite_in_memory_is_the_default(reader: Reader) -> None:
    found = reader(NAME + STEP)
    (target,) = found.targets
    assert isinstance(target, SqliteDriver.TARGET)
    assert (target.title, target.texts()) == ("sqlite", (":memory:",))
    assert found.ids == ("orders/lookup",)
    assert (found.duration_s, found.load.warmup_s) == (10.0, 1.0)


def test_databases_of_several_kinds_share_their_steps(reader: Reader) -> None:
    found = reader(
        f"{NAME}{STEP}[[target]]\n"
        "[[target]]\ndriver = 'postgresql'\ndsn = 'dbname=a'\n"
        "[[target]]\ndriver = 'mysql'\ndsn = 'database=a'\n"
    )
    assert [one.title for one in found.targets] == ["sqlite", "postgresql", "mysql"]


def test_stages(reader: Reader) -> None:
    rising = reader(f"""{NAME}{STEP}[load]
        stages = [{{ duration = "5s", rate = 10 }}, {{ duration = "10s", rate = 500.5 }}]""")
    assert (rising.loop, rising.duration_s, rising.most_rate) == (Loop.OPEN, 15.0, 500.5)
    crowd = reader(f"""{NAME}{STEP}[[load.stages]]
        duration = "5s"
        concurrency = 50""")
    assert (crowd.loop, crowd.most_workers) == (Loop.CLOSED, 50)


def test_the_driver_says_which_keys_there_are(reader: Reader) -> None:
    found = reader(
        'name = "shop"\n[[target]]\ndriver = "http"\nurl = "http://127.0.0.1:{port}"\n'
        '[[step]]\nname = "get"\npath = "/"\n'
        '[[service]]\nstart = "serve {port}"\nready = { http = "/health", status = 204 }\n'
    )
    assert isinstance(found.targets[0], HttpDriver.TARGET)
    assert isinstance(found.steps[0], HttpDriver.STEP)
    assert found.services[0].ready.status == 204
    error = reader.error(f'{NAME}{STEP}[[target]]\ndriver = "http"\nurl = "http://a"\n')
    assert "step[0].query: unknown key" in error.message


def test_several_drivers_read_the_same_steps(reader: Reader) -> None:
    dsn = {"sqlite": ":memory:", "postgresql": "host=db", "mysql": "mysql://ann@db/orders"}
    targets = "".join(f'[[target]]\ndriver = "{name}"\ndsn = "{dsn[name]}"\n' for name in dsn)
    found = reader(f"{NAME}{STEP}[setup]\nqueries = ['CREATE TABLE a (b int)']\n{targets}")
    assert found.ids == tuple(f"orders/{name}/lookup" for name in dsn)
    assert [one.driver for one in found.targets] == list(dsn)
    error = reader.error(f"{NAME}{STEP}{targets}".replace("SELECT 1", "SELECT $$a :b$$"))
    assert error.message == "load/orders.toml:2: step[0]: :b has no value in params"


def test_tables_in_tables_of_a_driver(reader: Reader) -> None:
    text = """name = "shop"
[[target]]
driver = "http"
url = "http://a"
[[step]]
name = "get"
path = "/"
[setup]
requests = [{ path = "/" }, { pth = "/", weight = 3 }]
"""
    error = reader.error(text)
    assert error.message.splitlines() == [
        "2 problems in load/orders.toml:",
        "  load/orders.toml:9: setup.requests[1].pth: unknown key; did you mean 'path'?",
        "  load/orders.toml:9: setup.requests[1].weight: unknown key; it belongs in [[step]]",
    ]


def test_of_an_unknown_driver_only_that_is_told(reader: Reader) -> None:
    error = reader.error(f"{NAME}[[target]]\ndriver = 'htp'\nurl = 'x'\n[[step]]\npath = '/'\n")
    assert error.message == (
        "load/orders.toml:3: target[0].driver: there is no driver 'htp' among command, http, mysql,"
        " postgresql, python, sqlite; did you mean 'http'?"
    )


@pytest.mark.parametrize("suffix", [".json", ".yaml", ".yml", ".JSON"])
def test_other_formats_say_the_same(reader: Reader, suffix: str) -> None:
    document = {
        "name": "orders",
        "load": {"duration": "2s", "stages": [{"duration": "2s", "concurrency": 3}]},
        "step": [{"name": "lookup", "query": "SELECT :id", "params": {"id": "sequence"}}],
    }
    found = reader(json.dumps(document, indent=1), suffix)
    assert found.ids == ("orders/lookup",)
    assert found.load.stages[0].concurrency == 3
    assert {key: found.lines[key] for key in ("name", "load.stages[0].duration", "step[0]")} == {
        "name": 2,
        "load.stages[0].duration": 7,
        "step[0]": 13,
    }
    assert found.lines["step[0].params.id"] == 17


def test_lines_of_dense_json(reader: Reader) -> None:
    text = (
        '{"name": "orders", "step":\n[{"name":"a\\"{[,","query":"SELECT :x",\n"params":{"x":'
        '"random_choice(\\"a,b\\", c)"},"weight":\n2},\n{"name": "b", "query": 5}]}'
    )
    error = reader.error(text, ".json")
    assert error.message.startswith("load/orders.json:5: step[1].query = 5: must be text")


def test_yaml_as_people_write_it(reader: Reader) -> None:
    text = """\
# a comment
name: orders
target:
  - driver: sqlite
step:
  - name: lookup
    query: "SELECT :id"
    params: {id: "random_int(1, 9)"}
    wieght: 3
"""
    assert reader.error(text, ".yaml").message == (
        "load/orders.yaml:9: step[0].wieght: unknown key; did you mean 'weight'?"
    )


def test_everything_that_is_wrong_is_told_at_once(reader: Reader) -> None:
    text = WHOLE.replace("weight", "wieght").replace('"1m 30s"', '"-3s"').replace("42", "-1")
    lines = reader.error(text).message.splitlines()
    assert lines[0] == "3 problems in load/orders.toml:"
    assert lines[1].startswith('  load/orders.toml:13: load.duration = "-3s": is not a dura')
    assert lines[2:] == [
        "  load/orders.toml:19: experiment.seed = -1: must be at least 0",
        "  load/orders.toml:32: step[0].wieght: unknown key; did you mean 'weight'?",
    ]


SERVICE = '[[service]]\nname = "api"\nstart = "serve"\nready = { tcp = true }\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (STEP, "load/orders.toml: `name` is missing"),
        (NAME, "load/orders.toml: has no [[step]], so there is nothing to measure"),
        (f"{NAME}stpe = []\n{STEP}", ":2: stpe: unknown table or key; did you mean 'step'?"),
        (f"{NAME}[step]\nname = 'a'", ":2: step: must be written [[step]]"),
        (f"{NAME}{STEP}[target]\nname = 'a'", ":5: target: must be written [[target]]"),
        (f"{NAME}{STEP}[[load]]\nrate = 1", ":5: load: must be written [load]"),
        (f"{NAME}{STEP}[[setup]]\nrate = 1", ":5: setup: must be written [setup]"),
        (f"{NAME}load = 3\n{STEP}", ":2: load = 3: must be a table"),
        (f"{NAME}target = ['a']\n{STEP}", ':2: target[0] = "a": must be a table'),
        (f"{NAME}step = 'a'", ':2: step = "a": must be a list, in [ ]'),
        (
            f"{NAME}[[target]]\ndriver = 'sqlit'\n{STEP}",
            "target[0].driver: there is no driver 'sqlit' among",
        ),
        (f"{NAME}[[target]]\ndriver = 5\n{STEP}", ":3: target[0].driver = 5: must be text"),
        (f"{NAME}[[target]]\n[[target]]\n{STEP}", 'target[1].name = "sqlite": target[0] has the'),
        (f"{NAME}{STEP}{STEP}", ':6: step[1].name = "lookup": step[0] has the same name'),
        (f"{NAME}{STEP}{SERVICE}{SERVICE}", 'service[1].name = "api": service[0] has the same'),
        (f"{NAME}{STEP}weight = 0", ":5: step[0].weight = 0: must be at least 1"),
        (
            f"{NAME}{STEP}params = {{ id = 1 }}",
            ":2: step[0]: nothing uses the parameter 'id': write :id where it belongs",
        ),
        (f"{NAME}{STEP}".replace("1", ":id"), ":2: step[0]: :id has no value in params"),
        (
            f"{NAME}{STEP}params.id = 'random_int(9, 1)'",
            'step[0].params.id = "random_int(9, 1)": is an empty range: 9 is more than 1',
        ),
        (f"{NAME}{STEP}params.id = [1]", "params.id = [1]: must be text, a number, true or false"),
        (f"{NAME}{STEP}[load]\nduration = '0s'", ':6: load.duration = "0s": a duration must be'),
        (f"{NAME}{STEP}[load]\nduration = 5", ":6: load.duration = 5: a duration is text"),
        (f"{NAME}{STEP}[load]\nwarmup = '-1s'", ':6: load.warmup = "-1s": is not a'),
        (f"{NAME}{STEP}[load]\nwarmup = [1]", ":6: load.warmup = [1]: a duration is text"),
        (f"{NAME}{STEP}[load]\nrate = -1", ":6: load.rate = -1: must be at least 0"),
        (
            f"{NAME}{STEP}[load]\nrate = 1e9",
            ":6: load.rate = 1000000000.0: must be at most 1000000.0",
        ),
        (f"{NAME}{STEP}[load]\nrate = inf", ":6: load.rate = Infinity: must be a finite number"),
        (f"{NAME}{STEP}[load]\nworkers = 'proces'", "did you mean 'process'?"),
        (
            f"{NAME}{STEP}[load]\nstages = [{{ duration = '1s', rate = 1, concurrency = 1 }}]",
            ":6: load.stages[0]: has both `rate` and `concurrency`",
        ),
        (
            f"{NAME}{STEP}[load]\nstages = [{{ duration = '1s' }}]",
            ":6: load.stages[0]: has neither `rate` nor `concurrency`",
        ),
        (
            (
                f"{NAME}{STEP}[[load.stages]]\nduration='1s'\nrate=1\n"
                "[[load.stages]]\nduration='1s'\nconcurrency=1"
            ),
            ":5: load.stages: some stages set `rate`, others `concurrency`",
        ),
        (
            f"{NAME}{STEP}[load]\nrate = 5\nstages = [{{ duration = '1s', concurrency = 1 }}]",
            ":6: load.rate = 5.0: contradicts stages with `concurrency`",
        ),
        (
            f"{NAME}{STEP}[load]\nstages = [{{ duration = '1s', rate = 0 }}]",
            ":6: load.stages: never have a rate above 0",
        ),
        (
            f"{NAME}{STEP}[load]\nduration='5s'\nstages = [{{ duration = '4s', rate = 1 }}]",
            ":6: load.duration: contradicts the stages, which take 4.0 s",
        ),
        (
            (
                f"{NAME}{STEP}[load]\nworkers = 'process'\ncluster = 'tcp://a:1'\n"
                "[[target]]\ndsn='{scratch}/a.db'"
            ),
            ':6: load.workers = "process": contradicts `cluster`',
        ),
        (
            f"{NAME}{STEP}[load]\nworkers = 'process'",
            "target[0]: workers in several processes cannot share the database :memory:",
        ),
        (
            f"{NAME}{STEP}[load]\ncluster = 'tcp://a:1'",
            ':6: load.cluster = "tcp://a:1": contradicts the driver "sqlite", which needs files',
        ),
        (
            f"{NAME}{STEP}[[target]]\n[[target]]\ndriver = 'http'\nurl = 'http://a'",
            'target[1].driver = "http": has other keys in its steps than "sqlite" of target[0]',
        ),
        (
            f"{NAME}[[step]]\nname = 'a'\nquery = 'SELECT :id'\nparams = {{ ids = 1 }}",
            "step[0]: :id has no value in params; did you mean 'ids'?",
        ),
        (
            f"{NAME}[[step]]\nname = 'a'\nquery = 'SELECT 1; SELECT 2'",
            "step[0]: 2 statements in one text: write queries = [...] with one statement in each",
        ),
        (
            f"{NAME}{STEP}[[target]]\ndsn = '{{rot}}/a.db'",
            ":6: target[0].dsn: there is no placeholder {rot}; did you mean 'root'?",
        ),
        (
            f"{NAME}{STEP}[[target]]\ndsn = '{{port}}'",
            ":6: target[0].dsn: {port} needs a [[service]], whose port it is",
        ),
        (
            f"{NAME}{STEP}{SERVICE}{SERVICE.replace('api', 'db')}[[target]]\ndsn = '{{port}}'",
            "target[0].dsn: {port} is ambiguous: write {api_port} or {db_port}",
        ),
        (f"{NAME}{STEP}[[target]]\ndsn = '${{A:-b}}'", "${A:-b} is not the name of a variable"),
        (f"{NAME}{STEP}[[target]]\ndsn = '${{A'", "target[0].dsn: ${A has no } at its end"),
        (f"{NAME}{STEP}[[target]]\ndsn = '${{}}'", "${} is not the name of a variable"),
        (
            f"{NAME}{STEP}{SERVICE}".replace('"serve"', '"serve {prot}"'),
            ":7: service[0].start: there is no placeholder {prot}; did you mean 'port'?",
        ),
        (
            f"{NAME}{STEP}{SERVICE}".replace('"serve"', "'serve \"'"),
            ":7: service[0].start: cannot be split into words: no closing quotation",
        ),
        (
            f"{NAME}{STEP}{SERVICE}".replace('"serve"', '"serve | tee log"'),
            "service[0].start: | is for a shell: quote it, or write sh -c '...'",
        ),
        (f"{NAME}{STEP}{SERVICE}stop = 'A=1 x'", ":9: service[0].stop: A=1 is for a shell"),
        (f"{NAME}{STEP}{SERVICE}env = {{ A = '{{rot}}' }}", ":9: service[0].env.A: there is no"),
        (f"{NAME}{STEP}{SERVICE}env = {{ '' = 'x' }}", "must not be empty"),
        (f"{NAME}{STEP}{SERVICE}".replace("api", "a-b"), "must be one word of letters, digits"),
        (f"{NAME}{STEP}{SERVICE}".replace("tcp = true", ""), "service[0].ready: is empty: it has"),
        (f"{NAME}{STEP}{SERVICE}".replace("true", "false"), "service[0].ready: is empty: it has"),
        (f"{NAME}{STEP}[[service]]\nstart = 'x'", ":5: service[0]: `ready` is missing"),
        (
            f"{NAME}{STEP}{SERVICE}".replace("= true", "= true, log = 'x'"),
            ":8: service[0].ready: has `tcp` and `log`: it has one of",
        ),
        (
            f"{NAME}{STEP}{SERVICE}".replace("= true", "= true, status = 300"),
            ":8: service[0].ready.status = 300: is only for `http`",
        ),
        (
            f"{NAME}{STEP}{SERVICE}".replace("tcp = true", "http = 'health'"),
            'ready.http = "health": must be a path on the port of the service',
        ),
        (
            f"{NAME}{STEP}{SERVICE}".replace("tcp = true", "log = '('"),
            'ready.log = "(": is not a regular expression: missing )',
        ),
        (
            f"{NAME}{STEP}{SERVICE}".replace("tcp = true", "command = 'x {rot}'"),
            "service[0].ready.command: there is no placeholder {rot}",
        ),
        (f"{NAME}{STEP}[experiment]\niterations = 0", "experiment.iterations = 0: must be at"),
    ],
)
def test_what_is_refused(reader: Reader, text: str, message: str) -> None:
    error = reader.error(text)
    assert message in error.message
    assert error.hint
    assert "\n" not in error.message or "problems in load/orders.toml:" in error.message


@pytest.mark.parametrize(
    ("text", "suffix", "message"),
    [
        ("name = x", ".toml", "load/orders.toml:1:8: is not valid TOML: invalid value"),
        ('{"name": 1, 2}', ".json", "load/orders.json:1:13: is not valid JSON: "),
        ('{"name": "a", "name": "b"}', ".json", "the key 'name' is there twice"),
        ("[1]", ".json", "load/orders.json: must be a table of keys and values"),
        ("", ".json", "load/orders.json:1:1: is not valid JSON: expecting value"),
        ("[" * 100_000, ".json", "load/orders.json: is nested too deeply"),
        (f'{{"load": {"9" * 5000}}}', ".json", "load/orders.json: is not valid JSON: exceeds the"),
        ('{"name": NaN}', ".json", "load/orders.json:1: name = NaN: must be text in quotes"),
        ("a: [", ".yaml", "load/orders.yaml:1:5: is not valid YAML: "),
        ("a: b: c", ".yml", "load/orders.yml:1:5: is not valid YAML: mapping values"),
        ("a: !!python/object/new:os.system [x]", ".yml", "could not determine a constructor"),
        ("", ".yaml", "load/orders.yaml: must be a table of keys and values"),
        ("x: 2020-13-45", ".yaml", "load/orders.yaml:1:4: is not valid YAML: month must be in"),
        (
            "a: \x01",
            ".yaml",
            "load/orders.yaml:1:4: is not valid YAML: it has the character U+0001",
        ),
        ("a: 1\nb: 2\na: 3", ".yaml", "load/orders.yaml:3: the key 'a' is there twice"),
        ("a: {yes: 3}", ".yaml", "load/orders.yaml:1: the key 'yes' must be text: put it in quot"),
        ("a: &a [*a]", ".yaml", "load/orders.yaml: is nested too deeply"),
        (
            "a: &a [x,x,x,x,x,x,x]\n"
            + "".join(f"{y}: &{y} [{','.join([f'*{x}'] * 7)}]\n" for x, y in pairwise("abcdef")),
            ".yaml",
            "load/orders.yaml: has more than 100000 entries",
        ),
        ("[" * 5_000, ".yaml", "load/orders.yaml: is nested too deeply"),
        ("", ".tml", "load/orders.tml: a scenario file is named .toml, .json, .yaml or .yml; did"),
        ("", "", "load/orders: a scenario file is named .toml, .json, .yaml or .yml"),
    ],
)
def test_what_cannot_be_parsed(reader: Reader, text: str, suffix: str, message: str) -> None:
    assert message in reader.error(text, suffix).message


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("a:\n\tb: 1", "2:1", "indent with spaces"),
        ("a: {b: 1\nc: 2", "2:2", "close what opens in line 1"),
        ("a: [1, 2\n", "2:1", "close what opens in line 1"),
        ('a: "b\nc: 2', "2:5", "close the quotes that open in line 1"),
        ("a: b: c", "1:5", "put a space after each colon, and indent the keys of one table alike"),
        ("a:b\nc: 1", "2:2", "put a space after each colon"),
        ("a: 1\n b: 2", "2:3", "indent the keys of one table alike"),
        ("a:\n  - b\n - c", "3:2", "indent the keys of one table alike"),
        ("a: @b", "1:4", "put text that begins with this character in quotes"),
        ("a: *b", "1:4", "put text that begins with * in quotes"),
        ('a: "\\d"', "1:6", "in single quotes"),
        ("a: 1\n---\nb: 2", "2:1", "delete the line ---"),
        ("a: !b c", "1:4", "put text that begins with ! in quotes"),
        ("a: 1\nb: [x, 2020-13-45]", "2:8", "put it in quotes"),
        ("a: 1\nb: \x01", "2:4", "delete it"),
        ("%a\nb: 1", "2:1", "put text that begins with % in quotes"),
    ],
)
def test_what_is_no_yaml_is_placed_and_told_what_to_do(
    reader: Reader, text: str, place: str, hint: str
) -> None:
    error = reader.error(text, ".yaml")
    assert error.message.startswith(f"load/orders.yaml:{place}: is not valid YAML: ")
    assert hint in error.hint


def test_brackets_of_other_formats(reader: Reader) -> None:
    wrong = {"name": "a", "step": {"name": "b"}, "load": [{"rate": 1}]}
    lines = reader.error(json.dumps(wrong), ".json").message.splitlines()
    assert lines[1:] == [
        "  load/orders.json:1: load: must be a table",
        "  load/orders.json:1: step: must be a list of tables",
    ]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"load/x\.toml: cannot be read: no such file"):
        read_scenario(tmp_path / "x.toml", "load/x.toml")


def test_yaml_without_the_extra(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    error = reader.error("name: a", ".yaml")
    assert error.message == "load/orders.yaml: reading YAML needs PyYAML"
    assert 'pip install "benchgate[yaml]"' in error.hint
    assert reader(NAME + STEP).name == "orders"


def test_no_message_has_a_password(reader: Reader) -> None:
    for dsn in ("postgresql://ann:hunter2@db/{rot}", "host=db password=hunter2 {rot}"):
        error = reader.error(f'{NAME}{STEP}[[target]]\ndsn = "{dsn}"\ntimeout = 5\n')
        assert "hunter2" not in error.message + error.hint
    error = reader.error(f'{NAME}{STEP}[[target]]\ndsn = "sqlite://ann:hunter2@db"\n')
    assert "[removed]" in error.message
    assert not re.search("hunter2", error.message + error.hint)
