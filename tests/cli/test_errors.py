"""What is refused before anything is measured: message, remedy, exit code."""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from benchgate.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.cli.conftest import Call

    from benchgate.git.repository import Git

RUN = "https://github.com/octo-org/hello/actions/runs/1234567890"


@pytest.fixture
def project(repo: Git, commit: Callable[[Git, Mapping[str, str]], str]) -> Path:
    """A repository of one commit with a benchmark."""
    commit(repo, {"benchmarks/bench_a.py": "def bench_a():\n    pass\n"})
    return repo.root


def test_outside_of_a_repository(call: Call, tmp_path: Path) -> None:
    done = call(tmp_path, "check")
    done.check(2, "error:", "is not in a git repository", "benchgate run")
    assert done.out == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "--rounds", "x"), "error: '--rounds': 'x' is not a valid integer"),
        (("check", "--bogus"), "error: no such option '--bogus'"),
        (("chekc",), "error: no such command 'chekc'"),
    ],
)
def test_what_cannot_be_parsed_is_said_as_any_error(
    call: Call, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = call(tmp_path, *arguments)
    done.check(2, said, " --help` shows how it is called.")
    assert done.err.startswith("error: ")


def test_a_terminal_sees_something_before_the_imports(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert call(tmp_path, "check").err.startswith("starting\r")
    assert "starting" not in call(tmp_path, "check", "-q").err


def test_nothing_committed(call: Call, repo: Git) -> None:
    call(repo.root, "check").check(2, "has no commit yet", "hint:")


def test_first_commit_with_nothing_changed(call: Call, project: Path) -> None:
    call(project, "check").check(6, "HEAD is the first commit", "hint:")


def test_against_something_unknown(call: Call, project: Path, repo: Git) -> None:
    repo.run("branch", "release")
    done = call(project, "check", "--against", "relaese")
    done.check(6, "--against 'relaese'", "did you mean 'release'?")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[measure]\nsample = 3\n", ("benchgate.toml:2", "sample", "did you mean 'samples'")),
        ('[gate]\nmargin = "much"\n', ("benchgate.toml:2", "gate.margin", "much", "2%")),
        ("[gate]\nmargin = 2%\n", ("benchgate.toml:2", "not valid TOML")),
        ('[[benchmark]]\ncommand = "true"\n', ("benchgate.toml:1", "name")),
    ],
)
@pytest.mark.parametrize("command", ["check", "run", "list", "validate", "doctor"])
def test_wrong_configuration(
    call: Call, project: Path, command: str, text: str, words: tuple[str, ...]
) -> None:
    (project / "benchgate.toml").write_text(text)
    call(project, command).check(2, "error:", *words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rounds", "20"), ("--rounds works only with --self-check", "hint: Add --self-check.")),
        (("--self-check", "--rounds", "9"), ("--rounds", "9 is not in the range x>=10")),
    ],
)
def test_wrong_options_of_the_doctor(
    call: Call, project: Path, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    call(project, "doctor", *options).check(2, *words)


@pytest.mark.parametrize("command", ["check", "run", "list", "validate"])
def test_a_configuration_file_that_is_not_there(call: Call, project: Path, command: str) -> None:
    call(project, command, "--config", "other.toml").check(2, "other.toml", "hint:")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--margin", "much"), ("--margin", "much")),
        (("--alpha", "2"), ("--alpha", "2")),
        (("--budget", "soon"), ("--budget", "soon")),
        (("--rounds", "0"), ("--rounds", "0")),
        (("--rounds", "many"), ("--rounds", "many")),
        (("--seed", "-1"), ("--seed", "-1")),
        (("--until-decided", "--rounds", "8"), ("--until-decided: contradicts `rounds`", "hint:")),
        (("--until-decided", "--rule", "classical"), ("--until-decided: needs rule", "hint:")),
        (("--rule", "clasical"), ("--rule", "classical")),
        (("--fail-on", "regresed"), ("--fail-on", "regressed")),
        (("--json", "-", "--markdown", "-"), ("--json and --markdown", "standard output")),
        (("--output", "a.json", "--json", "./a.json"), ("--output and --json", "a.json")),
        (("--junit", "a.xml", "--csv", "./a.xml"), ("--junit and --csv", "a.xml")),
        (("--csv", "-", "--json", "-"), ("--json and --csv", "standard output")),
        (("--output", "no/folder/result.json"), ("no/folder", "hint: mkdir -p")),
        (("--json", "no/folder/verdict.json"), ("no/folder", "hint: mkdir -p")),
        (("--markdown", "no/folder/comment.md"), ("no/folder", "hint: mkdir -p")),
        (("--junit", "no/folder/benchgate.xml"), ("no/folder", "hint: mkdir -p")),
        (("--csv", "no/folder/verdict.csv"), ("no/folder", "hint: mkdir -p")),
        (("--output", "benchmarks"), ("--output", "benchmarks", "is a directory")),
        (
            ("--artifact", "a"),
            ("--artifact needs --run URL: it names one of the results", "needs --run URL"),
        ),
        (
            ("--run", RUN, "--json", "-", "-q", "--margin", "3%", "--against", "main"),
            (
                "run's settings; --against, --margin cannot be combined",
                "hint: To use other settings",
            ),
        ),
        (
            ("--run", RUN, "--filter", "a", "--shard", "1/2"),
            ("run's settings; --filter, --shard cannot be combined",),
        ),
        (
            ("--run", RUN, "--until-decided", "--config", "x"),
            ("run's settings; --until-decided, --config cannot be combined",),
        ),
        (("--run", "https://example.org"), ("not the URL of a workflow run",)),
    ],
)
def test_wrong_options(
    call: Call, project: Path, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    done = call(project, "check", *options)
    done.check(2, *words)
    assert done.out == ""
    assert "building" not in done.err


@pytest.mark.parametrize("command", ["show", "compare"])
@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "empty"),
        (b'{"schema": 1, "run"', "cut off"),
        (b"[]", "a.json"),
        (b'{"schema": 99}', "99"),
        (b"\x1f\x8b\x08", "gzip"),
    ],
)
def test_a_damaged_file(
    call: Call, tmp_path: Path, command: str, content: bytes, word: str
) -> None:
    (tmp_path / "a.json").write_bytes(content)
    done = call(tmp_path, command, "a.json")
    done.check(2, "error:", "a.json", word)
    assert done.out == ""


def test_a_file_that_is_not_there(call: Call, tmp_path: Path) -> None:
    for command in ("show", "compare"):
        call(tmp_path, command, "absent.json").check(2, "cannot read absent.json", "hint:")


def test_nothing_measured_yet(call: Call, project: Path) -> None:
    for command in ("show", "compare"):
        call(project, command).check(2, "nothing has been measured in", "benchgate check")


def test_a_message_is_not_obeyed_by_the_runner(
    call: Call, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "no\n ::error::such##[error]file"
    call(project, "check", "--config", name).check(2, "\n ::error::such##[error]file")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    call(project, "check", "--config", name).check(2, "\n : :error::such## [error]file")


def test_a_message_has_no_secrets(
    call: Call, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_PASSWORD", "hunter2_hunter2")
    done = call(project, "check", "--config", "hunter2_hunter2.toml")
    done.check(2, "[removed]")
    assert "hunter2_hunter2" not in done.err


def test_no_folder_for_temporary_files(
    call: Call, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "new.py").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/nowhere"])
    call(project, "check").check(2, "there is no folder for temporary files", "Set TMPDIR")


def test_the_end_of_an_id_suggests_it() -> None:
    assert did_you_mean("load", ["loads", "bench/load"]) == "; did you mean 'bench/load'?"
    assert did_you_mean("laod", ["bench/load", "load"]) == "; did you mean 'load'?"


def test_a_hint_shows_no_link_of_the_pages(call: Call, tmp_path: Path) -> None:
    (tmp_path / "benchgate.toml").write_text("[measure]\nmax_rounds = 2\n")
    done = call(tmp_path, "validate")
    assert "may get twice as many, or what its test needs" in done.err + done.out
