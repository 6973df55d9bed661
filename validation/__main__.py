"""Writes docs/validation.md and its tables, or checks that they say what the statistics do."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from validation.compare import differences
from validation.page import make
from validation.section import BrokenError

DOCS = Path(__file__).parents[1] / "docs"
PAGES = (DOCS / "validation.md", DOCS / "validation-tables.md")


def main() -> str | None:
    """Do what the command line asks; return what is wrong, or None."""
    parser = argparse.ArgumentParser("python -m validation", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="compare with the pages, and write nothing"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    try:
        made = make(options.processes)
    except BrokenError as error:
        return f"The statistics do not keep what docs/validation.md promises:\n{error}"
    if not options.check:
        for path, text in zip(PAGES, made, strict=True):
            path.write_text(text, encoding="utf-8")
        return None
    found = []
    for path, text in zip(PAGES, made, strict=True):
        kept = path.read_text(encoding="utf-8") if path.exists() else ""
        if changed := differences(kept, text):
            found += [f"docs/{path.name} (-) is not what the statistics give (+):", *changed]
    if found:
        return "\n".join([*found, "If the change is wanted, run: python -m validation"])
    return None


if __name__ == "__main__":
    sys.exit(main())
