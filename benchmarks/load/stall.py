"""Draws docs/scenarios-stall.svg: what closed and open loops say of a server that stalls.

Run it with `python -m benchmarks.load.stall`. A server answers in about 1 ms, and stalls once for
one second. benchgate loads it in a closed loop and in an open loop, and the figure shows p99 of
each second.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FIGURE = Path(__file__).parents[2] / "docs" / "scenarios-stall.svg"
DURATION_S = 10
RATE = 200
STALL_FROM_S, STALL_S = 5.5, 1.0
SCENARIO = """\
name = "stall"
[[target]]
driver = "http"
url = "http://127.0.0.1:{port}"
[load]
{load}
duration = "{duration_s}s"
warmup = "500ms"
[[step]]
name = "get"
"""
LOADS = {
    "closed loop, 1 worker": "concurrency = 1",
    f"open loop, {RATE} per second": f"concurrency = 1\nrate = {RATE}",
}

_WIDTH, _HEIGHT = 760, 320
_LEFT, _TOP, _RIGHT, _BOTTOM = 70, 20, 210, 50
_LOW_MS, _HIGH_MS = 1.0, 1000.0
# Okabe and Ito's colors, which color-blind people can distinguish.
_COLORS = ("#D55E00", "#0072B2")


class Handler(BaseHTTPRequestHandler):
    """Answers after a millisecond; once, nothing is answered for a second."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    first_s: ClassVar[float | None] = None

    def do_GET(self) -> None:
        """Answer a request."""
        if Handler.first_s is None:
            Handler.first_s = time.monotonic()
        since_s = time.monotonic() - Handler.first_s
        if STALL_FROM_S <= since_s < STALL_FROM_S + STALL_S:
            time.sleep(STALL_FROM_S + STALL_S - since_s)
        time.sleep(0.001)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Write no line for each request."""


@dataclass(frozen=True, slots=True)
class Course:
    """What one loop says: p99 of each second in ms, and of the whole time."""

    name: str
    p99_ms: Sequence[float | None]
    whole: str


def measured(name: str, load: str, folder: Path) -> Course:
    """Load a server that stalls once."""
    Handler.first_s = None
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        text = SCENARIO.format(port=server.server_port, load=load, duration_s=DURATION_S)
        (folder / "stall.toml").write_text(text)
        (folder / "benchgate.toml").write_text(
            '[[benchmark]]\nscenario = "stall.toml"\nallow_foreign = true\n'
        )
        command = (sys.executable, "-m", "benchgate", "run", "-q", "--rounds", "1")
        subprocess.run(
            [*command, "--output", folder / "result.json"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        server.shutdown()
    result = json.loads((folder / "result.json").read_text())
    (one,) = [each for each in result["head"]["benchmarks"] if each["load"]]
    values = {s["metric"]["name"]: s["launches"][0]["samples"][0] for s in one["series"]}
    whole = ", ".join(f"{key} {values[f'time_{key}'] * 1e3:.0f} ms" for key in ("p95", "p99"))
    windows: dict[str, Any] = one["load"]["launches"][0]["windows"]
    p99_ms = [None if ns is None else ns / 1e6 for ns in windows["p99_ns"]]
    return Course(name, p99_ms[:DURATION_S], whole)


def draw(courses: Sequence[Course]) -> str:
    """Draw the courses, with a list of their names beside them."""
    title = "p99 of each second while a server stalls for one second"
    begin = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="{title}">'
    )
    parts = [begin, f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>', *_axes()]
    for number, (course, color) in enumerate(zip(courses, _COLORS, strict=True)):
        x, y = _WIDTH - _RIGHT + 20, _TOP + 20 + 44 * number
        parts += [
            *_line(course, color),
            f'<text x="{x}" y="{y}" fill="{color}" font-weight="bold">{course.name}</text>',
            f'<text x="{x}" y="{y + 17}" fill="{color}">{course.whole}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _x(second: float) -> float:
    return _LEFT + second / DURATION_S * (_WIDTH - _LEFT - _RIGHT)


def _y(value_ms: float) -> float:
    share = math.log(value_ms / _LOW_MS) / math.log(_HIGH_MS / _LOW_MS)
    return _HEIGHT - _BOTTOM - min(max(share, 0.0), 1.0) * (_HEIGHT - _TOP - _BOTTOM)


def _axes() -> Iterator[str]:
    for second in range(0, DURATION_S + 1, 2):
        under = _HEIGHT - _BOTTOM + 18
        yield f'<text x="{_x(second):.1f}" y="{under}" text-anchor="middle">{second}</text>'
    for value_ms in (1.0, 10.0, 100.0, 1000.0):
        y = _y(value_ms)
        yield f'<path d="M{_x(0):.1f} {y:.1f}H{_x(DURATION_S):.1f}" stroke="#ddd" fill="none"/>'
        text = f"{value_ms:g} ms" if value_ms < _HIGH_MS else "1 s"
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
    middle = (_x(0) + _x(DURATION_S)) / 2
    bottom = _HEIGHT - 12
    yield f'<text x="{middle:.1f}" y="{bottom}" text-anchor="middle">seconds of a launch</text>'
    turned = f"translate(10 {(_TOP + _HEIGHT - _BOTTOM) / 2:.1f}) rotate(-90)"
    yield f'<text transform="{turned}" text-anchor="middle">p99 of each second</text>'


def _line(course: Course, color: str) -> Iterator[str]:
    """A line through the middle of each second; a second without an operation breaks it."""
    path, pen = "", "M"
    for second, value_ms in enumerate(course.p99_ms):
        if value_ms is None:
            pen = "M"
            continue
        x, y = _x(second + 0.5), _y(value_ms)
        path += f"{pen}{x:.1f} {y:.1f}"
        pen = "L"
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>'
    yield f'<path d="{path}" stroke="{color}" stroke-width="2" fill="none"/>'


def main() -> None:
    """Measure both loops, and draw."""
    with tempfile.TemporaryDirectory() as name:
        courses = [measured(each, load, Path(name)) for each, load in LOADS.items()]
    for course in courses:
        shown = " ".join("-" if ms is None else f"{ms:.1f}" for ms in course.p99_ms)
        print(f"{course.name}: {course.whole}; p99 of each second in ms: {shown}")
    FIGURE.write_text(draw(courses), encoding="utf-8")


if __name__ == "__main__":
    main()
