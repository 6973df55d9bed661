"""The one place where errors become messages and exit codes."""

from __future__ import annotations

import errno
import os
import re
import sys
from contextlib import suppress

import click

from benchgate.cli.interruptible import interruptible
from benchgate.cli.say import say
from benchgate.errors import BenchgateError, Interrupted, UsageError

BUG_EXIT_CODE = 1
BROKEN_PIPE_EXIT_CODE = 141  # of a program that SIGPIPE ended, such as in `git log | head`
# `::name::` at the start of a line, `##[name]` anywhere in one.
_COMMAND = re.compile(r"(^\s*:|##)(?=[:\[])", re.MULTILINE)
_FULL = {errno.ENOSPC, errno.EDQUOT}


def guarded(command: click.Command) -> None:
    """Run a command and end the process with its exit code."""
    _open_standard_streams()
    try:
        with interruptible():
            code = _run(command)
    except KeyboardInterrupt:  # right before or after it
        code = Interrupted.exit_code
    sys.exit(code)


def _open_standard_streams() -> None:
    """Replace closed ones by the null device, as git does.

    Otherwise, the next file that is opened takes the place of a closed one, and what programs print
    goes into that file.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest free number, which is this one
            mode = "w" if number else "r"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: PTH123, SIM115 - by its number, and for good


def _run(command: click.Command) -> int:
    try:
        code = command.main(standalone_mode=False)
    except BenchgateError as error:
        code = _say(error)
    except (click.exceptions.Abort, KeyboardInterrupt):
        with suppress(OSError):  # the terminal may be closed
            say("interrupted", err=True)
        code = Interrupted.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except SystemExit as ended:
        # click and rich end like this when the reader of our output closes it. The exit code stays
        # nonzero, because the verdict may not have been read. Shell completion ends with 0.
        code = BROKEN_PIPE_EXIT_CODE if ended.code else 0
    except OSError as error:
        code = _say(_full_disk(error)) if error.errno in _FULL else _report_bug()
    except Exception:  # noqa: BLE001 - what gets here is a bug, and is reported as one
        code = _report_bug()
    return code if isinstance(code, int) else 0


def _say(error: BenchgateError) -> int:
    """Print an error; return its exit code."""
    message, details, hint = map(_not_obeyed, (error.message, error.details, error.hint))
    say(f"{click.style('error:', fg='red', bold=True)} {message}", err=True)
    if details:
        for line in details.rstrip().splitlines():
            say(f"  | {line}", err=True)
    if hint:
        say(f"{click.style('hint:', bold=True)} {hint}", err=True)
    return error.exit_code


def _not_obeyed(text: str) -> str:
    """Break the workflow commands in a text: GitHub's runner must not obey what a build prints."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return text
    return _COMMAND.sub(r"\1 ", text)


def _full_disk(error: OSError) -> UsageError:
    where = error.filename or "the output"
    return UsageError(
        f"cannot write {where}: {error.strerror}", hint="Free some disk space, and try again."
    )


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
