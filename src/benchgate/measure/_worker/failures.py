"""What goes wrong in the user's code, described for benchgate."""

from __future__ import annotations

import os
import sys

from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    import traceback
    from typing import Any

LINE_LIMIT = 500
TRACE_LIMIT = 8192
OWN_FOLDER = os.path.join(os.path.dirname(__file__), "")
IMPORT_SYSTEM = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")


class Fault(Exception):  # noqa: N818 - a fault of the benchmark file, not of this program
    """Something in the benchmark file that the author must change."""


class Skipped(Fault):
    """The author has said that the benchmark does not run here; the message says why."""


def failure(error: BaseException) -> dict[str, Any]:
    """Describe an exception: one line, and the traceback of the user's frames."""
    flush()
    if isinstance(error, Skipped):
        return {"error": str(error), "trace": "", "skipped": True}
    if isinstance(error, Fault):
        return {"error": str(error), "trace": ""}
    with STANDARD_LIBRARY:
        import traceback  # noqa: PLC0415 - takes long, and is seldom needed

        # Notes follow the type and message; the place of a SyntaxError precedes them.
        lines = traceback.format_exception_only(type(error), error)
        line = next(line for line in lines if not line.startswith(" ")).strip()
        described = traceback.TracebackException.from_exception(error)
        cause: traceback.TracebackException | None = described
        while cause is not None:
            cause.stack[:] = [f for f in cause.stack if not is_own(f.filename)]
            cause = cause.__cause__ or cause.__context__
        trace = "".join(described.format())
        # The line is shown above the trace, so it is not repeated below it.
        if len(lines) == 1 and lines[0].strip() == line[:LINE_LIMIT] and trace.endswith(lines[0]):
            trace = trace[: -len(lines[0])]
    return {"error": line[:LINE_LIMIT], "trace": trace[-TRACE_LIMIT:]}


def is_own(file: str) -> bool:
    return file in IMPORT_SYSTEM or file.startswith(OWN_FOLDER)


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - contextlib would be one more import in every launch
            stream.flush()
        except Exception:  # noqa: BLE001, S110 - the user may have closed or replaced it
            pass
