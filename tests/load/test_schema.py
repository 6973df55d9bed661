"""The JSON schema agrees with what benchgate reads."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from benchgate.load import drivers
from benchgate.load.driver_reference import scenario_schema

if TYPE_CHECKING:
    from tests.load.scenario_files import Reader

SCHEMA = scenario_schema()
CHECK = jsonschema.Draft202012Validator(SCHEMA)

SQL = '[[step]]\nname = "a"\nquery = "SELECT 1"\n'
HTTP = '[[step]]\nname = "a"\npath = "/"\n[[target]]\ndriver = "http"\nurl = "http://a:{port}"\n'
SERVICE = '[[service]]\nstart = "serve {port}"\nready = { tcp = true, timeout = "5s" }\n'
GOOD = [
    SQL,
    f'{SQL}params = {{ }}\n[setup]\nfiles = ["schema.sql"]\n[teardown]\nqueries = ["DROP"]\n',
    f'{SQL}[[target]]\n[[target]]\nname = "b"\ndriver = "sqlite"\ndsn = "{{scratch}}/a.db"\n',
    f'{SQL}[[target]]\ndriver = "postgresql"\ndsn = "host=a"\n',
    f'{SQL}[[target]]\ndriver = "mysql"\ndsn = "mysql://a@b/c"\n',
    f'{SQL}[load]\nwarmup = "0s"\nstages = [{{ duration = "1s", rate = 5 }}]\nmax_error_rate = 0\n',
    f'{SQL}[experiment]\nseed = 1\niterations = 5\npause = "0s"\n',
    HTTP + SERVICE,
    '[[step]]\nname = "a"\n[[target]]\ndriver = "command"\ncommand = "bin/worker"\n',
    '[[step]]\nname = "a"\n[[target]]\ndriver = "python"\nfunction = "load/a.py:lookup"\n',
]
BAD = [
    "",
    "[[step]]\nname = 5\nquery = 'SELECT 1'\n",
    "[step]\nname = 'a'\n",
    f"{SQL}weigth = 3\n",
    f"{SQL}weight = 0\n",
    f"{SQL}params = {{ id = [1] }}\n",
    f"{SQL}[setup]\nfile = 'a'\n",
    f"{SQL}[[target]]\ndriver = 'sqlit'\n",
    f"{SQL}[[target]]\ndns = 'a'\n",
    f"{SQL}[[target]]\ndriver = 'http'\nurl = 'http://a'\n",
    f"{SQL}[[target]]\ndriver = 'postgresql'\n",
    f"{SQL}[target]\ndriver = 'sqlite'\n",
    f"{SQL}[load]\nconcurrency = 0\n",
    f"{SQL}[load]\nduration = 5\n",
    f"{SQL}[load]\nstages = [{{ rate = 5 }}]\n",
    f"{SQL}[load]\nworkers = 'processes'\n",
    f"{SQL}[experiment]\nrounds = 5\n",
    f"{SQL}[[service]]\nstart = 'a'\n",
    f"{SQL}{SERVICE}stops = 'a'\n",
    f"{SQL}{SERVICE}env = {{ A = 5 }}\n",
    f"{SQL}[other]\n",
    f"{HTTP}query = 'a'\n",
]


def problems(text: str) -> list[str]:
    return [error.message for error in CHECK.iter_errors(tomllib.loads(f'name = "a"\n{text}'))]


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["$defs"]) >= {f"{name}.target" for name in drivers.names()}


@pytest.mark.parametrize("text", GOOD)
def test_good_files(reader: Reader, text: str) -> None:
    assert reader(f'name = "a"\n{text}').steps
    assert problems(text) == []


@pytest.mark.parametrize("text", BAD)
def test_bad_files(reader: Reader, text: str) -> None:
    assert reader.error(f'name = "a"\n{text}').message
    assert problems(text)


def test_every_driver_has_a_good_file() -> None:
    named = {target.get("driver", "sqlite") for text in GOOD for target in _targets(text)}
    assert named == set(drivers.names())


def test_every_key_is_described() -> None:
    for name, table in {"whole": SCHEMA, **SCHEMA["$defs"]}.items():
        for key, value in table["properties"].items():
            assert value.get("description", "").endswith((".", "`.", "`")), (name, key)
        assert table["additionalProperties"] is False, name


def _targets(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(text).get("target", [])
    return found
