from __future__ import annotations

from pathlib import Path

from benchgate.config.key_reference import markdown_table
from benchgate.load.driver_reference import tables, updated_page

PAGE = Path(__file__).parents[2] / "docs" / "scenario-files.md"


def test_the_page_has_the_tables_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    again = "run: python -m benchgate.load.driver_reference docs/scenario-files.md"
    assert updated_page(text) == text, again


def test_every_table_of_a_target_and_a_step_is_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    alike = {("step", "postgresql"), ("step", "mysql")}  # those of SQLite
    left_out = [
        words
        for words in tables()
        if words not in alike and words[0] not in {"script", "request"}
        if f"<!-- table: {' '.join(words)} -->" not in text
    ]
    assert left_out == []


def test_sql_drivers_have_the_same_steps_and_scripts() -> None:
    found = tables()
    for kind in ("step", "script"):
        alike = {markdown_table(found[kind, name]) for name in ("sqlite", "postgresql", "mysql")}
        assert len(alike) == 1
