"""Variables that are not set, and secrets in messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.errors import ConfigError
from benchgate.load.scenario_file import check_variables, redactor_of

if TYPE_CHECKING:
    from tests.load.scenario_files import Reader

HTTP = """\
name = "shop"

[[target]]
driver = "http"
url = "http://${USER}:${PASSWORD}@127.0.0.1:{port}"
headers = { Authorization = "Bearer ${API_KEY}" }

[[target]]
name = "other"
driver = "http"
url = "https://ann:c%40rol%20x@example.org"

[[step]]
name = "get"
path = "/"
headers = { X = "${STEP_KEY}" }

[[service]]
start = "serve ${NOT_EXPANDED}"
ready = { tcp = true }
env = { DATABASE = "${DATABASE}", PORT = "{port}" }
"""
SET = {
    "USER": "u",
    "PASSWORD": "p w",
    "API_KEY": "k-1",
    "STEP_KEY": "st",
    "DATABASE": "db.example",
    "OTHER": "not used",
}


def test_all_that_is_unset_is_told_with_its_place(reader: Reader) -> None:
    found = reader(HTTP)
    check_variables(found, found.targets[0], SET)
    with pytest.raises(ConfigError) as caught:
        check_variables(found, found.targets[0], {"USER": "", "STEP_KEY": "x"})
    assert caught.value.message.splitlines() == [
        "2 problems in load/orders.toml:",
        "  load/orders.toml:5: target[0].url: the variable PASSWORD is not set",
        "  load/orders.toml:6: target[0].headers.Authorization: the variable API_KEY is not set",
    ]
    with pytest.raises(ConfigError) as caught:
        check_variables(found, found.targets[1], {})
    assert caught.value.message == (
        "load/orders.toml:16: step[0].headers.X: the variable STEP_KEY is not set"
    )
    assert "STEP_KEY=..." in caught.value.hint


def test_values_of_variables_are_concealed(reader: Reader) -> None:
    found = reader(HTTP)
    redact = redactor_of(found, found.targets[0], SET)
    text = "cannot log in as u with 'p w' and k-1\nhttp://u:p%20w@host: not used, st"
    shown = redact(text)
    for secret in ("p w", "p%20w", "k-1", " st"):
        assert secret not in shown
    assert "not used" in shown
    assert "cannot log in" in shown


@pytest.mark.parametrize(
    ("dsn", "secrets"),
    [
        ("postgresql://ann:hunter2@db/orders", ["hunter2"]),
        ("postgresql://ann:h%40nter2@db/orders", ["h%40nter2", "h@nter2"]),
        ("postgresql://ann:h@nter/2@db/orders", ["h@nter/2"]),
        ("host=db user=ann password=hunter2 dbname=orders", ["hunter2"]),
        (r"host=db password = 'hun\'t er2'", [r"hun\'t er2", "hun't er2"]),
        ("postgresql://ann@db/orders?password=hunter2&x=1", ["hunter2"]),
        ("host=db password=${DB_WORD}", ["s3cr3t"]),
        ("postgresql://ann:x${DB_WORD}@db", ["xs3cr3t", "s3cr3t"]),
    ],
)
def test_passwords_in_addresses_are_concealed(reader: Reader, dsn: str, secrets: list[str]) -> None:
    text = f'name = "a"\n[[target]]\ndsn = """{dsn}"""\n[[step]]\nname = "b"\nquery = "SELECT 1"'
    found = reader(text.replace("\\", "\\\\"))
    redact = redactor_of(found, found.targets[0], {"DB_WORD": "s3cr3t"})
    for secret in secrets:
        assert redact(f"cannot use ({secret}) here") == "cannot use ([removed]) here"
