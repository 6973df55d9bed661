"""Whatever a document holds, it becomes a configuration or a ConfigError, never a traceback."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from hypothesis import example, given
from hypothesis import strategies as st

from benchgate.config.benchmarks import KINDS
from benchgate.config.origin import Origin
from benchgate.config.resolved import resolve
from benchgate.config.tables import TABLES
from benchgate.errors import ConfigError
from benchgate.tables.document import line_numbers
from benchgate.tables.fields import keys_of

if TYPE_CHECKING:
    from benchgate.config import Config

PLAUSIBLE = [
    *("launch", "sample", "classical", "git", "file", "p25", "p95", "time", "auto", "all"),
    *("2%", "0%", "10m", "0s", "python -m x", "a | b", "{root}", "{x}", "'", "", "../a", "a/b"),
    *("[key]", "command", "{", "%", "bench_x.py"),
]
SCALARS = st.one_of(
    st.sampled_from(PLAUSIBLE),
    st.text(max_size=5),
    st.booleans(),
    st.integers(min_value=-2, max_value=40),
    st.sampled_from([10**30, -(10**400)]),
    st.floats(),
    st.just(dt.date(2026, 1, 1)),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(PLAUSIBLE) | st.text(max_size=3), inner, max_size=3),
    ),
    max_leaves=6,
)


def _tables(place: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    keys = st.sampled_from([*keys_of(TABLES[place]), "xyzzy"])
    return st.dictionaries(keys, VALUES, max_size=4)


BENCHMARKS = st.one_of(*(_tables(("benchmark", kind)) for kind in KINDS))
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "gate": _tables(("gate",)) | VALUES,
        "measure": _tables(("measure",)) | VALUES,
        "build": _tables(("build",)) | VALUES,
        "baseline": _tables(("baseline",)) | VALUES,
        "benchmark": st.lists(BENCHMARKS, max_size=3) | VALUES,
        "rule": st.lists(_tables(("rule",)), max_size=3) | VALUES,
        "waive": st.lists(_tables(("waive",)), max_size=3) | VALUES,
        "aliases": st.dictionaries(st.sampled_from("abcd"), st.sampled_from("abcd")) | VALUES,
        "xyzzy": VALUES,
    },
)


def _outcome(document: dict[str, Any]) -> Config | ConfigError:
    try:
        return resolve(Origin(name="benchgate.toml", tables=document))
    except ConfigError as error:
        return error


@given(DOCUMENTS)
@example({"benchmark": [{"command": "true", "[key]": 1}]})
def test_any_document(document: dict[str, Any]) -> None:
    outcome = _outcome(document)
    if isinstance(outcome, ConfigError):
        assert "benchgate.toml: " in outcome.message
        assert outcome.hint
    else:
        assert outcome.effective("any", "time").margin > 0


@given(st.lists(st.sampled_from(["a", "b.c", '"d e"']), unique=True, min_size=1), st.booleans())
def test_every_key_is_found_on_its_own_line(keys: list[str], in_table: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    header = "[table]\n" if in_table else ""
    lines = line_numbers(header + "".join(f"{key} = '''\n'''\n" for key in keys))
    starts = sorted(line for path, line in lines.items() if path != ("table",))
    assert set(starts) == {1 + 2 * n + in_table for n in range(len(keys))}
