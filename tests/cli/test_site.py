"""`benchgate site`, and `benchgate history --html`, called as users call them."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from tests.results import arm

from benchgate.cli import cli
from benchgate.errors import UsageError
from benchgate.files.writing import write_atomic
from benchgate.git.repository import Git
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.result import Result
from benchgate.model.run import Run, Source

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Call

HERE = Environment(os="Debian 12", machine="x86_64", cpu_model="AMD EPYC 7763", cpu_count=4)
EVERY_SITE = {".nojekyll", "badge.json", "benchgate-site.json", "index.html"}
_LINK = re.compile(r'(?:href|src)="([^"]*)"')


def run_of(day: int, value_s: float, name: str = "parse/large") -> Run:
    return arm(
        {name: value_s},
        source=Source(f"{day:040x}", "main"),
        started=f"2026-01-{day:02}T00:00:00Z",
        environment=HERE,
    )


def written(path: Path, head: Run, base: Run | None = None) -> Path:
    path.write_bytes(encode_result(Result(head, base), str))
    return path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 20 runs; the last ten are slower."""
    folder = tmp_path_factory.mktemp("built")
    runs = [
        written(folder / f"{day}.json", run_of(day, 0.010 if day <= 10 else 0.012))
        for day in range(1, 21)
    ]
    given = ["history", "--add", *map(str, runs), "--store", str(folder / "history")]
    assert CliRunner().invoke(cli, given, catch_exceptions=False).exit_code == 0
    return folder / "history"


@pytest.fixture
def project(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with that store."""
    for name in ("GITHUB_REPOSITORY", "GITHUB_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)
    shutil.copytree(built, tmp_path / "hello" / ".benchgate" / "history")
    return tmp_path / "hello"


@pytest.fixture
def slower(tmp_path: Path) -> Path:
    """A result of a check, which fails."""
    return written(tmp_path / "slower.json", run_of(11, 0.012), run_of(10, 0.010))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_site_has_the_verdict_the_history_and_a_badge(
    project: Path, slower: Path, call: Call
) -> None:
    done = call(project, "site", slower)
    assert (done.code, done.out) == (0, "wrote site/index.html (1 report, 20 runs)\n")
    site = project / "site"
    assert names(site) == {*EVERY_SITE, "report.html", "history.html"}
    index = (site / "index.html").read_text()
    assert "Performance of hello" in index
    assert "Slower: parse/large +20 %" in index
    assert "by 20.0 %" in index
    assert json.loads((site / "badge.json").read_text())["message"] == "❌ 1 slower"


def test_its_links_are_relative_and_lead_somewhere(project: Path, slower: Path, call: Call) -> None:
    call(project, "site", slower)
    site = project / "site"
    for page in site.glob("*.html"):
        text = page.read_text()
        for link in _LINK.findall(text):
            name, _, part = link.partition("#")
            assert name in {"data:,", *names(site)} if name else part, link
            target = (site / name).read_text() if name.endswith(".html") else text
            assert not part or f'id="{part}"' in target, link


def test_in_a_clone_commits_are_linked_to_github(project: Path, call: Call) -> None:
    url = "git@github.com:octo-org/hello.git"
    Git(project).run("init", "--quiet")
    Git(project).run("remote", "add", "origin", url)
    assert call(project, "site").code == 0
    index = (project / "site" / "index.html").read_text()
    address = f"https://github.com/octo-org/hello/compare/{10:040x}...{11:040x}"
    assert f'href="{address}"' in index
    assert "Performance of octo-org/hello" in index


def test_in_a_job_the_repository_is_that_of_the_job(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_REPOSITORY", "octo-org/world")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.example.org")
    assert call(project, "history", "--html", "page.html").code == 0
    assert (
        "https://github.example.org/octo-org/world/compare/" in (project / "page.html").read_text()
    )
    monkeypatch.setenv("GITHUB_SERVER_URL", "javascript:alert(1)//")
    assert call(project, "history", "--html", "page.html").code == 0
    assert "/compare/" not in (project / "page.html").read_text()


def test_a_site_can_be_written_again(project: Path, slower: Path, call: Call) -> None:
    def content() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (project / "site").iterdir()}

    call(project, "site", slower)
    first = content()
    assert call(project, "site", slower).code == 0
    assert content() == first


def test_pages_that_a_later_site_lacks_are_removed_and_nothing_else(
    project: Path, slower: Path, call: Call
) -> None:
    call(project, "site", slower, slower, slower)
    site = project / "site"
    assert {"report.html", "report-2.html", "report-3.html"} <= names(site)
    (site / "CNAME").write_text("bench.example.org")
    (site / "report-4.html").write_text("of somebody else")
    assert call(project, "site", slower).code == 0
    assert names(site) == {*EVERY_SITE, "report.html", "history.html", "CNAME", "report-4.html"}


def test_a_marker_cannot_name_other_files(project: Path, call: Call) -> None:
    call(project, "site")
    marker = project / "site" / "benchgate-site.json"
    (project / "site" / "mine.html").touch()
    outside = project / "outside.html"
    outside.touch()
    marker.write_text(
        json.dumps({"files": ["../outside.html", "mine.html", 3, "report-../x.html"]})
    )
    assert call(project, "site").code == 0
    assert outside.exists()
    assert (project / "site" / "mine.html").exists()


def test_a_folder_with_other_files_is_refused_unless_told(project: Path, call: Call) -> None:
    folder = project / "public"
    folder.mkdir()
    (folder / "index.html").write_text("mine")
    done = call(project, "site", "--output", folder)
    assert done.code == 2
    assert "holds other files, such as index.html, and no site" in done.err
    assert "--force" in done.err
    assert (folder / "index.html").read_text() == "mine"
    assert call(project, "site", "--output", folder, "--force").code == 0
    assert "Performance of" in (folder / "index.html").read_text()


@pytest.mark.parametrize("name", ["index.html", "badge.json", "benchgate-site.json"])
def test_a_site_is_never_written_through_a_link(project: Path, call: Call, name: str) -> None:
    outside = project / "outside"
    outside.write_text("mine")
    folder = project / "public"
    folder.mkdir()
    (folder / name).symlink_to(outside)
    if name == "benchgate-site.json":
        outside.write_text('{"files": []}')
    before = outside.read_text()
    done = call(project, "site", "--output", folder, "--force")
    done.check(2, f"cannot write {folder}/{name}: it is a symbolic link to {outside}")
    assert outside.read_text() == before
    assert names(folder) == {name}


def test_a_folder_in_place_of_a_file_is_named(project: Path, slower: Path, call: Call) -> None:
    call(project, "site", slower, slower)
    (project / "site" / "report-2.html").unlink()
    (project / "site" / "report-2.html").mkdir()
    call(project, "site", slower).check(2, "cannot write site/report-2.html: it is not a file")


def test_a_site_that_was_not_completed_can_be_written_again(
    project: Path, slower: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> None:
        if path.name == "history.html":
            raise UsageError(f"cannot write {path}: No space left on device", hint="Free some.")
        write_atomic(path, data)

    call(project, "site", slower, slower)
    monkeypatch.setattr("benchgate.cli.site.write_atomic", full)
    for folder in ("site", "new"):
        done = call(project, "site", slower, "--output", folder)
        done.check(2, f"cannot write {folder}/history.html: No space left on device")
        assert f"the site in {folder} is incomplete" in done.err
    monkeypatch.undo()
    for folder in ("site", "new"):
        call(project, "site", slower, "--output", folder).check(0)
        assert names(project / folder) == {*EVERY_SITE, "report.html", "history.html"}


def test_a_link_to_no_folder_is_named(project: Path, call: Call) -> None:
    (project / "site").symlink_to("gone")
    call(project, "site").check(2, "the symbolic link site to gone leads nowhere")
    call(project, "history", "site").check(2, "the symbolic link site to gone leads nowhere")


def test_a_branch_that_holds_the_store_is_no_other_folder(project: Path, call: Call) -> None:
    pages = project / "pages"
    (pages / ".git").mkdir(parents=True)
    (project / ".benchgate" / "history").rename(pages / "history")
    done = call(project, "site", "--from", "pages/history", "--output", "pages")
    assert done.code == 0, done.err
    assert {"index.html", "history", ".git"} <= names(pages)


@pytest.mark.parametrize("content", ["{", "[" * 100_000])
def test_a_damaged_marker_is_an_error(project: Path, call: Call, content: str) -> None:
    folder = project / "site"
    folder.mkdir()
    (folder / "benchgate-site.json").write_text(content)
    done = call(project, "site")
    assert done.code == 2
    assert "benchgate-site.json is damaged" in done.err


def test_without_a_history_there_are_reports_alone(
    tmp_path: Path, slower: Path, call: Call
) -> None:
    assert call(tmp_path, "site", slower).out == "wrote site/index.html (1 report)\n"
    assert names(tmp_path / "site") == {*EVERY_SITE, "report.html"}


def test_a_verdict_as_json_is_taken_too(tmp_path: Path, slower: Path, call: Call) -> None:
    assert call(tmp_path, "compare", slower, "--json", "verdict.json").code == 3
    assert call(tmp_path, "site", "verdict.json").code == 0
    assert "1 slower" in (tmp_path / "site" / "badge.json").read_text()


def test_a_result_of_one_side_gets_a_page_and_no_verdict(tmp_path: Path, call: Call) -> None:
    one = written(tmp_path / "one.json", run_of(1, 0.010))
    assert call(tmp_path, "site", one).code == 0
    assert '"not checked"' in (tmp_path / "site" / "badge.json").read_text()
    assert "not checked" not in (tmp_path / "site" / "index.html").read_text()
    assert "Statistics of" in (tmp_path / "site" / "index.html").read_text()


def test_nothing_to_show_is_an_error(tmp_path: Path, call: Call) -> None:
    done = call(tmp_path, "site")
    assert done.code == 2
    assert "there is no file or folder" in done.err
    assert "benchgate history --add RESULT" in done.err
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"rows": 1}'])
def test_a_file_that_is_no_result_is_an_error(tmp_path: Path, call: Call, text: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    done = call(tmp_path, "site", "bad.json")
    assert done.code == 2
    assert "bad.json" in done.err
    assert not (tmp_path / "site").exists()


def test_secrets_do_not_get_into_a_site(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "hunter2hunter2")
    name = "parse/hunter2hunter2"
    base, head = run_of(10, 0.010, name), run_of(11, 0.012, name)
    path = tmp_path / "secret.json"
    path.write_bytes(encode_result(Result(head, base), lambda text: text))
    runs = [written(tmp_path / f"{day}.json", run_of(day, 0.010, name)) for day in range(1, 12)]
    results = tmp_path / "results"
    results.mkdir()
    for one in runs:
        one.rename(results / one.name)
    assert call(tmp_path, "site", path, "--from", "results", "--name", name).code == 0
    for file in (tmp_path / "site").iterdir():
        assert b"hunter2" not in file.read_bytes(), file.name


def test_the_page_of_a_history_goes_to_standard_output(project: Path, call: Call) -> None:
    done = call(project, "history", "--html", "-")
    assert done.code == 0
    assert done.out.startswith("<!doctype html>")
    assert call(project, "history", "--add", "x.json", "--html", "p.html").code == 2
