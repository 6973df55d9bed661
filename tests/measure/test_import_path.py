from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.sources.import_path import (
    ImportPath,
    holds_python,
    import_path,
    is_installed,
    moved,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@pytest.fixture
def arm(tmp_path: Path) -> Arm:
    (tmp_path / "tree").mkdir()
    return Arm(ArmName.HEAD, tmp_path / "tree", tmp_path / "env", "0123")


def install(arm: Arm, source: Mapping[str, object] | str) -> None:
    """Leave what pip leaves of a package that was not taken from an index."""
    folder = arm.env / "lib" / "python3.11" / "site-packages" / "toy-1.dist-info"
    folder.mkdir(parents=True)
    text = source if isinstance(source, str) else json.dumps(source)
    (folder / "direct_url.json").write_text(text)


def test_the_tree_comes_first(arm: Arm) -> None:
    root = str(arm.root)
    assert import_path(arm, None) == ImportPath((root,))
    (arm.root / "src").mkdir()
    assert import_path(arm, None) == ImportPath((f"{root}/src", root))
    assert import_path(arm, None, ("/users", root)) == ImportPath((f"{root}/src", root, "/users"))


def test_named_folders_replace_those_of_the_tree(arm: Arm) -> None:
    install(arm, {"url": arm.root.as_uri(), "dir_info": {}})
    given = ("lib", "{env}/x", "/abs")
    expected = (str(arm.root / "lib"), f"{arm.env}/x", "/abs", "/users")
    assert import_path(arm, given, ("/users",)) == ImportPath(expected)
    assert import_path(arm, ()) == ImportPath(())


def test_what_was_installed_from_the_tree_comes_before_it(arm: Arm) -> None:
    (arm.root / "src").mkdir()
    own = (f"{arm.root}/src", f"{arm.root}")
    install(arm, {"url": arm.root.as_uri(), "dir_info": {}})
    assert import_path(arm, None, (own[0], "/users")) == ImportPath(("/users",), after=own)
    assert import_path(arm, None, in_env=False) == ImportPath(own)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"url": "file://{root}", "dir_info": {}}, True),
        ({"url": "file://{root}/packages/toy", "dir_info": {"editable": False}}, True),
        ({"url": "file://{root}/dist/toy-1.whl", "archive_info": {}}, True),
        ({"url": "file://{env}/wheels/toy-1.whl", "archive_info": {}}, True),
        ({"url": "file://{root}", "dir_info": {"editable": True}}, False),
        ({"url": "file:///elsewhere/toy", "dir_info": {}}, False),
        ({"url": "https://example.org{root}", "archive_info": {}}, False),
        ("[]", False),
        ("{", False),
    ],
)
def test_an_environment_says_what_was_installed_into_it(
    arm: Arm, source: dict[str, object] | str, *, expected: bool
) -> None:
    assert not is_installed(arm)
    if isinstance(source, dict):
        source = source | {"url": arm.substitute(str(source["url"]))}
    install(arm, source)
    assert is_installed(arm) is expected


def test_entries_in_the_checkout_become_the_arms_own(arm: Arm, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "src").mkdir(parents=True)
    (checkout / "venv" / "bin").mkdir(parents=True)
    (arm.root / "src").mkdir()
    (tmp_path / "link").symlink_to(checkout)
    entries = [f"{checkout}/src", "src", f"{tmp_path}/link/src", str(checkout)]
    own = (f"{arm.root}/src",) * 3 + (str(arm.root),)
    assert moved(":".join(entries), arm, checkout, checkout) == own
    assert moved("../src", arm, checkout, checkout / "benchmarks") == (f"{arm.root}/src",)
    others = (f"{checkout}/venv/bin", f"{tmp_path}/elsewhere", "/usr/bin")
    assert moved(":".join(others), arm, checkout, checkout) == others
    assert moved("::", arm, checkout, checkout) == ()
    assert moved("src", arm, None, checkout) == (f"{checkout}/src",)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("pyproject.toml", True),
        ("setup.py", True),
        ("src/toy/__init__.py", True),
        ("toy/__init__.py", True),
        ("Cargo.toml", False),
        ("src/main.c", False),
        ("docs/deep/conf/__init__.py", False),
    ],
)
def test_a_python_project_is_known_by_its_files(
    tmp_path: Path, file: str, *, expected: bool
) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    assert holds_python(tmp_path) is expected
