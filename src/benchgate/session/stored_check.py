"""`benchgate check` with stored results: measure the working tree alone, and compare."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.baselines.files import DEFAULT_FOLDER, read_folder, read_single
from benchgate.errors import BaselineError, UsageError
from benchgate.gate.judging import judge_stored
from benchgate.gate.make_verdict import make_verdict
from benchgate.gate.stored import fit_for
from benchgate.session.choice import chosen_of
from benchgate.session.one_tree import run

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.gate.stored import StoredResults
    from benchgate.git.repository import Git
    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict
    from benchgate.session.effects import Effects
    from benchgate.session.one_tree import RunRequest


def check_stored(
    request: RunRequest, config: Config, git: Git, effects: Effects
) -> tuple[Verdict, Result]:
    """Measure the working tree, and compare it with the results that `baseline` names.

    If there are none yet, the check does not fail unless `baseline.required` is set.

    Raises:
        BaselineError: a baseline is required, and there is none.
        UsageError: the results cannot be read; also the errors of `run`.
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
    return make_verdict(judge_stored(fit, result, config), config), result


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
