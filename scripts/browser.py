"""The Chromium of this machine, never one that Playwright downloads."""

from __future__ import annotations

import os
import shutil
from typing import Final

# Google's first: Chromium of Ubuntu is a snap, which sees no files in /tmp.
_NAMES: Final = ("google-chrome", "google-chrome-stable", "chromium", "chromium-browser")


def find_browser() -> str | None:
    """The path of Chromium or Chrome; None if there is neither."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def browser_flags() -> list[str]:
    """What each start of it needs here."""
    # Chromium's sandbox does not work for root.
    return ["--no-sandbox"] if os.geteuid() == 0 else []
