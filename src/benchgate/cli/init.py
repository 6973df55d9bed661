"""`benchgate init`."""

from __future__ import annotations

from pathlib import Path

import click

from benchgate.app.init import propose, write
from benchgate.cli.world import repository_or_none


@click.command("init")
@click.option("--dry-run", is_flag=True, help="Print what would be written.")
def command(dry_run: bool) -> None:
    """Write a benchgate.toml for what is found in the repository.

    It names the folders that hold bench_*.py files; where there are none, a first benchmark
    file is written too. Nothing that exists is changed.

    \b
    Example:
      benchgate init
    """
    cwd = Path.cwd()
    git = repository_or_none(cwd)
    root = git.root if git else cwd
    files = propose(root)
    if dry_run:
        for file in files:
            click.echo(f"# {file.path}\n{file.text}")
        return
    write(root, files)
    for file in files:
        click.echo(f"wrote {file.path}")
    click.echo("Next: `benchgate list`, commit, then `benchgate check` after a change.")
