"""Where benchgate keeps what is the user's: never relative to the checkout."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchgate.user_folders import cache_folder, state_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN = Path(pwd.getpwuid(os.geteuid()).pw_dir)


@pytest.mark.parametrize(
    ("environ", "state", "cache"),
    [
        ({"HOME": "/me"}, "/me/.local/state/benchgate", "/me/.cache/benchgate"),
        (
            {"HOME": "/me", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/c"},
            "/s/benchgate",
            "/c/benchgate",
        ),
        (
            {"HOME": "/me", "XDG_STATE_HOME": "s", "XDG_CACHE_HOME": "./c"},
            "/me/.local/state/benchgate",
            "/me/.cache/benchgate",
        ),
        ({"HOME": ""}, OWN / ".local/state/benchgate", OWN / ".cache/benchgate"),
        ({"HOME": "me"}, OWN / ".local/state/benchgate", OWN / ".cache/benchgate"),
        ({}, OWN / ".local/state/benchgate", OWN / ".cache/benchgate"),
    ],
)
def test_folders(environ: Mapping[str, str], state: str | Path, cache: str | Path) -> None:
    assert state_folder(environ) == Path(state)
    assert cache_folder(environ) == Path(cache)
