"""Which benchmarks the default branch has, as its artifacts and its files say."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from benchgate.baselines.unverified import KnownBenchmarks, function_of
from benchgate.config import PythonBenchmark
from benchgate.config.live_benchmarks import is_benchmark_file
from benchgate.measure.sources import group_of, topmost_folders
from benchgate.model.run import Status

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.model.run import Run
    from benchgate.session.choice import Choice


_MOST_FILES: Final = 500
_MOST_CHARACTERS: Final = 1_000_000
_FUNCTION = re.compile(
    r"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+bench_(\w+)|bench_(\w+)[ \t]*=)", re.MULTILINE
)


def known_benchmarks(
    config: Config,
    git: Git,
    sha: str,
    *,
    own: Run | None,
    choice: Choice,
    measured: Collection[str],
) -> KnownBenchmarks:
    """List the ids of a commit's benchmarks, and which of them have to be measured.

    A run of another commit may know a benchmark that this commit lacks. So, if the run measured
    another commit, a benchmark of it has to be measured only if this commit defines its function
    and nothing of the function was measured: its parameters at this commit are unknown.

    Args:
        own: what the newest run of the default branch measured; None if there is none.
        choice: the benchmarks that pull requests of this repository measure.
        measured: ids that the run measured at this commit.
    """
    functions = frozenset(_functions(config, git, sha))
    tags = {id_: one.tags for one in config.benchmarks for id_ in one.ids}
    stored = {one.id for one in own.of_project} if own else set()
    expected = {id_ for id_ in tags if choice.wants(id_, tags[id_])}
    if own and not choice.tags:  # the tags of a stored benchmark are unknown
        here = stored if own.source.sha == sha else _elsewhere(stored, functions, measured)
        expected |= {id_ for id_ in here if choice.wants(id_, ())}
    renamed = {*config.aliases, *config.aliases.values()}
    broken = {one.id for one in own.of_project if one.status is Status.FAILED} if own else set()
    return KnownBenchmarks(
        frozenset(tags.keys() | stored | renamed),
        functions,
        frozenset(expected),
        frozenset(broken),
    )


def _elsewhere(
    stored: Iterable[str], functions: Collection[str], measured: Iterable[str]
) -> set[str]:
    known = {function_of(id_) for id_ in measured}
    return {id_ for id_ in stored if function_of(id_) in functions if function_of(id_) not in known}


def _functions(config: Config, git: Git, sha: str) -> Iterator[str]:
    """Each function's id without parameters."""
    for path, group in _files(config, _listed_names(git, sha)):
        text = git.run("cat-file", "blob", f"{sha}:{path}")[:_MOST_CHARACTERS]
        for match in _FUNCTION.finditer(text):
            yield f"{group}/{match[1] or match[2]}"


def _listed_names(git: Git, sha: str) -> list[PurePosixPath]:
    """The benchmark files of a commit, wherever they are."""
    listed = git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", sha).split("\0")
    files = (PurePosixPath(path) for path in listed if path.endswith(".py"))
    return [file for file in files if is_benchmark_file(PurePosixPath(file.name))][:_MOST_FILES]


def _files(config: Config, listed: list[PurePosixPath]) -> Iterator[tuple[PurePosixPath, str]]:
    """The files that a configuration measures, each with its group."""
    specs = [
        (PurePosixPath(path), one.group or "")
        for one in config.benchmarks
        if isinstance(one, PythonBenchmark)
        for path in one.paths
    ]
    if not config.benchmarks:
        everywhere = [file for file in listed if is_benchmark_file(file)]
        specs = [(PurePosixPath(folder), "") for folder in topmost_folders(everywhere)]
    for top, prefix in specs:
        for file in listed:
            if file == top:
                yield file, group_of(PurePosixPath(file.name), prefix)
            elif file.is_relative_to(top) and is_benchmark_file(file.relative_to(top)):
                yield file, group_of(file.relative_to(top), prefix)
