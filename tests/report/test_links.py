from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from tests.report.conftest import CLEAN, changed, verdict
from tests.report.page import Page, assert_harmless

from benchgate.model.policy import Outcome
from benchgate.model.run import MOST_CHANGED
from benchgate.model.verdict import Decision
from benchgate.report.links import Links
from benchgate.report.markdown import render_comment
from benchgate.report.view import view_verdict

REPOSITORY = "https://github.com/octo-org/hello"
LINKS = Links(f"{REPOSITORY}/actions/runs/1", f"{REPOSITORY}/compare/a...b", f"{REPOSITORY}/blob/b")
DOCS = "https://github.com/benchgate/benchgate/blob/main/docs/"


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("benchmarks/bench_a.py:12", f"{REPOSITORY}/blob/b/benchmarks/bench_a.py#L12"),
        ("a b/ü>)#?.py:1", f"{REPOSITORY}/blob/b/a%20b/%C3%BC%3E%29%23%3F.py#L1"),
        ("", ""),
        ("bench.py", ""),
        ("bench.py:0", ""),
        ("/etc/passwd:1", ""),
        ("../../other/blob/main/x.py:1", ""),
        ("https://evil.example/x:1", ""),
        ("bench.py:1\n2", ""),
    ],
)
def test_only_lines_of_the_head_are_linked(location: str, expected: str) -> None:
    assert LINKS.source(location) == expected
    assert Links().source(location) == ""


def test_a_comment_links_to_what_a_reader_needs_next() -> None:
    slow = changed("a/b", Outcome.REGRESSED, 1.2, location="benchmarks/bench_a.py:12")
    text = render_comment(view_verdict(verdict(Decision.FAIL, slow, *CLEAN), LINKS))
    page = Page(text)

    assert_harmless(page, REPOSITORY, DOCS)
    assert set(page.links) >= {
        LINKS.run,
        LINKS.compare,
        f"{REPOSITORY}/blob/b/benchmarks/bench_a.py#L12",
        f"{DOCS}configuration.md#waive",
        f"{DOCS}reading-a-verdict.md",
        f"{DOCS}reading-a-verdict.md#how-each-row-was-decided",
    }
    assert "```sh\nbenchgate check --against a1b2c3d4e5f6 \\\n  --filter a/b\n```" in text


def test_the_changed_files_are_named_below_what_got_slower() -> None:
    files = ("src/a_b.py", "src/`x`.py", "c.py", "d.py", "e.py")
    slow = changed("a/b", Outcome.REGRESSED, 1.2)
    made = verdict(Decision.FAIL, slow, *CLEAN)
    made = replace(made, head=replace(made.head, changed_files=files))
    page = Page(render_comment(view_verdict(made, LINKS)))

    assert_harmless(page, REPOSITORY, DOCS)
    anchor = hashlib.sha256(b"src/a_b.py").hexdigest()
    assert f"{LINKS.compare}#diff-{anchor}" in page.links
    text = render_comment(view_verdict(made))
    assert "Changed files: `src/a_b.py`, ``src/`x`.py``, `c.py` and 2 more changed files." in text
    many = replace(made, head=replace(made.head, changed_files=("a.py",) * MOST_CHANGED))
    assert "and at least 97 more changed files." in render_comment(view_verdict(many))
    clean = replace(made, decision=Decision.PASS, rows=tuple(CLEAN))
    assert "Changed files" not in render_comment(view_verdict(clean))


def test_without_addresses_there_are_no_links() -> None:
    assert Page(render_comment(view_verdict(verdict(Decision.PASS, *CLEAN)))).links == []


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a b"], "benchgate check --against a1b2c3d4e5f6 \\\n  --filter 'a b'"),
        (["x; rm -rf ~", "$(id)"], " --filter '$(id)' \\\n  --filter 'x; rm -rf ~'"),
        (["it's"], """ --filter 'it'"'"'s'"""),
        (["a", "b", "c", "d"], "benchgate check --against a1b2c3d4e5f6"),
        (["a", "benchgate/files"], "benchgate check --against a1b2c3d4e5f6"),
        (
            [f"a/{i}" for i in range(4)],
            "benchgate check --against a1b2c3d4e5f6 \\\n  --filter 'a/*'",
        ),
    ],
)
def test_the_command_that_measures_again_can_be_pasted(names: list[str], expected: str) -> None:
    slow = [changed(name, Outcome.REGRESSED, 1.2) for name in names]
    repeat = view_verdict(verdict(Decision.FAIL, *slow, *CLEAN)).repeat
    assert repeat.endswith(expected)


def test_nothing_is_to_be_measured_again_after_a_pass() -> None:
    assert view_verdict(verdict(Decision.PASS, *CLEAN)).repeat == ""
