from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import StartingEnvironment
from benchgate.measure.programs.variables import environ_of, with_equal_names

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def arm(tmp_path: Path) -> Arm:
    (tmp_path / "tree").mkdir()
    return Arm(ArmName.HEAD, tmp_path / "tree", tmp_path / "env", "0123")


@pytest.fixture
def outside(tmp_path: Path) -> StartingEnvironment:
    checkout = tmp_path / "checkout"
    (checkout / "bin").mkdir(parents=True)
    environ = {
        "PATH": f"/users/venv/bin:{checkout}/bin:/usr/bin",
        "VIRTUAL_ENV": "/users/venv",
        "PYTHONHOME": "/users/python",
        "PYTHONPATH": f"{checkout}:/users/modules",
    }
    return StartingEnvironment(environ, checkout, checkout)


def test_an_arm_without_an_environment_keeps_the_users(
    arm: Arm, outside: StartingEnvironment
) -> None:
    (arm.root / "bin").mkdir()
    assert environ_of(arm, outside, None) == {
        **outside.environ,
        "PATH": f"/users/venv/bin:{arm.root}/bin:/usr/bin",
        "PYTHONPATH": f"{arm.root}:/users/modules",
    }


def test_an_arms_own_environment_is_the_active_one(arm: Arm, outside: StartingEnvironment) -> None:
    (arm.env / "bin").mkdir(parents=True)
    (arm.env / "pyvenv.cfg").touch()
    environ = environ_of(arm, outside, None)
    first, *others = environ["PATH"].split(":")
    assert first == f"{arm.env}/bin"
    assert others[0] == "/users/venv/bin"
    assert environ["VIRTUAL_ENV"] == str(arm.env)
    assert "PYTHONHOME" not in environ


def test_programs_alone_make_no_virtual_environment(arm: Arm, outside: StartingEnvironment) -> None:
    (arm.env / "bin").mkdir(parents=True)
    environ = environ_of(arm, outside, None)
    assert environ["PATH"].startswith(f"{arm.env}/bin:")
    assert environ["VIRTUAL_ENV"] == "/users/venv"


def test_only_python_projects_get_a_python_path(arm: Arm) -> None:
    assert environ_of(arm, StartingEnvironment({}), None) == {}
    assert environ_of(arm, StartingEnvironment({}), ("lib",)) == {"PYTHONPATH": f"{arm.root}/lib"}
    (arm.root / "pyproject.toml").touch()
    assert environ_of(arm, StartingEnvironment({}), None) == {"PYTHONPATH": str(arm.root)}
    assert environ_of(arm, StartingEnvironment({}), ()) == {}
    assert environ_of(arm, StartingEnvironment({"PYTHONPATH": "/x"}), ()) == {"PYTHONPATH": "/x"}


def test_a_module_is_run_as_it_was_installed(arm: Arm) -> None:
    module = ("python3", "-m", "toy")
    assert environ_of(arm, StartingEnvironment({}), None, module) == {}
    folder = arm.env / "lib/python3.11/site-packages/toy-1.dist-info"
    folder.mkdir(parents=True)
    (folder / "direct_url.json").write_text(json.dumps({"url": arm.root.as_uri()}))
    assert environ_of(arm, StartingEnvironment({}), None, module) == {"PYTHONSAFEPATH": "1"}
    assert environ_of(arm, StartingEnvironment({}), None, ("toy",)) == {}
    assert environ_of(arm, StartingEnvironment({}), (), module) == {}


def test_names_are_equal_and_values_kept() -> None:
    both = with_equal_names([{"A": "1", "B": "2"}, {"C": "3", "B": "4"}])
    assert both == [{"A": "1", "B": "2", "C": ""}, {"A": "", "B": "4", "C": "3"}]
