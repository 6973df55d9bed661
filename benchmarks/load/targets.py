"""Small projects that load a database or a server: SQLite, PostgreSQL and HTTP.

PostgreSQL comes from Debian: each side has a server of its own, with a copy of the same data.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.load.peers import sql_binaries, sql_data, sql_user

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.gate.project import Change

WORK = 2000

SQL_SCENARIO = """\
name = "it"
{service}[[target]]
driver = "{driver}"
dsn = "{dsn}"
[load]
concurrency = 2
duration = "500ms"
warmup = "100ms"
[setup]
files = ["work.sql"]
[[step]]
name = "sum"
query = "SELECT total + :more FROM work"
params = {{ more = "random_int(1, 9)" }}
[[step]]
name = "other"
query = "SELECT :more + 1"
params = {{ more = "random_int(1, 9)" }}
"""
SQL_SERVICE = """\
[[service]]
start = "python3 server.py {port}"
ready = { tcp = true }
"""
SQL_SERVER = """\
import shutil
import signal
import subprocess
import sys

data = f"DATA-{sys.argv[1]}"
subprocess.run(["cp", "-a", "DATA", data], check=True)
settings = ("listen_addresses=127.0.0.1", f"unix_socket_directories={data}", "fsync=off")
options = [word for setting in settings for word in ("-c", setting)]
command = ["BINARIES/postgres", "-D", data, "-p", sys.argv[1], *options]
server = subprocess.Popen(command, user="USER")
signal.signal(signal.SIGTERM, lambda *_: server.send_signal(signal.SIGINT))
code = server.wait()
shutil.rmtree(data)
sys.exit(code)
"""
SQL_WORK = """\
DROP VIEW IF EXISTS work;
CREATE VIEW work AS
WITH RECURSIVE ids(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ids WHERE n < {work})
SELECT sum(n) AS total FROM ids;
"""
HTTP_SCENARIO = """\
name = "it"
[[service]]
start = "python3 serve.py {port}"
ready = { tcp = true }
[[target]]
driver = "http"
url = "http://127.0.0.1:{port}"
[load]
concurrency = 2
duration = "500ms"
warmup = "100ms"
[[step]]
name = "sum"
path = "/sum"
[[step]]
name = "other"
path = "/other"
"""
HTTP_WORK = """\
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        total = 0
        if self.path == "/sum":
            for n in range({work}):
                total += n * n
        body = str(total).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


TARGETS = {
    "sqlite": "queries to SQLite",
    "postgresql": "queries to PostgreSQL",
    "http": "requests to a server of HTTP",
}


@dataclass(frozen=True, slots=True)
class Target:
    """A scenario of two steps; `sum` does work on each request; see `gate.project.Project`.

    The steps share their workers, so if one is slower, the other and the throughput may be, too.
    """

    kind: str
    names: Sequence[str] = ("sum",)
    config: str = '[[benchmark]]\nscenario = "it.toml"\n'
    options: Sequence[str] = ()
    edits: Sequence[str] = ()
    is_shared: bool = True

    @property
    def words(self) -> str:
        return TARGETS[self.kind]

    def write(self, root: Path, change: Change) -> None:
        """See `Project.write`."""
        more_ratio = change.percent / 100 if change.slower else 0.0
        for name, text in _files(self.kind).items():
            amount = 10 * WORK if name.endswith(".py") else WORK
            (root / name).write_text(text.replace("{work}", str(round(amount * (1 + more_ratio)))))


def _files(kind: str) -> Mapping[str, str]:
    """The files; `{work}` stands for how much work a request is."""
    if kind == "http":
        return {"it.toml": HTTP_SCENARIO, "serve.py": HTTP_WORK}
    if kind == "sqlite":
        scenario = SQL_SCENARIO.format(service="", driver="sqlite", dsn=":memory:")
        return {"it.toml": scenario, "work.sql": SQL_WORK}
    dsn = "postgresql://peers@127.0.0.1:{port}/postgres"
    scenario = SQL_SCENARIO.format(service=SQL_SERVICE, driver="postgresql", dsn=dsn)
    server = SQL_SERVER.replace("DATA", str(_data())).replace("USER", sql_user())
    server = server.replace("BINARIES", str(sql_binaries()))
    return {"it.toml": scenario, "work.sql": SQL_WORK, "server.py": server}


@cache
def _data() -> Path:
    """Data of PostgreSQL, for each server to copy."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return sql_data(folder)
