from __future__ import annotations

import pytest

from benchgate.tables.document import Document, KeyPath, dotted


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("gate", "margin"), "gate.margin"),
        (("benchmark", 2, "timeout"), "benchmark[2].timeout"),
        (("aliases", "old/id"), 'aliases."old/id"'),
        (("aliases", ""), 'aliases.""'),
        ((), ""),
    ],
)
def test_dotted_keys(path: KeyPath, text: str) -> None:
    assert dotted(path) == text


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("load", "duration"), "a.toml:3: load.duration"),
        (("load", "absent"), "a.toml:2: load.absent"),
        (("absent",), "a.toml: absent"),
        ((), "a.toml"),
    ],
)
def test_a_message_names_the_file_the_line_and_the_key(path: KeyPath, place: str) -> None:
    document = Document("a.toml", {}, {"load": 2, "load.duration": 3})
    assert document.place(path) == place
