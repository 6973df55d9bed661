from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchgate.cli.init import workflow_texts, write
from benchgate.errors import UsageError
from benchgate.git.repository import Git
from benchgate.project.agents import SECTION
from benchgate.project.proposal import choose_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.cli.conftest import Call

ACTION = "octo-org/benchgate@v1"
WORKFLOWS = [".github/workflows/benchgate.yml", ".github/workflows/benchgate-comment.yml"]


@pytest.fixture
def project(repo: Git, commit: Callable[[Git, Mapping[str, str]], str]) -> Git:
    commit(repo, {"src/pkg/__init__.py": ""})
    repo.run("branch", "--move", "trunk")
    repo.run("remote", "add", "origin", "https://github.com/octo-org/hello.git")
    return repo


@pytest.fixture
def on_github(
    project: Git,
    make_repo: Callable[[str], Git],
    commit: Callable[[Git, Mapping[str, str]], str],
    monkeypatch: pytest.MonkeyPatch,
) -> Git:
    """A project, and a folder that git takes for github.com; it has one copy of the action."""
    (project.root.parent / "octo-org").mkdir()
    copy = make_repo("octo-org/benchgate")
    commit(copy, {"action.yml": ""})
    copy.run("tag", "--annotate", "--message", "First", "v1")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{project.root.parent.as_uri()}/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://github.com/")
    return project


def wrote(out: str) -> list[str]:
    return [line.removeprefix("wrote ") for line in out.splitlines() if line.startswith("wrote ")]


def test_what_is_written_is_said_and_checked(call: Call, project: Git) -> None:
    done = call(project.root, "init")
    done.check(0)
    assert wrote(done.out) == ["benchgate.toml", "benchmarks/bench_pkg.py"]
    assert "`benchgate validate` finds no problem." in done.out
    assert "The functions run in CPython 3." in done.out
    assert "git add benchgate.toml benchmarks/bench_pkg.py && git commit" in done.out
    call(project.root, "validate").check(0)


def test_it_says_if_git_ignores_what_it_writes(call: Call, project: Git) -> None:
    (project.root / ".gitignore").write_text("a\n/*\n!/benchmarks\n!.gitignore\n")
    done = call(project.root, "init")
    done.check(0)
    assert "git ignores benchgate.toml because of .gitignore:2" in done.out
    command = next(line for line in done.out.splitlines() if "git add" in line)
    assert command.strip().startswith("git add --force benchgate.toml benchmarks/bench_pkg.py &&")
    assert "ignores benchmarks" not in done.out


def test_a_dry_run_prints_and_writes_nothing(call: Call, project: Git) -> None:
    done = call(project.root, "init", "--dry-run")
    done.check(0)
    assert done.out.startswith("# benchgate.toml\n")
    assert "# benchmarks/bench_pkg.py\n" in done.out
    assert done.err == "Found the Python package pkg (in src).\n"
    assert project.run("status", "--porcelain") == ""


def test_the_next_steps_work_before_the_first_commit(call: Call, repo: Git) -> None:
    (repo.root / "pkg").mkdir()
    (repo.root / "pkg" / "__init__.py").touch()
    done = call(repo.root, "init")
    done.check(0)
    (step,) = (line.strip() for line in done.out.splitlines() if "git commit" in line)
    assert step.startswith("git add --all && ")
    subprocess.run(["/bin/sh", "-ec", step], cwd=repo.root, check=True, capture_output=True)
    assert repo.run("status", "--porcelain") == ""
    done = call(repo.root, "list")
    done.check(0)
    assert "pkg/replace_me" in done.out


def test_outside_of_git_the_first_step_is_to_create_a_repository(
    call: Call, tmp_path: Path
) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    done = call(tmp_path, "init")
    done.check(0)
    assert "  git init\n" in done.out


@pytest.mark.parametrize(
    ("files", "start", "folder"),
    [
        (["pyproject.toml"], ".", "."),
        (["pyproject.toml", "libs/a/pyproject.toml"], "libs/a/src/a", "libs/a"),
        (["pyproject.toml"], "src/pkg", "."),
        ([], "src/pkg", "."),
        (["tools/c/Makefile"], "tools/c", "tools/c"),
    ],
)
def test_the_innermost_project_gets_the_configuration(
    tmp_path: Path, files: list[str], start: str, folder: str
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / start).mkdir(parents=True, exist_ok=True)
    assert choose_folder(tmp_path / start, tmp_path) == tmp_path / folder
    assert choose_folder(tmp_path / start, None) == tmp_path / start


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("benchgate.toml", "", "exists already"),
        ("pyproject.toml", "[tool.benchgate]\n", "has a [tool.benchgate] table already"),
    ],
)
def test_a_configured_project_is_refused(
    call: Call, project: Git, name: str, text: str, message: str
) -> None:
    (project.root / name).write_text(text)
    call(project.root, "init").check(2, message, "hint:")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    files = {tmp_path / "benchgate.toml": "first"}
    write(files)
    with pytest.raises(UsageError, match="cannot write"):
        write(files)


def test_workflows_are_only_written_on_demand(call: Call, on_github: Git) -> None:
    done = call(on_github.root, "init")
    assert wrote(done.out) == ["benchgate.toml", "benchmarks/bench_pkg.py"]
    done = call(on_github.root, "init", "--action", ACTION)
    done.check(0)
    assert wrote(done.out) == WORKFLOWS
    gate, comment = ((on_github.root / name).read_text() for name in WORKFLOWS)
    assert "branches: [trunk]" in gate
    commit = copy_of_action(on_github).head_sha()
    for text in (gate, comment):
        assert f"uses: octo-org/benchgate@{commit} # v1\n" in text
    assert "working-directory" not in gate + comment


def copy_of_action(project: Git) -> Git:
    return Git(project.root.parent / "octo-org" / "benchgate")


@pytest.mark.parametrize("ref", ["trunk", "next", "0" * 40])
def test_workflows_use_a_commit(call: Call, on_github: Git, ref: str) -> None:
    copy = copy_of_action(on_github)
    commit = copy.head_sha()
    copy.run("tag", "trunk")  # a tag comes before a branch of its name
    copy.run("branch", "next")
    copy.run("checkout", "--quiet", "-b", "trunk")
    copy.run("commit", "--quiet", "--allow-empty", "--message", "Newer")
    call(on_github.root, "init", "--action", f"octo-org/benchgate@{ref}").check(0)
    pinned = f"{ref}\n" if ref.startswith("0") else f"{commit} # {ref}\n"
    for name in WORKFLOWS:
        assert f"uses: octo-org/benchgate@{pinned}" in (on_github.root / name).read_text()


def test_workflows_of_a_subfolder_run_there(call: Call, on_github: Git) -> None:
    folder = on_github.root / "libs" / "deep"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "__init__.py").touch()
    (folder / "pyproject.toml").touch()
    done = call(folder, "init", "--action", ACTION)
    done.check(0)
    assert wrote(done.out)[-1] == "../../.github/workflows/benchgate-comment.yml"
    for name in WORKFLOWS:
        assert 'working-directory: "libs/deep"' in (on_github.root / name).read_text()


@pytest.fixture
def before_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchgate.cli.init.RELEASED", False)


@pytest.fixture
def released(
    monkeypatch: pytest.MonkeyPatch, on_github: Git, make_repo: Callable[[str], Git]
) -> str:
    """What the workflows use once there is a release."""
    monkeypatch.setattr("benchgate.cli.init.RELEASED", True)
    (on_github.root.parent / "benchgate").mkdir()
    action = make_repo("benchgate/benchgate")
    action.run("commit", "--quiet", "--allow-empty", "--message", "Release")
    action.run("tag", "v1")
    return f"uses: benchgate/benchgate@{action.head_sha()} # v1\n"


@pytest.mark.usefixtures("before_the_release")
def test_workflows_need_an_action(call: Call, on_github: Git) -> None:
    call(on_github.root, "init", "--workflows").check(2, "--workflows needs --action", "hint:")


def test_workflows_use_the_release(call: Call, on_github: Git, released: str) -> None:
    done = call(on_github.root, "init", "--workflows")
    done.check(0)
    assert wrote(done.out)[-2:] == WORKFLOWS
    for name in WORKFLOWS:
        assert released in (on_github.root / name).read_text()


@pytest.mark.parametrize("answer", ["y\n", "\n"])
def test_a_person_is_asked_for_workflows(
    call: Call, on_github: Git, released: str, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    (on_github.root / ".github").mkdir()
    monkeypatch.setattr("sys.stdin", Terminal(f"{answer}n\n"))
    done = call(on_github.root, "init")
    done.check(0)
    assert wrote(done.out)[2:] == (WORKFLOWS if answer == "y\n" else [])
    for name in wrote(done.out)[2:]:
        assert released in (on_github.root / name).read_text()


def test_workflows_need_a_repository(call: Call, tmp_path: Path) -> None:
    done = call(tmp_path, "init", "--action", ACTION)
    done.check(2, "not in a git repository")


def test_what_is_no_workflow_is_not_read(call: Call, on_github: Git) -> None:
    folder = on_github.root / ".github" / "workflows"
    (folder / "folder.yml").mkdir(parents=True)
    (folder / "nowhere.yml").symlink_to("gone")
    (folder / "loop.yml").symlink_to("loop.yml")
    os.mkfifo(folder / "pipe.yml")  # reading it would never end
    done = call(on_github.root, "init", "--workflows", "--action", ACTION)
    done.check(0)
    assert wrote(done.out)[-2:] == WORKFLOWS


def test_workflows_that_use_benchgate_already_are_left_alone(call: Call, on_github: Git) -> None:
    write({on_github.root / ".github/workflows/perf.yaml": "- uses: octo-org/benchgate@v1\n"})
    done = call(on_github.root, "init", "--action", ACTION)
    done.check(2, "perf.yaml already uses benchgate")


@pytest.mark.parametrize(
    ("action", "message"),
    [
        *(
            (wrong, "must be OWNER/NAME@REF")
            for wrong in ("benchgate", "o/n", "o/n@", "o/n@v1\n- run: evil", "o/n@a b")
        ),
        ("octo-org/benchgate@v2", "octo-org/benchgate has no branch or tag v2"),
        ("octo-org/nothing@v1", "GitHub has no repository octo-org/nothing"),
    ],
)
def test_an_action_that_is_none_is_refused(
    call: Call, on_github: Git, action: str, message: str
) -> None:
    call(on_github.root, "init", "--action", action).check(2, message, "hint:")
    assert on_github.run("status", "--porcelain") == ""


def test_an_action_that_cannot_be_checked_is_written_with_a_word(
    call: Call, on_github: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "url.http://localhost:1/.insteadOf")
    done = call(on_github.root, "init", "--action", ACTION)
    done.check(0)
    assert f"benchgate could not check that {ACTION} exists" in done.out
    assert f"uses: {ACTION}\n" in (on_github.root / WORKFLOWS[0]).read_text()


def test_any_name_of_a_branch_is_quoted(project: Git) -> None:
    project.run("branch", 'a"b#c')
    project.run("config", "init.defaultBranch", 'a"b#c')
    assert r'branches: ["a\"b#c"]' in workflow_texts(project, ACTION)[WORKFLOWS[0]]


def test_the_workflows_are_what_linters_ask_for(project: Git) -> None:
    action = f"octo-org/benchgate@{'a' * 40}"
    texts = workflow_texts(project, action, folder="libs/a", tool="uv")
    write({project.root / name: text for name, text in texts.items()})
    workflows = [str(project.root / path) for path in texts]
    for command in (
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows],
        ["zizmor", "--offline", "--no-progress", "--persona=pedantic", *workflows],
    ):
        done = subprocess.run(
            [Path(sys.executable).with_name(command[0]), *command[1:]],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


class Terminal(io.StringIO):
    """What a person types."""

    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("before_the_release")
@pytest.mark.parametrize(("answer", "workflows"), [(f"{ACTION}\n", WORKFLOWS), ("\n", [])])
def test_a_person_is_asked_for_the_action(
    call: Call,
    on_github: Git,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    workflows: list[str],
) -> None:
    on_github.run("remote", "set-url", "origin", "git@github.com:octo-org/hello.git")
    monkeypatch.setattr("sys.stdin", Terminal(f"{answer}n\n"))
    done = call(on_github.root, "init")
    done.check(0)
    assert wrote(done.out) == ["benchgate.toml", "benchmarks/bench_pkg.py", *workflows]
    assert "Your copy of it, as OWNER/NAME@REF" in done.out


@pytest.mark.parametrize("before", [None, "", "# Rules\n", "# Rules", "# R\u00e4gles\r\n"])
def test_a_section_for_coding_agents_comes_last_and_once(
    call: Call, project: Git, before: str | None
) -> None:
    path = project.root / "AGENTS.md"
    if before is not None:
        path.write_bytes(before.encode())
    done = call(project.root, "init", "--agents")
    done.check(0)
    assert "wrote a section for coding agents to AGENTS.md" in done.out
    assert "git add benchgate.toml benchmarks/bench_pkg.py AGENTS.md &&" in done.out
    text = path.read_bytes().decode()
    assert text.startswith(before or "")
    assert text.endswith(f"\n\n{SECTION}" if before else SECTION)

    call(project.root, "init", "--agents").check(2, "AGENTS.md already says how to call benchgate")
    assert path.read_bytes().decode() == text


def test_a_configured_project_gets_the_section_alone(call: Call, project: Git) -> None:
    call(project.root, "init").check(0)
    assert not (project.root / "AGENTS.md").exists()
    call(project.root, "init", "--agents", "--dry-run").check(0)
    assert not (project.root / "AGENTS.md").exists()
    done = call(project.root, "init", "--agents")
    done.check(0)
    assert wrote(done.out) == ["a section for coding agents to AGENTS.md"]
    assert "To undo this, delete the section of AGENTS.md." in done.out


@pytest.mark.parametrize("answer", ["y\n", "n\n", "\n"])
def test_a_person_sees_the_section_and_is_asked(
    call: Call, project: Git, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    project.run("remote", "remove", "origin")
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    done = call(project.root, "init")
    done.check(0)
    assert SECTION in done.out
    assert "Write this as AGENTS.md, for coding agents? [y/N]" in done.out
    assert (project.root / "AGENTS.md").exists() is (answer == "y\n")


def test_a_file_for_agents_that_cannot_be_written(call: Call, project: Git) -> None:
    (project.root / "AGENTS.md").mkdir()
    call(project.root, "init", "--agents").check(2, "AGENTS.md: Is a directory")


@pytest.mark.parametrize("command", ["check", "run", "list"])
def test_without_a_configuration_the_suites_are_named(
    call: Call, repo: Git, commit: Callable[[Git, Mapping[str, str]], str], command: str
) -> None:
    test = "def test_a(benchmark):\n    benchmark(sorted, [1])\n"
    commit(repo, {"go.mod": "module a\n"})
    commit(repo, {"tests/test_a.py": test})
    done = call(repo.root, command)
    done.check(2, "there is no configuration file that says what to measure")
    assert "Found 1 test with the benchmark fixture in tests." in done.err
    assert "hint: `benchgate init` writes a benchgate.toml that measures this." in done.err
