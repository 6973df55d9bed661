"""Whatever a file holds, it becomes a scenario or a ConfigError, never a traceback."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchgate.errors import ConfigError
from benchgate.load import drivers
from benchgate.load.scenario_file import check_variables, read_scenario, redactor_of
from benchgate.load.signature import depends_on_side, own_files, signature

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SQL = {
    "name": "orders",
    "target": [{"dsn": ":memory:", "on_connect": ["PRAGMA x"]}, {"name": "b", "dsn": "{root}/b"}],
    "load": {"concurrency": 2, "duration": "2s", "rate": 5, "workers": "thread"},
    "experiment": {"seed": 1, "pause": "1s"},
    "setup": {"files": ["a.sql"], "queries": ["SELECT 1"]},
    "step": [
        {"name": "a", "query": "SELECT :a", "params": {"a": "random_int(1, 2)"}, "weight": 2},
        {"name": "c", "file": "c.sql"},
    ],
}
HTTP = {
    "name": "shop",
    "target": [{"driver": "http", "url": "http://${X}@a:{port}", "headers": {"A": "${X}"}}],
    "load": {"stages": [{"duration": "1s", "rate": 5}, {"duration": "2s", "rate": 0}]},
    "step": [{"name": "a", "path": "/:a", "params": {"a": "sequence"}}],
    "service": [
        {"name": "a", "start": "x {port}", "ready": {"http": "/", "status": 200}, "env": {"A": "1"}}
    ],
    "teardown": {"requests": [{"path": "/"}]},
}
COMMAND = {
    "name": "c",
    "target": [{"driver": "command", "command": "a/b {root}", "env": {"A": "${X}"}}],
    "step": [{"name": "a", "params": {"a": "random_choice(a, 'b')"}}],
}
PYTHON = {
    "name": "p",
    "target": [{"driver": "python", "function": "a.py:f"}],
    "step": [{"name": "a"}],
    "setup": {"function": "a.py:g"},
}
PLAUSIBLE = [
    *("a", "b", "", "/", "SELECT 1", "SELECT :a", "{port}", "{x}", "${X}", "${", "$${", ":memory:"),
    *("1s", "0s", "-1s", "thread", "process", "a b", "a | b", "'", "(", "../a", "a/b.py:f"),
    *("random_int(1, 2)", "random_int(2, 1)", "sequence", "f(x)", "a://b:c@d:e", "password=x"),
    *drivers.names(),
]
SCALARS = st.one_of(
    st.sampled_from(PLAUSIBLE),
    st.text(max_size=5),
    st.booleans(),
    st.none(),
    st.integers(min_value=-2, max_value=40),
    st.sampled_from([10**30, -(10**400)]),
    st.floats(),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(PLAUSIBLE) | st.text(max_size=3), inner, max_size=3),
    ),
    max_leaves=6,
)


def _holders(value: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - a tree of JSON
    """Every table and list in a document, with each of its keys."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _holders(value[key])


def _changed(document: Any, changes: list[tuple[int, Any]]) -> Any:  # noqa: ANN401 - trees of JSON
    document = copy.deepcopy(document)
    for number, value in changes:
        places = list(_holders(document))
        if places:
            holder, key = places[number % len(places)]
            holder[key] = value
    return document


DOCUMENTS = st.builds(
    _changed,
    st.sampled_from([SQL, HTTP, COMMAND, PYTHON]),
    st.lists(st.tuples(st.integers(0, 10_000), SCALARS | VALUES), max_size=3),
)


def _read(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="replace")
    with suppress(ConfigError):
        found = read_scenario(path, path.name)
        for target in found.targets:
            assert signature(found, target)
            depends_on_side(found, target)
            redactor_of(found, target, {"X": "x"})("text")
            with suppress(ConfigError):
                check_variables(found, target, {})
        own_files(found)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DOCUMENTS | VALUES)
def test_what_a_document_holds(tmp_path: Path, document: object) -> None:
    _read(tmp_path / "a.json", json.dumps(document))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([".toml", ".json", ".yaml"]), st.text(alphabet="ab:{}[]\"'\n ,=-&*<!|>#1\t"))
def test_what_a_text_is(tmp_path: Path, suffix: str, text: str) -> None:
    _read(tmp_path / f"a{suffix}", text)


def test_what_is_damaged_was_good(tmp_path: Path) -> None:
    for document in (SQL, HTTP, COMMAND, PYTHON):
        path = tmp_path / "a.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        assert read_scenario(path, path.name).steps
