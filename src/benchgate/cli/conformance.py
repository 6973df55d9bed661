"""`benchgate conformance`: tests an adapter of the worker protocol."""

from __future__ import annotations

import os
from pathlib import Path

import click
from rich.text import Text

from benchgate.cli.boundary import say
from benchgate.cli.validate import PROBLEM_EXIT_CODE
from benchgate.cli.world import console
from benchgate.escape import plain_block
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.processes import Guardian
from benchgate.measure.workers import Conformance
from benchgate.report.terminal import print_text
from benchgate.units import counted


@click.command("conformance", context_settings={"ignore_unknown_options": True})
@click.argument("words", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def command(words: tuple[str, ...]) -> int:
    """Test whether a program speaks the worker protocol.

    Benchmarks with the names `fails`, `prints`, `forks`, `exits` and `hangs` show what the program
    does about such benchmarks; let it have some for this test.

    \b
    Examples:
      benchgate conformance ./my-worker --fast
      benchgate conformance python3 worker.py
    """
    folder = Path.cwd()
    wrong = 0
    with Guardian.start() as guardian:
        arm = Arm(ArmName.HEAD, folder, folder)
        variables = {**os.environ, **guardian.variables}
        for finding in Conformance(arm, words, variables, guardian).run():
            style, mark = ("green", "ok") if finding.was_tried else ("dim", "--")
            if finding.problem:
                wrong += 1
                style, mark = "red", "no"
            detail = f" ({finding.detail})" if finding.detail else ""
            text = Text.assemble((mark, style), f"  it {finding.test}{detail}")
            print_text(console(), text)
            for line in plain_block(finding.problem).splitlines():
                print_text(console(), line, indent=4)
    if wrong:
        say(f"{counted(wrong, 'test')} failed; docs/worker-protocol.md says what a worker does")
        return PROBLEM_EXIT_CODE
    return 0
