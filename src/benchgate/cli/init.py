"""`benchgate init`: writes a first configuration and workflows that fit the project."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING

import click

from benchgate import RELEASED
from benchgate.cli.boundary import say
from benchgate.cli.validate import validate
from benchgate.cli.world import repository_or_none
from benchgate.config import load
from benchgate.errors import ConfigError, UsageError
from benchgate.files import read_bytes
from benchgate.git.changes import ignored_by, is_ignored
from benchgate.git.repository import FULL_SHA, default_branch, remotes
from benchgate.measure.functions import default_interpreter, with_environment
from benchgate.project.agents import FILE as AGENTS_FILE
from benchgate.project.agents import SECTION, add_section, has_section
from benchgate.project.proposal import Proposal, choose_folder, configured_in, propose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.git.repository import Git
    from benchgate.project.build_steps import BuildSteps


FOLDER = ".github/workflows"
RELEASE_ACTION = "benchgate/benchgate@v1"
EXAMPLE_ACTION = RELEASE_ACTION if RELEASED else "OWNER/benchgate@main"
CHECKOUT = "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2"

_ACTION = re.compile(r"[\w.-]+/[\w.-]+(/[\w./-]+)?@[\w./-]+")
_GITHUB = "https://github.com"
_ASK_TIMEOUT_S = 15.0
_NOT_THERE = ("could not read Username", "not found", "does not exist", "does not appear to be")
_BRANCH = re.compile(r"[\w./+-]+")

_GATE = """\
# Measures every change against the commit that it started from, and says whether it is slower.
name: benchgate

on:
  push:
    branches: [{branch}]
  pull_request:
  merge_group:

permissions: {{}}

# A newer push to a pull request replaces the older one's run. On the default branch, every run is
# a baseline for later ones, and no run waits for another.
concurrency:
  group: benchgate-${{{{ github.event.pull_request.number || github.run_id }}}}
  cancel-in-progress: ${{{{ github.event_name == 'pull_request' }}}}

jobs:
  benchgate:
    name: benchgate
    runs-on: ubuntu-latest
    timeout-minutes: 60
    permissions:
      contents: read # to check out head and base
      actions: read # to find the results of earlier runs
      pull-requests: read # to find out who accepted a regression
    steps:
      - uses: {checkout}
        with:
          persist-credentials: false
      # Add what the benchmarks need here: actions/setup-python, dependencies, ...
{setup}      - uses: {action}
        with:
{folder}          comment: false # benchgate-comment.yml comments
"""

_COMMENT = """\
# Comments on pull requests. Its token can write, so it runs no code of the pull request: it reads
# what the other workflow measured, and decides by the configuration of the target branch.
name: benchgate comment

on:
  workflow_run: # zizmor: ignore[dangerous-triggers] checks out and runs no code of the pull request
    workflows: [benchgate]
    types: [completed]

permissions: {{}}

# One after the other if two runs measured one head, so that they share one comment.
concurrency:
  group: benchgate-comment-${{{{ github.event.workflow_run.head_sha }}}}
  cancel-in-progress: false

jobs:
  comment:
    name: comment
    if: >-
      github.event.workflow_run.event == 'pull_request' &&
      github.event.workflow_run.conclusion != 'cancelled'
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      contents: read # for the configuration of the default branch
      actions: read # to read what was measured
      pull-requests: write # to comment
    steps:
      - uses: {checkout}
        with:
          persist-credentials: false
      - uses: {action}
{with_folder}"""


def pin_action(git: Git, action: str) -> tuple[str, str]:
    """Find the commit of an action: a workflow that names no action fails, and a tag can move.

    Returns:
        What the workflows use, and a sentence that says why it could not be checked, or "".
    """
    if not _ACTION.fullmatch(action):
        raise UsageError(
            f"--action {action!r}: must be OWNER/NAME@REF",
            hint=f"for example --action {EXAMPLE_ACTION}, or a commit of it after the @",
        )
    name, _, ref = action.partition("@")
    repository = "/".join(name.split("/")[:2])
    try:
        listed = git.run("ls-remote", f"{_GITHUB}/{repository}", timeout_s=_ASK_TIMEOUT_S)
    except TimeoutExpired:
        return action, f"benchgate could not check that {action} exists: GitHub did not answer."
    except UsageError as error:
        reason = (error.details or "").splitlines()[-1:] or ["git failed"]
        if not any(sign in (error.details or "") for sign in _NOT_THERE):
            return action, f"benchgate could not check that {action} exists: {reason[0]}"
        raise UsageError(
            f"--action {action}: GitHub has no repository {repository} that you can read",
            hint="If it is private, let git sign in, for example with `gh auth setup-git`.",
            details=error.details,
        ) from None
    if FULL_SHA.fullmatch(ref):
        return action, ""
    lines = (line.partition("\t") for line in listed.splitlines())
    commits = {place: commit for commit, _, place in lines}
    # What an annotated tag points to has ^{} behind its name.
    for place in (f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}", f"refs/heads/{ref}"):
        if commit := commits.get(place):
            return f"{name}@{commit} # {ref}", ""
    raise UsageError(
        f"--action {action}: {repository} has no branch or tag {ref}",
        hint="Name a branch or a tag of it, or a commit with all of its 40 digits.",
    )


def workflow_texts(git: Git, action: str, *, folder: str = ".", tool: str = "") -> dict[str, str]:
    """Make both workflows; return them by their paths.

    Args:
        folder: the folder of the configuration, relative to the root of the repository.
        tool: a program that the runner needs but does not have; only "uv" is one.
    """
    default = default_branch(git)
    name = default.name if default else "main"
    branch = name if _BRANCH.fullmatch(name) else json.dumps(name)
    place = f"          working-directory: {json.dumps(folder)}\n" if folder != "." else ""
    parts = {
        "branch": branch,
        "checkout": CHECKOUT,
        "action": action,
        "setup": "      - run: pipx install uv\n" if tool == "uv" else "",
        "folder": place,
        "with_folder": f"        with:\n{place}" if place else "",
    }
    return {
        f"{FOLDER}/benchgate.yml": _GATE.format(**parts),
        f"{FOLDER}/benchgate-comment.yml": _COMMENT.format(**parts),
    }


def is_for_github(git: Git) -> bool:
    """Whether the repository has workflows already, or a remote on a host named after GitHub."""
    if (git.root / ".github").is_dir():
        return True
    return any("github" in git.run("remote", "get-url", name).lower() for name in remotes(git))


def existing_workflow(root: Path) -> Path | None:
    """Find a workflow that uses benchgate already."""
    for path in filter(Path.is_file, sorted((root / FOLDER).glob("*.y*ml"))):
        text = read_bytes(path).decode("utf-8", "replace")
        if re.search(r"uses:\s*['\"]?[\w.-]+/benchgate[@/]", text) or "benchgate ci" in text:
            return path
    return None


_VERSION_TIMEOUT_S = 10.0
PROBLEM_EXIT_CODE = 2


@dataclass(frozen=True, slots=True)
class InitPlan:
    """What is written, and what to say about it.

    Attributes:
        folder: of the configuration.
        files: texts by absolute path.
        found: what the project's files told, one sentence each.
        to_edit: the file in which a person has to write what is measured; None for none.
        build: what prepares each side.
        has_functions: whether Python functions are measured.
        has_suites: whether suites of other tools are measured.
        agents: the file that gets a section for coding agents; None for none.
        unchecked: why it is unknown whether the action exists; "" if that is known.
    """

    folder: Path
    files: Mapping[Path, str]
    found: tuple[str, ...]
    to_edit: Path | None
    build: BuildSteps
    has_functions: bool
    has_suites: bool
    agents: Path | None
    unchecked: str


def write(files: Mapping[Path, str]) -> None:
    """Write proposed files; an existing file is never overwritten."""
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _wanted_action(
    git: Git | None, folder: Path, action: str | None, *, wanted: bool | None
) -> str | None:
    """The action for the workflows to write; None to write none."""
    if wanted is False or (wanted is None and action is None and not _may_ask(git)):
        return None
    if git is None:
        raise UsageError(
            f"{folder} is not in a git repository, so workflows cannot be written",
            hint="Run `git init`, or leave out --workflows.",
        )
    if present := existing_workflow(git.root):
        raise UsageError(f"{present} already uses benchgate", hint="Edit it, or remove it first.")
    if action is None and RELEASED:
        question = f"Write workflows for GitHub that use {RELEASE_ACTION}, too?"
        return RELEASE_ACTION if wanted or click.confirm(question) else None
    if action is None and sys.stdin.isatty():
        say("The workflows for GitHub use the action of benchgate, which has no release.")
        question = "Your copy of it, as OWNER/NAME@REF (empty: no workflows)"
        action = click.prompt(question, default="", show_default=False) or None
        if action is None and wanted is None:
            return None
    if action is None:
        raise UsageError(
            "--workflows needs --action, because the action has no release yet",
            hint=f"Name your copy of it: --workflows --action {EXAMPLE_ACTION}",
        )
    return action


def _may_ask(git: Git | None) -> bool:
    """Whether to offer workflows: never without a person who can answer."""
    if git is None or not sys.stdin.isatty():
        return False
    return is_for_github(git) and existing_workflow(git.root) is None


def _wanted_agents(folder: Path, *, wanted: bool | None) -> Path | None:
    """The file that gets a section for coding agents; None for none.

    Without a person who can answer, it is never offered.
    """
    if wanted is False or (wanted is None and (has_section(folder) or not sys.stdin.isatty())):
        return None
    path = folder / AGENTS_FILE
    if has_section(folder):
        raise UsageError(f"{path} already says how to call benchgate", hint="Edit it.")
    if wanted is None:
        say(f"\n{SECTION}")
        verb = "Add this to" if path.exists() else "Write this as"
        if not click.confirm(f"{verb} {AGENTS_FILE}, for coding agents?", default=False):
            return None
    return path


def make_plan(
    cwd: Path,
    git: Git | None,
    *,
    workflows: bool | None,
    action: str | None,
    agents: bool | None = None,
) -> InitPlan:
    """Decide what to write; nothing is written yet.

    Args:
        agents: whether a section for coding agents is wanted; None if nobody said.
        workflows: whether workflows are wanted; None if nobody said.
        action: the action that they use; None if nobody said.
    """
    folder = choose_folder(cwd, git.root if git else None)
    action = _wanted_action(git, folder, action, wanted=workflows)
    present = configured_in(folder)
    if present and action is None and not agents:
        raise UsageError(f"{present} already", hint="Edit it; `benchgate validate` checks it.")
    proposal = Proposal({}, ())
    if not present:
        proposal = propose(
            folder,
            git.root if git else folder,
            is_ignored=lambda path: git is not None and is_ignored(git, path),
            can_call=lambda program: shutil.which(program) is not None,
        )
    files = {folder / name: text for name, text in proposal.files.items()}
    unchecked = ""
    if action is not None and git is not None:
        action, unchecked = pin_action(git, action)
        place, tool = (
            folder.relative_to(git.root).as_posix(),
            "uv" if "uv" in proposal.build.tools else "",
        )
        texts = workflow_texts(git, action, folder=place, tool=tool)
        files |= {git.root / name: text for name, text in texts.items()}
    to_edit = folder / proposal.replace if proposal.replace else None
    return InitPlan(
        folder,
        files,
        proposal.found,
        to_edit,
        proposal.build,
        has_functions=proposal.has_functions,
        has_suites=proposal.has_suites,
        agents=_wanted_agents(folder, wanted=agents),
        unchecked=unchecked,
    )


def _describe_python(plan: InitPlan, git: Git | None, environ: Mapping[str, str]) -> str:
    """Say which Python runs the functions, or creates the environments for them."""
    if not plan.has_functions:
        return ""
    if not plan.build.commands:
        checkout = git.root if git else plan.folder
        python = default_interpreter(checkout, with_environment(environ, plan.folder, checkout))
        return f"The functions run in {_version_of(python)}, {python}."
    if "uv" in plan.build.tools:
        return "uv chooses the Python for each side, as it does in your checkout."
    python = shutil.which("python3") or "python3"
    return f"[build] uses python3, which is {_version_of(python)} here, {python}."


def _version_of(python: str) -> str:
    code = "import platform; print(platform.python_implementation(), platform.python_version())"
    try:
        done = subprocess.run(
            [python, "-c", code],
            capture_output=True,
            text=True,
            timeout=_VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "a Python that does not start"
    return done.stdout.strip() or "a Python that does not start"


def _steps(git: Git | None, cwd: Path, plan: InitPlan) -> Iterator[str]:
    """What to do next, as sentences and commands that work as they are."""
    changed = [*plan.files, *filter(None, [plan.agents])]
    names = [os.path.relpath(path, cwd) for path in changed]
    if plan.to_edit:
        yield f"Edit {os.path.relpath(plan.to_edit, cwd)}: put your own work there."
    if git is None:
        yield "git init"
    if git is None or git.rev_parse("HEAD") is None:
        yield 'git add --all && git commit --message "Start"'
    else:
        force = ""
        for path, name in zip(changed, names, strict=True):
            if line := ignored_by(git, path):
                force = "--force "
                yield f"git ignores {name} because of {line}: --force adds it all the same."
        yield f'git add {force}{shlex.join(names)} && git commit --message "Add benchgate"'
    if plan.has_suites:
        yield "benchgate list                   # names the benchmarks that it finds"
    yield "benchgate check --against HEAD   # compares the code with itself: it must not fail"
    yield "benchgate check                  # after each change"


def find_problems(folder: Path, git: Git | None) -> tuple[str, ...]:
    """Check what was written, as `benchgate validate` does."""
    root = git.root if git else folder
    try:
        return validate(load(folder, root), root, git).problems
    except ConfigError as error:
        return (error.message,)


@click.command("init")
@click.option(
    "--workflows/--no-workflows",
    default=None,
    help="Whether to write GitHub workflows; by default only with --action.",
)
@click.option(
    "--action",
    metavar="OWNER/NAME@REF",
    help="The action that the workflows use: benchgate's repository, or your copy of it.",
)
@click.option(
    "--agents/--no-agents",
    default=None,
    help="Whether to add a section for coding agents to AGENTS.md; asks by default, on a terminal.",
)
@click.option("--dry-run", is_flag=True, help="Print the files instead of writing them.")
def command(workflows: bool | None, action: str | None, agents: bool | None, dry_run: bool) -> int:
    """Write a benchgate.toml for this project, and GitHub workflows if you ask for them.

    benchgate finds the benchmarks that the project has: bench_*.py files, and suites of
    pytest-benchmark, asv, pyperf, Criterion, Go, vitest, Google Benchmark, JMH and others. If it
    has none, benchgate finds Python packages, and programs in C, Go, Node and Rust. It writes what
    to measure, and how to build it if that is necessary. The file goes into the innermost project
    around the current folder. No existing file is changed, but for AGENTS.md if you agree.

    \b
    Examples:
      benchgate init
      benchgate init --dry-run
      benchgate init --action OWNER/NAME@REF
      benchgate init --agents
    """
    cwd = Path.cwd()
    git = repository_or_none(cwd)
    plan = make_plan(cwd, git, workflows=workflows, action=action, agents=agents)
    named = {Path(os.path.relpath(path, cwd)).as_posix(): text for path, text in plan.files.items()}
    for sentence in plan.found:
        say(sentence, err=dry_run)
    section = [os.path.relpath(plan.agents, cwd)] if plan.agents else []
    if dry_run:
        for name, text in (named | dict.fromkeys(section, SECTION)).items():
            say(f"# {name}\n{text}")
        return 0
    write(plan.files)
    if plan.agents:
        add_section(plan.agents)
    for name in (*named, *(f"a section for coding agents to {name}" for name in section)):
        say(f"wrote {name}")
    if problems := find_problems(plan.folder, git):
        for problem in problems:
            say(f"{click.style('error:', fg='red', bold=True)} {problem}", err=True)
        return PROBLEM_EXIT_CODE
    say("`benchgate validate` finds no problem.")
    for sentence in filter(None, (_describe_python(plan, git, os.environ), plan.unchecked)):
        say(sentence)
    say("\nNext:")
    for step in _steps(git, cwd, plan):
        say(f"  {step}")
    undo = [*(["the files"] if named else []), *(f"the section of {name}" for name in section)]
    say(f"To undo this, delete {' and '.join(undo)}.")
    return 0
