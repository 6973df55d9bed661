"""`benchgate validate`."""

from __future__ import annotations

from pathlib import Path

import click

from benchgate.app.validate import validate
from benchgate.cli import options as o
from benchgate.cli.world import configuration, repository_or_none

PROBLEM_EXIT_CODE = 2


@click.command("validate")
@o.options(o.CONFIG)
def command(config_file: Path | None) -> int:
    """Check the configuration and the benchmark files without running them.

    \b
    Example:
      benchgate validate

    Exit code 0: all is well, 2: something is wrong; each problem is listed with its place.
    """
    cwd = Path.cwd()
    git = repository_or_none(cwd)
    config = configuration(cwd, git.root if git else None, config_file)
    found = validate(config, git.root if git else cwd)
    click.echo(f"{config.source or 'no configuration file, using the defaults'}: valid")
    for file, functions in found.functions.items():
        more = ("more once it is imported (see benchgate list)",) if file in found.unlisted else ()
        click.echo(f"{file}: {', '.join((*functions, *more)) or 'nothing'}")
    for name in found.commands:
        click.echo(f"command: {name}")
    for problem in found.problems:
        click.echo(f"{click.style('error:', fg='red', bold=True)} {problem}", err=True)
    return PROBLEM_EXIT_CODE if found.problems else 0
