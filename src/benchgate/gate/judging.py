"""Judges results: runs of both sides, shards, and stored runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.gate.courses import courses, courses_of, with_courses
from benchgate.gate.other_files import of_base
from benchgate.gate.screening import joined as with_settled
from benchgate.gate.stored import EarlierResult, StoredResults, choose_stored
from benchgate.gate.suite import Design, about_shard, joined, judge_suite, share_of
from benchgate.gate.waves import WaveSettings
from benchgate.model.result import Result
from benchgate.model.run import Run, Source
from benchgate.model.verdict import (
    NO_BASELINE,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.config import Config
    from benchgate.gate.suite import Judgment, Need
    from benchgate.model.result import Shard, SkippedResult


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRuns:
    """Two runs and the gate's judgment of them.

    Attributes:
        base: without what only the head has.
        shard: the part of the suite that was measured; None for the whole suite.
        shards: the number of parts that share alpha.
        complete: False if the measurement of an arm was interrupted.
        untested: metrics that must decide, or have a limit, and that both sides left out.
    """

    base: Run
    head: Run
    judgment: Judgment
    duration_s: float
    warnings: tuple[str, ...] = ()
    base_source: str = "git"
    skipped: tuple[SkippedResult, ...] = ()
    shard: Shard | None = None
    shards: int = 1
    complete: bool = True
    untested: tuple[str, ...] = ()

    @property
    def needs(self) -> Sequence[Need]:
        """What each row still needs."""
        return self.judgment.needs


def judge_runs(result: Result, config: Config, earlier: StoredResults | None = None) -> JudgedRuns:
    """Judge a result by everything that is known: both arms, and what stored runs show.

    Args:
        earlier: results that its head is compared with, instead of with what it holds itself.
    """
    if earlier is not None:
        return _judge_stored(earlier, result, config)
    screening = result.screening
    if screening is None:
        return _judge_arms(result, config)
    runs = (EarlierResult(one.name, Result(one.run), one.why) for one in screening.earlier)
    found = StoredResults("artifact", tuple(runs), screening.skipped, screening.warnings)
    plain = replace(result, screening=None)
    if screening.head is None:
        measured = _judge_arms(plain, config)
        return replace(
            measured,
            judgment=with_courses(measured.judgment, screening.recent),
            skipped=found.skipped,
            warnings=(*found.warnings, *measured.warnings),
        )
    if result.base is None:
        judged = _judge_stored(found, replace(plain, head=screening.head), config)
        source = NO_BASELINE if screening.is_first else found.source
        return replace(judged, base_source=source)
    stored = _judge_stored(found, replace(plain, head=screening.head, warnings=()), config)
    measured = _judge_arms(plain, config)
    judgment = with_settled(stored.judgment, measured.judgment)
    return replace(
        measured,
        judgment=with_courses(judgment, courses_of(stored.judgment.rows)),
        skipped=stored.skipped,
        warnings=(*found.warnings, *measured.warnings),
        complete=stored.complete and measured.complete,
    )


def _judge_arms(result: Result, config: Config) -> JudgedRuns:
    """Judge a result with two arms that were measured in turn."""
    if result.base is None:
        raise UsageError(
            "the result holds only one side, so there is nothing to compare it with",
            hint="Name a second result, or measure both sides with `benchgate check`.",
        )
    parts = result.shards or (result,)
    # If one of them has both arms, all have: that was checked when they were joined.
    judgment = joined([_judge_shard(p.base, p, config) for p in parts if p.base])
    return JudgedRuns(
        replace(result.base, benchmarks=tuple(of_base(result.base, result.head.files))),
        result.head,
        judgment,
        result.duration_s,
        (*about_shard(result), *result.warnings),
        base_source="git" if judgment.base_benchmarks else NO_BASELINE,
        shard=result.shard,
        shards=len(result.shards) or _shards(result),
        complete=result.base.complete and result.head.complete,
    )


def _judge_shard(base: Run, part: Result, config: Config) -> Judgment:
    """Judge what one machine measured, a part of a suite or all of it."""
    judgment = judge_suite(
        base,
        part.head,
        config,
        Design(paired=True, waves=_waves(config, part.head), shards=_shards(part)),
    )
    if part.shard is None:
        return judgment
    warnings = tuple(f"shard {part.shard.number}: {one}" for one in judgment.warnings)
    return replace(judgment, warnings=warnings)


def _shards(result: Result) -> int:
    """The number of shards that the suite was split into."""
    return result.shard.count if result.shard else 1


def _judge_stored(found: StoredResults, head: Result, config: Config) -> JudgedRuns:
    """Judge a result by earlier results that were measured at other times.

    The first usable one is the base. If there are too few others to know how much runs differ, the
    evidence is advisory. If there are none at all, every benchmark is new.
    """
    if not found.earlier:
        return _judge_first(found, head, config)
    stored = choose_stored(found.earlier, head.head, config.aliases)
    base = stored.base
    run = share_of(base.head, head, config.aliases)
    judgment = judge_suite(
        run,
        head.head,
        config,
        Design(paired=False, shards=_shards(head)),
        earlier=stored.runs,
    )
    judgment = with_courses(judgment, courses(stored.runs, head.head, config))
    warnings = (*found.warnings, *stored.warnings, *base.warnings, *head.warnings)
    return JudgedRuns(
        run,
        head.head,
        judgment,
        base.duration_s + head.duration_s,
        (*about_shard(head), *dict.fromkeys(warnings)),
        base_source=found.source,
        skipped=(*found.skipped, *stored.skipped),
        shard=head.shard,
        shards=_shards(head),
        complete=run.complete and head.head.complete,
    )


def _judge_first(found: StoredResults, head: Result, config: Config) -> JudgedRuns:
    """Judge a result without a base: there is none yet, or none that can be used."""
    nothing = Run(Source(), head.head.started, head.head.environment, ())
    return JudgedRuns(
        nothing,
        head.head,
        judge_suite(nothing, head.head, config, Design(paired=False)),
        head.duration_s,
        (*about_shard(head), *found.warnings, *head.warnings),
        base_source=NO_BASELINE if found.is_empty else found.source,
        skipped=found.skipped,
        shard=head.shard,
        complete=head.head.complete,
    )


def _waves(config: Config, head: Run) -> WaveSettings | None:
    """Return the procedure that chose a run's rounds; None if the number of rounds was fixed."""
    if not head.screen_rounds:
        return None
    return replace(
        WaveSettings.of(config),
        screen_rounds=head.screen_rounds,
        until_decided=head.until_decided,
    )
