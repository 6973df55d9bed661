"""Uploads one file as an artifact, by the protocol of version 4: create, upload, finalize."""

import base64
import hashlib
import io
import json
import os
import urllib.request
import zipfile
from pathlib import Path

SERVICE = "twirp/github.actions.results.api.v1.ArtifactService"


def call(method: str, **body: object) -> dict[str, object]:
    request = urllib.request.Request(
        f"{os.environ['ACTIONS_RESULTS_URL']}{SERVICE}/{method}",
        data=json.dumps({**ids(), **body}).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['ACTIONS_RUNTIME_TOKEN']}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return dict(json.load(answer))


def ids() -> dict[str, str]:
    """The run and the job, as the token has them."""
    payload = os.environ["ACTIONS_RUNTIME_TOKEN"].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    scope = next(one for one in claims["scp"].split() if one.startswith("Actions.Results:"))
    _, run, job = scope.split(":")
    return {"workflow_run_backend_id": run, "workflow_job_run_backend_id": job}


def main() -> None:
    path = Path(os.environ["FILE"])
    name = os.environ["NAME"] if os.environ["ARCHIVE"] == "true" else path.name
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path, path.name)
    data = stream.getvalue()
    created = call("CreateArtifact", name=name, version=4)
    url = f"{created.get('signedUploadUrl') or created['signed_upload_url']}&comp=appendBlock"
    with urllib.request.urlopen(urllib.request.Request(url, data=data, method="PUT"), timeout=30):
        pass
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    call("FinalizeArtifact", name=name, size=str(len(data)), hash=digest)
    print(f"uploaded {path.name} as {name}")


main()
