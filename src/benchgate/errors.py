"""All errors that benchgate raises on purpose, each with its exit code and a remedy.

    BenchgateError              1  never raised itself; anything else that escapes is a bug
    ├── UsageError              2  the command line is wrong, or was called in the wrong place
    │   ├── NotARepositoryError 2  a command that needs a git repository was called outside of one
    │   ├── NoBenchmarksError   2  there is nothing to measure
    │   ├── ConfigError         2  benchgate.toml or [tool.benchgate] is not valid
    │   └── FormatError         2  a result or verdict file that cannot be trusted
    ├── MeasureError            5  a benchmark, or the head's build, failed
    ├── BaselineError           6  there is nothing to compare with
    ├── GitHubError             7  GitHub could not be reached, or refused the request
    └── Interrupted           130  Ctrl-C, SIGTERM, SIGHUP; what was measured is saved

A message says what happened and where; the hint says what to do about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_Shown = TypeVar("_Shown")
_Instead = TypeVar("_Instead")

MORE_PROCESSES: Final = "End other programs, or raise the limit (`ulimit -u`), and try again."
"""The hint if the system refuses another process or thread."""


class BenchgateError(Exception):
    """Root of the tree.

    Args:
        message: what happened, and where: file, key, line.
        hint: what to do about it, a sentence or a command; empty if the message says it.
        details: output of the program that failed, shown as it is below the message.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "", details: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details


class UsageError(BenchgateError):
    """The command line asks for something that cannot be done here."""

    exit_code = 2


class NotARepositoryError(UsageError):
    """The folder is in no git repository."""


class NoBenchmarksError(UsageError):
    """There is nothing to measure."""


class ConfigError(UsageError):
    """The configuration is not valid."""


class FormatError(UsageError):
    """A file that is read as a result or verdict is damaged, or of another kind."""


class MeasureError(BenchgateError):
    """A benchmark, or the build of the head, failed to run."""

    exit_code = 5


class BaselineError(BenchgateError):
    """The requested baseline does not exist or cannot be built."""

    exit_code = 6


class GitHubError(BenchgateError):
    """GitHub could not be reached or refused.

    Args:
        status: HTTP status of GitHub's answer; None if there was no answer.
    """

    exit_code = 7

    def __init__(
        self, message: str, *, hint: str = "", details: str = "", status: int | None = None
    ) -> None:
        super().__init__(message, hint=hint, details=details)
        self.status = status


class Interrupted(BenchgateError):  # noqa: N818 - it is an event, as KeyboardInterrupt is
    """The user or the CI system asked to stop."""

    exit_code = 130


def without_it(
    what: str, make: Callable[[], _Shown], instead: _Instead, warn: Callable[[str], None]
) -> _Shown | _Instead:
    """Make what only shows a verdict; if that fails, warn, and go on without it.

    Args:
        what: the name of it in the warning: "flame graph".
        instead: stands for it if it fails.
    """
    try:
        return make()
    except BenchgateError as error:
        warn(f"no {what}: {error.message}. {error.hint}".rstrip(". ") + ".")
    except Exception as error:  # noqa: BLE001 - a bug in it must not cost the verdict
        import traceback  # noqa: PLC0415 - only when something went wrong

        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{place.filename.rpartition('/')[2]}:{place.lineno}"
        warn(
            f"no {what}: benchgate itself failed there, and the verdict is not affected. "
            f"Please report this bug: {type(error).__name__} in {where}: {str(error)[:200]}"
        )
    return instead


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """A sentence ending such as `; did you mean 'margin'?`; empty if no candidate is close.

    A benchmark may be named by the end of its id.
    """
    import difflib  # noqa: PLC0415 - for a message alone

    known = list(candidates)
    ends = [one for one in known if one.endswith(f"/{word}")]
    close = ends or difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
