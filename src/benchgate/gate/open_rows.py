"""Says what would help to decide rows that stayed open: a steadier metric, a quieter machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.gate.sensitivity import Procedure, steadier_metric
from benchgate.model.policy import Outcome
from benchgate.report.advice import busy_machine, compare_instead

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.config import Config
    from benchgate.gate.evidence import Evidence
    from benchgate.model.run import Environment
    from benchgate.model.verdict import Row


def with_steadier_metrics(
    rows: Iterable[Row], evidences: Sequence[Evidence], config: Config
) -> list[Row]:
    """Note on each inconclusive time whether its CPU time is much steadier.

    Args:
        evidences: of the rows that have a statistic of launches.
    """
    known = {one.key: one for one in evidences if one.paired and one.obstacle is None}
    procedure = Procedure.of(config, len(known), None)
    noted = []
    for row in rows:
        evidence = known.get((row.benchmark, row.metric, row.statistic))
        is_noisy = row.outcome is Outcome.INCONCLUSIVE
        found = steadier_metric(evidence, procedure) if evidence and is_noisy else None
        if found and found.rounds is not None and found.rounds <= procedure.limit:
            noted.append(replace(row, notes=(*row.notes, compare_instead(found))))
        else:
            noted.append(row)
    return noted


def about_machine(rows: Iterable[Row], environment: Environment) -> tuple[str, ...]:
    """Warn about other programs if they may be why a row is open."""
    busy = busy_machine(environment)
    is_open = any(
        row.outcome is Outcome.INCONCLUSIVE
        or (row.outcome is Outcome.NOT_TESTED and row.is_typical)
        for row in rows
    )
    return (busy,) if busy and is_open else ()
