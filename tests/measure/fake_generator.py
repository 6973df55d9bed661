"""Stands for the load generator: it answers what a file beside the scenario says.

`fake.json` in the arm's folder has, by the name of each step, the latencies in ms of the operations
that ended well; or it has "raise" (the error of the launch), "exit" (a code), "sleep" (seconds), or
"errors" (texts of failed operations, by step). Each order is appended to `orders.jsonl` in the
folder that the variable ORDERS names.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from benchgate.load.order import LoadOrder, LoadReply
from benchgate.load.reading import read_scenario
from benchgate.model.load import Generator, KeptError, LoadLaunch, Windows, WorkerGroup
from benchgate.stats.hdr import encode
from benchgate.stats.histogram import Histogram
from benchgate.stats.packed import pack


def launch(round_index: int, latencies_ms: list[float], errors: list[str]) -> LoadLaunch:
    """What a step did: in one second, and the errors at its end."""
    values = np.array([round(ms * 1e6) for ms in latencies_ms], dtype=np.int64)
    histogram = Histogram()
    histogram.record_many(values)
    group = WorkerGroup("here", 1, 0.1)
    return LoadLaunch(
        round=round_index,
        duration_s=1.0,
        ops=len(values),
        errors=len(errors),
        kept_errors=tuple(KeptError(0.9, text) for text in errors[:50]),
        histogram=encode(histogram),
        sample=pack(values),
        windows=Windows(1.0, 1.0, (len(values),), (len(errors),), (None,), (None,), (None,)),
        generator=Generator((group,), 0.0, None),
    )


def reply(order: LoadOrder, said: dict[str, Any]) -> LoadReply:
    """What the file wants to be answered."""
    if "raise" in said:
        return LoadReply(said["raise"])
    names = [step.name for step in read_scenario(Path(order.scenario), order.shown).steps]
    errors = said.get("errors", {})
    steps = {
        name: launch(order.round, said.get(name, [1.0, 2.0]), errors.get(name, []))
        for name in names
        if said.get(name, ()) is not None
    }
    return LoadReply(None, steps, tuple(said.get("notes", ())))


def main() -> None:
    order = TypeAdapter(LoadOrder).validate_json(Path(sys.argv[1]).read_bytes())
    file = Path(order.folder, "fake.json")
    said = json.loads(file.read_text()) if file.exists() else {}
    if orders := os.environ.get("ORDERS"):
        with Path(orders, "orders.jsonl").open("a") as log:
            log.write(json.dumps(json.loads(Path(sys.argv[1]).read_text())) + "\n")
    if "teardown" in said:
        torn_down = Path(said["teardown"])

        def tear_down(*_: object) -> None:
            torn_down.write_text("done")
            sys.exit(0)

        signal.signal(signal.SIGTERM, tear_down)
    if "loading" in said:
        Path(said["loading"]).write_text("now")
    time.sleep(said.get("sleep", 0.0))
    if "exit" in said:
        print("no room in memory", file=sys.stderr)
        sys.exit(said["exit"])
    answer = TypeAdapter(LoadReply).dump_json(reply(order, said), context=str)
    Path(sys.argv[2]).write_bytes(answer)


if __name__ == "__main__":
    main()
