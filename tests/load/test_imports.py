"""What the load generator imports: every launch of a scenario starts it afresh and waits for it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from tests.load.launches import order_in

if TYPE_CHECKING:
    from pathlib import Path

# Each takes long to import, and workers in threads that load SQLite need none of them.
SLOW = {
    "asyncio",
    "benchgate.config",
    "benchgate.load.cluster",
    "benchgate.load.drivers.http",
    "benchgate.model.codec",
    "benchgate.model.result",
    "click",
    "distributed",
    "multiprocessing",
    "psycopg",
    "pymysql",
    "requests",
    "rich",
    "scipy",
    "yaml",
}
LAUNCH = """\
import json, sys
from benchgate.load.generator import main
code = main(sys.argv[1:])
print(json.dumps(list(sys.modules)))
sys.exit(code)
"""


def test_a_launch_imports_only_what_it_needs(tmp_path: Path) -> None:
    order, reply = tmp_path / "order.json", tmp_path / "reply.json"
    order.write_text(json.dumps(asdict(order_in(tmp_path, {}))))
    ended = subprocess.run(
        [sys.executable, "-I", "-c", LAUNCH, str(order), str(reply)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(reply.read_text())["error"] is None
    imported = set(json.loads(ended.stdout))
    assert "benchgate.load.drivers.sqlite" in imported
    assert imported & SLOW == set()
