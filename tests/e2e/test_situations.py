"""What people run into: each situation has its message, its remedy and its exit code."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.done import Done

from benchgate.errors import UsageError
from benchgate.git.repository import Git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program, Project

ONE_ROUND = ("--rounds", "1")


def rows_of(done: Done) -> dict[str, dict[str, Any]]:
    return {row["benchmark"]: row for row in json.loads(done.out)["rows"]}


def test_no_benchmarks(benchgate: Program, toy: Project) -> None:
    toy.git.run("rm", "--quiet", "-r", "benchmarks", "benchgate.toml")
    toy.commit()
    toy.slow_down()
    done = benchgate(toy.root, "check")
    done.check(2, "no benchmarks found", "benchgate init")


def test_no_benchmarks_where_the_configuration_points(benchgate: Program, toy: Project) -> None:
    toy.configure("", benchmarks='[[benchmark]]\npython = "benches"\n')
    benchgate(toy.root, "check").check(2, 'python = "benches"', "no file bench_*.py", "hint:")


def test_uncommitted_changes_are_the_head(benchgate: Program, toy: Project) -> None:
    toy.write({"src/toy/__init__.py": "def work():\n    raise RuntimeError('uncommitted')\n"})
    done = benchgate(toy.root, "check", "--json", "-", *ONE_ROUND)
    done.check(5)
    verdict = json.loads(done.out)
    assert verdict["head"]["dirty"] is True
    assert verdict["base"]["why"] == "HEAD: the changes are not committed"
    assert "uncommitted" in rows_of(done)["toy/work"]["error"]


def test_untracked_benchmark_file_is_new(benchgate: Program, toy: Project) -> None:
    toy.write({"README": "changed"})
    toy.commit()
    toy.write({"benchmarks/bench_fresh.py": "def bench_it():\n    sum(range(500))\n"})
    done = benchgate(toy.root, "check", "--json", "-", *ONE_ROUND)
    assert rows_of(done)["fresh/it"]["outcome"] == "new"
    assert rows_of(done)["fresh/it"]["head"] > 0
    assert "Traceback" not in done.err


def test_right_after_init_both_sides_are_measured(benchgate: Program, toy: Project) -> None:
    toy.git.run("rm", "--quiet", "-r", "benchmarks", "benchgate.toml")
    toy.git.run("commit", "--quiet", "--amend", "--message", "before benchgate")
    benchgate(toy.root / "src", "init").check(0)
    done = benchgate(toy.root, "check", "--json", "-", *ONE_ROUND)
    verdict = json.loads(done.out)
    assert verdict["base"]["why"].startswith("HEAD: 2 new files are not committed: ")
    assert verdict["head"]["untracked"] == 2
    assert {row["outcome"] for row in verdict["rows"]} == {"not tested"}
    assert all(row["base"] and row["head"] for row in verdict["rows"])


def test_what_check_itself_has_written_is_no_change(benchgate: Program, toy: Project) -> None:
    toy.write({"README": "changed"})
    toy.commit()
    for _ in range(2):
        benchgate(toy.root / "src", "check", "--json", "../verdict.json", *ONE_ROUND)
        verdict = json.loads((toy.root / "verdict.json").read_text())
        assert verdict["base"]["ref"] == "HEAD^"
        assert verdict["head"]["untracked"] == 0


@pytest.mark.parametrize("arm", ["base", "head", "both"])
def test_a_benchmark_that_raises(benchgate: Program, toy: Project, arm: str) -> None:
    good = (toy.root / "src/toy/__init__.py").read_text()
    bad = "def work():\n    raise ValueError('no luck')\n"
    toy.write({"benchmarks/bench_other.py": "def bench_sum():\n    sum(range(500))\n"})
    toy.write({"src/toy/__init__.py": good if arm == "head" else bad})
    toy.commit()
    toy.write({"src/toy/__init__.py": good if arm == "base" else bad, "README": "changed"})
    done = benchgate(toy.root, "check", "--all", "--json", "-", *ONE_ROUND)
    # With one round nothing else was compared either.
    done.check(5)
    row = rows_of(done)["toy/work"]
    assert row["outcome"] == ("failed" if arm == "head" else "base failed")
    assert "ValueError: no luck" in row["error"]
    where = "base and head" if arm == "both" else f"the {arm}"
    assert f"crashed on {where}" in row["notes"]
    assert rows_of(done)["other/sum"]["outcome"] == "not tested"


def test_a_benchmark_file_that_cannot_be_imported(benchgate: Program, toy: Project) -> None:
    toy.slow_down()
    toy.write({"benchmarks/bench_broken.py": "import no_such_module\n"})
    done = benchgate(toy.root, "check", "--json", "-", *ONE_ROUND)
    done.check(5)
    assert "no_such_module" in rows_of(done)["broken"]["error"]


def test_a_benchmark_file_that_the_change_breaks_is_a_row_beside_the_base_version(
    benchgate: Program, toy: Project
) -> None:
    toy.write({"benchmarks/bench_toy.py": "import no_such_module\nimport toy\n"})
    done = benchgate(toy.root, "check", "--json", "-", *ONE_ROUND)
    done.check(5)
    rows = rows_of(done)
    assert {id_: row["outcome"] for id_, row in rows.items()} == {
        "toy": "failed",
        "toy/work": "same code",  # the base's version of it runs
    }
    row = rows["toy"]
    assert row["notes"] == ["crashed on the head"]
    line, *trace = row["error"].splitlines()
    assert line.startswith("ModuleNotFoundError: No module named 'no_such_module'. Install it for ")
    assert trace[1:] == [
        '  File "benchmarks/bench_toy.py", line 1, in <module>',
        "    import no_such_module",
    ]


def test_an_environment_that_no_build_creates(benchgate: Program, toy: Project) -> None:
    python = '[[benchmark]]\npython = "benchmarks"\ninterpreter = "{env}/bin/python"\n'
    command = '[[benchmark]]\nname = "tool"\ncommand = "{env}/bin/tool"\n'
    toy.configure("", benchmarks=python + command)
    done = benchgate(toy.root, "check", "--json", "-", *ONE_ROUND)
    done.check(5)
    for id_ in ("toy", "tool"):
        error = rows_of(done)[id_]["error"]
        assert "{env}/bin/" in error
        assert "no command of [build] creates {env}: add some, such as" in error


def test_a_state_folder_that_cannot_be_written_costs_no_verdict(
    benchgate: Program, toy: Project
) -> None:
    benchgate.variables["XDG_STATE_HOME"] = "/dev/null"
    toy.slow_down()
    done = benchgate(toy.root, "check")
    done.check(3, "warning: this result will not be kept: /dev/null/benchgate/", "--output")


def test_a_disk_without_room_for_the_trees(benchgate: Program, toy: Project) -> None:
    toy.write({"large": "x" * 400_000})
    toy.commit()
    toy.slow_down()
    small = toy.root.parent / "small"
    small.mkdir()
    mounted = f"mount -t tmpfs -o size=300k none {shlex.quote(str(small))}"
    inside = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
    if subprocess.run([*inside, mounted], capture_output=True, check=False).returncode:
        pytest.skip("cannot mount a small file system here")
    done = subprocess.run(
        [*inside, f'{mounted} && exec "$0" -m benchgate check', sys.executable],
        cwd=toy.root,
        env={**benchgate.environment(), "TMPDIR": str(small)},
        capture_output=True,
        text=True,
        check=False,
    )
    Done(done.returncode, done.stdout, done.stderr).check(
        2, f"cannot create the trees to measure in {small}: ", "KiB left", "set TMPDIR"
    )
    assert len(toy.git.worktrees()) == 1


def test_a_command_that_is_not_there(benchgate: Program, toy: Project) -> None:
    toy.configure("", benchmarks='[[benchmark]]\nname = "cli"\ncommand = "no-such-program"\n')
    toy.commit()
    toy.slow_down()
    done = benchgate(toy.root, "check", "--json", "-", *ONE_ROUND)
    done.check(5)
    assert "command not found: 'no-such-program'" in rows_of(done)["cli"]["error"]


@pytest.mark.parametrize(("arm", "code"), [("base", 6), ("head", 5)])
def test_a_build_that_fails(benchgate: Program, toy: Project, arm: str, code: int) -> None:
    toy.configure('[build]\ncommand = "sh build.sh"\n')
    broken, good = "echo missing header 17 >&2\nexit 3\n", "true\n"
    toy.write({"build.sh": broken if arm == "base" else good})
    toy.commit()
    toy.write({"build.sh": broken if arm == "head" else good})
    done = benchgate(toy.root, "check")
    done.check(code, f"building the {arm}", "sh build.sh exited with code 3", "header 17")
    assert done.out == ""


def test_a_benchmark_that_the_base_lacks_and_one_that_the_head_lacks(
    benchgate: Program, toy: Project
) -> None:
    toy.write({"benchmarks/bench_old.py": "def bench_it():\n    sum(range(500))\n"})
    toy.commit()
    (toy.root / "benchmarks/bench_old.py").unlink()
    toy.write({"benchmarks/bench_new.py": "def bench_it():\n    sum(range(500))\n"})
    done = benchgate(toy.root, "check", "--json", "-", "--fail-on", "missing", *ONE_ROUND)
    done.check(4)
    assert rows_of(done)["new/it"]["outcome"] == "new"
    assert rows_of(done)["old/it"]["outcome"] == "missing"
    assert json.loads(done.out)["decision"] == "fail"


def test_a_missing_benchmark_is_no_pass_by_default(benchgate: Program, toy: Project) -> None:
    toy.git.run("mv", "benchmarks/bench_toy.py", "benchmarks/bench_moved.py")
    done = benchgate(toy.root, "check", *ONE_ROUND)
    done.check(4)
    assert "toy/work was removed" in done.out
    assert "No verdict" in done.out


def test_a_shallow_clone_without_the_base(benchgate: Program, toy: Project, tmp_path: Path) -> None:
    toy.slow_down()
    toy.commit()
    clone = tmp_path / "clone"
    toy.git.run("clone", "--quiet", "--depth=1", f"file://{toy.root}", str(clone))
    done = benchgate(clone, "check")
    done.check(6, "shallow clone", "hint:", "git fetch --depth=1 origin")
    command = next(line for line in done.err.splitlines() if "git fetch" in line)
    Git(clone).run(*command[command.index("fetch") :].split())
    assert benchgate(clone, "check", *ONE_ROUND).code == 4  # too few rounds, but it was measured


def test_merge_conflicts(benchgate: Program, toy: Project) -> None:
    toy.git.run("checkout", "--quiet", "-b", "other")
    toy.write({"README": "other"})
    toy.commit()
    toy.git.run("checkout", "--quiet", "main")
    toy.write({"README": "main"})
    toy.commit()
    with pytest.raises(UsageError):
        toy.git.run("merge", "other")
    benchgate(toy.root, "check").check(2, "there are unresolved merge conflicts: README", "hint:")


def test_an_output_that_cannot_be_written(benchgate: Program, toy: Project) -> None:
    toy.configure('[build]\ncommand = "false"\n')
    toy.slow_down()
    done = benchgate(toy.root, "check", "--output", "no/such/folder/file.json")
    done.check(2, "no/such/folder", "hint: mkdir -p")
    assert "found" not in done.err
    assert "building" not in done.err


def test_temporary_files_inside_of_the_repository(benchgate: Program, toy: Project) -> None:
    toy.slow_down()
    (toy.root / "tmp").mkdir()
    benchgate.temporary = toy.root / "tmp"
    benchgate(toy.root, "check").check(2, "is inside the repository", "TMPDIR")
