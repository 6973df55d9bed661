"""A page in the browser that may not ask any network, and must not complain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urldefrag

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, Route

WIDE: Final = 1280
PHONE: Final = 375
# Runs in the page before its own scripts do. Whatever text of a name were run would call alert.
_WATCH: Final = """
    window.executed = [];
    window.alert = (text) => { window.executed.push(String(text)); };
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
"""


@dataclass
class Visit:
    """An open page.

    Attributes:
        faults: what a page of benchgate must not do: requests, errors, messages in the console.
    """

    page: Page
    faults: list[str] = field(default_factory=list)

    def overflow_px(self) -> int:
        """By how much the page is wider than the window."""
        width: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return width

    def open_benchmark(self, index: int = 0) -> Locator:
        """Open a benchmark and only this one; its figures are drawn."""
        self.page.evaluate(
            "(index) => document.querySelectorAll('.bench')"
            ".forEach((one, i) => { one.open = i === index; })",
            index,
        )
        opened = self.page.locator(".bench[open]")
        for figure in opened.locator("[data-chart]:not(details:not([open]) *)").all():
            figure.locator("svg.chart").wait_for(state="attached")
        return opened

    def executed(self) -> list[str]:
        """What text of the page did as a script."""
        found: list[str] = self.page.evaluate("window.executed")
        return found

    def close(self) -> None:
        """Close it, and check that it was quiet."""
        faults = [*self.faults, *(f"executed: {one}" for one in self.executed())]
        self.page.context.close()
        if faults:
            pytest.fail("\n".join(faults))


def open_file(browser: Browser, path: Path, *, width: int = WIDE, **context: Any) -> Visit:  # noqa: ANN401 - any option of a context
    """Open a file.

    Args:
        width: of the window, in pixels.
        context: options of a context of Playwright, such as `color_scheme`.
    """
    address = path.as_uri()
    opened = browser.new_context(
        offline=True,
        viewport={"width": width, "height": 900},
        **{"reduced_motion": "reduce", **context},
    )
    opened.add_init_script(_WATCH)
    visit = Visit(opened.new_page())

    def decide(route: Route, request: Request) -> None:
        if urldefrag(request.url).url == address:
            route.continue_()
        else:
            visit.faults.append(f"request: {request.url[:200]}")
            route.abort()

    def complain(message: ConsoleMessage) -> None:
        visit.faults.append(f"console: {message.type}: {message.text}")

    opened.route("**", decide)
    visit.page.on("console", complain)
    visit.page.on("pageerror", lambda error: visit.faults.append(f"error: {error}"))
    visit.page.goto(address)
    return visit
