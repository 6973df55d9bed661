"""Where a suite writes its results, and what they say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from benchgate.config.program_benchmarks import OUTPUT
from benchgate.errors import FormatError, UsageError, did_you_mean
from benchgate.files import TooLargeError, read_below, read_bytes
from benchgate.formats import NAMES, find_format, read_as
from benchgate.formats.contents import ForeignFile
from benchgate.model.document import TOOL_FILE_MIB
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from benchgate.formats.rows import Reading
    from benchgate.measure.programs import ArmCommand


STANDARD_OUTPUT: Final = "the standard output"
_LARGER = "Measure fewer benchmarks or samples in one run, or set `max_mib` of the suite."
_LINES_OF_FILE_SHOWN = 5
CHARACTERS_SHOWN = 200


class UnreadableError(Exception):
    """The results of a run cannot be read; the message is one line, then details."""


@dataclass(frozen=True, slots=True)
class _Stamp:
    """What changes about a file if something writes it."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class RunOutput:
    """The output of one run of a suite, which begins after this is made.

    Args:
        folder: an empty folder for the run.
        command: as its arm runs it, except for `{output}`.
        path: the file or folder that it writes, relative to its working folder; None for
            `{output}` or the standard output.
        max_mib: size limit of what it writes.
        ok_exit_codes: of programs that it runs, as far as it reports their exit codes.

    Attributes:
        command: what to run.
    """

    def __init__(
        self,
        folder: Path,
        command: ArmCommand,
        path: str | None,
        *,
        max_mib: int = TOOL_FILE_MIB,
        ok_exit_codes: Collection[int] = (0,),
    ) -> None:
        self._folder = folder
        self._ok_exit_codes = tuple(ok_exit_codes)
        self._limit_bytes = max_mib << 20
        self._path = None if path is None else command.cwd / path
        self._name = path or OUTPUT
        self._before = _stamps(self._path) if self._path else {}
        self.command = command
        if any(OUTPUT in word for word in command.command):
            chosen = str(folder / "output")
            words = tuple(word.replace(OUTPUT, chosen) for word in command.command)
            self.command = replace(command, command=words)
        elif self._path is None:
            self._name = STANDARD_OUTPUT
            self.command = replace(command, stdout=folder / "stdout")

    def read(self, format_name: str | None) -> tuple[str, Reading]:
        """Read what the run has written; return the name of the format, too.

        Raises:
            UnreadableError: nothing, something empty or damaged, or in no known format.
        """
        try:
            source = replace(self._source(), ok_exit_codes=self._ok_exit_codes)
        except TooLargeError:
            limit = f"the limit of {self._limit_bytes >> 20} MiB"
            raise UnreadableError(f"{self._name} is larger than {limit}\n{_LARGER}") from None
        except (FormatError, UsageError) as error:
            raise UnreadableError(f"{error.message}\n{error.hint}") from error
        try:
            if not source.data and not source.files:
                raise UnreadableError(f"it wrote nothing to {self._name}")
            known = find_format(source, format_name)
            if known is None:
                tried = f"{counted(len(NAMES), 'format')} tried; `format` names one"
                raise UnreadableError(
                    f"{self._name} is in no format that benchgate knows ({tried})\n{_start(source)}"
                )
            reading = read_as(known, source)
        except (FormatError, UsageError) as error:
            hint = f"\n{error.hint}" if error.hint else ""
            tried = f"\nread as {format_name}" if format_name else ""
            start = f"\n{_start(source)}" if isinstance(error, FormatError) else ""
            raise UnreadableError(f"{error.message}{hint}{tried}{start}") from error
        if not reading.benchmarks:
            raise UnreadableError(f"{self._name} has no benchmarks\n{_start(source)}")
        return known.name, reading

    def _source(self) -> ForeignFile:
        """What this run has written: nothing that was there before."""
        if self._path is not None:
            return self._written(self._path, self._before)
        written = sorted(self._folder.iterdir())
        if len(written) == 1:
            return self._written(written[0], {})
        return self._written(self._folder, {})

    def _written(self, path: Path, before: Mapping[Path, _Stamp]) -> ForeignFile:
        fresh = {file for file, stamp in _stamps(path).items() if before.get(file) != stamp}
        if not path.is_dir():
            data = read_bytes(path, limit_bytes=self._limit_bytes) if path in fresh else b""
            return ForeignFile(self._name, data)
        files = read_below(path, fresh.__contains__, limit_bytes=self._limit_bytes)
        if len(files) == 1:
            return ForeignFile(self._name, next(iter(files.values())))
        return ForeignFile(self._name, files=files)


def why_no_format(name: str | None) -> str:
    """Say that there is no format of this name; "" if there is, or if none is named."""
    if name in {None, *NAMES}:
        return ""
    return f"there is no such format{did_you_mean(name or '', NAMES)}"


def _stamps(path: Path) -> dict[Path, _Stamp]:
    """The stamps of a file, or of all files in a folder; nothing if there is none."""
    files = [path]
    if path.is_dir():
        files = [file for file in path.rglob("*") if not file.is_symlink()]
    found = {}
    for file in files:
        if file.is_file():
            seen = file.stat()
            found[file] = _Stamp(seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
    return found


def _start(source: ForeignFile) -> str:
    """The first lines of a file, or the names of the first files of a folder."""
    if source.files:
        names = list(source.files)[:_LINES_OF_FILE_SHOWN]
        more = (
            f" and {len(source.files) - len(names)} more" if len(source.files) > len(names) else ""
        )
        return f"it has {', '.join(names)}{more}"
    lines = source.head.decode(errors="replace").splitlines()[:_LINES_OF_FILE_SHOWN]
    return "\n".join(["it begins with:", *(line[:CHARACTERS_SHOWN] for line in lines)])
