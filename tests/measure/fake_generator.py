"""Stands for the load generator: it answers what `fake.json` in the arm's folder says.

The file has the "reply", the seconds to "sleep" before it, a code to "exit" with instead, a file to
create while "loading", and one for the "teardown" that SIGTERM causes. Each order is appended to
`orders.jsonl` in the folder that the variable ORDERS names. If launches take turns, it fails unless
the other one runs at the same time, or with the "error_in_turns", after "sleep_in_turns" seconds.
It waits for the other one as many seconds as it has "patience". The first launches in turns answer
the "first_in_turns", one each. Standard library only, to start fast.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any


def main() -> None:
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    order = json.loads(text)
    said = json.loads(Path(order["folder"], "fake.json").read_text(encoding="utf-8"))
    with Path(os.environ["ORDERS"], "orders.jsonl").open("a+", encoding="utf-8") as log:
        log.write(f"{json.dumps(order)}\n")
        log.seek(0)
        orders = [json.loads(line) for line in log]
    if "teardown" in said:
        torn_down = Path(said["teardown"])

        def tear_down(*_: object) -> None:
            torn_down.write_text("done", encoding="utf-8")
            sys.exit(0)

        signal.signal(signal.SIGTERM, tear_down)
    if "loading" in said:
        Path(said["loading"]).write_text("now", encoding="utf-8")
    time.sleep(said.get("sleep", 0.0))
    if order["turns"]:
        time.sleep(said.get("sleep_in_turns", 0.0))
        earlier = [one for one in orders if one["turns"] and one["folder"] == order["folder"]]
        first = said.get("first_in_turns", ())
        said["reply"] = (*first, said["reply"])[min(len(earlier) - 1, len(first))]
    if order["turns"] and "error_in_turns" in said:
        said["reply"] = {**said["reply"], "error": said["error_in_turns"]}
    elif order["turns"] and not meet(order["turns"], said.get("patience", 120.0)):
        said["reply"] = {**said["reply"], "error": "interrupted before the load had ended"}
    if "exit" in said:
        sys.stderr.write("no room in memory\n")
        sys.exit(said["exit"])
    Path(sys.argv[2]).write_text(json.dumps(said["reply"]), encoding="utf-8")


def meet(turns: dict[str, Any], patience_s: float) -> bool:
    folder, place = Path(turns["meeting"]), turns["place"]
    (folder / f"ready{place}").touch()
    until_s = time.monotonic() + patience_s
    while not (folder / f"ready{1 - place}").exists():
        if (folder / "ended").exists():
            return False
        if time.monotonic() > until_s:
            sys.exit("the other one is not there")
        time.sleep(0.01)
    return True


if __name__ == "__main__":
    main()
