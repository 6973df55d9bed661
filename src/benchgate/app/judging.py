"""From a result to a verdict: the one path that `check` and `compare` share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.gate.conclude import conclude
from benchgate.gate.suite import judge
from benchgate.gate.waves import WaveSettings
from benchgate.model.verdict import GateSettings, Verdict
from benchgate.report.headline import headline
from benchgate.report.ordering import worst_first

if TYPE_CHECKING:
    from benchgate.config import Config
    from benchgate.gate.suite import Judgement
    from benchgate.model.result import Result, Run


def judge_result(result: Result, config: Config) -> Judgement:
    """Judge a result whose arms were measured in turn.

    Raises:
        UsageError: when it holds one arm only.
    """
    if result.base is None:
        raise UsageError(
            "the result holds one arm only: there is nothing to compare it with",
            hint="Give a second result, or measure both with `benchgate check`.",
        )
    return judge(
        result.base, result.head, config, paired=True, waves=wave_settings(config, result.head)
    )


def wave_settings(config: Config, head: Run) -> WaveSettings | None:
    """Give the procedure that chose the rounds of a run; None when all were measured regardless."""
    if not head.screen_rounds:
        return None
    return WaveSettings(
        alpha=config.gate.alpha,
        screen_rounds=head.screen_rounds,
        confirm_rounds=config.measure.confirm_rounds,
        max_rounds=config.measure.max_rounds,
    )


def make_verdict(
    base: Run,
    head: Run,
    judgement: Judgement,
    config: Config,
    *,
    duration_s: float,
    warnings: tuple[str, ...] = (),
) -> Verdict:
    """Conclude from the rows, and put everything a reader needs beside them."""
    gate = config.gate
    least = judgement.base_benchmarks if gate.min_compared is None else gate.min_compared
    decision, exit_code = conclude(
        judgement.rows,
        fail_on=gate.fail_on,
        min_compared=least,
        advisory_fails=config.baseline.advisory_fails,
    )
    classical = gate.rule == "classical"
    verdict = Verdict(
        decision=decision,
        exit_code=exit_code,
        summary="",
        base=base.source,
        head=head.source,
        settings=GateSettings(
            rule=gate.rule,
            alpha=gate.alpha,
            correction="none" if classical else "holm",
            confidence=gate.confidence,
            fail_on=tuple(gate.fail_on),
            min_compared=gate.min_compared,
        ),
        rows=tuple(worst_first(judgement.rows)),
        warnings=(*warnings, *judgement.warnings),
        environment=head.environment,
        duration_s=duration_s,
        rounds=_rounds(head),
    )
    return replace(verdict, summary=headline(verdict))


def _rounds(run: Run) -> int:
    """How many rounds a run has."""
    indices = {x.round for b in run.benchmarks for s in b.series for x in s.launches}
    return len(indices)
