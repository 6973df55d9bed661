from __future__ import annotations

import builtins
import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from tests.history.conftest import run_at, s3, s3_server
from tests.results import as_file

from benchgate.git.repository import Git
from benchgate.model.history_document import HISTORY
from benchgate.model.result import Result
from benchgate.model.run import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.cli.conftest import Call

__all__ = ["s3", "s3_server"]

STORE = ".benchgate/history"


@pytest.fixture(scope="module")
def built() -> list[Path]:
    """Where the project is, once a test has needed it."""
    return []


@pytest.fixture
def project(
    commit: Callable[[Git, Mapping[str, str]], str],
    make_repo: Callable[[str], Git],
    built: list[Path],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Git:
    """A project with a result for each of its 24 commits, beside it; the 13th made it slower."""
    if built:
        shutil.copytree(built[0], tmp_path, dirs_exist_ok=True)
        return Git(tmp_path / "project")
    repo = make_repo("project")
    (tmp_path / "results").mkdir()
    for number in range(24):
        sha = commit(repo, {"a": str(number)})
        value_s = 1e-3 * (1.25 if number >= 12 else 1.0) * (1 + (number * 0.618 % 1) / 100)
        run = run_at(number, {"parse/large": value_s}, source=Source(sha, "main"))
        path = tmp_path / "results" / f"{number:02}.json.gz"
        path.write_bytes(as_file(Result(replace(run, started="2026-11-01T00:00:00Z", seed=number))))
    built.append(tmp_path_factory.mktemp("built"))
    shutil.copytree(tmp_path, built[0], dirs_exist_ok=True)
    return repo


def results(project: Git, *numbers: int) -> list[Path]:
    folder = project.root.parent / "results"
    return [folder / f"{number:02}.json.gz" for number in numbers or range(24)]


def test_results_are_added_and_shown(call: Call, project: Git) -> None:
    first = call(project.root, "history", "--add", *results(project, 0, 1))
    first.check(0)
    assert first.out == f"added 2 runs to {project.root}/{STORE}\n"
    again = call(project.root, "history", "--add", *reversed(results(project)))
    assert again.out == f"added 22 runs to {project.root}/{STORE}; 2 runs there already\n"
    shown = call(project.root, "history")
    shown.check(0)
    assert shown.err == ""
    unknown = call(project.root, "history", "--filter", "parse/[kl]*")
    unknown.check(
        2,
        "no benchmark matches parse/[kl]*; `[` stands for itself",
        "Available: parse/large. `*` matches any text; `benchgate history` shows all.",
    )
    shas = project.run("rev-list", "--reverse", "HEAD").split()
    lines = shown.out.splitlines()
    assert lines[0] == "1 benchmark: 1 got slower"
    assert lines[3] == "AMD EPYC 7763, 4 cores, Debian 12 (24 runs)"
    assert f"{shas[11][:7]}..{shas[12][:7]}" in lines[5]
    assert "11 runs ago" in lines[5]
    assert "  parse/large  # got slower" in lines[5]


def test_a_folder_of_results_needs_no_store(call: Call, project: Git, tmp_path: Path) -> None:
    stored = call(project.root, "history", "--add", *results(project))
    stored.check(0)
    direct = call(project.root, "history", tmp_path / "results")
    assert direct.out == call(project.root, "history").out
    assert call(project.root, "history", *results(project)).out == direct.out
    # One run is one run, wherever it is found.
    both = call(project.root, "history", tmp_path / "results", project.root / STORE)
    assert both.out == direct.out


def test_json_holds_the_history(call: Call, project: Git, tmp_path: Path) -> None:
    done = call(project.root, "history", tmp_path / "results", "--json", "-")
    done.check(0)
    history = HISTORY.read(done.out.encode(), "history")
    assert [run.sha for run in history.runs] == project.run("rev-list", "--reverse", "HEAD").split()
    assert history.runs[0].subject == "work"
    assert [len(one.shifts) for one in history.trends] == [1]
    jsonschema.validate(json.loads(done.out), HISTORY.json_schema())
    assert call(project.root, "schema", "history").code == 0


@pytest.mark.slow
def test_a_bucket_is_a_store_like_any(call: Call, project: Git, request: Any) -> None:  # noqa: ANN401
    address = request.getfixturevalue("s3")
    (project.root / "benchgate.toml").write_text(f'[history]\nstore = "{address}"\n')
    call(project.root, "history", "--add", *results(project)).check(0)
    by_configuration = call(project.root, "history")
    by_configuration.check(0)
    assert call(project.root, "history", address).out == by_configuration.out
    assert "11 runs ago" in by_configuration.out


def test_the_store_is_beside_the_configuration(call: Call, project: Git) -> None:
    (project.root / "sub").mkdir()
    (project.root / "sub" / "benchgate.toml").write_text('[history]\nstore = "runs"\n')
    call(project.root / "sub", "history", "--add", *results(project, 0)).check(0)
    assert len(list((project.root / "sub" / "runs").iterdir())) == 1


def test_files_of_other_tools_are_of_the_commit_that_is_named(
    call: Call, project: Git, tmp_path: Path
) -> None:
    path = tmp_path / "go.txt"
    path.write_text("BenchmarkParse-4   100   1200 ns/op\n")
    call(project.root, "history", "--add", path, "--commit", "HEAD~3").check(0)
    done = call(project.root, "history", "--json", "-")
    (run,) = json.loads(done.out)["runs"]
    assert run["sha"] == project.rev_parse("HEAD~3")
    wrong = call(project.root, "history", "--add", path, "--commit", "nowhere")
    wrong.check(2, "--commit: there is no commit 'nowhere' here")


def test_what_cannot_be_used_is_said(call: Call, project: Git, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    (folder / "notes.txt").write_text("buy milk")
    (folder / "cut.json.gz").write_bytes(results(project, 0)[0].read_bytes()[:100])
    shown = call(project.root, "history", folder)
    shown.check(0)
    assert f"left out: {folder}/notes.txt: is neither a result of benchgate nor" in shown.out
    assert f"left out: {folder}/cut.json.gz: the gzip data is cut off" in shown.out
    added = call(project.root, "history", "--add", folder)
    added.check(0, f"left out: {folder}/notes.txt: ", f"left out: {folder}/cut.json.gz: ")
    damaged = project.root / STORE / f"run-{'0' * 24}.parquet"
    damaged.write_bytes(b"PAR1")
    shown = call(project.root, "history")
    assert f"note: left out: {damaged.name}: not a readable Parquet file" in shown.out
    for index in range(1, 9):
        (project.root / STORE / f"run-{index:024}.parquet").write_bytes(b"PAR1")
    many = " ".join(call(project.root, "history").out.split())
    assert "note: left out: 9 results: not a readable Parquet file: " in many
    assert f"; for example {damaged.name}, run-000" in many


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("there is no file or folder", "`benchgate history --add RESULT` begins a store")),
        (("nowhere",), ("there is no file or folder nowhere",)),
        (("empty",), ("no runs in empty",)),
        (("s4://b/x",), ("cannot open s4://b/x: Protocol not known: s4",)),
        (("--add",), ("--add needs a result",)),
        (("--add", "empty"), ("nothing was added",)),
        (("--add", "s3://b/x"), ("cannot read results from s3://b/x",)),
        (("--add", "s3://me:hunter2-x@b/x"), ("cannot read results from s3://me:[removed]@b/x",)),
        (("--add", "empty", "--json", "h.json"), ("--json has no effect with --add",)),
        (("--commit", "HEAD"), ("--commit needs --add",)),
        (("--store", "x", "empty"), ("--store and a source are given",)),
        (("--margin", "much"), ("--margin: 'much' is not a percentage",)),
        (("--since", "yesterday"), ("yesterday",)),
        (("artifacts",), ("it is not known which repository on GitHub has the artifacts",)),
    ],
)
def test_a_wrong_call_says_what_to_do(
    call: Call,
    repo: Git,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    words: tuple[str, ...],
) -> None:
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    (repo.root / "empty").mkdir()
    call(repo.root, "history", *arguments).check(2, *words)


def test_a_job_on_github_is_named(
    call: Call, project: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "octo-org/hello",
        "GITHUB_RUN_ID": "17",
        "GITHUB_SHA": project.head_sha(),
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    call(project.root, "history", "--add", *results(project, 22, 23)).check(0)
    runs = json.loads(call(project.root, "history", "--json", "-").out)["runs"]
    assert [run["url"] for run in runs] == ["", "https://github.com/octo-org/hello/actions/runs/17"]


def test_artifacts_need_a_token(call: Call, repo: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_REPOSITORY", "GITHUB_TOKEN", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    repo.run("remote", "add", "origin", "git@github.com:octo-org/hello.git")
    done = call(repo.root, "history", "artifacts")
    done.check(2, "reading the artifacts of octo-org/hello needs a token")


def test_without_the_packages_it_says_what_to_install(
    call: Call, repo: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "benchgate.cli.history.find_spec", lambda name: None if name == "pyarrow" else builtins
    )
    done = call(repo.root, "history")
    done.check(2, "a history needs pyarrow", 'pip install "benchgate[history]"')


def test_outside_of_a_repository_the_dates_decide(call: Call, project: Git, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = call(elsewhere, "history", *results(project, 3, 5))
    done.check(0)
    assert "2 runs" in done.out
