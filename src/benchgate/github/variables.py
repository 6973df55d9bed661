"""The variables that GitHub Actions gives every step."""

import re
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from benchgate.github.payloads import FullName, Id, Outside, Ref, Sha
from benchgate.json_object import misplaced

_DIGITS = re.compile(r"[0-9]{1,20}")
_URL = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+(?:/[A-Za-z0-9._~/-]*)?")


def _whole(value: object) -> object:
    """A number if the text is one; other text stays, and is refused as none."""
    return int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value


def _url(value: str) -> str:
    if not _URL.fullmatch(value):
        raise misplaced(f"{value[:60]!a} is not the address of a server")
    return value.rstrip("/")


Number: TypeAlias = Annotated[Id, BeforeValidator(_whole)]
Url: TypeAlias = Annotated[str, AfterValidator(_url)]


class Variables(Outside):
    """Those that are used; an empty one counts as not set, and is left out before."""

    event_name: str = Field(alias="GITHUB_EVENT_NAME")
    event_path: str = Field(alias="GITHUB_EVENT_PATH")
    repository: FullName = Field(alias="GITHUB_REPOSITORY")
    # Local runners and servers before 3.8 do not set it.
    repository_id: Number | None = Field(alias="GITHUB_REPOSITORY_ID", default=None)
    sha: Sha = Field(alias="GITHUB_SHA")
    ref: Ref = Field(alias="GITHUB_REF")
    run_id: Number = Field(alias="GITHUB_RUN_ID")
    run_attempt: Number = Field(alias="GITHUB_RUN_ATTEMPT")
    workflow: str = Field(alias="GITHUB_WORKFLOW")
    job: str = Field(alias="GITHUB_JOB")
    actor: str = Field(alias="GITHUB_ACTOR")
    api_url: Url = Field(alias="GITHUB_API_URL")
    server_url: Url = Field(alias="GITHUB_SERVER_URL")
    runner_os: str = Field(alias="RUNNER_OS")
