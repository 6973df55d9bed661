"""How much load benchgate and other generators reach with one CPU, and what they say of it.

Run it with `python -m benchmarks.load.peers`. nginx and PostgreSQL run on one CPU, and each
generator in turn on another. It needs Debian's packages nginx-light, postgresql, wrk and hey;
`--locust` names the program of locust. It prints the table of docs/scenarios.md.
"""

from __future__ import annotations

import argparse
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchgate.formats.contents import ForeignFile
from benchgate.formats.http_load import locust, wrk
from benchgate.formats.pgbench import pgbench

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.formats.rows import ForeignFormat

SERVER_CPU, GENERATOR_CPU = "1", "0"
CONNECTIONS = 8
DURATION_S = 5
ROUNDS = 3
START_TIMEOUT_S = 30.0
METRICS = ("throughput", "time_p50", "time_p95", "time_p99")
HEY = re.compile(r"(?:Requests/sec:\s+(?P<rps>[\d.]+))|(?:(?P<p>50|95|99)% in (?P<s>[\d.]+) secs)")

NGINX = """\
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log off;
  keepalive_requests 100000000;
  server {{ listen 127.0.0.1:{port}; location / {{ return 200 "ok\\n"; }} }}
}}
"""
LOCUSTFILE = """\
from locust import FastHttpUser, HttpUser, constant, task


class Fast(FastHttpUser):
    wait_time = constant(0)

    @task
    def get(self):
        self.client.get("/")


class Plain(HttpUser):
    wait_time = constant(0)

    @task
    def get(self):
        self.client.get("/")
"""
SCENARIO = """\
name = "peers"
[[target]]
driver = "{driver}"
{target}
[load]
concurrency = {connections}
duration = "{duration_s}s"
warmup = "1s"
workers = "{workers}"
[[step]]
name = "one"
{step}
"""


def pinned(*argv: str | Path, cpu: str = GENERATOR_CPU) -> list[str]:
    """The command that runs on one CPU."""
    return ["taskset", "-c", cpu, *map(str, argv)]


def output_of(*argv: str | Path, cwd: Path | None = None) -> str:
    """Run a generator on its CPU; give its standard output."""
    return subprocess.run(pinned(*argv), check=True, capture_output=True, text=True, cwd=cwd).stdout


def free_port() -> int:
    """A port of this machine that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@contextmanager
def serving(port: int, *argv: str | Path, user: str | None = None) -> Iterator[None]:
    """Run a server on its CPU until the end of the block."""
    with subprocess.Popen(pinned(*argv, cpu=SERVER_CPU), user=user) as process:
        try:
            deadline_s = time.monotonic() + START_TIMEOUT_S
            while True:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                if process.poll() is not None or time.monotonic() > deadline_s:
                    raise SystemExit(f"{argv[0]} does not start")
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


@contextmanager
def http_server(folder: Path) -> Iterator[str]:
    """Run nginx; give its URL."""
    port = free_port()
    conf = folder / "nginx.conf"
    conf.write_text(NGINX.format(folder=folder, port=port))
    with serving(port, "nginx", "-c", conf, "-p", folder):
        yield f"http://127.0.0.1:{port}/"


@contextmanager
def sql_server(folder: Path) -> Iterator[int]:
    """Run PostgreSQL on fresh data; give its port."""
    binaries, user, port = sql_binaries(), sql_user(), free_port()
    data = sql_data(folder)
    settings = ("-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}")
    with serving(port, binaries / "postgres", "-D", data, "-p", str(port), *settings, user=user):
        yield port


def sql_binaries() -> Path:
    """The folder of the programs of Debian's PostgreSQL."""
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not binaries:
        raise SystemExit("PostgreSQL is not installed: apt install postgresql")
    return binaries[-1]


def sql_user() -> str:
    """The user that PostgreSQL runs as, which must not be root."""
    return "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name


def sql_data(folder: Path) -> Path:
    """Make the data of a server, with the user `peers`."""
    shutil.chown(folder, sql_user())
    folder.chmod(0o755)
    subprocess.run(
        [sql_binaries() / "initdb", "-D", folder / "data", "-U", "peers", "-A", "trust"],
        check=True,
        user=sql_user(),
        stdout=subprocess.DEVNULL,
    )
    return folder / "data"


def figures(known: ForeignFormat, name: str, text: str, benchmark: str = "") -> dict[str, float]:
    """Read what a generator has printed, by benchgate's own reader of its format."""
    reading = known.parse(ForeignFile(name, text.encode()))
    (one,) = [each for each in reading.benchmarks if benchmark in each.id][:1]
    return {each.metric.name: float(each.launches[0].samples[0]) for each in one.series}


def of_hey(text: str) -> dict[str, float]:
    """Read what hey has printed: times to 0.1 ms."""
    found: dict[str, float] = {}
    for match in HEY.finditer(text):
        if match["rps"]:
            found["throughput"] = float(match["rps"])
        else:
            found[f"time_p{match['p']}"] = float(match["s"])
    return found


@dataclass(frozen=True, slots=True)
class Peers:
    """Runs every generator once."""

    folder: Path
    url: str
    port: int
    locust: str

    def http(self) -> dict[str, dict[str, float]]:
        """Load nginx with each generator; give the figures of each."""
        seconds, connections = str(DURATION_S), str(CONNECTIONS)
        text = output_of("wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", self.url)
        found = {"wrk": figures(wrk, "wrk.txt", text)}
        text = output_of("hey", "-z", f"{seconds}s", "-c", connections, "-cpus", "1", self.url)
        found["hey"] = of_hey(text)
        if self.locust:
            for user in ("Fast", "Plain"):
                found[f"locust ({user}HttpUser)".replace("Plain", "")] = self._locust(user)
        target, step = f'url = "{self.url}"', 'path = "/"'
        for workers in ("thread", "process"):
            found[f"benchgate http ({workers})"] = self._benchgate("http", target, step, workers)
        return found

    def sql(self) -> dict[str, dict[str, float]]:
        """Load PostgreSQL with each generator; give the figures of each."""
        script = self.folder / "select.sql"
        script.write_text("SELECT 1;\n")
        options = ("-n", "-f", script, "-c", str(CONNECTIONS), "-j", "1", "-T", str(DURATION_S))
        address = ("-h", "127.0.0.1", "-p", str(self.port), "-U", "peers", "postgres")
        text = output_of("pgbench", *options, "-M", "prepared", *address)
        found = {"pgbench": figures(pgbench, "pgbench.txt", text)}
        target = f'dsn = "postgresql://peers@127.0.0.1:{self.port}/postgres"'
        for workers in ("thread", "process"):
            name = f"benchgate postgresql ({workers})"
            found[name] = self._benchgate("postgresql", target, 'query = "SELECT 1"', workers)
        return found

    def _locust(self, user: str) -> dict[str, float]:
        (self.folder / "locustfile.py").write_text(LOCUSTFILE)
        options = ("--headless", "-u", str(CONNECTIONS), "-r", str(CONNECTIONS), "--json")
        host = ("--host", self.url.rstrip("/"), "-t", f"{DURATION_S}s", "--skip-log")
        text = output_of(self.locust, *options, *host, user, cwd=self.folder)
        return figures(locust, "locust.json", text)

    def _benchgate(self, driver: str, target: str, step: str, workers: str) -> dict[str, float]:
        project = self.folder / "project"
        project.mkdir(exist_ok=True)
        scenario = SCENARIO.format(
            driver=driver,
            target=target,
            step=step,
            workers=workers,
            connections=CONNECTIONS,
            duration_s=DURATION_S,
        )
        (project / "load.toml").write_text(scenario)
        (project / "benchgate.toml").write_text(
            '[[benchmark]]\nscenario = "load.toml"\nallow_foreign = true\n'
        )
        benchgate = (sys.executable, "-m", "benchgate", "run", "-q", "--rounds", "1")
        output_of(*benchgate, "--output", project / "result.json", cwd=project)
        return measured(project / "result.json")


def measured(file: Path) -> dict[str, float]:
    """The metrics of the only benchmark in a result of benchgate."""
    from benchgate.baselines.any_file import read_any  # noqa: PLC0415 - it takes long

    (one,) = [each for each in read_any([file]).head.benchmarks if each.load]
    return {each.metric.name: float(each.launches[0].samples[0]) for each in one.series}


def table(rounds: list[Mapping[str, Mapping[str, float]]]) -> Iterator[str]:
    """The rows of the table: medians over the rounds."""
    for name in rounds[0]:
        cells: list[Any] = [name]
        for metric in METRICS:
            values = [one[name][metric] for one in rounds if metric in one[name]]
            if not values:
                cells.append("")
            elif metric == "throughput":
                cells.append(f"{median(values):,.0f}")
            else:
                cells.append(f"{median(values) * 1e3:.2f}")
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Load both servers with every generator in turn, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--locust", default=shutil.which("locust") or "")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        folders = [
            Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
            for _ in range(3)
        ]
        url = stack.enter_context(http_server(folders[0]))
        port = stack.enter_context(sql_server(folders[1]))
        peers = Peers(folders[2], url, port, arguments.locust)
        rounds: list[Mapping[str, Mapping[str, float]]] = []
        for number in range(ROUNDS):
            print(f"round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
            rounds.append({**peers.http(), **peers.sql()})
    print("| generator | operations per second | p50 (ms) | p95 (ms) | p99 (ms) |")
    print("| --- | ---: | ---: | ---: | ---: |")
    print("\n".join(table(rounds)))


if __name__ == "__main__":
    main()
