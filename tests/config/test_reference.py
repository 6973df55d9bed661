from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchgate.config import loads
from benchgate.config.key_reference import markdown_table, updated
from benchgate.config.tables import TABLES
from benchgate.tables.fields import keys_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")


def test_the_documentation_is_up_to_date() -> None:
    assert updated(TEXT) == TEXT, (
        "run: python -m benchgate.config.key_reference docs/configuration.md"
    )


def test_the_documentation_has_every_table() -> None:
    documented = {tuple(name.split()) for name in re.findall(r"<!-- table: ([a-z ]+) -->", TEXT)}
    assert documented == TABLES.keys() - {()}
    for key in keys_of(TABLES[()]):
        assert f"[{key}]" in TEXT


@pytest.mark.parametrize("example", re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL))
def test_every_example_is_valid(example: str) -> None:
    name = "pyproject.toml" if "[tool." in example else "benchgate.toml"
    config = loads(example, name)
    said = (
        config.benchmarks,
        config.rules,
        config.limits,
        config.waivers,
        config.aliases,
        config.accept.label,
    )
    assert any((*said, config.build.commands, config.history.store))


def test_a_row() -> None:
    rows = markdown_table(TABLES["measure",]).splitlines()
    assert rows[0] == "| key | value | meaning |"
    assert any(
        row.startswith('| `budget` | duration, default `"10m"` | Time limit') for row in rows
    )
    executions = "| `executions` | integer, 1 to 10000, default `6` |"
    assert any(row.startswith(executions) for row in rows)


def test_what_stands_between_the_marks_is_replaced() -> None:
    text = "before\n<!-- table: limit -->\nold\n<!-- end -->\nafter\n"
    table = markdown_table(TABLES["limit",])
    assert updated(text) == f"before\n<!-- table: limit -->\n{table}<!-- end -->\nafter\n"


def test_keys_that_another_table_has_in_the_same_words_are_only_named() -> None:
    table = updated("<!-- table: benchmark scenario -->\n<!-- end -->")
    assert "\nAs for [a command](#a-command): `tags`, `data`, `pythonpath`.\n" in table
    assert "| `allow_foreign` |" in table  # it means something else there
    assert "| `tags` |" not in table


def test_a_mark_that_names_no_table() -> None:
    with pytest.raises(KeyError):
        updated("<!-- table: xyzzy -->\n<!-- end -->")


def test_the_command_that_brings_a_document_up_to_date(tmp_path: Path) -> None:
    stale = tmp_path / "configuration.md"
    stale.write_text(re.sub(r"\| `alpha`.*\n", "", TEXT), encoding="utf-8")
    command = [sys.executable, "-m", "benchgate.config.key_reference", str(stale)]
    subprocess.run(command, check=True, timeout=60)
    assert stale.read_text(encoding="utf-8") == TEXT
