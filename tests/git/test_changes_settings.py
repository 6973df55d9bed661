from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.git.changes import settings_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.git.repository import Git


def test_the_same_settings_have_the_same_digest(repo: Git, commit: Callable[..., str]) -> None:
    before = settings_digest(repo)
    commit(repo, {"a": "1"})
    repo.run("branch", "topic")
    assert settings_digest(repo) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda git: git.run("config", "filter.x.smudge", "sed s/1/2/"),
        lambda git: (git.root / ".git/info/attributes").write_text("* filter=x\n"),
        lambda git: (git.root / ".git/info/sparse-checkout").write_text("/docs\n"),
    ],
)
def test_what_changes_a_checkout_is_seen(repo: Git, change: Callable[[Git], object]) -> None:
    before = settings_digest(repo)
    (repo.root / ".git/info").mkdir(exist_ok=True)
    change(repo)
    assert settings_digest(repo) != before


def test_attributes_elsewhere_are_seen(repo: Git) -> None:
    place = repo.root / "attributes"
    repo.run("config", "core.attributesFile", str(place))
    before = settings_digest(repo)
    place.write_text("* filter=x\n")
    assert settings_digest(repo) != before
