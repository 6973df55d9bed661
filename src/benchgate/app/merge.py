"""`benchgate merge`: joins the results of a suite's shards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.files import read_result, write_atomic
from benchgate.model.codec import encode_result
from benchgate.model.redact import Redactor
from benchgate.model.shards import join

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.model.result import Result


def merge(paths: Sequence[Path], output: Path, environ: Mapping[str, str]) -> Result:
    """Join the results of all shards of one suite, and write the result of the suite.

    Nothing is judged: `benchgate compare` makes the verdict of what was joined.

    Args:
        paths: at least one.

    Raises:
        UsageError: a file cannot be read or written, or they are not all shards of one suite.
        FormatError: a file is no result, or damaged.
    """
    joined = join((str(path), read_result(path)) for path in paths)
    write_atomic(output, encode_result(joined, Redactor(environ)))
    return joined
