"""`benchgate check`: measure base and head in turn, and decide."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from benchgate.baselines.base_config import judged_by_base, measured_by_base
from benchgate.baselines.git import choose_base
from benchgate.gate.judging import judge_run, make_verdict
from benchgate.session.arms import ArmsRequest, measure_arms
from benchgate.session.check_stored import STORED_SOURCES, check_stored
from benchgate.session.choice import Choice
from benchgate.session.one_tree import RunRequest
from benchgate.session.result_file import working_tree_source

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict
    from benchgate.session.effects import Effects


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What the user asked for, in addition to the configuration.

    Attributes:
        output: the result file; saved after every round.
        self_check: measure the working tree on both arms.
        policy: whose configuration judges. Developers tune margins in their working tree; a pull
            request is judged by the configuration of its base, if the base has one.
    """

    choice: Choice = field(default_factory=Choice)
    output: Path | None = None
    self_check: bool = False
    policy: Literal["base", "head"] = "head"


def check(
    request: CheckRequest, config: Config, git: Git, effects: Effects
) -> tuple[Verdict, Result]:
    """Measure the base commit and the working tree side by side and decide.

    If the baseline is stored results, only the working tree is measured.

    Raises:
        BaselineError: no base, or it cannot be checked out or built.
        MeasureError: the head cannot be built.
        UsageError: no benchmarks.
        Interrupted: Ctrl-C or SIGTERM; what was measured is saved.
    """
    if config.baseline.source in STORED_SOURCES and not request.self_check:
        return check_stored(RunRequest(request.choice, request.output), config, git, effects)
    warnings: tuple[str, ...] = ()
    if request.self_check:
        head = working_tree_source(git)
        base = replace(head, why="the working tree itself: every difference is noise")
    else:
        base = choose_base(git, config.baseline.against)
        configured = judged_by_base if request.policy == "base" else measured_by_base
        config, warnings = configured(git, base.sha or "", config, effects.cwd)
    wanted = ArmsRequest(
        request.choice, request.output, self_check=request.self_check, warnings=warnings
    )
    result = measure_arms(wanted, base, config, git, effects)
    return make_verdict(judge_run(result, config), config), result
