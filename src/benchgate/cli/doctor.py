"""`benchgate doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from benchgate.app.choice import Choice
from benchgate.app.doctor import Diagnosis, diagnose
from benchgate.app.self_check import DEFAULT_ROUNDS, LEAST_ROUNDS, self_check
from benchgate.cli import options as o
from benchgate.cli.outputs import Outputs
from benchgate.cli.world import (
    configuration,
    console,
    real_effects,
    repository,
    repository_or_none,
)
from benchgate.errors import UsageError
from benchgate.model.verdict import Decision
from benchgate.report.self_check import render_self_check
from benchgate.units import format_value

if TYPE_CHECKING:
    from pathlib import Path


@click.command("doctor")
@click.option(
    "--self-check",
    "wanted",
    is_flag=True,
    help="Also measure your benchmarks against themselves: every difference is noise.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=LEAST_ROUNDS),
    metavar="N",
    help=f"Rounds of the self-check, by default {DEFAULT_ROUNDS}.",
)
@o.options(o.CHOICE, o.CONFIG, o.QUIET)
def command(
    wanted: bool,
    rounds: int | None,
    globs: tuple[str, ...],
    tags: tuple[str, ...],
    config_file: Path | None,
    quiet: bool,
) -> int:
    """Check this machine: timer, pinning, noise.

    benchgate measures a fixed workload against itself for a few seconds, and reports how small
    a change it can detect here. With --self-check it does the same with the benchmarks of the
    repository, and reports how noisy each one is, which change it would show, how many rounds
    its margin needs, how often builds simulated from these rounds fail, and what would help.
    The self-check takes about as long as three checks, and no longer than the budget.

    \b
    Example:
      benchgate doctor --self-check

    Exit code 0, or that of the self-check: 3 is a false alarm.
    """
    if rounds is not None and not wanted:
        raise UsageError("--rounds works only with --self-check", hint="Add --self-check.")
    effects = real_effects(quiet=quiet)
    git = repository_or_none(effects.cwd)
    config = configuration(effects.cwd, git.root if git else None, config_file)
    _print(diagnose(config, effects))
    if not wanted:
        return 0
    rounds = rounds or DEFAULT_ROUNDS
    effects.progress.message(f"self-check: {rounds} rounds of the working tree against itself")
    try:
        check = self_check(Choice(globs, tags), rounds, config, repository(effects.cwd), effects)
    finally:
        effects.progress.close()
    click.echo()
    render_self_check(check, console())
    if check.verdict.decision is not Decision.PASS:
        click.echo()
        Outputs(None, None).write(check.verdict, effects.environ)
    return check.verdict.exit_code


def _print(diagnosis: Diagnosis) -> None:
    about, noise, timer = diagnosis.environment, diagnosis.noise, diagnosis.timer
    memory = format_value(about.memory_bytes, "B") if about.memory_bytes else "unknown"
    facts = {
        "OS": f"{about.os}, {about.kernel}",
        "CPU": f"{about.cpu_model or about.machine}, {about.cpu_count} usable",
        "memory": memory,
        "inside": about.virtualisation or "no virtual machine or container was found",
        "governor": f"{about.governor or 'unknown'}, turbo {_known(about.turbo)}",
        "load": f"{about.load_average:.2f}" if about.load_average is not None else "unknown",
        "timer": f"costs {timer.cost_ns:.0f} ns, {_resolution(timer.resolution_ns)}",
        "pinning": diagnosis.pinning,
        "addresses": diagnosis.addresses,
        "counters": diagnosis.counters,
        "noise": f"{noise.pair_spread:.2%} between both sides in a round, "
        f"{noise.launch_spread:.2%} between launches ({noise.rounds} rounds of equal work)",
        "can see": f"changes of {noise.detectable - 1:.1%} or more, in {noise.rounds} rounds",
    }
    for name, fact in facts.items():
        click.echo(f"{name:10}{fact}")
    for advice in diagnosis.advice:
        click.echo(f"{click.style('advice', bold=True):10}    {advice}")


def _resolution(resolution_ns: float | None) -> str:
    return "resolution unknown" if resolution_ns is None else f"resolves {resolution_ns:.0f} ns"


def _known(value: bool | None) -> str:
    return "unknown" if value is None else "on" if value else "off"
