from __future__ import annotations

from dataclasses import replace

from tests.report.conftest import BASE, CLEAN, HEAD, NAMES, verdict

from benchgate.baselines.base_config import BASE_HAS_NONE
from benchgate.ci.readers import Readers
from benchgate.github.plan import MERGE_COMMIT
from benchgate.model.policy import Outcome
from benchgate.model.row import Row
from benchgate.model.run import Source
from benchgate.model.verdict import NO_BASELINE, Decision, Reason
from benchgate.report.markdown import render_comment

PUSHED = "7fd1a60b01f91b314f59955a4e4d4e80d8edf11d"
REPOSITORY = "https://github.com/octo-org/hello"
READERS = Readers(REPOSITORY, PUSHED, "main", f"{REPOSITORY}/actions/runs/1", "", str)
MERGED = verdict(
    Decision.PASS,
    *CLEAN,
    base=replace(BASE, why=f"{MERGE_COMMIT}: main before the pull request is merged"),
    head=Source(HEAD.sha),
)
FIRST = verdict(
    Decision.NO_VERDICT,
    *(Row(name, Outcome.NEW) for name in NAMES),
    base_source=NO_BASELINE,
    reason=Reason.FIRST_RUN,
    warnings=(BASE_HAS_NONE, "the machine was busy"),
)


def test_people_see_the_commit_that_they_pushed_and_the_branch_that_it_is_for() -> None:
    view = READERS.view(MERGED)

    assert view.last_line.startswith(
        "Compared a1b2c3d (the target branch main) with 7fd1a60 (merged into main), "
    )
    assert view.links.compare == f"{REPOSITORY}/compare/{BASE.sha}...{PUSHED}"
    assert view.links.tree == f"{REPOSITORY}/blob/{PUSHED}"


def test_a_commit_that_was_measured_itself_keeps_its_name() -> None:
    view = READERS.view(replace(MERGED, base=BASE))

    assert view.last_line.startswith("Compared a1b2c3d (merge base with main) with e4f5a6b, ")
    assert view.links.tree == f"{REPOSITORY}/blob/{HEAD.sha}"


def test_the_change_that_adds_benchgate_is_welcomed() -> None:
    view = READERS.view(FIRST)

    assert view.warnings == ("the machine was busy",)
    assert render_comment(view).startswith(
        "### \N{WAVING HAND SIGN} This change adds benchgate. Its 7 benchmarks ran, and the next "
        "change is compared with them\n"
    )


def test_another_first_run_is_no_introduction() -> None:
    view = READERS.view(replace(FIRST, warnings=()))

    assert view.headline.startswith("First run of ")
    assert "\N{WARNING SIGN}" not in render_comment(view)


def test_secrets_are_removed_and_names_are_added() -> None:
    readers = replace(READERS, name="fast", redact=lambda text: text.replace("json", "***"))
    view = readers.view(MERGED)

    assert view.headline.startswith("fast \N{MIDDLE DOT} Nothing ")
    assert "json" not in render_comment(view)
