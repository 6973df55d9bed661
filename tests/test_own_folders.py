from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from benchgate.files.user_folders import cache_folder, state_folder


@pytest.mark.parametrize(
    ("environ", "state", "cache"),
    [
        (
            {"HOME": "/users/me"},
            "/users/me/.local/state/benchgate",
            "/users/me/.cache/benchgate",
        ),
        (
            {"HOME": "/users/me", "XDG_STATE_HOME": "/state", "XDG_CACHE_HOME": "/fast"},
            "/state/benchgate",
            "/fast/benchgate",
        ),
        (
            {"HOME": "/users/me", "XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "."},
            "/users/me/.local/state/benchgate",
            "/users/me/.cache/benchgate",
        ),
    ],
)
def test_a_variable_or_the_home_folder_says_it(
    environ: dict[str, str], state: str, cache: str
) -> None:
    assert (state_folder(environ), cache_folder(environ)) == (Path(state), Path(cache))


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "here"}])
def test_without_a_home_it_is_that_of_the_user(environ: dict[str, str]) -> None:
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert state_folder(environ) == home / ".local" / "state" / "benchgate"
    assert cache_folder(environ).is_absolute()


def test_a_user_without_an_entry_has_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 987_654)
    assert cache_folder({"HOME": ""}) == Path("/.cache/benchgate")
