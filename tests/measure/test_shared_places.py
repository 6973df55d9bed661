from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchgate.measure.trees.shared_places import SharedPlaces

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages, with one that a worker has imported."""
    folder = tmp_path / "site-packages"
    (folder / "dep" / "inner").mkdir(parents=True)
    for name in ("dep/__init__.py", "dep/inner/core.py", "one.py", "known.pth", "own.so"):
        (folder / name).write_text("1")
    return folder


def hello(site: Path, *folders: Path) -> dict[str, Any]:
    return {
        "folders": list(map(str, (site, *folders))),
        "packages": [
            ["dep", str(site / "dep" / "__init__.py")],
            ["one", str(site / "one.py")],
            ["own", str(site / "own.so")],
        ],
        "shared": ["dep", "one"],
    }


CHANGED = "{} was changed, and both sides import it"
ADDED = "{} was added, and Python runs it when it starts, on both sides"


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("dep/inner/core.py", lambda path: path.write_text("22"), CHANGED),
        ("one.py", lambda path: path.write_text("22"), CHANGED),
        ("one.py", lambda path: path.unlink(), "{} was removed, and both sides import it"),
        ("known.pth", lambda path: path.write_text("22"), CHANGED),
        ("new.pth", lambda path: path.write_text("1"), ADDED),
        ("usercustomize.py", lambda path: path.write_text("1"), ADDED),
        ("sitecustomize", lambda path: path.mkdir(), ADDED),
        # What is not imported, and what Python compiles.
        ("new.py", lambda path: path.write_text("1"), None),
        ("own.so", lambda path: path.write_text("22"), None),
        ("dep/__pycache__", lambda path: path.mkdir(), None),
    ],
)
def test_what_both_sides_import_must_stay_as_it_is(
    site: Path, tmp_path: Path, name: str, change: Callable[[Path], object], said: str | None
) -> None:
    places = SharedPlaces([tmp_path / "tree", tmp_path / "env"])
    places.add(hello(site))
    assert places.changes() == ()
    change(site / name)
    places.add(hello(site))  # what is known stays known
    assert places.changes() == (() if said is None else (said.format(site / name),))


def test_a_folder_that_does_not_exist_yet_is_watched(site: Path, tmp_path: Path) -> None:
    places = SharedPlaces([])
    user = tmp_path / "home" / "site-packages"
    places.add(hello(site, user))
    user.mkdir(parents=True)
    (user / "usercustomize.py").touch()
    assert places.changes() == (ADDED.format(user / "usercustomize.py"),)


def test_what_belongs_to_one_side_is_looked_at_elsewhere(site: Path) -> None:
    places = SharedPlaces([site.parent])
    places.add(hello(site))
    (site / "new.pth").touch()
    (site / "one.py").unlink()
    assert places.changes() == ()
