"""What the other tests rely on: a visit notices what a page must not do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

from tests.browser.visit import open_file

_POLICY = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\">"


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("<script>throw Error('oops')</script>", "error: oops"),
        ("<script>console.log('hello')</script>", "console: log: hello"),
        ("<img src='http://127.0.0.1:9/x.png'>", "request: http://127.0.0.1:9/x.png"),
        ("<script>fetch('https://example.org/')</script>", "request: https://example.org/"),
        ("<link rel='stylesheet' href='other.css'>", "request: file://"),
        ("<p onclick='1'>x</p><img src='data:,' onerror='alert(1)'>", "executed: 1"),
        (f"{_POLICY}<script>alert(1)</script>", "console: error: "),
    ],
)
def test_a_visit_notices(browser: Browser, tmp_path: Path, body: str, fault: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html><title>x</title>{body}")
    visit = open_file(browser, path)

    visit.page.wait_for_function("document.readyState === 'complete'")
    with pytest.raises(pytest.fail.Exception, match=fault):
        visit.close()


def test_a_quiet_page_passes(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<!doctype html><title>x</title><p>quiet")
    visit = open_file(browser, path)

    assert visit.overflow_px() == 0
    visit.close()
