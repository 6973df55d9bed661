"""From runs to a verdict: the one path that `check` and `compare` share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.baselines.stored import choose_stored
from benchgate.errors import UsageError
from benchgate.gate.conclude import conclude
from benchgate.gate.suite import judge
from benchgate.gate.waves import WaveSettings
from benchgate.model.verdict import GateSettings, Verdict
from benchgate.report.headline import headline
from benchgate.report.ordering import worst_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.baselines.stored import Earlier
    from benchgate.config import Config
    from benchgate.gate.suite import Judgement, Need
    from benchgate.model.result import Result, Run


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Two runs and what the gate says of them."""

    base: Run
    head: Run
    judgement: Judgement
    duration_s: float
    warnings: tuple[str, ...] = ()
    base_source: str = "git"

    @property
    def needs(self) -> Sequence[Need]:
        """What each row still needs."""
        return self.judgement.needs


def judge_run(result: Result, config: Config) -> Judged:
    """Judge a result whose arms were measured in turn.

    Raises:
        UsageError: when it holds one arm only.
    """
    if result.base is None:
        raise UsageError(
            "the result holds one arm only: there is nothing to compare it with",
            hint="Give a second result, or measure both with `benchgate check`.",
        )
    waves = _waves(config, result.head)
    judgement = judge(result.base, result.head, config, paired=True, waves=waves)
    return Judged(result.base, result.head, judgement, result.duration_s, result.warnings)


def judge_stored(earlier: Sequence[Earlier], head: Result, config: Config) -> Judged:
    """Judge a result by earlier ones, at least one, that were measured at other times.

    The newest is the base. With too few others to know how far runs differ the evidence is
    advisory.
    """
    stored = choose_stored(earlier, head.head)
    base = stored.base
    judgement = judge(base.head, head.head, config, paired=False, waves=None, earlier=stored.runs)
    return Judged(
        base.head,
        head.head,
        judgement,
        base.duration_s + head.duration_s,
        (*stored.warnings, *base.warnings, *head.warnings),
        base_source="file",
    )


def make_verdict(judged: Judged, config: Config) -> Verdict:
    """Conclude from the rows, and put everything a reader needs beside them."""
    gate, judgement = config.gate, judged.judgement
    all_of_base = judgement.base_benchmarks
    min_compared = gate.min_compared if isinstance(gate.min_compared, int) else all_of_base
    decision, exit_code = conclude(
        judgement.rows,
        fail_on=gate.fail_on,
        min_compared=min_compared,
        advisory_fails=config.baseline.advisory_fails,
        doubted=judgement.doubted,
    )
    verdict = Verdict(
        decision=decision,
        exit_code=exit_code,
        summary="",
        base=judged.base.source,
        head=judged.head.source,
        settings=GateSettings(
            rule=gate.rule,
            alpha=gate.alpha,
            correction="none" if gate.rule == "classical" else "holm",
            confidence=gate.confidence,
            fail_on=tuple(gate.fail_on),
            min_compared=min_compared,
        ),
        rows=tuple(worst_first(judgement.rows)),
        warnings=(*judged.warnings, *judgement.warnings),
        environment=judged.head.environment,
        duration_s=judged.duration_s,
        rounds=_rounds(judged.head),
        base_source=judged.base_source,
    )
    return replace(verdict, summary=headline(verdict))


def _waves(config: Config, head: Run) -> WaveSettings | None:
    """Give the procedure that chose the rounds of a run; None when all were measured regardless."""
    if not head.screen_rounds:
        return None
    return replace(
        WaveSettings.of(config),
        screen_rounds=head.screen_rounds,
        until_decided=head.until_decided,
    )


def _rounds(run: Run) -> int:
    return len({x.round for b in run.benchmarks for s in b.series for x in s.launches})
