from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchgate import __version__
from benchgate.cli import COMMANDS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Call


def test_version(call: Call, tmp_path: Path) -> None:
    for option in ("--version", "-V"):
        done = call(tmp_path, option)
        done.check(0)
        assert done.out == f"benchgate, version {__version__}\n"


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_a_start_loads_no_large_library(option: str) -> None:
    program = (
        "import sys; from benchgate.cli import main; sys.argv[1:] = sys.argv[1:]\n"
        "try: main()\n"
        "finally: print('loaded', *{'numpy', 'pydantic', 'requests', 'rich', 'scipy'} & "
        "sys.modules.keys(), sep='|')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, option], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "loaded", done.stderr


def test_help_lists_every_command(call: Call, tmp_path: Path) -> None:
    for options in (("--help",), ("-h",)):
        done = call(tmp_path, *options)
        done.check(0)
        for name, summary in COMMANDS.items():
            assert re.search(rf"^  {name} +{re.escape(summary[:40])}", done.out, re.MULTILINE), name


def test_without_a_command_it_says_what_there_is(call: Call, tmp_path: Path) -> None:
    done = call(tmp_path)
    assert done.code == 2
    assert "check" in done.out + done.err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(call: Call, tmp_path: Path, name: str) -> None:
    done = call(tmp_path, name, "--help")
    done.check(0)
    assert re.search(r"Examples?:", done.out)
    assert f"benchgate {name}" in done.out
    # What the group says of it is what it says of itself.
    assert COMMANDS[name].rstrip(".") in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("chekc",), ("no such command 'chekc'", "Did you mean 'check'?")),
        (("frobnicate",), ("no such command 'frobnicate'",)),
        (("--verson",), ("no such option '--verson'", "--version")),
        (("check", "--jsno", "x"), ("no such option '--jsno'", "--json")),
        (("run", "--buget", "1m"), ("no such option '--buget'", "--budget")),
        (("schema", "configg"), ("'configg' is not one of", "config")),
        (("schema",), ("missing argument", "config")),
    ],
)
def test_typos(
    call: Call, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    done = call(tmp_path, *arguments)
    done.check(2, *words)
    assert done.out == ""


def test_completion(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_BENCHGATE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "benchgate ch")
    monkeypatch.setenv("COMP_CWORD", "1")
    done = call(tmp_path)
    done.check(0)
    assert done.out == "plain,check\n"
