"""The command line. It imports a command's module only when the command is called."""

from __future__ import annotations

import gc
import importlib
import sys

import click

from benchgate import __version__
from benchgate.cli.boundary import guarded

_SECTIONS = {
    "Everyday commands": {
        "check": "Measure base and head in turn, decide, and report.",
        "affected": "Say which benchmarks run or read anything that changed.",
        "explain": "Say which functions a change comes from.",
        "bisect": "Find the commit that made a benchmark slower or faster.",
        "show": "Show the statistics of a result file.",
        "list": "List the benchmarks that would be measured.",
        "init": (
            "Write a benchgate.toml for this project, and GitHub workflows if you ask for them."
        ),
        "doctor": "Check this machine: timer, pinning, lanes, noise.",
    },
    "Results": {
        "run": "Measure one tree and write a result file.",
        "compare": "Compare result files and decide.",
        "import": "Make a result file of what another benchmark tool wrote.",
        "merge": "Join the results of a suite's shards.",
        "report": "Write a report as a page of HTML.",
        "history": "Show each benchmark over many runs, and when it got slower or faster.",
        "site": "Write a site with the latest verdicts, the history and a badge.",
        "export": "Write what was measured as files for other programs.",
    },
    "In CI": {
        "ci": "Check what changed, in a GitHub Actions job; write a comment and a summary.",
        "publish": "Comment on a pull request.",
    },
    "Reference": {
        "validate": "Check the configuration and the benchmark files without running them.",
        "schema": "Print the JSON schema of a file that benchgate reads or writes.",
        "conformance": "Test whether a program speaks the worker protocol.",
        "cache": "Show or remove the builds that are kept for the next check.",
    },
}
COMMANDS = {name: what for section in _SECTIONS.values() for name, what in section.items()}
_PLACES = {
    "import": ("import_", "import_command"),
    "export": ("export", "export_command"),
    "merge": ("merge", "merge_command"),
    **{name: ("validate", f"{name}_command") for name in ("validate", "schema")},
    "run": ("tree", "run_command"),
    "list": ("tree", "list_command"),
    "publish": ("ci", "publish_command"),
}
"""Where a command is, if not in the module of its name under the name `command`."""

_SAY_NOTHING = frozenset({"-q", "--quiet", "-h", "--help"})
_TRUSTED = frozenset({"publish"})
"""Commands that have rights which nothing that an earlier job left behind may use."""


class LazyGroup(click.Group):
    """Knows every command by name, and imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names, in the order of the sections."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module."""
        if cmd_name not in COMMANDS:
            return None
        module, name = _PLACES.get(cmd_name, (cmd_name, "command"))
        command: click.Command = getattr(importlib.import_module(f"benchgate.cli.{module}"), name)
        if not gc.isenabled():  # see `__main__`
            gc.freeze()
            gc.enable()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        # The columns of all sections begin at the same place.
        width = max(map(len, COMMANDS))
        for title, commands in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), what) for name, what in commands.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the command that was probably meant if the given one is unknown."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            import difflib  # noqa: PLC0415 - only after a typo

            close = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"No such command {name!r}.{hint}")
        if name == "check" and sys.stderr.isatty() and not (_SAY_NOTHING & {*args}):
            # The next output overwrites it; right after a reboot, imports take seconds.
            click.echo("starting\r", nl=False, err=True)
        return super().resolve_command(ctx, args)


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="benchgate")
@click.pass_context
def cli(context: click.Context) -> None:
    """Tell whether a change made your software slower, at a false-alarm rate you choose.

    \b
    Example:
      benchgate check                 the working tree against its merge base
      benchgate check --against v1.2  against a release
    """
    if context.invoked_subcommand not in _TRUSTED:
        from benchgate.measure.session_folder import remove_abandoned, session_folders  # noqa: PLC0415 - not for --help

        remove_abandoned(session_folders())


def main() -> None:
    """Run the command line; docs/exit-codes.md describes the exit codes."""
    guarded(cli)
