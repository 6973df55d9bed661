"""Whether the base has benchmarks of its own, and what is measured if it has none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from benchgate.config.benchmarks import ScenarioBenchmark
from benchgate.config.live_benchmarks import FunctionBenchmarks, LiveBenchmarks, is_benchmark_file
from benchgate.config.program_benchmarks import ProgramBenchmark
from benchgate.git.changes import gitlinks
from benchgate.git.committed import (
    list_committed,
    resolve_committed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import PurePath

    from benchgate.config import Config
    from benchgate.git.repository import Git


BASE_HAS_NO_BENCHMARKS: Final = (
    "the base has no benchmarks, so both sides were measured with those of the head"
)
"""The warning if the head's benchmarks are used on their own account."""

BENCHMARKS_OF_HEAD: Final = (
    "both sides were measured with the benchmarks of the head (--benchmarks head)"
)
"""The warning if somebody asked for the head's benchmarks."""

OWN_BENCHMARKS: Final = (
    "each side was measured with its own benchmarks (--benchmarks own): those that differ are not "
    "compared"
)
"""The warning if somebody asked for each side's own benchmarks."""


def has_no_benchmarks(git: Git, sha: str, config: Config) -> bool:
    """Whether a commit surely has no benchmarks of its own.

    If it may have some that the commit does not show, in a submodule or made by [build], the
    answer is no: a change must not be able to replace the benchmarks that gate it.

    Args:
        config: of the comparison; its `base` says what is measured in the commit.
    """
    own = config.base
    if own is None:  # the commit has no configuration
        return _has_folder(git, sha, config) and not _may_hold_files(git, sha, config)
    if own.is_empty:
        return _has_folder(git, sha, config)
    if any(isinstance(one, ProgramBenchmark) for one in own.benchmarks):
        return False
    is_made = bool(own.benchmarks and own.build.commands)
    return not is_made and not _may_hold_files(git, sha, own)


def with_benchmarks_of_head(config: Config) -> Config:
    """Measure the head's benchmarks in the base too; what builds the base stays as it is."""
    if config.base is None or config.base.is_empty:
        return replace(config, base=None)
    return replace(config, base=replace(config.base, benchmarks=config.benchmarks))


def _may_hold_files(git: Git, sha: str, config: Config) -> bool:
    """Whether a commit may have benchmark files where a configuration looks for them."""
    searched: list[tuple[str, Callable[[PurePath], bool]]] = [
        (PurePosixPath(config.folder, path).as_posix(), one.may_hold)
        for one in config.benchmarks
        if isinstance(one, FunctionBenchmarks)
        for path in one.paths
    ]
    if any(
        isinstance(one, LiveBenchmarks) and not isinstance(one, FunctionBenchmarks)
        for one in config.benchmarks
    ):
        return True  # a tool finds them, or they are built
    searched += [
        (PurePosixPath(config.folder, one.scenario).as_posix(), lambda _: True)
        for one in config.benchmarks
        if isinstance(one, ScenarioBenchmark)
    ]
    if config.searches:
        searched = [(".", is_benchmark_file)]
    places = [(resolve_committed(git, sha, path), may_hold) for path, may_hold in searched]
    if any(place is None for place, _ in places):  # a link leads out of the repository
        return True
    committed = [PurePosixPath(path) for path in list_committed(git, sha)]
    modules = [PurePosixPath(path) for path in gitlinks(git, sha)]
    return any(
        _holds(PurePosixPath(place or "."), may_hold, committed, modules)
        for place, may_hold in places
    )


def _has_folder(git: Git, sha: str, config: Config) -> bool:
    """Whether a commit has the folder of a configuration, and so something to measure."""
    folder = PurePosixPath(config.folder)
    return any(PurePosixPath(path).is_relative_to(folder) for path in list_committed(git, sha))


def _holds(
    place: PurePosixPath,
    may_hold: Callable[[PurePath], bool],
    committed: Iterable[PurePosixPath],
    modules: Iterable[PurePosixPath],
) -> bool:
    if any(one.is_relative_to(place) or place.is_relative_to(one) for one in modules):
        return True
    files = (path.relative_to(place) for path in committed if path.is_relative_to(place))
    return any(may_hold(file if file.parts else PurePosixPath(place.name)) for file in files)
