"""`benchgate doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from benchgate.app.check import CheckRequest, check
from benchgate.app.choice import Choice
from benchgate.app.doctor import Diagnosis, diagnose
from benchgate.cli import options as o
from benchgate.cli.outputs import Outputs
from benchgate.cli.world import configuration, real_effects, repository, repository_or_none
from benchgate.units import format_value

if TYPE_CHECKING:
    from pathlib import Path


@click.command("doctor")
@click.option(
    "--self-check",
    is_flag=True,
    help="Also check the project against itself: every difference is noise.",
)
@o.options(o.CHOICE, o.CONFIG, o.QUIET)
def command(
    self_check: bool,
    globs: tuple[str, ...],
    tags: tuple[str, ...],
    config_file: Path | None,
    quiet: bool,
) -> int:
    """Look at this machine: timer, pinning, noise.

    A fixed workload is measured on two equal arms for a few seconds; what is found tells how
    small a change can be seen here. With --self-check the same is done with the benchmarks of
    the repository, by the procedure of `benchgate check`.

    \b
    Example:
      benchgate doctor --self-check

    Exit code 0, or that of the self-check: 3 would be a false alarm.
    """
    effects = real_effects(quiet=quiet)
    git = repository_or_none(effects.cwd)
    config = configuration(effects.cwd, git.root if git else None, config_file)
    _print(diagnose(config, effects))
    if not self_check:
        return 0
    git = repository(effects.cwd)
    request = CheckRequest(Choice(globs, tags), self_check=True)
    try:
        verdict, _ = check(request, config, git, effects)
    finally:
        effects.progress.close()
    click.echo("\nself-check: the working tree against itself")
    Outputs(None, None, verbose=True).write(verdict, effects.environ)
    return verdict.exit_code


def _print(diagnosis: Diagnosis) -> None:
    about, noise, timer = diagnosis.environment, diagnosis.noise, diagnosis.timer
    memory = format_value(about.memory_bytes, "B") if about.memory_bytes else "unknown"
    facts = {
        "OS": f"{about.os}, {about.kernel}",
        "CPU": f"{about.cpu_model or about.machine}, {about.cpu_count} usable",
        "memory": memory,
        "inside": about.virtualisation or "nothing that was seen",
        "governor": f"{about.governor or 'unknown'}, turbo {_known(about.turbo)}",
        "load": f"{about.load_average:.2f}" if about.load_average is not None else "unknown",
        "timer": f"costs {timer.cost_ns:.0f} ns, {_resolution(timer.resolution_ns)}",
        "pinning": diagnosis.pinning,
        "counters": diagnosis.counters,
        "noise": f"{noise.pair_spread:.2%} between arms in a round, {noise.launch_spread:.2%} "
        f"between launches ({noise.rounds} rounds of equal work)",
        "can see": f"changes from {noise.detectable - 1:.1%} up, in {noise.rounds} rounds",
    }
    for name, fact in facts.items():
        click.echo(f"{name:10}{fact}")
    for advice in diagnosis.advice:
        click.echo(f"{click.style('advice', bold=True):10}    {advice}")


def _resolution(resolution_ns: float | None) -> str:
    return "resolution unknown" if resolution_ns is None else f"resolves {resolution_ns:.0f} ns"


def _known(value: bool | None) -> str:
    return "unknown" if value is None else "on" if value else "off"
