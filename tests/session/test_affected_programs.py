"""Which commands, suites and programs of other languages a change affects."""

from __future__ import annotations

import shutil
import sys
from contextlib import chdir
from typing import TYPE_CHECKING

import pytest

from benchgate.cli.world import configuration, real_effects
from benchgate.session.checking import CheckRequest, affected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.git.repository import Git

KIT = """
import subprocess, sys

def count():
    return sum(range(1000))

def read():
    return len(open("data/words.txt").read())

def start():
    subprocess.run(["cat", "data/words.txt"], stdout=subprocess.DEVNULL, check=True)

if __name__ == "__main__":
    {"count": count, "read": read, "start": start}[sys.argv[1]]()
"""
COMMANDS = "".join(
    f'[[benchmark]]\nname = "{name}"\ncommand = "{sys.executable} kit.py {name}"\n'
    for name in ("count", "read", "start")
)


STARTS = "starts a program, and benchgate cannot see what that looks for"
SHELL = """
[[benchmark]]
name = "shell"
command = "cat data/words.txt"
allow_foreign = true
[[benchmark]]
name = "other"
command = "cat other.txt"
allow_foreign = true
"""


def reasons(git: Git, base: Mapping[str, str], head: Mapping[str, str]) -> Mapping[str, str]:
    """What `benchgate affected` says of a change that writes the files of the head."""
    for files in (base, head):
        for name, text in files.items():
            path = git.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if files is base:
            git.run("add", "--all")
            git.run("commit", "--quiet", "--message", "work")
    with chdir(git.root):
        config = configuration(git.root, git, None)
        return affected(CheckRequest(), config, git, real_effects(quiet=True))


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ({"README.md": "more"}, ("", "", STARTS)),
        (
            {"kit.py": KIT.replace("range(1000)", "range(2000)")},
            ("runs `count` of kit.py, edited", "", STARTS),
        ),
        (
            {"data/words.txt": "a b c d"},
            ("", "opens data/words.txt, changed", STARTS),
        ),
    ],
)
def test_commands(repo: Git, head: Mapping[str, str], expected: tuple[str, ...]) -> None:
    base = {"benchgate.toml": COMMANDS, "kit.py": KIT, "data/words.txt": "a b c"}
    found = reasons(repo, base, head)
    assert tuple(found[name] for name in ("count", "read", "start")) == expected


def test_a_command_that_is_no_program_of_python(repo: Git) -> None:
    base = {"benchgate.toml": SHELL, "data/words.txt": "a", "other.txt": "a"}
    found = reasons(repo, base, {"data/words.txt": "b"})
    assert found == {"shell": "one of its processes opens data/words.txt, changed", "other": ""}


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo {sha}", "uses {sha}, and benchgate cannot see what that names"),
        ("docker run shop", "starts a container, and benchgate cannot see what runs in it"),
        ("sh -c 'cd x; podman-compose up'", "starts a container"),
        ("cat docker/words.txt docker.txt", ""),
    ],
)
def test_a_command_whose_work_is_elsewhere_is_affected(repo: Git, command: str, why: str) -> None:
    config = f'[[benchmark]]\nname = "it"\ncommand = "{command}"\nallow_foreign = true\n'
    base = {"benchgate.toml": config, "docker/words.txt": "a", "docker.txt": "a"}
    found = reasons(repo, base, {"README": "b"})["it"]
    assert found.startswith(why)
    assert bool(found) == bool(why)


def test_a_command_that_fails_cannot_be_seen(repo: Git) -> None:
    base = {"benchgate.toml": COMMANDS, "kit.py": KIT, "data/words.txt": "a b c"}
    found = reasons(repo, base, {"kit.py": KIT.replace("len(", "lem(")})
    assert found["read"].startswith("cannot be seen: ")
    assert found["count"] == ""


@pytest.mark.skipif(shutil.which("c++") is None, reason="c++: not installed")
def test_a_program_of_another_language(repo: Git) -> None:
    """A comment changes what debuggers read, and no more; the other program is not built anew."""
    program = (
        '#include "benchgate.h"\n#include "work.h"\n'
        "BENCHGATE(work) { benchgate::keep(work()); }\nBENCHGATE_MAIN()\n"
    )
    config = (
        '[build]\nshell = true\ncommand = ["$CXX -g one.cc -o one", "$CXX -g two.cc -o two"]\n'
        '[[benchmark]]\ncpp = ["one", "two"]\n'
    )
    base = {
        "benchgate.toml": config,
        ".gitignore": "one\ntwo\n",
        "one.cc": program,
        "two.cc": program.replace("work.h", "other.h"),
        "work.h": "inline int work() { return 1; }\n",
        "other.h": "inline int work() { return 1; }\n",
    }
    work = "inline int work() { return 1; } // the same\n"
    found = reasons(repo, base, {"work.h": work})
    assert found == {"one/work": "", "two/work": ""}
    found = reasons(repo, {}, {"other.h": base["other.h"].replace("1", "2")})
    assert found == {"one/work": "", "two/work": "runs a program that differs"}


def test_a_suite_by_what_it_opens(repo: Git) -> None:
    config = f'[[benchmark]]\nsuite = "{sys.executable} suite.py"\nformat = "pytest-benchmark"\n'
    result = {"benchmarks": [{"name": "sum", "fullname": "sum", "stats": {"data": [0.1, 0.2]}}]}
    text = f"import helper, json\nprint(json.dumps({result!r}))\n"
    base = {"benchgate.toml": config, "suite.py": text, "helper.py": "", "other.py": ""}
    (name, why), *_ = reasons(repo, base, {"other.py": "A = 1\n"}).items()
    assert why == ""
    found = reasons(repo, {}, {"helper.py": "A = 1\n"})
    assert found[name] == "opens helper.py, changed"


def test_a_file_that_cannot_be_read_is_named(repo: Git) -> None:
    bench = "from kit import count\n\ndef bench_count():\n    count()\n"
    base = {"bench_kit.py": bench, "kit.py": KIT}
    found = reasons(repo, base, {"kit.py": KIT.replace("def count", "def counts")})
    assert found["kit"].startswith("cannot be read: ImportError: ")
