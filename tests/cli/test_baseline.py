"""`check --baseline`: what is refused before anything is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Call

    from benchgate.git.repository import Git


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ("--baseline", "artifact"),
            2,
            "only `benchgate ci` in a job on GitHub can read these results",
        ),
        (
            ("--baseline", "folder:x"),
            2,
            "must be auto, artifact, git, git:REF, dir:PATH or file:PATH",
        ),
        (("--baseline", "file:"), 2, "must be auto, artifact, git, git:REF, dir:PATH or file:PATH"),
        (("--baseline", "dir:x", "--against", "main"), 2, "--against and --baseline both say"),
        (("--baseline", "dir:x", "--until-decided"), 2, "--until-decided: stored results cannot"),
        (("--baseline", "dir:x", "--benchmarks", "head"), 2, "needs a base that is measured"),
        (("--baseline", "dir:benchgate.toml"), 2, "cannot read benchgate.toml: Not a directory"),
        (
            ("--baseline", "file:benchgate.toml"),
            2,
            "benchgate.toml: is neither a result of benchgate",
        ),
        (("--baseline", "git:nowhere"), 6, "'nowhere': there is no such commit"),
    ],
)
def test_what_cannot_be_a_baseline_is_refused(
    call: Call, repo: Git, arguments: tuple[str, ...], code: int, words: str
) -> None:
    (repo.root / "benchgate.toml").write_text("[gate]\n")
    repo.run("add", ".")
    repo.run("commit", "--quiet", "--message", "work")
    call(repo.root, "check", *arguments).check(code, words)
