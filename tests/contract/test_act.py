"""What act's artifact server has taken is what the API lists."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tests.contract.act import ActArtifacts
from tests.contract.conftest import Client
from tests.contract.scene import BASELINE, MAIN_RUN, PULL_RUN, SCENE, zip_of
from tests.contract.server import GitHubServer

if TYPE_CHECKING:
    from pathlib import Path


def test_uploads_of_known_runs_are_listed_and_downloaded(tmp_path: Path) -> None:
    def upload(run_id: int, name: str, data: bytes) -> None:
        path = tmp_path / str(run_id) / name / f"{name}.zip"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    first, second = zip_of({"result.json": b"1"}), zip_of({"result.json": b"2"})
    upload(PULL_RUN.id, "pull", first)
    upload(404, "baseline", first)
    scene = [record for record in SCENE if record is not BASELINE]
    with (
        GitHubServer(*scene, before=ActArtifacts(tmp_path).refresh) as github,
        Client(github).session as session,
    ):
        ask = Client(github)

        def listed() -> list[tuple[str, int, int]]:
            found = ask.hello("GET", "/actions/artifacts").json()["artifacts"]
            return [(one["name"], one["workflow_run"]["id"], one["id"]) for one in found]

        ((_, _, pull_id),) = listed()
        upload(MAIN_RUN.id, "baseline", first)
        upload(PULL_RUN.id, "pull", second)
        assert [name for name, _, _ in listed()] == ["pull", "baseline"]
        assert listed()[0] == ("pull", PULL_RUN.id, pull_id)
        url = ask.hello("GET", f"/actions/artifacts/{pull_id}/zip").headers["Location"]
        assert session.get(url, timeout=20).content == second
        github.clock.advance(timedelta(days=90).total_seconds())
        expired = ask.hello("GET", "/actions/artifacts?name=baseline").json()["artifacts"]
        assert [one["expired"] for one in expired] == [True]
        ask.session.close()
