"""`benchgate doctor`: what this machine can tell apart, and what would help."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click
import numpy as np

from benchgate.cli import options as o
from benchgate.cli.boundary import say
from benchgate.cli.outputs import Outputs
from benchgate.cli.world import configuration, console, real_effects, repository, repository_or_none
from benchgate.errors import UsageError
from benchgate.measure.machine import (
    SLOWDOWN,
    USER_INSTRUCTIONS,
    CounterError,
    Place,
    choose_place,
    find_valgrind,
    read_environment,
    version_of,
    why_not_counted,
    why_not_fixed,
)
from benchgate.measure.trees import sweep
from benchgate.model.notes import busy_machine
from benchgate.model.verdict import Decision
from benchgate.report.self_check import render_self_check
from benchgate.report.terminal import print_facts
from benchgate.session.choice import Choice
from benchgate.session.self_check import (
    DEFAULT_ROUNDS,
    LEAST_ROUNDS,
    NOISE_ROUNDS,
    measure_noise,
    self_check,
)
from benchgate.stats.timer import Timer, timer
from benchgate.units import format_value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.model.environment import Environment
    from benchgate.session.effects import Effects
    from benchgate.session.self_check import Noise

TIMER_PAIRS = 10_000
_TOO_NOISY_SPREAD = 0.03


def diagnose(config: Config, effects: Effects) -> tuple[dict[str, str], list[str]]:
    """Look at the machine, which takes a few seconds; return facts by their labels, and advice."""
    about, timer = read_environment(effects.environ), read_timer()
    place = choose_place(config, None)
    noise = measure_noise(config, place, effects)
    drawn = why_not_fixed()
    obstacle = why_not_counted(USER_INSTRUCTIONS)
    facts = {
        "OS": f"{about.os}, {about.kernel}",
        "CPU": f"{about.cpu_model or about.machine}, {about.cpu_count} usable",
        "memory": format_value(about.memory_bytes, "B") if about.memory_bytes else "unknown",
        "inside": about.virtualization or "no virtual machine or container was found",
        "governor": f"{about.governor or 'unknown'}, turbo {_known(about.turbo)}",
        "load": f"{about.load_average:.2f}" if about.load_average is not None else "unknown",
        "timer": f"costs {timer.cost_ns:.0f} ns, {_resolution(timer.resolution_ns)}",
        "pinning": f"on CPU {place.cpu}" if place.cpu is not None else place.unpinned,
        "lanes": _lanes(place),
        "addresses": f"not shared: {drawn}" if drawn else "the same on both sides",
        "counters": f"none: {obstacle}" if obstacle else "instructions",
        "valgrind": about_valgrind(effects.environ),
        "noise": f"{noise.pair_spread:.2%} between both sides in a round, "
        f"{noise.launch_spread:.2%} between launches ({NOISE_ROUNDS} rounds of equal work)",
        "can see": f"changes of {noise.detectable - 1:.1%} or more, in {NOISE_ROUNDS} rounds",
    }
    pinned = place.cpu is not None
    return facts, give_advice(about, timer, noise, pinned=pinned)


def _lanes(place: Place) -> str:
    """Say how many lanes a check has here, and why not more."""
    cpus = [str(cpu) for cpu in place.lane_cpus if cpu is not None]
    where = f", on CPUs {' and '.join(cpus)}" if len(cpus) > 1 else ""
    return f"{len(place.lane_cpus)}{where} ({place.unpinned or place.limit})"


def about_valgrind(environ: Mapping[str, str]) -> str:
    """Say whether valgrind can count instructions, and at what cost; or why it cannot."""
    try:
        version = version_of(find_valgrind(environ))
    except CounterError as error:
        return f"cannot count: {error}"
    return f"{version} can count instructions; code runs {SLOWDOWN} under it"


def read_timer() -> Timer:
    """Measure the clock's cost and resolution from back-to-back readings."""
    clock = time.perf_counter_ns
    steps_ns = [-clock() + clock() for _ in range(TIMER_PAIRS)]
    return timer(np.array(steps_ns, dtype=np.float64))


def give_advice(
    environment: Environment,
    timer: Timer,
    noise: Noise,
    *,
    pinned: bool,
) -> list[str]:
    """List what would make measurements on this machine better, one sentence each."""
    advice = []
    if busy := busy_machine(environment):
        advice.append(busy)
    if environment.governor not in {None, "performance"}:
        advice.append(
            f"the CPU governor is {environment.governor!r}: `performance` keeps the clock steady "
            "(sudo cpupower frequency-set -g performance)"
        )
    if environment.turbo:
        advice.append("turbo is on: turn it off, and heat and other cores change the clock less")
    if not pinned:
        advice.append(
            "base and head cannot be pinned to one CPU here, so small changes are harder to "
            "detect; Linux can pin them"
        )
    if timer.cost_ns > 1000:
        advice.append(
            f"reading the clock costs {timer.cost_ns:.0f} ns: the kernel's clock source is slow "
            "(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
        )
    if noise.pair_spread > _TOO_NOISY_SPREAD:
        advice.append(
            f"equal work differs by {noise.pair_spread:.1%} from round to round: raise the margin, "
            "or measure on a quieter machine"
        )
    return advice


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
    """Check this machine: timer, pinning, lanes, noise.

    benchgate measures fixed workloads against themselves for about ten seconds, and reports how
    small a change it can detect here. With --self-check it does the same with the benchmarks of the
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
    for warning in sweep(git) if git else ():
        effects.progress.message(f"warning: {warning}")
    config = configuration(effects.cwd, git, config_file)
    facts, advice = diagnose(config, effects)
    print_facts(console(), [*facts.items(), *(("advice", sentence) for sentence in advice)])
    if not wanted:
        return 0
    rounds = rounds or DEFAULT_ROUNDS
    effects.progress.message(f"self-check: {rounds} rounds of the working tree against itself")
    try:
        check = self_check(Choice(globs, tags), rounds, config, repository(effects.cwd), effects)
    finally:
        effects.progress.close()
    say()
    render_self_check(check, console())
    if check.verdict.decision is not Decision.PASS:
        say()
        Outputs({}).write(check.verdict, effects.environ)
    return check.verdict.exit_code


def _resolution(resolution_ns: float | None) -> str:
    return "resolution unknown" if resolution_ns is None else f"resolves {resolution_ns:.0f} ns"


def _known(value: bool | None) -> str:
    return "unknown" if value is None else "on" if value else "off"
