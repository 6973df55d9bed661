"""Launches of small scenarios, with drivers that do what a test says."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.load.drivers.driver import Connection, Driver
from benchgate.load.launch import LoadOrder, make_launch
from benchgate.load.scenario_file import read_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchgate.load.drivers.driver import Operation
    from benchgate.load.launch import ProcessLaunch
    from benchgate.load.parameters import Parameters

SCENARIO: dict[str, Any] = {
    "name": "orders",
    "target": [{"driver": "sqlite"}],
    "load": {"duration": "300ms", "warmup": "50ms", "concurrency": 3},
    "step": [{"name": "lookup", "query": "SELECT 1"}],
}


def nothing(*_: object) -> None:
    """Do nothing."""


@dataclass
class Script:
    """What a fake driver does."""

    operate: Callable[[Parameters], None] = nothing
    connect: Callable[[int], None] = nothing
    run: Callable[[object], None] = nothing
    introspect: Callable[[], Mapping[str, str]] = dict
    interrupt: Callable[[], None] = nothing
    close: Callable[[], None] = nothing
    close_connection: Callable[[], None] = nothing
    calls: list[str] = field(default_factory=list)


class FakeConnection(Connection):
    def __init__(self, script: Script, steps: int) -> None:
        self._script, self._steps = script, steps

    def operations(self) -> Sequence[Operation]:
        return [self._script.operate] * self._steps

    def interrupt(self) -> None:
        self._script.calls.append("interrupt")
        self._script.interrupt()

    def close(self) -> None:
        self._script.calls.append("close connection")
        self._script.close_connection()


class FakeDriver(Driver[Any, Any, Any]):
    NAME = "fake"

    def __init__(self, real: Driver[Any, Any, Any], script: Script) -> None:
        super().__init__(real.target, real.steps, real.place)
        self._script = script

    def connect(self, worker: int) -> Connection:
        self._script.connect(worker)
        return FakeConnection(self._script, len(self.steps))

    def run(self, script: object) -> None:
        self._script.calls.append(f"run {getattr(script, 'queries', ('?',))[0]}")
        self._script.run(script)

    def introspect(self) -> Mapping[str, str]:
        return self._script.introspect()

    def close(self) -> None:
        self._script.calls.append("close driver")
        self._script.close()


def order_in(folder: Path, tables: Mapping[str, Any] | None = None, **fields: Any) -> LoadOrder:  # noqa: ANN401
    """An order for a scenario with other top-level tables than those of `SCENARIO`."""
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    file = folder / "orders.json"
    file.write_text(json.dumps(SCENARIO | dict(tables or {})))
    order = LoadOrder(
        scenario=str(file),
        shown="orders.json",
        target="sqlite",
        folder=str(folder),
        scratch=str(scratch),
        placeholders={"scratch": str(scratch)},
        round=0,
    )
    return replace(order, **fields)


def fake_launch(order: LoadOrder, script: Script) -> ProcessLaunch:
    """A launch whose driver does what the script says."""
    launch = make_launch(order, read_scenario(Path(order.scenario), order.shown), os.environ)
    launch.driver.close()
    return replace(launch, driver=FakeDriver(launch.driver, script))
