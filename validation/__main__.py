"""Writes docs/validation.md, or checks that it still says what the statistics do."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from validation.compare import differences
from validation.page import make
from validation.section import BrokenError

PAGE = Path(__file__).parents[1] / "docs" / "validation.md"


def main() -> str | None:
    """Do what the command line asks; return what is wrong, or None."""
    parser = argparse.ArgumentParser("python -m validation", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="compare with the page, and write nothing"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    try:
        made = make(options.processes)
    except BrokenError as error:
        return f"The statistics do not keep what docs/validation.md promises:\n{error}"
    if not options.check:
        PAGE.write_text(made, encoding="utf-8")
        return None
    kept = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if found := differences(kept, made):
        return "\n".join(
            [
                "docs/validation.md (-) is not what the statistics give (+):",
                *found,
                "If the change is wanted, run: python -m validation",
            ]
        )
    return None


if __name__ == "__main__":
    sys.exit(main())
