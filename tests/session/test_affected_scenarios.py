"""Which scenarios a change affects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.session.affecting import reasons

if TYPE_CHECKING:
    from benchgate.git.repository import Git

pytestmark = pytest.mark.slow  # each starts several launches

CONFIG = '[[benchmark]]\nscenario = "load.toml"\n'
LOAD = 'name = "shop"\n[load]\nduration = "1s"\nconcurrency = 1\n'
SERVED = f"""{LOAD}
[[target]]
driver = "http"
url = "http://127.0.0.1:{{port}}"

[[service]]
start = "python3 serve.py {{port}}"
ready = {{ http = "/" }}

[[step]]
name = "one"
path = "/one"

[[step]]
name = "two"
path = "/two"
"""
SERVE = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        data = open("words.txt", "rb").read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass

HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
ELSEWHERE = "may load a server that benchgate does not start"
QUERIED = f"""{LOAD}
[[target]]
driver = "sqlite"

[setup]
files = ["schema.sql"]

[[step]]
name = "count"
query = "PRAGMA table_info(word)"
"""
PROGRAM = f"""{LOAD}
[[target]]
driver = "command"
command = "python3 {{root}}/serve.py"

[[step]]
name = "run"
"""


def told(git: Git, load: str, name: str) -> set[str]:
    """Why the steps are affected by a change of a file."""
    texts = {"load.toml": load, "serve.py": SERVE, "words.txt": "a", "README": "a"}
    base = texts | {"schema.sql": "CREATE TABLE word (text TEXT);\n"}
    return set(reasons(git, base, {name: f"{base[name]}\n"}, CONFIG).values())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("README", ""),
        ("words.txt", "opens words.txt, changed"),
        ("serve.py", "opens serve.py, changed"),
    ],
)
def test_a_scenario_is_affected_by_what_its_service_opens(repo: Git, name: str, why: str) -> None:
    assert told(repo, SERVED, name) == {why}


@pytest.mark.parametrize(
    ("name", "why"), [("README", ""), ("schema.sql", "opens schema.sql, changed")]
)
def test_a_scenario_is_affected_by_the_files_of_its_database(
    repo: Git, name: str, why: str
) -> None:
    assert told(repo, QUERIED, name) == {why}


@pytest.mark.parametrize(
    ("load", "why"),
    [
        (SERVED.replace('{port}"\n\n[[service]]', '9"\n\n[[service]]'), ELSEWHERE),
        (
            SERVED.replace("ready =", 'env = { COMMIT = "{sha}" }\nready ='),
            "uses {sha}",
        ),
        (SERVED.replace('path = "/two"', 'path = "/{sha}"'), "uses {sha}"),
        (SERVED.replace("python3 serve.py", "docker run -p {port}:80 shop"), "starts a container"),
        (PROGRAM, ELSEWHERE),
        (SERVED.replace('name = "two"', 'name = "two"\nexpect_status = [404]'), "has no operation"),
    ],
)
def test_what_cannot_be_seen_of_a_scenario_affects_it(repo: Git, load: str, why: str) -> None:
    assert any(why in one for one in told(repo, load, "README"))


def test_a_service_that_is_started_in_another_way_affects_a_scenario(repo: Git) -> None:
    base = {"load.toml": SERVED, "serve.py": SERVE, "words.txt": "a"}
    head = {"load.toml": SERVED.replace("serve.py {port}", "serve.py {port} --fast")}
    assert set(reasons(repo, base, head, CONFIG).values()) == {"is edited itself"}
