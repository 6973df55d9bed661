"""What is the work of a scenario, and what depends on the side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.load.signature import depends_on_side, own_files, signature

if TYPE_CHECKING:
    from tests.load.scenario_files import Reader

ORDERS = """\
name = "orders"
[[target]]
dsn = "{scratch}/orders.db"
[load]
concurrency = 4
[experiment]
seed = 42
iterations = 5
[setup]
queries = ["CREATE TABLE orders (id)"]
[[step]]
name = "lookup"
query = "SELECT :id"
params = { id = "random_int(1, 9)" }
"""
SHOP = """\
name = "shop"
[[target]]
driver = "http"
url = "http://ann:hunter2@127.0.0.1:8080"
headers = { Authorization = "Bearer hunter2-hunter2", Accept = "text/html" }
[[step]]
name = "get"
path = "/"
"""


def changed(reader: Reader, text: str, before: str, after: str) -> set[str]:
    assert before in text
    parts = []
    for one in (text, text.replace(before, after)):
        found = reader(one)
        parts.append(signature(found, found.targets[0]))
    return {key for key in {*parts[0], *parts[1]} if parts[0].get(key) != parts[1].get(key)}


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("SELECT :id", "SELECT :id + 1", {"its step lookup"}),
        ("random_int(1, 9)", "random_int(1, 10)", {"its step lookup"}),
        ("params", "weight = 2\nparams", {"its step lookup"}),
        ('"lookup"', '"find"', {"its step lookup", "its step find"}),
        ("concurrency = 4", "concurrency = 5", {"its load"}),
        ("concurrency = 4", "concurrency = 4\nduration = '9s'", {"its load"}),
        ("concurrency = 4", "concurrency = 4\nrate = 10", {"its load"}),
        ("concurrency = 4", "concurrency = 4\nmax_error_rate = 0.5", {"its load"}),
        ("seed = 42", "seed = 43", {"its seed"}),
        ("(id)", "(id, x)", {"its setup"}),
        ("[[step]]", "[teardown]\nqueries = ['DROP']\n[[step]]", {"its teardown"}),
        ("orders.db", "others.db", set()),
        ("{scratch}/", "", {"its target"}),
        ("concurrency = 4", "concurrency = 4\nduration = '10s'\nwarmup = '1s'", set()),
        ("iterations = 5", "iterations = 6\npause = '1s'", set()),
        ("[[step]]", "[[service]]\nstart = 'x'\nready.tcp = true\n[[step]]", set()),
        ("dsn", "timeout = '9s'\ndsn", {"its target"}),
        ("dsn", "name = 'x'\ndsn", set()),
    ],
)
def test_what_is_work(reader: Reader, before: str, after: str, parts: set[str]) -> None:
    assert changed(reader, ORDERS, before, after) == parts


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("hunter2", "hunter3", set()),
        ("127.0.0.1:8080", "127.0.0.1:9090", set()),
        ("127.0.0.1:8080", "{root}", {"its target"}),
        ("text/html", "text/plain", {"its target"}),
        ('"/"', '"/orders"', {"its step get"}),
    ],
)
def test_addresses_and_secrets_are_no_work(
    reader: Reader, before: str, after: str, parts: set[str]
) -> None:
    assert changed(reader, SHOP, before, after) == parts


def test_the_digests_are_short_and_stay(reader: Reader) -> None:
    found = reader(ORDERS)
    parts = signature(found, found.targets[0])
    assert list(parts) == [
        *("its load", "its target", "its seed", "its setup", "its teardown", "its step lookup"),
    ]
    assert all(len(digest) == 16 for digest in parts.values())
    assert parts["its step lookup"] == GOLDEN


@pytest.mark.parametrize(
    ("before", "after", "reasons"),
    [
        ("seed", "seed", ()),
        ("{scratch}", "/data", ()),
        ("{scratch}", "{root}", ("{root} of its target",)),
        ("{scratch}", "{env}/{sha}", ("{env} of its target", "{sha} of its target")),
        ("queries = [", "files = ['a.sql']\nqueries = [", ("a.sql of its setup",)),
        (
            "[[step]]",
            "[[service]]\nname = 'api'\nstart = 'x'\nready.tcp = true\n[[step]]",
            ("its service api",),
        ),
        ("[[step]]", "[[step]]\nname = 'x'\nfile = 'x.sql'\n[[step]]", ("x.sql of its step x",)),
    ],
)
def test_what_depends_on_the_side(
    reader: Reader, before: str, after: str, reasons: tuple[str, ...]
) -> None:
    found = reader(ORDERS.replace(before, after))
    assert depends_on_side(found, found.targets[0]) == reasons
    files = [reason.partition(" ")[0] for reason in reasons if ".sql" in reason]
    assert list(own_files(found)) == files


GOLDEN = "f4e334ade0a36983"
