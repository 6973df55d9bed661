"""How often checks of scenarios are right: unchanged code, and code with more work to do.

Run it with `python -m benchmarks.load.gate --builds 20`. For each kind of target it makes a small
project, and checks commits in turn: every second one has the same code as its base, the others do
more work in the query or in the handler of each request. It prints a line for each check, and then
a table. PostgreSQL comes from Debian: each side has a server of its own, with a copy of the same
data.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.load.peers import sql_binaries, sql_data, sql_user

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

BUDGET = "3m"
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


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of target: its files; `work` of one of them takes the place of {work}."""

    name: str
    files: Mapping[str, str]
    file: str
    amount: int

    def write(self, root: Path, more_ratio: float) -> None:
        """Write the project, with so much more work to do."""
        for name, text in self.files.items():
            work = str(round(self.amount * (1 + more_ratio)))
            content = text.replace("{work}", work) if name == self.file else text
            (root / name).write_text(content)


def kinds(data: Path) -> Iterator[Kind]:
    """Every kind of target.

    Args:
        data: of PostgreSQL, for each server to copy.
    """
    table = '[[benchmark]]\nscenario = "it.toml"\n'
    sql = {"benchgate.toml": table, "work.sql": SQL_WORK}
    scenario = SQL_SCENARIO.format(service="", driver="sqlite", dsn=":memory:")
    yield Kind("sqlite", {**sql, "it.toml": scenario}, "work.sql", WORK)
    dsn = "postgresql://peers@127.0.0.1:{port}/postgres"
    scenario = SQL_SCENARIO.format(service=SQL_SERVICE, driver="postgresql", dsn=dsn)
    server = SQL_SERVER.replace("DATA", str(data)).replace("USER", sql_user())
    server = server.replace("BINARIES", str(sql_binaries()))
    yield Kind("postgresql", {**sql, "it.toml": scenario, "server.py": server}, "work.sql", WORK)
    files = {"benchgate.toml": table, "it.toml": HTTP_SCENARIO, "serve.py": HTTP_WORK}
    yield Kind("http", files, "serve.py", 10 * WORK)


def git(root: Path, *arguments: str) -> None:
    """Run git in a project."""
    names = ("-c", "user.name=gate", "-c", "user.email=gate@example.com")
    subprocess.run(["git", *names, *arguments], cwd=root, check=True, stdout=subprocess.DEVNULL)


def start(kind: Kind, root: Path) -> None:
    """Make the project, and commit it."""
    root.mkdir()
    kind.write(root, 0.0)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Start")


def check(kind: Kind, root: Path, more_ratio: float, number: int) -> tuple[int, float, str]:
    """Check a change; give the exit code, the seconds, and the outcomes."""
    kind.write(root, more_ratio)
    (root / "README").write_text(f"{number}\n")
    verdict = root.parent / f"{kind.name}.json"
    began_s = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "benchgate", "check", "-q", "--budget", BUDGET, "--json", verdict],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    took_s = time.monotonic() - began_s
    if done.returncode not in {0, 3, 4}:
        print(f"{done.stdout}{done.stderr}", file=sys.stderr)
    return done.returncode, took_s, outcomes(json.loads(verdict.read_text()))


def outcomes(verdict: Mapping[str, Sequence[Mapping[str, object]]]) -> str:
    """Name the rows that are not unchanged."""
    changed = (
        f"{row['benchmark']} {row['metric']} {row['outcome']}"
        for row in verdict["rows"]
        if row["outcome"] in {"regressed", "improved", "failed"}
    )
    return ", ".join(changed)


def main() -> None:
    """Check, and count."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--builds", type=int, default=20, help="of each kind and each truth")
    parser.add_argument("--clean", type=int, default=1, help="clean builds for each changed one")
    parser.add_argument("--more", type=float, default=0.1, help="how much more work, as a ratio")
    parser.add_argument("--kinds", default="sqlite,postgresql,http")
    parser.add_argument("--minutes", type=float, default=600, help="begin no check after that")
    arguments = parser.parse_args()
    # By target and by how much more work there is.
    failed: Counter[tuple[str, float]] = Counter()
    checks: Counter[tuple[str, float]] = Counter()
    seconds: dict[tuple[str, float], list[float]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        data = sql_data(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        chosen = [one for one in kinds(data) if one.name in arguments.kinds.split(",")]
        for kind in chosen:
            start(kind, folder / kind.name)
        until_s = time.monotonic() + 60 * arguments.minutes
        for number in range(arguments.builds):
            for kind in chosen:
                for more in (*[0.0] * arguments.clean, arguments.more):
                    if time.monotonic() > until_s:
                        continue
                    code, took_s, what = check(kind, folder / kind.name, more, number)
                    key = (kind.name, more)
                    checks[key] += 1
                    failed[key] += code == 3
                    seconds.setdefault(key, []).append(took_s)
                    load = os.getloadavg()[0]
                    line = (
                        f"{kind.name} +{more:.0%}: exit {code} in {took_s:.0f} s, load {load:.1f}"
                    )
                    print(f"{line} {what}", flush=True)
    print("| target | more work | failed | median seconds | longest |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for key, count in checks.items():
        times = sorted(seconds[key])
        print(
            f"| {key[0]} | {key[1]:.0%} | {failed[key]} of {count} "
            f"| {times[len(times) // 2]:.0f} | {times[-1]:.0f} |"
        )


if __name__ == "__main__":
    main()
