from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchgate.load import drivers
from benchgate.load.drivers.driver import TargetError
from benchgate.load.drivers.sqlite import SqliteDriver

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = """\
from benchgate.load.drivers.driver import Driver
from benchgate.load.scenario import Script, Step, Target

class Redis(Driver):
    NAME, TARGET, STEP, SCRIPT = "redis", Target, Step, Script
    def connect(self, worker): raise NotImplementedError
    def run(self, script): pass

class Other(Redis):
    NAME = "other"

class Unfinished(Driver):
    NAME = "unfinished"
    def run(self, script): pass

class Nameless(Driver):
    def connect(self, worker): raise NotImplementedError
    def run(self, script): pass

def function(): pass
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with drivers, as pip would install it."""
    (tmp_path / "bg_more_drivers.py").write_text(PACKAGE)
    info = tmp_path / "bg_more_drivers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bg-more-drivers\nVersion: 1.0\n")
    entries = {
        "redis": "bg_more_drivers:Redis",
        "renamed": "bg_more_drivers:Other",
        "unfinished": "bg_more_drivers:Unfinished",
        "nameless": "bg_more_drivers:Nameless",
        "function": "bg_more_drivers:function",
        "missing": "bg_more_drivers:Missing",
        "gone": "bg_no_such_module:Driver",
        "sqlite": "bg_more_drivers:Redis",
    }
    lines = [f"{name} = {value}" for name, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(["[benchgate.drivers]", *lines, ""]))
    monkeypatch.syspath_prepend(str(tmp_path))


def test_built_in_drivers_are_found() -> None:
    assert drivers.find("sqlite") is SqliteDriver
    assert set(drivers.BUILT_IN) <= set(drivers.names())


def test_an_unknown_name_lists_what_exists() -> None:
    with pytest.raises(TargetError) as caught:
        drivers.find("sqlit")
    assert str(caught.value) == (
        "there is no driver 'sqlit' among command, http, mysql, postgresql, python, sqlite;"
        " did you mean 'sqlite'?"
    )
    with pytest.raises(TargetError, match=r"^there is no driver 'xyz' among command, .*sqlite$"):
        drivers.find("xyz")


@pytest.mark.usefixtures("installed")
def test_a_package_adds_a_driver() -> None:
    assert drivers.find("redis").NAME == "redis"
    assert "redis" in drivers.names()


@pytest.mark.usefixtures("installed")
def test_a_package_replaces_none_of_benchgate() -> None:
    assert drivers.find("sqlite") is SqliteDriver


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("renamed", "bg_more_drivers:Other calls itself 'other'"),
        ("unfinished", "bg_more_drivers:Unfinished does not define connect"),
        ("nameless", "bg_more_drivers:Nameless does not define NAME"),
        ("function", "bg_more_drivers:function is not a subclass of Driver"),
        ("missing", "cannot be imported: AttributeError: .*Missing"),
        ("gone", "cannot be imported: ModuleNotFoundError: .*bg_no_such_module"),
    ],
)
def test_a_broken_entry_point_says_why(name: str, why: str) -> None:
    start = f"the driver '{name}' of the package bg-more-drivers cannot be used: "
    with pytest.raises(TargetError, match=f"^{start}.*{why}"):
        drivers.find(name)


def test_no_driver_is_imported_before_it_is_used() -> None:
    program = (
        "import sys; from benchgate.load import drivers; drivers.names();"
        "print(sorted({'sqlite3', 'http.client', 'psycopg', 'pymysql'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
