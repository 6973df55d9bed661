"""`benchgate init`."""

from __future__ import annotations

from pathlib import Path

import click

from benchgate.cli.proposal import propose_all, write
from benchgate.cli.workflows import DEFAULT_ACTION, FOLDER
from benchgate.cli.world import repository_or_none


@click.command("init")
@click.option(
    "--workflows/--no-workflows",
    default=None,
    help="Whether to write GitHub workflows; by default only if the repository is on GitHub.",
)
@click.option(
    "--action",
    metavar="OWNER/NAME@REF",
    default=DEFAULT_ACTION,
    show_default=True,
    help="The action that the workflows use; a commit after the @ pins it.",
)
@click.option("--dry-run", is_flag=True, help="Print the files instead of writing them.")
def command(workflows: bool | None, action: str, dry_run: bool) -> None:
    """Write a benchgate.toml for this repository, and GitHub workflows.

    The file names the folders that hold bench_*.py files. If there are none, benchgate also
    writes a first benchmark file. One workflow measures pull requests and the default branch,
    another one comments on pull requests. No existing file is changed.

    \b
    Examples:
      benchgate init
      benchgate init --workflows
    """
    cwd = Path.cwd()
    git = repository_or_none(cwd)
    root = git.root if git else cwd
    files = propose_all(root, git, workflows=workflows, action=action)
    if dry_run:
        for file in files:
            click.echo(f"# {file.path}\n{file.text}")
        return
    write(root, files)
    for file in files:
        click.echo(f"wrote {file.path}")
    if any(file.path.startswith(FOLDER) for file in files) and action == DEFAULT_ACTION:
        click.echo(
            f"The workflows use {action}; to pin a commit of it, use --action OWNER/NAME@COMMIT"
        )
    click.echo("Next: `benchgate list`, commit, then `benchgate check` after a change.")
