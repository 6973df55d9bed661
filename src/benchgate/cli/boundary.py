"""The one place where errors become messages and exit codes."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import click

from benchgate.errors import BenchgateError, Interrupted

if TYPE_CHECKING:
    from types import FrameType

BUG_EXIT_CODE = 1
_INTERRUPTED_EXIT_CODE = Interrupted.exit_code


def guarded(command: click.Command) -> None:
    """Run a command and end the process with its exit code.

    SIGTERM, by which a CI system cancels a job, is treated as Ctrl-C.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        code = command.main(standalone_mode=False)
    except BenchgateError as error:
        _say(error)
        code = error.exit_code
    except click.exceptions.Abort:
        code = _INTERRUPTED_EXIT_CODE
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        code = _INTERRUPTED_EXIT_CODE
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except BrokenPipeError:
        # Whoever read our output has seen enough, as `head` does.
        sys.stderr.close()
        code = 0
    except Exception:  # noqa: BLE001 - what escapes is a bug, and is reported as one
        _report_bug()
        code = BUG_EXIT_CODE
    sys.exit(code if isinstance(code, int) else 0)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _say(error: BenchgateError) -> None:
    click.echo(f"{click.style('error:', fg='red', bold=True)} {error.message}", err=True)
    if error.details:
        for line in error.details.rstrip().splitlines():
            click.echo(f"  | {line}", err=True)
    if error.hint:
        click.echo(f"{click.style('hint:', bold=True)} {error.hint}", err=True)


def _report_bug() -> None:
    """Print what a bug report needs, ready to paste."""
    import platform  # noqa: PLC0415 - only when something went wrong
    import traceback  # noqa: PLC0415

    from benchgate import __version__  # noqa: PLC0415

    click.echo("error: benchgate itself failed; this is a bug. Please report it with:", err=True)
    click.echo(
        f"\nbenchgate {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"arguments: {sys.argv[1:]}\n{traceback.format_exc()}",
        err=True,
    )
