"""From a project without benchgate to a right verdict, by the steps that `benchgate init` names."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.done import Done
    from tests.e2e.conftest import Program

    from benchgate.git.repository import Git

# A published project is downloaded and built several times.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SLEEP_IN_NODE = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);\n"
# Eight rounds reach p = 1/256, and chance stays inside of 50 %.
QUICK = '[gate]\nmargin = "50%"\nstatistics = ["p25"]\n[measure]\nrounds = 8\nexecutions = 1\n'


@dataclass(frozen=True)
class Case:
    """A project, what a person edits after `init`, and a change that makes it slower.

    Attributes:
        files: of the project; none for a published one.
        edits: in files, old text to new text; what a person writes into them.
        slower: the same for the change.
    """

    files: dict[str, str]
    edits: dict[str, tuple[str, str]]
    slower: dict[str, tuple[str, str]]
    row: str


SLEEP = "__import__('time').sleep(0.002)"
CASES = {
    "packaging": Case(
        {},
        {
            "benchmarks/bench_packaging.py": (
                "repr(packaging)",
                "import packaging.version as v; v.parse('1.0')",
            )
        },
        {"src/packaging/version.py": ("    return Version(", f"    {SLEEP}\n    return Version(")},
        "packaging/replace_me",
    ),
    "markupsafe": Case(
        {},
        {"benchmarks/bench_markupsafe.py": ("repr(markupsafe)", "markupsafe.escape('<a>')")},
        {"src/markupsafe/__init__.py": ("-> Markup:\n", f"-> Markup:\n    {SLEEP}\n")},
        "markupsafe/replace_me",
    ),
    "make": Case(
        {
            "Makefile": "CFLAGS = -O2\nall: tool\ntool: tool.c\n\t$(CC) $(CFLAGS) -o $@ $<\n",
            "tool.c": "#include <unistd.h>\nint main(void) { usleep(1000); return 0; }\n",
            ".gitignore": "tool\n",
        },
        {},
        {"tool.c": ("usleep(1000)", "usleep(200000)")},
        "cli/tool",
    ),
    "node": Case(
        {
            "package.json": '{"name": "tool", "version": "1.0.0", "bin": "cli.js"}',
            "cli.js": "console.log('ok');\n",
        },
        {},
        {"cli.js": ("console", SLEEP_IN_NODE + "console")},
        "cli/tool",
    ),
    "go": Case(
        {
            "go.mod": "module example.org/sums\n\ngo 1.18\n",
            "sums.go": "package sums\n\nconst most = 1000\n\n"
            "func Sum() (sum int) {\n\tfor i := 0; i < most; i++ {\n\t\tsum += i * sum\n\t}\n"
            "\treturn sum\n}\n",
            "sums_test.go": 'package sums\n\nimport "testing"\n\nvar kept int\n\n'
            "func BenchmarkSum(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n"
            "\t\tkept = Sum()\n\t}\n}\n",
        },
        {},
        {"sums.go": ("most = 1000", "most = 10000")},
        "Sum",
    ),
}


def published(name: str, folder: Path) -> None:
    """Unpack the source of a published project into a folder."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=:all:"]
    subprocess.run([*pip, name, "--dest", folder.parent], check=True, timeout=250)
    (archive,) = folder.parent.glob(f"{name}*.tar.gz")
    with tarfile.open(archive) as opened:
        for member in opened.getmembers():
            member.name = member.name.partition("/")[2]
            if member.name:
                opened.extract(member, folder, filter="data")


def edit(root: Path, changes: dict[str, tuple[str, str]]) -> None:
    for name, (old, new) in changes.items():
        text = (root / name).read_text()
        assert old in text, f"{name}:\n{text}"
        (root / name).write_text(text.replace(old, new, 1))


def called(benchgate: Program, folder: Path, *arguments: str) -> Done:
    """Call it, and give it the time to build both sides on a busy machine."""
    return benchgate.wait(benchgate.start(folder, *arguments, "--json", "-"), 250)


@pytest.mark.parametrize("name", sorted(CASES))
def test_to_a_right_verdict(benchgate: Program, make_repo: Callable[[str], Git], name: str) -> None:
    if name == "go" and shutil.which(name) is None:
        pytest.skip("go: not installed")
    case, git = CASES[name], make_repo(name)
    for path, text in case.files.items():
        (git.root / path).write_text(text)
    if not case.files:
        published(name, git.root)
    done = benchgate.wait(benchgate.start(git.root, "init"))
    done.check(0)
    edit(git.root, case.edits)
    if name == "packaging":
        edit(
            git.root,
            {"benchmarks/bench_packaging.py": ("import packaging", "import packaging.version")},
        )
    config = git.root / "benchgate.toml"
    config.write_text(f"{QUICK}\n{config.read_text()}")
    (commit,) = re.findall(r"^ +(git add .*)$", done.out, re.MULTILINE)
    subprocess.run(["/bin/sh", "-ec", commit], cwd=git.root, check=True, capture_output=True)
    (same,) = re.findall(r"^ +benchgate (check --against HEAD)", done.out, re.MULTILINE)
    found = called(benchgate, git.root, *same.split())
    assert found.code in {0, 4}, found.err
    (row,) = json.loads(found.out)["rows"]
    assert (row["benchmark"], row["outcome"]) in {
        (case.row, "unchanged"),
        (case.row, "inconclusive"),
    }

    edit(git.root, case.slower)
    found = called(benchgate, git.root, "check")
    (row,) = json.loads(found.out)["rows"]
    assert (row["benchmark"], row["outcome"]) == (case.row, "regressed"), found.err
