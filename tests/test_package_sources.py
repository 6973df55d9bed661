"""scripts/package-sources.py: what it takes from the configuration of pip, and what not."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts" / "package-sources.py"
NAMES = runpy.run_path(str(SCRIPT))
MACHINE = """\
[global]
index-url = https://machine.example.org/simple
extra-index-url =
    https://one.example.org/simple
    https://two.example.org/simple
user = true
target = /theirs
cert = /etc/ssl/our own.pem
[install]
index_url = https://install.example.org/simple
no-index = false
[download]
index-url = https://download.example.org/simple
"""


def settings(tmp_path: Path, **environ: str) -> dict[str, str]:
    file = tmp_path / "pip.conf"
    file.write_text(MACHINE)
    read: dict[str, str] = NAMES["read_settings"]([str(tmp_path / "none"), str(file)], environ)
    return read


def test_what_is_for_installing_overrides_what_is_for_everything(tmp_path: Path) -> None:
    assert NAMES["options_of"](settings(tmp_path)) == [
        "--index-url https://install.example.org/simple",
        "--extra-index-url https://one.example.org/simple",
        "--extra-index-url https://two.example.org/simple",
    ]


def test_the_jobs_variables_override_the_machines_files(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        PIP_INDEX_URL="https://job.example.org/simple",
        PIP_EXTRA_INDEX_URL="https://three.example.org/simple",
        PIP_CERT="",
        INDEX_URL="https://other.example.org/simple",
    )
    assert NAMES["options_of"](found) == [
        "--index-url https://job.example.org/simple",
        "--extra-index-url https://three.example.org/simple",
    ]
    assert found["cert"] == "/etc/ssl/our own.pem"


def test_pip_and_uv_get_the_same_variables(tmp_path: Path) -> None:
    found = settings(tmp_path, PIP_TRUSTED_HOST="one.example.org  two.example.org")
    assert NAMES["variables_of"](found) == {
        "PIP_CERT": "/etc/ssl/our own.pem",
        "SSL_CERT_FILE": "/etc/ssl/our own.pem",
        "PIP_TRUSTED_HOST": "one.example.org two.example.org",
        "UV_INSECURE_HOST": "one.example.org two.example.org",
    }


def test_a_machine_may_have_no_index() -> None:
    found = NAMES["read_settings"]([], {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/wheels /more"})
    assert NAMES["options_of"](found) == [
        "--find-links /wheels",
        "--find-links /more",
        "--no-index",
    ]


def run(sources: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", SCRIPT, sources],
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_writes_options_and_prints_variables(tmp_path: Path) -> None:
    sources = tmp_path / "sources.txt"
    done = run(sources, PIP_FIND_LINKS="/one", PIP_TIMEOUT="7", PIP_TARGET="/theirs")
    assert (done.returncode, done.stderr) == (0, "")
    assert "--find-links /one" in sources.read_text().splitlines()
    assert {"PIP_TIMEOUT=7", "UV_HTTP_TIMEOUT=7"} <= set(done.stdout.splitlines())
    assert "theirs" not in sources.read_text() + done.stdout


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    damaged = tmp_path / "pip.conf"
    damaged.write_text("index-url = https://machine.example.org/simple\n")
    script = tmp_path / "script.py"
    text = SCRIPT.read_text()
    assert '"/etc/pip.conf"' in text
    script.write_text(text.replace('"/etc/pip.conf"', repr(str(damaged))))
    done = subprocess.run(
        [sys.executable, "-I", script, tmp_path / "sources.txt"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("::error title=benchgate::pip cannot read its own configuration")
    assert str(damaged) in done.stderr
    assert "Traceback" not in done.stderr
