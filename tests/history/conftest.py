"""Runs as they are kept, and a stand-in for S3 on this machine."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import s3fs
from tests.patience import eventually
from tests.results import arm

from benchgate.history.record import RunRecord, record_of
from benchgate.model.environment import Environment
from benchgate.model.run import Run, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HERE = Environment(os="Debian 12", machine="x86_64", cpu_model="AMD EPYC 7763", cpu_count=4)
BUCKET = "runs-of-hello"


def run_at(hour: int, values_s: Mapping[str, float], **more: Any) -> Run:  # noqa: ANN401 - any field
    """A run of commit `hour`, measured at that hour of the year."""
    fields: dict[str, Any] = {
        "source": Source(f"{hour:040x}", "main"),
        "started": f"2026-01-{hour // 24 + 1:02}T{hour % 24:02}:00:00Z",
        "environment": HERE,
        "rounds": 5,
    }
    return arm(values_s, **{**fields, **more})


def record_at(hour: int, values_s: Mapping[str, float], **more: Any) -> RunRecord:  # noqa: ANN401 - any field
    return record_of(run_at(hour, values_s, **more))


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of moto on a free port of this machine; gives its address."""
    log = tmp_path_factory.mktemp("moto") / "log"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]

    def address() -> list[str]:
        return re.findall(r"Running on (http://[\d.:]+)\s", log.read_text())

    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=output) as server,
    ):
        try:
            assert eventually(lambda: bool(address()) or server.poll() is not None)
            (found,) = address() or [pytest.fail(log.read_text())]
            yield found
        finally:
            server.terminate()


@pytest.fixture
def s3(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An address in a new bucket, which the variables of this process lead to."""
    for name, value in {
        "AWS_ENDPOINT_URL": s3_server,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    files = s3fs.S3FileSystem()
    if files.exists(BUCKET):
        files.rm(BUCKET, recursive=True)
    files.mkdir(BUCKET)
    return f"s3://{BUCKET}/hello"
