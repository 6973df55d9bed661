"""Where a verdict comes from: commits, machine, settings, effort."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.escape import plain_line
from benchgate.model.run import BenchmarkFiles
from benchgate.model.verdict import NO_BASELINE
from benchgate.report import words
from benchgate.units import counted, format_duration, format_percent, format_value

if TYPE_CHECKING:
    from benchgate.model.environment import Environment
    from benchgate.model.run import Source
    from benchgate.model.verdict import Verdict


Facts = tuple[tuple[str, str], ...]

_CHOSEN = {
    "git": "measured for this verdict, on the same machine",
    "file": "read from a stored result",
    "directory": "read from a folder of stored results",
    "artifact": "read from earlier runs on GitHub",
    NO_BASELINE: "there is none yet",
}


def provenance(verdict: Verdict) -> Facts:
    """What was compared, and how the base was chosen."""
    return (
        *(("base", text) for text in [_source(verdict.base)] if verdict.base_source != NO_BASELINE),
        ("why this base", plain_line(verdict.base.why)),
        ("its values", _CHOSEN.get(verdict.base_source, plain_line(verdict.base_source))),
        ("head", _source(verdict.head)),
        ("about the head", plain_line(verdict.head.why)),
        ("measured", _effort(verdict)),
    )


def _source(code: Source) -> str:
    ref = f" ({plain_line(code.ref)})" if code.ref and code.sha else ""
    full = f"; whole commit {plain_line(code.sha)}" if code.sha and len(code.sha) > 7 else ""
    return f"{words.source(code)}{ref}{full}"


def _effort(verdict: Verdict) -> str:
    if not verdict.rounds:
        return ""
    ended = "" if verdict.complete else ", interrupted"
    return f"{counted(verdict.rounds, 'round')} in {format_duration(verdict.duration_s)}{ended}"


def decided(verdict: Verdict) -> tuple[str, ...]:
    """How it was decided, one sentence each; "`...`" is code."""
    settings = verdict.settings
    margins = ", ".join(map(format_percent, sorted({x.margin for x in verdict.rows if x.margin})))
    if verdict.is_unmeasured:
        found = ["No benchmark was measured, because none runs code that changed."]
    elif settings.rule == "launch":
        alarms = words.false_alarms(settings.alpha)
        found = [
            "What counts is one value for each process that was started, not each sample.",
            (
                f"{alarms}, however many benchmarks there are (`gate.alpha`; "
                f"correction for many rows: {plain_line(settings.correction)})."
            ),
        ]
    else:
        found = [f"The rule `{plain_line(settings.rule)}` decided."]
    if margins:
        found.append(
            f"Slower, faster, larger or smaller is what changed by the margin ({margins}) or more, "
            f"and hardly by chance. Unchanged is what has its "
            f"{format_percent(settings.confidence)} interval within the margin."
        )
    outcomes = ", ".join(f"`{plain_line(each)}`" for each in settings.fail_on) or "nothing"
    found.append(f"The check fails on: {outcomes} (`gate.fail_on`).")
    if settings.min_compared:
        found.append(f"At least {settings.min_compared} benchmarks had to be compared.")
    if settings.max_rounds and not verdict.is_unmeasured:
        found.append(
            f"A benchmark got at most {counted(settings.max_rounds, 'round')}, "
            "or more to confirm that it is slower."
        )
    found.append(f"The configuration of the {plain_line(settings.policy)} decided.")
    if verdict.files is BenchmarkFiles.HEAD:
        found.append("Both sides ran the benchmark files of the head.")
    elif verdict.files is BenchmarkFiles.OWN and verdict.base_source == "git":
        found.append("Each side ran its own benchmark files.")
    return tuple(found)


def machine(environment: Environment) -> Facts:
    """The machine, without what is not known."""
    one = environment
    turbo = {True: "on", False: "off", None: ""}[one.turbo]
    tools = tuple((plain_line(k), plain_line(v)) for k, v in sorted(one.toolchains.items()))
    busy = "" if one.busy_elsewhere is None else f"{one.busy_elsewhere:.2f} CPUs on average"
    return (
        ("operating system", plain_line(one.os)),
        ("kernel", plain_line(one.kernel)),
        ("processor", plain_line(one.cpu_model)),
        ("architecture", plain_line(one.machine)),
        ("logical CPUs", str(one.cpu_count or "")),
        ("memory", format_value(one.memory_bytes, "B") if one.memory_bytes else ""),
        ("frequency governor", plain_line(one.governor or "")),
        ("turbo", turbo),
        ("virtualization", plain_line(one.virtualization)),
        ("runner image", plain_line(one.runner_image or "")),
        ("load before the run", "" if one.load_average is None else f"{one.load_average:.2f}"),
        ("other programs kept busy", busy),
        ("Python of benchgate", plain_line(one.python)),
        ("cost of reading the clock", _time_ns(one.timer_cost_ns)),
        ("step of the clock", _time_ns(one.timer_resolution_ns)),
        *tools,
    )


def _time_ns(value: float | None) -> str:
    return "" if value is None else format_value(value / 1e9, "s")


def known(facts: Facts) -> Facts:
    """Without those that say nothing."""
    return tuple((name, text) for name, text in facts if text)
