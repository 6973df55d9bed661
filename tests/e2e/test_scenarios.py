"""Scenarios in the real program: SQLite, and a server that benchgate starts on each side."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from tests.patience import eventually

from benchgate.baselines.stored_files import read_result
from benchgate.gate.evidence import series_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.slow

TABLE = """\
[[benchmark]]
scenario = "load/orders.toml"
"""
SHORT = """\
[load]
concurrency = 2
duration = "200ms"
warmup = "0s"
"""
SQLITE = '''
name = "orders"
[setup]
files = ["schema.sql"]
queries = [
  """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
  INSERT INTO orders SELECT i, i % 1000 FROM n""",
]
[[step]]
name = "lookup"
query = "SELECT * FROM orders WHERE customer = :customer"
params = { customer = "random_int(0, 999)" }
weight = 4
[[step]]
name = "count"
query = "SELECT count(*) FROM orders"
'''
SCHEMA = "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER);\n"
INDEX = "CREATE INDEX by_customer ON orders (customer);\n"
HTTP = """
name = "shop"
[[target]]
driver = "http"
url = "http://127.0.0.1:{port}"
[[service]]
name = "api"
start = "python3 server.py {port}"
ready = { http = "/" }
[[step]]
name = "price"
path = "/price"
"""
SERVER = """\
import http.server, sys
import handler

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        body = handler.body(self.path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
HANDLER = "def body(path):\n    return b'9.99'\n"


@pytest.fixture
def shop(toy: Project) -> Project:
    """A project whose only benchmark is an SQLite scenario."""
    toy.write(
        {
            "load/orders.toml": SQLITE + SHORT,
            "schema.sql": SCHEMA + INDEX,
            "server.py": SERVER,
            "handler.py": HANDLER,
        }
    )
    toy.configure("", benchmarks=TABLE)
    toy.commit()
    return toy


def result_of(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def test_a_run_measures_as_many_iterations_as_the_scenario_says(
    benchgate: Program, shop: Project
) -> None:
    shop.write({"load/orders.toml": SQLITE + SHORT + "[experiment]\niterations = 2\n"})
    output = shop.root.parent / "result.json"

    listed = benchgate(shop.root, "list")
    done = benchgate(shop.root, "run", "--output", output)

    listed.check(0)
    assert "orders/lookup" in listed.out
    done.check(0, "2 benchmarks: 2 rounds each")
    lookup, count = result_of(output)["head"]["benchmarks"]
    assert [lookup["id"], count["id"]] == ["orders/lookup", "orders/count"]
    assert lookup["status"] == count["status"] == "ok"
    assert [len(one["launches"]["round"]) for one in lookup["series"]] == [2] * 6
    assert [launch["round"] for launch in lookup["load"]["launches"]] == [0, 1]
    assert all(launch["ops"] > 0 for launch in lookup["load"]["launches"])
    assert lookup["location"].startswith("load/orders.toml:")


def test_one_step_can_be_chosen_and_the_target_says_its_version(
    benchgate: Program, shop: Project
) -> None:
    output = shop.root.parent / "result.json"
    options = ("--rounds", "1", "--introspect", "--filter", "orders/count", "--output", output)

    done = benchgate(shop.root, "run", *options)

    done.check(0, "1 benchmark: 1 round each")
    (count,) = result_of(output)["head"]["benchmarks"]
    assert count["id"] == "orders/count"
    assert sqlite3.sqlite_version in count["load"]["server"].values()


def test_a_dropped_index_is_found(benchgate: Program, shop: Project) -> None:
    shop.write({"schema.sql": SCHEMA})

    done = benchgate(
        shop.root, "check", "--against", "HEAD", "--rounds", "11", "--filter", "orders/lookup"
    )

    done.check(3)
    assert "orders/lookup" in done.out
    assert "closed loop: service time" in done.out


def test_a_wrong_scenario_file_fails_the_check(benchgate: Program, shop: Project) -> None:
    shop.write({"load/orders.toml": SQLITE + SHORT.replace("concurrency", "concurency")})
    message = "load.concurency: unknown key; did you mean 'concurrency'?"

    benchgate(shop.root, "validate").check(2, message)
    done = benchgate(shop.root, "check", "--against", "HEAD", "--rounds", "2")

    done.check(5)
    assert message in done.out


def test_a_scenario_that_the_base_lacks_is_new(benchgate: Program, shop: Project) -> None:
    added = SQLITE.replace('"orders"', '"more"')
    shop.write({"load/more.toml": added + SHORT})
    shop.configure("", benchmarks=TABLE + TABLE.replace("orders", "more"))

    done = benchgate(shop.root, "check", "--against", "HEAD", "--rounds", "2")

    done.check(0)
    assert "new" in done.out
    assert "more/lookup" in done.out


def test_the_heads_scenario_is_lent_to_the_base(benchgate: Program, toy: Project) -> None:
    toy.write({"schema.sql": SCHEMA + INDEX})
    toy.commit()
    toy.write({"load/orders.toml": SQLITE + SHORT, "schema.sql": SCHEMA})
    toy.configure("", benchmarks=TABLE)
    output = toy.root.parent / "result.json"

    done = benchgate(
        toy.root,
        *("check", "--against", "HEAD", "--benchmarks", "head", "--rounds", "2"),
        *("--output", output),
    )

    done.check(0)
    result = result_of(output)
    workloads = [
        {one["id"]: one["workload"] for one in result[arm]["benchmarks"]}
        for arm in ("base", "head")
    ]
    assert workloads[0] == workloads[1]
    assert set(workloads[0]) == {"orders/lookup", "orders/count"}


def test_what_is_the_same_on_both_sides_is_refused(benchgate: Program, shop: Project) -> None:
    inline = SQLITE.replace('files = ["schema.sql"]\n', "").replace(
        "queries = [", f'queries = [\n  "{SCHEMA.strip()}",'
    )
    shop.write({"load/orders.toml": inline + SHORT})
    shop.commit()

    done = benchgate(shop.root, "check", "--against", "HEAD", "--rounds", "2")
    alone = benchgate(shop.root, "run", "--rounds", "1")

    done.check(5)
    assert "nothing in load/orders.toml depends on the side" in done.out
    alone.check(0)


def test_each_side_is_loaded_with_its_own_server(benchgate: Program, shop: Project) -> None:
    shop.write({"load/orders.toml": HTTP + SHORT})
    shop.commit()
    shop.write({"handler.py": HANDLER.replace("    return", "    sum(range(200_000))\n    return")})
    output = shop.root.parent / "result.json"

    done = benchgate(shop.root, "check", "--against", "HEAD", "--rounds", "2", "--output", output)

    done.check(0)
    result = read_result(output)
    assert result.base
    before, after = (series_of(run.benchmarks[0], "time_p50") for run in (result.base, result.head))
    assert before
    assert after
    assert all(
        old.samples[0] < new.samples[0]
        for old, new in zip(before.launches, after.launches, strict=True)
    )


def test_a_server_that_dies_is_a_failed_row(benchgate: Program, shop: Project) -> None:
    shop.write({"load/orders.toml": HTTP + SHORT})
    shop.commit()
    dies = "import os\ndef body(path):\n    print('out of memory', flush=True)\n    os._exit(3)\n"
    shop.write({"handler.py": dies})

    done = benchgate(shop.root, "check", "--against", "HEAD", "--rounds", "2")

    done.check(5)
    assert "the service api ended before it was ready: it exited with code 3" in done.out
    assert "out of memory" in done.out
    [log] = (benchgate.state_home / "benchgate" / "logs").iterdir()
    assert log.read_text() == "out of memory\n"


def test_a_server_of_the_checkout_is_refused(benchgate: Program, shop: Project) -> None:
    here = HTTP.replace("python3 server.py", f"python3 {shop.root}/server.py")
    shop.write({"load/orders.toml": here + SHORT})
    shop.commit()

    done = benchgate(shop.root, "check", "--against", "HEAD", "--rounds", "2")

    done.check(5)
    assert f"of your checkout {shop.root}, not of its own tree" in done.out


INTERRUPTED = '''
name = "orders"
[[target]]
dsn = "FILE"
[load]
LOAD
[setup]
queries = ["CREATE TABLE IF NOT EXISTS said (what)", "INSERT INTO said VALUES ('set up')"]
[teardown]
queries = [
  "INSERT INTO said VALUES ('begun')",
  """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000)
  INSERT INTO said SELECT 'ended' WHERE (SELECT sum(i) FROM n) > 0""",
]
[[step]]
name = "read"
query = "SELECT what FROM said"
'''


@pytest.mark.parametrize("phase", ["warm-up", "load", "teardown"])
def test_interrupted_under_load(benchgate: Program, shop: Project, phase: str) -> None:
    """The teardown runs to its end, and what was measured before is kept."""
    file = shop.root.parent / "orders.db"
    load = {
        "warm-up": 'warmup = "60s"',
        "load": 'duration = "60s"',
        "teardown": 'warmup = "0s"\nduration = "100ms"',
    }[phase]
    scenario = INTERRUPTED.replace("FILE", str(file)).replace("LOAD", load)
    shop.write({"load/orders.toml": scenario})
    shop.configure("", benchmarks=f"{TABLE}allow_foreign = true\n")
    output = shop.root.parent / "result.json"

    def said() -> list[str]:
        if not file.exists():
            return []
        try:
            with closing(sqlite3.connect(file)) as database:
                return [what for (what,) in database.execute("SELECT what FROM said")]
        except sqlite3.OperationalError:
            return []

    process = benchgate.start(shop.root, "run", "--output", output)
    awaited = "begun" if phase == "teardown" else "set up"
    while awaited not in said() and process.poll() is None:
        time.sleep(0.02)
    if phase != "teardown":
        time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    benchgate.end(process).check(130, "interrupted")
    assert said() == ["set up", "begun", "ended"]
    assert result_of(output)["head"]["complete"] is False


def test_killed_under_load(benchgate: Program, shop: Project) -> None:
    shop.write({"load/orders.toml": HTTP + SHORT.replace("200ms", "60s")})
    process = benchgate.start(shop.root, "run", "--rounds", "1")
    while not any("server.py" in line for line in benchgate.processes().values()):
        assert process.poll() is None
        time.sleep(0.05)

    process.kill()
    benchgate.wait(process)

    eventually(lambda: not benchgate.processes())
    assert benchgate.processes() == {}
    benchgate.wait(benchgate.start(shop.root, "list")).check(0)
    benchgate.assert_nothing_left()


def test_no_password_is_shown(benchgate: Program, shop: Project) -> None:
    benchgate.variables["SHOP_DSN"] = "postgresql://app:hunter22@127.0.0.1:1/shop"
    target = '[[target]]\ndriver = "postgresql"\ndsn = "${SHOP_DSN}"\n'
    shop.write({"load/orders.toml": SQLITE + SHORT + target})
    shop.configure("", benchmarks=f"{TABLE}allow_foreign = true\n")
    output = shop.root.parent / "result.json"

    done = benchgate(shop.root, "run", "--rounds", "1", "--output", output)

    done.check(5)
    assert "hunter22" not in done.out + done.err + output.read_text()
    assert "127.0.0.1" in done.out


def test_shards_measure_a_scenario_together(benchgate: Program, shop: Project) -> None:
    parts = [shop.root.parent / f"part{number}.json" for number in (1, 2)]
    for number, part in enumerate(parts, start=1):
        options = ("--rounds", "2", "--shard", f"{number}/2", "--output", part)
        benchgate(shop.root, "check", "--against", "HEAD", *options).check(0)
    merged = shop.root.parent / "merged.json"

    benchgate(shop.root, "merge", *parts, "--output", merged).check(0)

    assert [len(result_of(part)["head"]["benchmarks"]) for part in parts] == [1, 1]
    shown = benchgate(shop.root, "compare", merged)
    shown.check(0)
    assert "orders/lookup" in shown.out
    assert "orders/count" in shown.out
