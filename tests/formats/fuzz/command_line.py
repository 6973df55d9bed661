"""Gives an input to the commands that read files of other tools."""

from __future__ import annotations

import contextlib
import gzip
import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchgate.cli import cli
from benchgate.errors import BenchgateError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.formats.contents import ForeignFile

_RESULT = "result.json.gz"


def check_command_line(source: ForeignFile, name: str, other: ForeignFile | None = None) -> None:
    """Import an input and compare it with another one.

    Args:
        name: of the format.
        other: without it, the input is compared with itself.

    Raises:
        AssertionError: a command ended as none may end.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        before, after = _write(source, "before"), _write(other or source, "after.gz")
        if source.data:
            whole = after.read_bytes()
            cut = Path("cut.gz")
            cut.write_bytes(whole[: len(whole) // 2])
            code = _exit_code(["compare", str(before), str(cut)])
            assert code == 2, code
        named = [["--format", name], []]
        for options in named:
            code = _exit_code(["import", str(before), "--output", _RESULT, *options])
            assert code in {0, 2}, code
            if not code:
                code = _exit_code(["show", _RESULT])
                assert code in {0, 5}, code
            code = _exit_code(["compare", str(before), str(after), *options])
            assert code in {0, 2, 3, 4, 5}, code


def _write(source: ForeignFile, name: str) -> Path:
    target = Path(name)
    for path, data in source.files.items():
        parts = [part for part in path.split("/") if part not in {"", ".", ".."}]
        file = target.joinpath(*parts)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    if source.files:
        (target / "loop").symlink_to(target.absolute(), target_is_directory=True)
        (target / "gone").symlink_to("nowhere")
    elif name.endswith(".gz"):
        target.write_bytes(gzip.compress(source.data, compresslevel=1))
    else:
        target.write_bytes(source.data)
    return target


def _exit_code(arguments: Sequence[str]) -> int:
    said, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
        try:
            code = cli.main([*arguments], standalone_mode=False)
        except BenchgateError as error:
            message, code = error.message, error.exit_code
        except click.ClickException as error:
            message, code = error.message, error.exit_code
        else:
            return int(code or 0)
    assert message.strip()
    return int(code)
