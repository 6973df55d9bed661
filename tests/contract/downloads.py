"""The other host: artifacts by signed addresses.

It is a store of another company's, which takes its own signature and refuses a token of GitHub's.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from tests.contract.records import Artifact
from werkzeug.wrappers import Response

if TYPE_CHECKING:
    from tests.contract.journal import Journal
    from tests.contract.state import State
    from werkzeug.wrappers import Request


class Downloads:
    def __init__(self, state: State, journal: Journal) -> None:
        self._state = state
        self._journal = journal
        self._signature = secrets.token_hex(16)
        self.url = ""

    def sign(self, artifact: Artifact) -> str:
        return f"{self.url}/artifacts/{artifact.id}?sig={self._signature}"

    def answer(self, request: Request) -> Response:
        if "Authorization" in request.headers:
            self._journal.violation(request, "Authorization was sent to the host of artifacts")
            return _refused(400, "InvalidAuthenticationInfo")
        found = request.path.removeprefix("/artifacts/")
        artifact = self._state.get(Artifact, int(found)) if found.isdecimal() else None
        if request.method != "GET" or artifact is None:
            self._journal.violation(request, "nothing is at this address")
            return _refused(404, "BlobNotFound")
        if request.args.get("sig") != self._signature:
            self._journal.violation(request, "the signature is not one of this server's")
            return _refused(403, "AuthenticationFailed")
        name = f'attachment; filename="{artifact.name}.zip"'
        return Response(
            artifact.data, headers={"Content-Disposition": name}, content_type="application/zip"
        )


def _refused(status: int, code: str) -> Response:
    text = f'<?xml version="1.0" encoding="utf-8"?><Error><Code>{code}</Code></Error>'
    return Response(text, status, content_type="application/xml")
