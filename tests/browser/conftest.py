"""The browser, and pages that are opened in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import sync_playwright
from scripts.browser import browser_flags, find_browser
from tests.browser.samples import PAGES
from tests.browser.visit import Visit, open_file
from tests.report.conftest import samples

from benchgate.page.report import render_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from playwright.sync_api import Browser

    from benchgate.model.verdict import Verdict

__all__ = ["samples"]

ROOT = Path(__file__).parents[2]
AXE = ROOT / "requirements/browser/node_modules/axe-core/axe.min.js"
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all tests of this folder in one worker, so that one browser serves them."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.xdist_group("browser"))


def _missing(what: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


# While Playwright runs, a worker cannot run another event loop: it ends with this package.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = find_browser()
    if path is None:
        _missing("no Chromium or Chrome was found: `make tools` installs it")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=browser_flags())
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Open a file; at the end of the test, fail if a page did what it must not do."""
    visits: list[Visit] = []

    def open_one(path: Path, **options: Any) -> Visit:  # noqa: ANN401 - of open_file
        visits.append(open_file(browser, path, **options))
        return visits[-1]

    yield open_one
    for one in visits:
        one.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core."""
    if not AXE.exists():
        _missing("axe-core is not installed: `make test-nightly` installs it with npm")
    return AXE.read_text("utf-8")


@pytest.fixture(scope="session")
def page_file(
    tmp_path_factory: pytest.TempPathFactory, samples: Mapping[str, Verdict]
) -> Callable[[str], Path]:
    """Write the page of this name of samples.PAGES, or of a state of a verdict, once."""
    folder = tmp_path_factory.mktemp("pages")

    def write(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            html = PAGES[name]() if name in PAGES else render_report(samples[name], None, str)
            path.write_text(html, encoding="utf-8")
        return path

    return write
