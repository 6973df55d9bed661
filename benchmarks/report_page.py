"""How long the page of a report takes to be written and to be opened in Chromium, and its size.

Each benchmark has 12 launches of 40 samples on both sides, and three metrics. Goals for 1,000
benchmarks: <= 8 MB, opened within 2 s.

    python benchmarks/report_page.py
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import sync_playwright
from scripts.browser import browser_flags, find_browser
from tests.browser.samples import judged, many
from tests.browser.visit import open_file


def main() -> None:
    browser = find_browser()
    if browser is None:
        print("no Chromium or Chrome was found: `make tools` installs it")
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser, args=browser_flags())
        for count in (10, 100, 1000):
            result = many(count)
            started = time.perf_counter()
            path = Path(folder, f"{count}.html")
            path.write_text(judged(result), encoding="utf-8")
            written_s = time.perf_counter() - started
            started = time.perf_counter()
            visit = open_file(launched, path)
            opened_s = time.perf_counter() - started
            visit.close()
            print(
                f"{count:5} benchmarks  written {written_s:6.2f} s  opened {opened_s:5.2f} s"
                f"  {path.stat().st_size / 1e6:5.2f} MB"
            )
        launched.close()


if __name__ == "__main__":
    main()
