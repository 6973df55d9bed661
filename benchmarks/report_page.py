"""How long the page of a report takes to be written and to be opened in Chromium, and its size.

An empty page is opened in turn with them: it shows what the browser itself takes.

Each benchmark has 12 launches of 40 samples on both sides, and three metrics. Goals for 1,000
benchmarks: <= 8 MB, opened within 2 s.

    python benchmarks/report_page.py
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import sync_playwright
from scripts.browser import browser_flags, find_browser
from tests.browser.samples import judged, many
from tests.browser.visit import open_file

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_TIMES: Final = 5


def main() -> None:
    browser = find_browser()
    if browser is None:
        print("no Chromium or Chrome was found: `make tools` installs it")
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser, args=browser_flags())
        empty = Path(folder, "empty.html")
        empty.write_text("<!doctype html><title>empty</title>", encoding="utf-8")
        for count in (10, 100, 1000):
            result = many(count)
            started = time.perf_counter()
            path = Path(folder, f"{count}.html")
            path.write_text(judged(result), encoding="utf-8")
            written_s = time.perf_counter() - started
            opened = [(opened_s(launched, empty), opened_s(launched, path)) for _ in range(_TIMES)]
            nothing, page = (statistics.median(times) for times in zip(*opened, strict=True))
            visit = open_file(launched, path)
            nodes = visit.page.evaluate("document.getElementsByTagName('*').length")
            visit.close()
            print(
                f"{count:5} benchmarks  written {written_s:6.2f} s  opened {page:5.2f} s"
                f" (empty page {nothing:4.2f} s)  {nodes:6,} elements"
                f"  {path.stat().st_size / 1e6:5.2f} MB"
            )
        launched.close()


def opened_s(browser: Browser, path: Path) -> float:
    """How long a page takes until it is loaded and its first frame is drawn."""
    started = time.perf_counter()
    visit = open_file(browser, path)
    visit.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    took_s = time.perf_counter() - started
    visit.close()
    return took_s


if __name__ == "__main__":
    main()
