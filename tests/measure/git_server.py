"""A server that lends repositories over HTTP, with git-lfs, to those who send its token."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN = "secret"  # noqa: S105 - of a server in this process
AUTHORIZED = ["basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0"]


@dataclass
class GitServer:
    """A running server.

    Attributes:
        url: without a slash at its end.
        large: what git-lfs can download, by its SHA-256.
        asked: the path of each request with the token.
    """

    url: str
    large: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def keep(self, content: bytes) -> str:
        """Keep a large file; return the pointer that git-lfs has in its place."""
        name = hashlib.sha256(content).hexdigest()
        self.large[name] = content
        size = f"size {len(content)}"
        return f"version https://git-lfs.github.com/spec/v1\noid sha256:{name}\n{size}\n"


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, folder: Path, server: GitServer, *connection: Any) -> None:  # noqa: ANN401 - as `socketserver` calls it
        self._folder = folder
        self._git = server
        super().__init__(*connection)

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, body: bytes) -> None:
        sent = self.headers.get_all("Authorization") or []
        if len(sent) > 1:  # GitHub refuses that
            self.send_error(400)
        elif [one.replace("Basic", "basic") for one in sent] != AUTHORIZED:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()
        else:
            self._git.asked.append(self.path)
            self._answer_known(body)

    def _answer_known(self, body: bytes) -> None:
        if self.path.endswith("/objects/batch"):
            self._send(json.dumps(self._batch(json.loads(body))).encode())
        elif self.path.startswith("/large/"):
            self._send(self._git.large[self.path.removeprefix("/large/")])
        else:
            self._send_of_git(body)

    def _batch(self, wanted: dict[str, list[dict[str, str]]]) -> dict[str, object]:
        objects = [
            {**one, "actions": {"download": {"href": f"{self._git.url}/large/{one['oid']}"}}}
            for one in wanted["objects"]
        ]
        return {"transfer": "basic", "objects": objects}

    def _send(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.git-lfs+json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _send_of_git(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        environ = {
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROJECT_ROOT": str(self._folder),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_USER": "somebody",
        }
        done = subprocess.run(
            ["git", "http-backend"],  # noqa: S607 - whichever the tests use
            input=body,
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            check=True,
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def git_server(folder: Path) -> Iterator[GitServer]:
    """Serve all repositories in a folder."""
    server = GitServer("")
    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, folder, server))
    server.url = f"http://127.0.0.1:{http.server_port}"
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield server
    http.shutdown()
    http.server_close()
