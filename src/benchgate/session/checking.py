"""`benchgate check`: measure, compare with the base or with stored results, and decide."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from benchgate.baselines.base import choose_base
from benchgate.baselines.base_config import judged_by_base, measured_by_base
from benchgate.baselines.own_benchmarks import (
    BASE_HAS_NO_BENCHMARKS,
    BENCHMARKS_OF_HEAD,
    OWN_BENCHMARKS,
    has_no_benchmarks,
    with_benchmarks_of_head,
)
from benchgate.baselines.stored_files import DEFAULT_FOLDER, read_folder, read_single
from benchgate.config.live_benchmarks import PATTERN
from benchgate.errors import BaselineError, UsageError
from benchgate.gate.effect import require_effect
from benchgate.gate.stored import fit_for
from benchgate.gate.verdict import judge
from benchgate.model.run import BenchmarkFiles
from benchgate.session.benchmark_sets import UNABLE
from benchgate.session.choice import chosen_of
from benchgate.session.measuring import (
    NOTHING_RUNS_ON_BASE,
    ArmsRequest,
    measure_arms,
    reasons_of_arms,
)
from benchgate.session.one_tree import RunRequest, run
from benchgate.session.opening import no_benchmarks
from benchgate.session.result_file import working_tree_source

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.gate.stored import StoredResults
    from benchgate.git.repository import Git
    from benchgate.model.result import Result
    from benchgate.model.run import Source
    from benchgate.model.verdict import Verdict
    from benchgate.session.effects import Effects


_STORED_SOURCES = frozenset({"directory", "file"})


@dataclass(frozen=True, slots=True)
class CheckRequest(ArmsRequest):
    """What the user asked for, in addition to the configuration.

    Attributes:
        policy: whose configuration judges. Developers tune margins in their working tree; a pull
            request is judged by the configuration of its base, if the base has one.
        benchmarks: whose both sides run: each its own, the head's, or, with auto, the base's; if
            the base has none, the head's.
    """

    policy: Literal["base", "head"] = "head"
    benchmarks: Literal["auto", "own", "head"] = "auto"


def check(
    request: CheckRequest, config: Config, git: Git, effects: Effects
) -> tuple[Verdict, Result]:
    """Measure the base commit and the working tree side by side and decide.

    If the baseline is stored results, only the working tree is measured.
    """
    if config.baseline.source in _STORED_SOURCES and not request.self_check:
        if request.benchmarks != "auto":
            raise UsageError(
                f"--benchmarks {request.benchmarks} needs a base that is measured, but "
                f"{config.where('baseline.source')} names stored results",
                hint="Measure the base too: --baseline git, or --against REF",
            )
        if request.unfinished:
            raise UsageError(
                "only a check that measures base and head in turn can go on, but "
                f"{config.where('baseline.source')} names stored results",
                hint="Give the same options as then, or leave out --continue.",
            )
        return check_stored(request, config, git, effects)
    wanted, base, config = _prepared(request, config, git, effects)
    result = measure_arms(wanted, base, config, git, effects)
    if request.benchmarks == "head" and NOTHING_RUNS_ON_BASE in result.warnings:
        raise _nothing_runs(result)
    require_effect(config, [result], is_whole=request.choice.is_whole)
    return judge(result, config), result


def affected(
    request: CheckRequest, config: Config, git: Git, effects: Effects
) -> Mapping[str, str]:
    """Say of each benchmark why it is affected; "" if nothing that it runs or reads has changed."""
    wanted, base, config = _prepared(request, config, git, effects)
    return reasons_of_arms(wanted, base, config, git, effects)


def _prepared(
    request: CheckRequest, config: Config, git: Git, effects: Effects
) -> tuple[CheckRequest, Source, Config]:
    """Choose the base, whose configuration judges, and whose benchmarks both sides run."""
    if request.self_check:
        head = working_tree_source(git)
        why = "the working tree itself: every difference is noise"
        return request, replace(head, why=why), config
    effects.progress.preparing("looking for the base")
    base = choose_base(git, config.baseline.against)
    configured = judged_by_base if request.policy == "base" else measured_by_base
    config, warnings = configured(git, base.sha or "", config, effects.cwd)
    files, about_files = _files(request, config, git, base)
    if files is BenchmarkFiles.HEAD and _holds_no_files(git, config):
        raise no_benchmarks(config)
    config = with_benchmarks_of_head(config) if files is BenchmarkFiles.HEAD else config
    return replace(request, files=files, warnings=(*warnings, *about_files)), base, config


def _files(
    request: CheckRequest, config: Config, git: Git, base: Source
) -> tuple[BenchmarkFiles, tuple[str, ...]]:
    """Decide whose benchmarks both sides run; a warning says why if it is not the base's."""
    if request.benchmarks == "own":
        return BenchmarkFiles.OWN, (OWN_BENCHMARKS,)
    if request.benchmarks == "head":
        return BenchmarkFiles.HEAD, (BENCHMARKS_OF_HEAD,)
    if has_no_benchmarks(git, base.sha or "", config):
        return BenchmarkFiles.HEAD, (BASE_HAS_NO_BENCHMARKS,)
    return BenchmarkFiles.BASE, ()


def _holds_no_files(git: Git, config: Config) -> bool:
    """Whether the working tree surely has no benchmarks, so that no trees need to be made."""
    asked = ("--cached", "--others", "--exclude-standard", "--", f"*{PATTERN}", ".gitmodules")
    return not config.source and not git.run("ls-files", *asked)


def _nothing_runs(result: Result) -> BaselineError:
    errors = {note: None for one in result.head.benchmarks for note in one.notes if UNABLE in note}
    return BaselineError(
        f"{NOTHING_RUNS_ON_BASE}, so there is nothing to compare",
        hint="Name a later base with --against, or leave out --benchmarks head.",
        details="\n".join(errors),
    )


def check_stored(
    request: RunRequest, config: Config, git: Git, effects: Effects
) -> tuple[Verdict, Result]:
    """Measure the working tree, and compare it with the results that `baseline` names.

    If there are none yet, the check does not fail unless `baseline.required` is set.
    """
    if config.measure.until_decided:
        raise UsageError(
            f"{config.where('measure.until_decided')}: stored results cannot be measured further",
            hint="Leave it out, or measure the base too: --baseline git",
        )
    place = _Place.of(config, git, effects)
    found = place.read()
    place.require(found, config)
    result = run(request, config, git, effects)
    chosen = chosen_of(found, request.choice, config.aliases, result.head)
    fit = fit_for(chosen, result.head, config.aliases)
    place.require(fit, config)
    warnings = (*fit.warnings, *place.remarks(fit, request.output))
    if request.choice.is_everything:
        runs = (result.head, *(one.run for one in found.earlier))
        ids = dict.fromkeys(one.id for run_ in runs for one in run_.benchmarks)
        warnings += config.unmatched(list(ids))
    fit = replace(fit, warnings=warnings)
    every = [result, *(one.result for one in chosen.earlier)]
    require_effect(config, every, is_whole=request.choice.is_whole)
    return judge(result, config, fit), result


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the stored results are."""

    path: Path
    is_file: bool

    @classmethod
    def of(cls, config: Config, git: Git, effects: Effects) -> _Place:
        """Resolve a path relative to the file that it is written in."""
        root = config.source.parent if config.source else git.root
        path = root / (config.baseline.path or DEFAULT_FOLDER)
        shown = path.relative_to(effects.cwd) if path.is_relative_to(effects.cwd) else path
        return cls(shown, config.baseline.source == "file")

    def read(self) -> StoredResults:
        return read_single(self.path) if self.is_file else read_folder(self.path)

    def require(self, found: StoredResults, config: Config) -> None:
        """Fail if there is no baseline but one is required."""
        if found.earlier or not config.baseline.required:
            return
        reasons = "\n".join(f"{one.what}: {one.reason}" for one in found.skipped)
        raise BaselineError(
            f"{self.path} holds no result to compare with, and "
            f"{config.where('baseline.required')} requires one",
            hint=f"Measure one on the base: benchgate run --output {self._example}",
            details=reasons,
        )

    def remarks(self, found: StoredResults, output: Path | None) -> tuple[str, ...]:
        """Report that there is nothing to compare with, and how this run becomes a baseline."""
        if found.earlier:
            return ()
        if not found.is_empty:
            return (f"{self.path} holds no result to compare with",)
        place = output and (output if self.is_file else output.parent)
        if place and place.resolve() == self.path.resolve():
            return (f"first run: {output} becomes the baseline of the next run",)
        how = f"--output {self._example} makes this run the baseline of the next"
        return (f"first run: there is no result in {self.path} yet; {how}",)

    @property
    def _example(self) -> Path:
        return self.path if self.is_file else self.path / "NAME.json.gz"
