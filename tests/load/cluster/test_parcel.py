from __future__ import annotations

import pickle
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchgate.errors import ConfigError
from benchgate.load.launch import LoadOrder, open_launch, parcel_of, unpacked

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """
name = "orders"

[[target]]
dsn = "{scratch}/${ORDERS_WORD}.db"

[setup]
files = ["schema.sql"]

[[step]]
name = "report"
file = "queries/report.sql"
"""


@pytest.fixture
def order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoadOrder:
    monkeypatch.setenv("ORDERS_WORD", "hush-hush")
    monkeypatch.setenv("ORDERS_OTHER", "not asked for")
    folder, scratch = tmp_path / "here", tmp_path / "scratch"
    (folder / "queries").mkdir(parents=True)
    scratch.mkdir()
    (folder / "queries/report.sql").write_text("SELECT 42", encoding="utf-8")
    (folder / "schema.sql").write_text("CREATE TABLE t (id INTEGER)", encoding="utf-8")
    path = folder / "orders.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    placeholders = {"scratch": str(scratch), "port": "80"}
    return LoadOrder(
        str(path), "orders.toml", "sqlite", str(folder), str(scratch), placeholders, round=3
    )


def test_a_parcel_has_the_files_of_the_steps_and_the_variables_of_the_scenario(
    order: LoadOrder,
) -> None:
    environ = {"ORDERS_WORD": "hush-hush", "ORDERS_OTHER": "not asked for"}
    launch = open_launch(order)
    parcel = parcel_of(launch, environ, (0, 2))
    launch.driver.close()
    assert parcel.files == {"queries/report.sql": b"SELECT 42"}
    assert parcel.variables == {"ORDERS_WORD": "hush-hush"}
    assert parcel.workers == (0, 2)
    assert "hush" not in repr(parcel)


def test_a_parcel_is_unpacked_where_none_of_the_files_are(order: LoadOrder, tmp_path: Path) -> None:
    launch = open_launch(order)
    sent = pickle.dumps(parcel_of(launch, {"ORDERS_WORD": "hush-hush"}, (0,)))
    launch.driver.close()
    (tmp_path / "here").rename(tmp_path / "away")
    with unpacked(pickle.loads(sent)) as there:  # noqa: S301 - from above
        folder, scratch = there.driver.place.folder, there.driver.place.scratch
        assert (folder / "queries/report.sql").read_text(encoding="utf-8") == "SELECT 42"
        assert there.order.round == 3
        assert there.order.placeholders == {"scratch": str(scratch), "port": "80"}
        assert there.scenario.steps[0].name == "report"
        assert there.conceal("it said hush-hush") == "it said [removed]"
        connection = there.driver.connect(0)
        (report,) = connection.operations()
        report({})
        connection.close()
    assert not folder.exists()
    assert not scratch.exists()


def test_a_file_that_is_missing_is_told(order: LoadOrder, tmp_path: Path) -> None:
    launch = open_launch(order)
    launch.driver.close()
    (tmp_path / "here/queries/report.sql").unlink()
    with pytest.raises(FileNotFoundError):
        parcel_of(launch, {}, (0,))


def test_a_target_that_the_scenario_lacks_is_an_error(order: LoadOrder) -> None:
    with pytest.raises(ConfigError, match="has no target 'web'"):
        open_launch(replace(order, target="web"))
