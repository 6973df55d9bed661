"""What GET answers. Each function is one route's handler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.contract.answers import Problem, answer
from tests.contract.records import (
    Artifact,
    Collaborator,
    Commit,
    Comparison,
    Run,
)

if TYPE_CHECKING:
    from tests.contract.call import Call
    from werkzeug.wrappers import Response


def user(call: Call) -> Response:
    """Answer a personal token alone: an app's, such as GITHUB_TOKEN, belongs to no user."""
    if call.token.author.type == "Bot":
        raise Problem(403, "Resource not accessible by integration")
    return answer(call.views.profile(call.token.author))


def repository(call: Call) -> Response:
    return answer(call.views.full_repository(call.repository()))


def artifacts(call: Call) -> Response:
    found = call.state.artifacts(call.repository(), call.query.get("name"))
    return call.page(found, call.views.artifact, "artifacts")


def artifacts_of_run(call: Call) -> Response:
    run = _run(call)
    found = call.state.artifacts(call.repository(), call.query.get("name"))
    return call.page(
        [artifact for artifact in found if artifact.run_id == run.id],
        call.views.artifact,
        "artifacts",
    )


def artifact_zip(call: Call) -> Response:
    artifact = call.existing(call.state.get(Artifact, call.number("artifact_id")))
    call.existing(call.state.run_of(artifact))
    if call.path["archive_format"] != "zip":
        raise Problem(404)
    if call.state.is_expired(artifact):
        raise Problem(410, "Artifact has expired")
    return answer(None, 302, {"Location": call.sign(artifact)})


def runs(call: Call) -> Response:
    found = call.state.runs(call.repository(), call.query)
    return call.page(found, call.views.run, "workflow_runs")


def run(call: Call) -> Response:
    return answer(call.views.run(_run(call)))


def pulls(call: Call) -> Response:
    found = call.state.pulls(
        call.repository(), call.query.get("state", "open"), call.query.get("head")
    )
    return call.page(found, call.views.pull)


def pull(call: Call) -> Response:
    return answer(call.views.pull(call.pull("pull_number"), alone=True))


def comments(call: Call) -> Response:
    pull = call.pull("issue_number")
    return call.page(call.state.comments(call.repository(), pull.number), call.views.comment)


def reviews(call: Call) -> Response:
    """Answer with them in the order in which they were written."""
    pull = call.pull("pull_number")
    found = call.state.reviews(call.repository(), pull.number)
    return call.page(found, call.views.review)


def issue_events(call: Call) -> Response:
    pull = call.pull("issue_number")
    found = call.state.issue_events(call.repository(), pull.number)
    return call.page(found, call.views.issue_event)


def permission(call: Call) -> Response:
    """Answer for anybody: who is no collaborator of a public repository may read it."""
    here, login = call.repository(), call.path["username"]
    found = call.state.get(Collaborator, here.key, login.lower())
    return answer(call.views.permission(login, found.permission if found else "read"))


def commit(call: Call) -> Response:
    """Answer by its hash, or by the branch that it is the newest of: `heads/main`."""
    key, ref = call.repository().key, call.path["ref"]
    branch = ref.removeprefix("heads/")
    of_branch = [
        one
        for one in call.state.all(Commit)
        if branch != ref and one.newest_of == branch and one.repository.lower() == key
    ]
    found = of_branch[-1] if of_branch else call.state.get(Commit, key, ref)
    if found is None:
        raise Problem(422, f"No commit found for SHA: {call.path['ref']}")
    return answer(call.views.commit(found))


def comparison(call: Call) -> Response:
    key = call.repository().key
    base, dots, head = call.path["basehead"].partition("...")
    found = call.existing(call.state.get(Comparison, key, base, head) if dots else None)
    base_commit, merge_base = (
        call.state.get(Commit, key, sha) or Commit(repository=found.repository, sha=sha)
        for sha in (base, found.merge_base)
    )
    return answer(call.views.comparison(found, base_commit, merge_base))


def _run(call: Call) -> Run:
    return call.existing(call.state.get(Run, call.number("run_id")))
