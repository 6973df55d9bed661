from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.cli.world import real_effects, working_directory

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("named", "known_as"),
    [("link", "link"), ("real", "real"), ("other", "real"), ("link/../real", "real")],
)
def test_a_folder_is_known_by_the_name_that_the_shell_has_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, known_as: str
) -> None:
    root = tmp_path.resolve()
    for folder in ("real", "other"):
        (root / folder).mkdir()
    (root / "link").symlink_to("real")
    monkeypatch.chdir(root / "real")
    monkeypatch.setenv("PWD", str(root / named))
    assert working_directory() == root / known_as
    assert real_effects(cwd=working_directory()).cwd == root / known_as
    for nothing in ("", "real"):
        monkeypatch.setenv("PWD", nothing)
        assert working_directory() == root / "real"
