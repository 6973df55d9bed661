"""The one place where errors become messages and exit codes, and requests to end are heard."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Abort

from benchgate.errors import MORE_PROCESSES, BenchgateError, Interrupted, UsageError
from benchgate.escape import in_encoding, plain_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


REQUESTS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a CI system that cancels the job, and a terminal that was closed."""

AGAIN_S: Final = 0.5
_ENDING: Final = (KeyboardInterrupt, Interrupted, Abort)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt in the main thread when the process is asked to end.

    If something swallows the exception, such as a finalizer in which Python ignores all exceptions,
    it is raised again soon, and nothing is printed. While the program cleans up, further requests
    are ignored: a CI system sends several signals, and impatient users press Ctrl-C again. They are
    ignored afterwards, too.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if not is_ending(sys.exception()):
            signal.setitimer(signal.ITIMER_REAL, AGAIN_S, AGAIN_S)
            raise KeyboardInterrupt

    heard = [
        number
        for number in REQUESTS
        if signal.getsignal(number) is not signal.SIG_IGN  # nohup and background jobs ignore it
    ]
    report = sys.unraisablehook

    def report_others(swallowed: sys.UnraisableHookArgs) -> None:
        if not isinstance(swallowed.exc_value, KeyboardInterrupt):
            report(swallowed)

    for number in (*heard, signal.SIGALRM):
        signal.signal(number, interrupt)
    sys.unraisablehook = report_others
    try:
        yield
    finally:
        sys.unraisablehook = report
        for number in (*heard, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)


def is_ending(handled: BaseException | None) -> bool:
    """Whether an exception that is being handled is an interruption, or came up after one."""
    while handled is not None:
        if isinstance(handled, _ENDING):
            return True
        handled = handled.__context__
    return False


class Unread:
    """Standard error, or nothing once that cannot be written: progress must not cost a verdict."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of the stream
        """Everything else is as with the stream."""
        return getattr(sys.stderr, name)

    def write(self, text: str) -> int:
        """Write a text if that works; return its length."""
        with suppress(OSError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is buffered if that works."""
        with suppress(OSError):
            sys.stderr.flush()


def say(text: str = "", *, err: bool = False) -> None:
    """Print a line on standard output, or on standard error.

    click would end the program if a stream cannot encode the text, and write UTF-8 to a terminal
    that understands only ASCII. A message that nobody can read any more is left out: a closed
    terminal must not change how a command ends.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    with suppress(OSError) if err else nullcontext():
        click.echo(in_encoding(text, encoding), err=err)


BUG_EXIT_CODE = 1
BROKEN_PIPE_EXIT_CODE = 141  # of a program that SIGPIPE ended, such as in `git log | head`
# `::name::` at the start of a line, `##[name]` anywhere in one.
_COMMAND = re.compile(r"(^\s*:|##)(?=[:\[])", re.MULTILINE)
_FREE_SPACE = "Free some disk space, and try again."
# What Python raises if the system refuses a thread; it gives no number of an error.
_NO_THREAD = "can't start new thread"
_MORE_FILES = "Raise the limit on open files (`ulimit -n`), and try again."
# What the machine refuses; nothing of it is a bug of benchgate.
_HINTS = {
    errno.ENOSPC: _FREE_SPACE,
    errno.EDQUOT: _FREE_SPACE,
    errno.EFBIG: "Raise the limit on the size of files (`ulimit -f`), and try again.",
    errno.EROFS: "Make the file system writable, or let benchgate write elsewhere.",
    errno.EIO: "Look whether the disk works, or whether the terminal was closed.",
    errno.EAGAIN: MORE_PROCESSES,
    errno.ENOMEM: "Free some memory, and try again.",
    errno.EMFILE: _MORE_FILES,
    errno.ENFILE: _MORE_FILES,
}


def guarded(command: click.Command) -> None:
    """Run a command and end the process with its exit code."""
    try:
        with interruptible():
            code = _run(command)
    except KeyboardInterrupt:  # right before or after it
        code = Interrupted.exit_code
    sys.exit(_flushed(code))


def _run(command: click.Command) -> int:
    try:
        code = command.main(standalone_mode=False)
    except BenchgateError as error:
        code = _say(error)
    except (click.exceptions.Abort, KeyboardInterrupt):
        say("interrupted", err=True)
        code = Interrupted.exit_code
    except click.ClickException as error:
        code = _say_of_click(error)
    except SystemExit as ended:
        # click and rich end like this when the reader of our output closes it. The exit code stays
        # nonzero, because the verdict may not have been read. Shell completion ends with 0.
        code = BROKEN_PIPE_EXIT_CODE if ended.code else 0
    except OSError as error:
        if is_ending(error):  # such as that the terminal is closed
            code = Interrupted.exit_code
        else:
            code = _say(_refused(error)) if error.errno in _HINTS else _report_bug()
    except (MemoryError, RuntimeError) as error:
        if is_ending(error):  # in the definition of a class, Python makes this of an interruption
            code = Interrupted.exit_code
        else:
            refused = _refused_to_python(error)
            code = _say(refused) if refused else _report_bug()
    except Exception:  # noqa: BLE001 - what gets here is a bug, and is reported as one
        code = _report_bug()
    return code if isinstance(code, int) else 0


def _refused_to_python(error: MemoryError | RuntimeError) -> UsageError | None:
    """The error if the system refused memory or a thread; None if it is another one."""
    if isinstance(error, MemoryError):
        return UsageError(
            "the operating system refused memory",
            hint="Free some memory, or raise the limit (`ulimit -v`), and try again.",
        )
    if str(error) == _NO_THREAD:
        return UsageError("the operating system refused a thread", hint=MORE_PROCESSES)
    return None


def _say(error: BenchgateError) -> int:
    """Print an error; return its exit code."""
    from benchgate.model.redact import Redactor  # noqa: PLC0415 - only when something went wrong

    redact = Redactor(os.environ)
    said = (
        _not_obeyed(plain_lines(redact(one))) for one in (error.message, error.details, error.hint)
    )
    message, details, hint = said
    say(f"{click.style('error:', fg='red', bold=True)} {message}", err=True)
    if details:
        for line in details.rstrip().splitlines():
            say(f"  | {line}", err=True)
    if hint:
        say(f"{click.style('hint:', bold=True)} {hint}", err=True)
    return error.exit_code


def _say_of_click(error: click.ClickException) -> int:
    """Print what click refuses in the style of our own errors; return its exit code."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        with suppress(OSError):  # as `say` does
            error.show()
        return error.exit_code
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"`{context.command_path} --help` shows how it is called." if context else ""
    text = error.format_message().removesuffix(".").removeprefix("Invalid value for ")
    _say(UsageError(text[:1].lower() + text[1:], hint=hint))
    return error.exit_code


def _not_obeyed(text: str) -> str:
    """Break the workflow commands in a text: GitHub's runner must not obey what a build prints."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return text
    return _COMMAND.sub(r"\1 ", text)


def _refused(error: OSError) -> UsageError:
    return UsageError(
        f"the operating system refused {error.filename or 'what benchgate needs'}: "
        f"{error.strerror}",
        hint=_HINTS[error.errno or 0],
    )


def _flushed(code: int) -> int:
    """Write what is still buffered; return the exit code, which says if that failed.

    What cannot be written is dropped. Otherwise Python would try again, and end with its own code.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if isinstance(error, BrokenPipeError):
                code = code or BROKEN_PIPE_EXIT_CODE
            elif stream is sys.stdout:
                why = error.strerror if isinstance(error, OSError) else str(error)
                say(f"error: cannot write to standard output: {why}", err=True)
                code = code or UsageError.exit_code
    return code


def _report_bug() -> int:
    """Print what a bug report needs, ready to paste."""
    import platform  # noqa: PLC0415 - only when something went wrong
    import traceback  # noqa: PLC0415

    from benchgate import __version__  # noqa: PLC0415

    say("error: benchgate itself failed; this is a bug. Please report it with:", err=True)
    say(
        f"\nbenchgate {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"arguments: {sys.argv[1:]}\n{traceback.format_exc()}",
        err=True,
    )
    return BUG_EXIT_CODE
