"""Reads results from files and folders of any kind: benchgate's own, or those of other tools."""

from __future__ import annotations

import shlex
import zlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from benchgate.config.tables import Gate
from benchgate.errors import FormatError, UsageError
from benchgate.files import TooLargeError, read_below, read_bytes, read_start
from benchgate.formats import NAMES, by_import, find_format, read_as
from benchgate.formats.any_tool import CUSTOM_BIGGER, CUSTOM_SMALLER, is_custom
from benchgate.formats.asv import BENCHMARKS, asv
from benchgate.formats.contents import ForeignFile, json_within
from benchgate.formats.rows import join_readings
from benchgate.gate.single_runs import least_rounds
from benchgate.gate.stored import reads_a_clock
from benchgate.model.codec import decode_result
from benchgate.model.document import TOOL_FILE_MIB
from benchgate.model.environment import Environment, in_common
from benchgate.model.metrics import Kind
from benchgate.model.result import RESULT, Result
from benchgate.model.run import Run
from benchgate.model.run import Source as Code
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from benchgate.formats.rows import ForeignFormat, Reading
    from benchgate.model.run import BenchmarkResult


_USUAL_LAUNCHES = 10
_SHORT_SHA = 7
_START_BYTES = 64 << 10


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    path: Path
    format: ForeignFormat
    reading: Reading


def read_any(
    paths: Sequence[Path],
    format_name: str | None = None,
    *,
    max_mib: int = TOOL_FILE_MIB,
    ok_exit_codes: Sequence[int] = (),
    seen: dict[bytes, Path] | None = None,
    like: str = "",
) -> Result:
    """Read one result of benchgate, or files of another tool; each of these is one launch.

    Args:
        paths: at least one.
        format_name: format of the files; None to find it.
        max_mib: size limit of each file of another tool.
        ok_exit_codes: which exit codes of a program that a tool ran are no failure, beside 0.
        seen: the files of the other sides by a hash of their contents; those of this one are added.
        like: the tool of another side. What no format recognizes is taken to be of it, too: it may
            be empty, or tell that a build failed.
    """
    _refuse_twins(paths)
    ok = (0, *ok_exit_codes)
    sources = [replace(_source(path, max_mib), ok_exit_codes=ok) for path in paths]
    # First: our own results may quote a file of another tool, and look like one.
    own = [source.name for source in sources if RESULT.begins(source.head)]
    if len(paths) == 1 and own and format_name is None:
        return decode_result(sources[0].data, sources[0].name)
    formats = [find_format(source, format_name) for source in sources]
    if own and format_name is None:
        raise UsageError(
            f"{own[0]} is a result of benchgate, and cannot be joined with other files",
            hint="Name several files only if they are of another tool; each is one launch.",
        )
    found = [_read(*each, like) for each in zip(paths, sources, formats, strict=True)]
    _require_one_tool(found)
    first, *others = found
    _refuse_copies(found, sources, {} if seen is None else seen)
    benchmarks = join_readings([each.reading for each in found], first.format.name)
    started = min(each.path.stat().st_mtime for each in found)
    environment, unlike = _machine(found)
    commit, mixed = _commit(found)
    more = f" and {counted(len(others), 'more file')}" if others else ""
    run = Run(
        replace(commit, why=f"from {first.path.name or first.path}{more}"),
        f"{datetime.fromtimestamp(started, UTC):%Y-%m-%dT%H:%M:%SZ}",
        environment,
        benchmarks,
        seed=_identity(sources),
        is_mixed=bool(unlike),
    )
    return Result(
        head=run,
        tool=first.reading.tool,
        warnings=(*unlike, *mixed, *_skipped(found), *_doubts(benchmarks, first.format)),
    )


def _machine(found: Sequence[_Read]) -> tuple[Environment, tuple[str, ...]]:
    """The machine of all files, and how one of them differs from those before it."""
    every = [(each.path, one) for each in found for one in each.reading.environments]
    known = Environment()
    for path, one in every:
        if unlike := known.differences(one):
            what = f"{found[0].path} and {path} were" if path != found[0].path else f"{path} was"
            so = f"{what} measured on different machines: {'; '.join(unlike)}"
            return in_common([one for _, one in every]), (so,)
        known = known.completed(one)
    return known, ()


def _commit(found: Sequence[_Read]) -> tuple[Code, tuple[str, ...]]:
    """The commit of all files; none, and a warning, if they name several."""
    named = [(each.path, one) for each in found for one in each.reading.commits]
    if not named:
        return Code(), ()
    first, code = named[0]
    for path, one in named:
        if one.sha != code.sha:
            shas = f"{str(code.sha)[:_SHORT_SHA]} and {str(one.sha)[:_SHORT_SHA]}"
            return Code(), (f"{first} and {path} are of different commits: {shas}",)
    return replace(code, dirty=any(one.dirty for _, one in named)), ()


def _skipped(found: Iterable[_Read]) -> Iterator[str]:
    """Say what was left out: the same of several files once, with their number."""
    paths: dict[str, list[str]] = {}
    for each in found:
        for one in each.reading.skipped:
            paths.setdefault(one, []).append(str(each.path))
    for one, (first, *others) in paths.items():
        more = f" and {counted(len(others), 'more file')}" if others else ""
        yield f"{first}{more}: {one}"


def _read(path: Path, source: ForeignFile, known: ForeignFormat | None, like: str) -> _Read:
    if not source.data and not source.files:
        raise source.error("", "is empty", hint="Did the tool that writes it fail?")
    if known is None:
        return _read_like(path, source, like.partition(" ")[0])
    if known is asv and source.data:
        source = replace(source, files=_beside(path))
    return _Read(path, known, read_as(known, source))


def _read_like(path: Path, source: ForeignFile, name: str) -> _Read:
    known = find_format(source, name) if name in NAMES else None
    if known is None:
        raise _unknown(source)
    try:
        return _Read(path, known, read_as(known, source))
    except FormatError as error:
        error.hint = f"It was read as {name}, which is the format of the base. {error.hint}".strip()
        raise


def _unknown(source: ForeignFile) -> FormatError:
    within = json_within(source, is_custom) or source
    if is_custom(within):
        return source.error(
            "",
            "is the JSON that github-action-benchmark takes, which does not say what is better",
            hint=f"Add --format {CUSTOM_SMALLER.name} if less is better in all of it, or "
            f"--format {CUSTOM_BIGGER.name} if more is, or give each entry "
            f'"better": "lower" or "higher". {by_import(source, CUSTOM_SMALLER.name)}',
        )
    if source.files:
        first = shlex.quote(f"{source.name}/{min(source.files)}")
        return source.error(
            "",
            "is a folder, but neither one of asv nor target/criterion",
            hint=f"Name the files in it, such as {first}.",
        )
    return source.error(
        "",
        "is neither a result of benchgate nor a file of a known tool",
        hint=f"If you know its format, add --format NAME: {', '.join(NAMES)}. "
        f"{by_import(source, 'NAME')} For another tool, write the name, unit and value of each "
        "benchmark as JSON: see `Numbers of your own` in docs/suites.md.",
    )


def _beside(path: Path) -> dict[str, bytes]:
    """What asv says about its benchmarks: beside a result file, or beside its folder."""
    folder = path.resolve().parent
    names = [each / BENCHMARKS for each in (folder, folder.parent)]
    found = next((each for each in names if each.is_file()), None)
    if found is None:
        return {}
    return {BENCHMARKS: read_bytes(found, limit_bytes=TOOL_FILE_MIB << 20)}


def _identity(sources: Iterable[ForeignFile]) -> int:
    """A number that tells runs of a tool apart, of which the files may be from the same second."""
    found = 0
    for source in sources:
        for data in (source.data, *source.files.values()):
            found = zlib.crc32(data, found)
    return found


def _require_one_tool(found: Sequence[_Read]) -> None:
    first = found[0]
    for each in found:
        if each.format.name != first.format.name:
            raise UsageError(
                f"{first.path} comes from {first.format.name}, "
                f"but {each.path} from {each.format.name}",
                hint="The files of one side must come from one tool.",
            )


def _refuse_twins(paths: Sequence[Path]) -> None:
    """Refuse a file that is named twice: one run is one launch."""
    seen: dict[Path, Path] = {}
    for path in paths:
        twin = seen.get(path.resolve())
        seen[path.resolve()] = path
        if twin:
            raise UsageError(
                f"{twin} is named twice" if twin == path else f"{twin} and {path} are one file",
                hint="Each file is one launch: name each run of the tool once.",
            )


def _refuse_copies(
    found: Iterable[_Read], sources: Iterable[ForeignFile], seen: dict[bytes, Path]
) -> None:
    """Refuse a copy of a file. Counts and sizes are equal in every run, times never are."""
    for one, source in zip(found, sources, strict=True):
        digest = sha256(source.data)
        for path, data in sorted(source.files.items()):
            digest.update(f"{path}\0{len(data)}\0".encode(errors="surrogateescape"))
            digest.update(data)
        twin = seen.setdefault(digest.digest(), one.path)
        if twin is one.path:
            continue
        is_named_twice = twin.resolve() == one.path.resolve()
        if is_named_twice or reads_a_clock(one.reading.benchmarks):
            raise UsageError(
                f"{one.path} is named on both sides"
                if is_named_twice
                else f"{one.path} has the contents of {twin}: it is the same run",
                hint="Name each run of the tool once. If the tool was to write a new file, look "
                "why it did not.",
            )


def _source(path: Path, max_mib: int) -> ForeignFile:
    limit_bytes = max_mib << 20
    if not path.is_dir() and RESULT.begins(ForeignFile("", read_start(path, _START_BYTES)).head):
        return ForeignFile(str(path), read_bytes(path))
    try:
        if path.is_dir():
            return ForeignFile(str(path), files=read_below(path, limit_bytes=limit_bytes))
        return ForeignFile(str(path), read_bytes(path, limit_bytes=limit_bytes))
    except TooLargeError as error:
        hint = (
            f"benchgate import {shlex.quote(str(path))} --max-mib {2 * max_mib} --output "
            "result.json.gz reads a larger one; `compare` has the option, too."
        )
        raise FormatError(error.message, hint=hint) from None


def _doubts(benchmarks: Sequence[BenchmarkResult], of: ForeignFormat) -> Iterator[str]:
    """What a reader must know if the files hold too little to tell chance from change."""
    every = [series for one in benchmarks for series in one.series]
    random = [
        [len(each.launches) for each in one.series if each.metric.kind is not Kind.EXACT]
        for one in benchmarks
    ]
    if not any(random):
        return
    tested = sum(bool(one.series) for one in benchmarks)
    needed = least_rounds(Gate().alpha / tested, paired=False)
    launches = min(max(counts) for counts in random if counts)
    if launches > 1:
        if launches < needed > _USUAL_LAUNCHES:
            yield (
                f"{counted(tested, 'benchmark')} need {needed} launches on each side, at the "
                f"default `alpha`: there are {launches}"
            )
        return
    if of.has_samples and all(each.metric.kind is Kind.SUMMARY for each in every):
        yield f"there are no samples in what {of.name} wrote; this writes them: {of.command}"
    how = f" ({of.command})" if of.command else ""
    more = f" {of.launches}" if of.launches else ""
    times = "ten" if needed <= _USUAL_LAUNCHES else needed
    yield (
        f"one launch of {of.name} does not show how much its runs differ: run it {times} times on "
        f"each side{how}, and name all files with --base and --head, or keep the files of ten "
        f"earlier runs and compare with all of them.{more}"
    )
