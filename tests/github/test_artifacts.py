from __future__ import annotations

import hashlib
from itertools import islice
from typing import Any

import pytest
from tests.github.loopback import Asked, Reply, answered, client_of, moved, serving

from benchgate.errors import FormatError, GitHubError
from benchgate.github.artifacts import download_artifact, list_artifacts
from benchgate.github.objects import Artifact

REPO = "octo-org/hello"
PATH = f"/repos/{REPO}/actions/artifacts"
NAME = "benchgate-baseline.default"
ARCHIVE = b"PK..."
DIGEST = f"sha256:{hashlib.sha256(ARCHIVE).hexdigest()}"


def shown(number: int, **changed: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    usual = {
        "id": number,
        "name": NAME,
        "size_in_bytes": len(ARCHIVE),
        "expired": False,
        "created_at": "2020-01-10T14:59:22Z",
        "digest": DIGEST,
    }
    return usual | changed


def listed(*items: dict[str, Any], link: str = "") -> Reply:
    return answered({"total_count": len(items), "artifacts": items}, link=link)


def artifact(**changed: Any) -> Artifact:  # noqa: ANN401 - any JSON
    return Artifact.read(shown(12, **changed), PATH)


def test_artifacts_of_a_repository_come_page_by_page_and_each_once() -> None:
    def first(asked: Asked) -> Reply:
        following = f'<http://{asked.headers["host"]}{PATH}?page=2>; rel="next"'
        return listed(shown(5), shown(4, name=f"{NAME}.2of8"), shown(3), link=following)

    second = listed(shown(3), shown(2, expired=True))
    with serving(first, second) as server, client_of(server.url) as client:
        found = list_artifacts(client, REPO, name=NAME)
        assert [one.id for one in islice(found, 2)] == [5, 3]
        assert len(server.asked) == 1
        assert [(one.id, one.expired) for one in found] == [(2, True)]
    assert server.asked[0].path == f"{PATH}?per_page=100&name={NAME}"


def test_artifacts_of_a_run() -> None:
    both = listed(shown(5), shown(4, name="other"))
    with serving(both) as server, client_of(server.url) as client:
        assert [one.id for one in list_artifacts(client, REPO, run_id=7)] == [5, 4]
        assert [one.id for one in list_artifacts(client, REPO, name="other", run_id=7)] == [4]
    paths = [asked.path for asked in server.asked]
    assert paths[0] == f"/repos/{REPO}/actions/runs/7/artifacts?per_page=100"
    assert paths[1].endswith("?per_page=100&name=other")


def test_a_list_of_another_form_is_refused() -> None:
    with (
        serving(listed({"id": 5})) as server,
        client_of(server.url) as client,
        pytest.raises(GitHubError, match="does not match GitHub's API"),
    ):
        list(list_artifacts(client, REPO))


@pytest.mark.parametrize("digest", [DIGEST, DIGEST.upper(), None])
def test_an_archive_is_downloaded(digest: str | None) -> None:
    with (
        serving(Reply(body=ARCHIVE)) as storage,
        serving(moved(f"{storage.url}/blob?sig=x")) as server,
        client_of(server.url) as client,
    ):
        assert download_artifact(client, REPO, artifact(digest=digest)) == ARCHIVE
    assert server.asked[0].path == f"{PATH}/12/zip"
    assert "authorization" not in storage.asked[0].headers


@pytest.mark.parametrize("digest", [f"sha256:{'0' * 64}", "sha512:00", ""])
def test_what_is_not_what_was_uploaded_is_refused(digest: str) -> None:
    with (
        serving(Reply(body=ARCHIVE)) as server,
        client_of(server.url) as client,
        pytest.raises(FormatError, match="differs from what was uploaded") as raised,
    ):
        download_artifact(client, REPO, artifact(digest=digest))
    assert NAME in raised.value.message


def test_what_is_too_large_is_not_downloaded_or_not_to_its_end() -> None:
    with serving(Reply(body=ARCHIVE)) as server, client_of(server.url) as client:
        with pytest.raises(FormatError, match="larger than 4 B"):
            download_artifact(client, REPO, artifact(), limit_bytes=4)
        assert server.asked == []
        with pytest.raises(FormatError, match="larger than 4 B"):
            download_artifact(client, REPO, artifact(size_in_bytes=1), limit_bytes=4)


def test_what_has_expired_says_so() -> None:
    gone = answered({"message": "Artifact has expired"}, 410)
    with serving(gone) as server, client_of(server.url) as client:
        with pytest.raises(GitHubError, match="has expired") as raised:
            download_artifact(client, REPO, artifact(expired=True))
        assert server.asked == []
        assert raised.value.status == 410
        with pytest.raises(GitHubError, match="Artifact has expired") as raised:
            download_artifact(client, REPO, artifact())
    assert raised.value.status == 410
    assert "retention-days" in raised.value.hint
