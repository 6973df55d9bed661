"""Writes a verdict to the terminal and to files."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.cli.boundary import say
from benchgate.cli.world import console
from benchgate.errors import UsageError, without_it
from benchgate.files import ensure_writable, write_atomic
from benchgate.model.redact import Redactor
from benchgate.model.verdict import VERDICT
from benchgate.report import words
from benchgate.report.headline import headline
from benchgate.report.markdown import render_markdown
from benchgate.report.terminal import render_verdict
from benchgate.report.verdict_files import render_csv, render_junit
from benchgate.report.view import view_verdict, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from benchgate.model.figures import BenchmarkFigures
    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict


STANDARD_OUTPUT = Path("-")


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files to write, by the names of their options.

    `-` means standard output, which then gets no report for the terminal.
    """

    files: Mapping[str, Path]
    verbose: bool = False

    def require_writable(self, output: Path | None = None) -> None:
        """Check, before anything is measured, that each file can be written afterwards."""
        wanted = [] if output is None else [("--output", output)]
        wanted += [(f"--{name}", path) for name, path in self.files.items()]
        for (one, path), (other, same) in combinations(wanted, 2):
            if path.absolute() == same.absolute():
                where = "standard output" if path == STANDARD_OUTPUT else path
                raise UsageError(
                    f"{one} and {other} would both be written to {where}",
                    hint="Give one of them another file.",
                )
        for _, path in wanted:
            if path != STANDARD_OUTPUT:
                ensure_writable(path)

    def write(
        self,
        verdict: Verdict,
        environ: Mapping[str, str],
        told: Collection[str] = (),
        figures: Callable[[], Mapping[str, BenchmarkFigures]] | None = None,
        result: Result | None = None,
    ) -> None:
        """Write the verdict to the files and to the terminal.

        Args:
            result: tells how long measuring each benchmark took.
            figures: computes those of the result, for a page; None if the samples are not there.
            told: what standard error said while measuring. A terminal or log that gets both
                streams does not get these warnings again.
        """
        redact = Redactor(environ)

        def render(name: str) -> bytes:
            if name == "html":
                return page_of(verdict, figures() if figures else None, redact)
            if name == "junit":
                shown = without_secrets(view_verdict(verdict), redact)
                return render_junit(shown, _seconds(verdict, result))
            return _WRITERS[name](verdict, redact)

        for name, path in self.files.items():
            data = without_it(f"--{name}", partial(render, name), None, _warn)
            if data is not None:
                with _reader_may_leave():
                    put(path, data)
        if STANDARD_OUTPUT not in self.files.values():
            shown = verdict
            if told and _is_one_stream():
                known = {text.removeprefix("warning: ") for text in told}
                news = tuple(text for text in verdict.warnings if text not in known)
                shown = replace(verdict, warnings=news)
            text = without_it(
                "report", partial(self._printed, shown, redact), f"{verdict.decision}\n", _warn
            )
            with _reader_may_leave():
                sys.stdout.write(text)

    def _printed(self, verdict: Verdict, redact: Redactor) -> str:
        view = without_secrets(view_verdict(verdict), redact)
        return render_verdict(view, console(), verbose=self.verbose)


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    """Let the reader of standard output close it, as `head` does.

    The exit code still tells the verdict, and the other files are still written.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered would fail again when the program ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _warn(text: str) -> None:
    say(f"warning: {text}", err=True)


_WRITERS: Final[Mapping[str, Callable[[Verdict, Redactor], bytes]]] = {
    "json": lambda verdict, redact: VERDICT.write(
        replace(verdict, summary=headline(verdict)), redact
    ),
    "markdown": lambda verdict, redact: render_markdown(
        without_secrets(view_verdict(verdict), redact)
    ).encode(),
    "csv": render_csv,
}


def _seconds(verdict: Verdict, result: Result | None) -> Mapping[str, float]:
    """How long measuring each benchmark took; if that is not known, the time that it measured."""
    names = {row.benchmark: words.name(row) for row in verdict.rows}
    times = (row for row in verdict.rows if row.unit == "s" and row.is_typical)
    found = {names[row.benchmark]: row.head for row in times if row.head is not None}
    for one in result.head.benchmarks if result else ():
        rounds = {launch.round for series in one.series for launch in series.launches}
        if one.id in names and one.round_s:
            found[names[one.id]] = one.round_s * len(rounds)
    return found


def page_of(
    verdict: Verdict,
    figures: Mapping[str, BenchmarkFigures] | None,
    redact: Redactor,
    nav: Iterable[tuple[str, str]] = (),
) -> bytes:
    """The report of a verdict as a page of HTML."""
    from benchgate.page.report import render_report  # noqa: PLC0415 - only for a page

    return render_report(verdict, figures, redact, nav=nav).encode()


def _is_one_stream() -> bool:
    """Whether standard output and standard error go to the same terminal or file."""
    try:
        out, err = os.fstat(sys.stdout.fileno()), os.fstat(sys.stderr.fileno())
    except (OSError, ValueError):  # closed, or replaced by an object in memory
        return False
    return os.path.samestat(out, err)


def keep(result: Path, **outputs: Path | None) -> None:
    """Refuse to overwrite a result that the command reads: its measurements would be lost.

    Args:
        outputs: files, by the names of their options.
    """
    for option, path in outputs.items():
        if path is not None and path.exists() and result.exists() and path.samefile(result):
            raise UsageError(
                f"--{option} {path} would overwrite the result that this command reads",
                hint="Give it another file.",
            )


def put(path: Path, data: bytes) -> None:
    """Write to a file, or to standard output if the path is `-`."""
    if path == STANDARD_OUTPUT:
        sys.stdout.buffer.write(data.rstrip(b"\n") + b"\n")
        sys.stdout.buffer.flush()
    else:
        write_atomic(path, data)
