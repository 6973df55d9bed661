from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.errors import UsageError
from benchgate.github import runner as context_module
from benchgate.github.runner import (
    EVENTS,
    Context,
    EventRepository,
    MergeGroupEvent,
    PullRequestEvent,
    PushEvent,
    Schedule,
    WorkflowDispatch,
    WorkflowRunEvent,
    read_context,
)

if TYPE_CHECKING:
    from benchgate.github.runner import Event

PAYLOAD_FILES = Path(__file__).parent / "payloads"
SHA = "6113728f27ae82c7b1a177c8d03f9e96e0adf246"
ZEROS = "0" * 40
EVENT_PATH = "/home/runner/work/_temp/_github_workflow/event.json"
ENVIRON = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_EVENT_NAME": "push",
    "GITHUB_EVENT_PATH": EVENT_PATH,
    "GITHUB_REPOSITORY": "Codertocat/Hello-World",
    "GITHUB_REPOSITORY_ID": "186853002",
    "GITHUB_SHA": SHA,
    "GITHUB_REF": "refs/heads/master",
    "GITHUB_RUN_ID": "1658821493",
    "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_WORKFLOW": "benchgate",
    "GITHUB_JOB": "measure",
    "GITHUB_ACTOR": "Codertocat",
    "GITHUB_API_URL": "https://api.github.com",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_TOKEN": "ghs_secret",
    "RUNNER_OS": "Linux",
}


def payload(name: str) -> dict[str, Any]:
    text = (PAYLOAD_FILES / f"{name}.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def read(event_name: str, document: object, **changed: str) -> Context:
    """The context of a job whose payload is this document, or this text."""
    environ = ENVIRON | {"GITHUB_EVENT_NAME": event_name} | changed
    if isinstance(document, dict) and "GITHUB_REPOSITORY_ID" not in changed:
        environ["GITHUB_REPOSITORY_ID"] = ""
    text = document if isinstance(document, str) else json.dumps(document)
    return read_context(environ, lambda _path: text)


def refusal(event_name: str, document: object, **changed: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        read(event_name, document, **changed)
    assert caught.value.hint
    return caught.value


HELLO = EventRepository(186853002, "Codertocat/Hello-World")
OCTO = EventRepository(300029405, "octo-org/octo-repo")


OPENED = PullRequestEvent(
    number=2,
    is_open=True,
    head_sha="ec26c3e57ca3a959ca5aad62de7213c562f8c821",
    head_repository=HELLO,
    base_sha="f95f852bd8fca8fcc58a9a2d6c842781e32a215e",
    base_ref="master",
)
NEW_BRANCH = PushEvent("refs/heads/master", ZEROS, forced=False, deleted=False)
COMPLETED = WorkflowRunEvent(
    id=289782451,
    attempt=1,
    event="repository_dispatch",
    is_completed=True,
    conclusion="success",
    head_sha="3484a3fb816e0859fd6e1cea078d76385ff50625",
    head_branch="master",
    head_repository=OCTO,
)
REQUESTED = replace(COMPLETED, is_completed=False, conclusion="action_required")


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("pull_request.opened", OPENED),
        ("pull_request.closed", replace(OPENED, is_open=False)),
        ("pull_request.converted_to_draft", OPENED),
        ("push.new_tag", replace(NEW_BRANCH, ref="refs/tags/simple-tag")),
        ("push.deleted_tag", PushEvent("refs/tags/simple-tag", SHA, forced=False, deleted=True)),
        ("push.new_branch", NEW_BRANCH),
        ("merge_group.checks_requested", MergeGroupEvent("main", 104)),
        ("workflow_run.completed", COMPLETED),
        ("workflow_run.requested", REQUESTED),
        ("schedule", Schedule()),
        ("workflow_dispatch", WorkflowDispatch()),
    ],
)
def test_genuine_payloads(name: str, event: Event) -> None:
    event_name = name.partition(".")[0]
    context = read(event_name, payload(name))
    assert (context.event_name, context.event) == (event_name, event)


def test_every_known_event_has_a_genuine_payload() -> None:
    assert {path.name.partition(".")[0] for path in PAYLOAD_FILES.glob("*.json")} == set(EVENTS)


def test_what_the_variables_say() -> None:
    context = read_context(ENVIRON, lambda _path: json.dumps(payload("push.new_branch")))
    assert context == Context(
        event=NEW_BRANCH,
        event_name="push",
        repository=HELLO,
        default_branch="master",
        sha=SHA,
        ref="refs/heads/master",
        run_id=1658821493,
        run_attempt=2,
        workflow="benchgate",
        job="measure",
        actor="Codertocat",
        api_url="https://api.github.com",
        server_url="https://github.com",
        runner_os="Linux",
    )
    assert "ghs_secret" not in repr(context)


def test_the_payload_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    path.write_bytes((PAYLOAD_FILES / "push.new_branch.json").read_bytes())
    environ = ENVIRON | {"GITHUB_EVENT_PATH": str(path)}
    assert read_context(environ, Path.read_text).default_branch == "master"


def test_an_enterprise_server_has_addresses_of_its_own() -> None:
    context = read(
        "push",
        payload("push.new_branch"),
        GITHUB_API_URL="https://github.example.com:8443/api/v3/",
        GITHUB_SERVER_URL="https://github.example.com:8443",
    )
    assert context.api_url == "https://github.example.com:8443/api/v3"
    assert context.server_url == "https://github.example.com:8443"


def test_a_repository_that_was_renamed_has_the_name_of_today() -> None:
    context = read("push", payload("push.new_branch"), GITHUB_REPOSITORY="octo-org/hello")
    assert context.repository == EventRepository(186853002, "octo-org/hello")


def test_forks_that_are_gone() -> None:
    document = payload("pull_request.opened")
    document["pull_request"]["head"]["repo"] = None
    event = read("pull_request", document).event
    assert isinstance(event, PullRequestEvent)
    assert event.head_repository is None
    document = payload("workflow_run.completed")
    document["workflow_run"] |= {"head_repository": None, "head_branch": None, "conclusion": None}
    run = read("workflow_run", document).event
    assert isinstance(run, WorkflowRunEvent)
    assert (run.head_repository, run.head_branch, run.conclusion) == (None, None, None)


@pytest.mark.parametrize("name", sorted(ENVIRON.keys() - {"GITHUB_ACTIONS", "GITHUB_TOKEN"}))
@pytest.mark.parametrize("is_empty", [False, True])
def test_a_variable_that_is_not_set_is_named(name: str, is_empty: bool) -> None:  # noqa: FBT001 - a case
    environ = dict(ENVIRON)
    if is_empty:
        environ[name] = ""
    else:
        del environ[name]
    text = json.dumps(payload("push.new_branch"))
    if name == "GITHUB_REPOSITORY_ID":  # which local runners do not set
        assert read_context(environ, lambda _path: text).repository == HELLO
        return
    with pytest.raises(UsageError) as caught:
        read_context(environ, lambda _path: text)
    assert caught.value.message == f"{name} is not set: this is not a job of GitHub Actions"


def test_outside_of_actions_everything_missing_is_named() -> None:
    with pytest.raises(UsageError) as caught:
        read_context({"PATH": "/usr/bin"}, Path.read_text)
    assert caught.value.message.startswith("GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, ")
    assert caught.value.message.endswith(
        "RUNNER_OS are not set: this is not a job of GitHub Actions"
    )
    assert "`benchgate check`" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("GITHUB_RUN_ID", "x", '"x" is not a whole number'),
        ("GITHUB_RUN_ATTEMPT", "0", "0: must be at least 1"),
        ("GITHUB_REPOSITORY_ID", "-1", '"-1" is not a whole number'),
        ("GITHUB_SHA", "HEAD", "'HEAD' is not the hash of a commit"),
        ("GITHUB_REF", "--help", "'--help' is not the name of a branch or tag"),
        (
            "GITHUB_REPOSITORY",
            "octo-org/..",
            "'octo-org/..' is not the name of a repository, owner/name",
        ),
        ("GITHUB_API_URL", "file:///etc", "'file:///etc' is not the address of a server"),
        ("GITHUB_API_URL", "https://me@x", "'https://me@x' is not the address of a server"),
    ],
)
def test_a_variable_that_cannot_be(name: str, value: str, complaint: str) -> None:
    error = refusal("push", payload("push.new_branch"), **{name: value})
    assert error.message == f"the environment: {name}: {complaint}"


def test_pull_request_target_is_refused_and_says_why() -> None:
    error = refusal("pull_request_target", payload("pull_request.opened"))
    assert "run the pull request's code with a token that may write" in error.message
    assert "by pull_request instead." in error.hint


@pytest.mark.parametrize("name", ["issues", "release", "x\x1b[31m"])
def test_other_events_are_refused_and_the_known_ones_named(name: str) -> None:
    error = refusal(name, {})
    assert error.message == f"benchgate has nothing to compare on the event {name!a}"
    assert all(known in error.hint for known in EVENTS)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is not valid JSON: EOF while parsing a value at line 1 column 0"),
        ("{", "is not valid JSON: EOF while parsing an object at line 1 column 1"),
        ("[" * 100_000, "is not valid JSON: recursion limit exceeded"),
        ("[]", "an array is not an object"),
        ("{}", '"repository" is missing'),
    ],
)
def test_a_file_that_is_no_payload(text: str, complaint: str) -> None:
    assert refusal("push", text).message.startswith(f"{EVENT_PATH}: {complaint}")


def test_a_file_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_module, "MAX_EVENT_CHARACTERS", 100)
    error = refusal("push", payload("push.new_branch"))
    assert error.message == f"{EVENT_PATH}: is larger than the limit of 100 characters"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    environ = ENVIRON | {"GITHUB_EVENT_PATH": str(path)}
    with pytest.raises(UsageError, match=r"event\.json: cannot be read: No such file"):
        read_context(environ, Path.read_text)
    path.write_bytes(b'{"ref": "\xff"}')
    with pytest.raises(UsageError, match=r"event\.json: is not UTF-8 at byte 9"):
        read_context(environ, lambda file: file.read_text(encoding="utf-8"))


def test_the_payload_of_another_repository() -> None:
    error = refusal("push", payload("push.new_branch"), GITHUB_REPOSITORY_ID="7")
    assert error.message == (
        f"{EVENT_PATH}: repository.id: 186853002 is not GITHUB_REPOSITORY_ID, 7"
    )


def _places(value: object, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The way to every key."""
    if not isinstance(value, dict):
        return [path]
    below = [place for key in value for place in _places(value[key], (*path, key))]
    return [path, *below] if path else below


USED = {
    "pull_request.opened": (
        ("repository", "id"),
        ("repository", "full_name"),
        ("repository", "default_branch"),
        ("pull_request", "number"),
        ("pull_request", "state"),
        ("pull_request", "head", "sha"),
        ("pull_request", "head", "repo"),
        ("pull_request", "head", "repo", "id"),
        ("pull_request", "base", "sha"),
        ("pull_request", "base", "ref"),
    ),
    "push.new_branch": (("ref",), ("before",), ("forced",), ("deleted",)),
    "merge_group.checks_requested": (("merge_group", "base_ref"),),
    "workflow_run.completed": (
        ("action",),
        ("workflow_run", "id"),
        ("workflow_run", "run_attempt"),
        ("workflow_run", "event"),
        ("workflow_run", "conclusion"),
        ("workflow_run", "head_sha"),
        ("workflow_run", "head_branch"),
        ("workflow_run", "head_repository"),
    ),
}


@pytest.mark.parametrize(("name", "place"), [(n, p) for n, places in USED.items() for p in places])
def test_a_key_that_is_missing_or_of_another_kind_is_named(
    name: str, place: tuple[str, ...]
) -> None:
    event_name = name.partition(".")[0]
    *folders, key = place
    for value in (None, [7.5]):
        document = payload(name)
        table = document
        for folder in folders:
            table = table[folder]
        if value is None:
            del table[key]
            complaint = ": ".join([".".join(folders), f'"{key}" is missing'])
        else:
            table[key] = value
            complaint = ".".join(place)
        message = refusal(event_name, document).message
        assert message.removeprefix(f"{EVENT_PATH}: ").startswith(complaint.removeprefix(": "))


BAD_NAMES = ["", "-x", "a b", "a\nb", "a..b", "a~1", "@{-1}", "x:y", "a//b", "x" * 2000, "a.lock"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_no_branch_can_be_called_so(name: str) -> None:
    document = payload("pull_request.opened")
    document["pull_request"]["base"]["ref"] = name
    message = refusal("pull_request", document).message
    assert message.startswith(f"{EVENT_PATH}: pull_request.base.ref: ")
    assert message.endswith("is not the name of a branch or tag")
    assert message.isprintable()
    assert len(message) < 300


@pytest.mark.parametrize("name", ["feature/a-b_c", "größe", "a`id`", "x$(id)|y", "v1.2", "#7"])
def test_branches_may_be_called_so(name: str) -> None:
    document = payload("pull_request.opened")
    document["pull_request"]["base"]["ref"] = name
    event = read("pull_request", document).event
    assert isinstance(event, PullRequestEvent)
    assert event.base_ref == name


def outcome(event_name: str, document: object, **changed: str) -> Context | UsageError:
    try:
        return read(event_name, document, **changed)
    except UsageError as error:
        return error


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**63, 10**40, "0" * 40, "refs/heads/x", "../..", "open", "\ud800", "\x1b"])
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=2) | st.dictionaries(st.text(max_size=3), v, max_size=2)
)


@given(st.data())
def test_any_payload_is_read_or_refused(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(path.stem for path in PAYLOAD_FILES.glob("*.json"))))
    document = payload(name)
    for _ in range(data.draw(st.integers(1, 3))):
        *folders, key = data.draw(st.sampled_from(_places(document)))
        table = document
        for folder in folders:
            table = table[folder]
        if data.draw(st.booleans()):
            table[key] = data.draw(VALUES)
        else:
            del table[key]
    found = outcome(name.partition(".")[0], document)
    if isinstance(found, UsageError):
        assert found.message.startswith(f"{EVENT_PATH}: ")
        assert found.message.isprintable()
        assert len(found.message) < 500
    else:
        assert found.default_branch.isprintable()


@given(st.text(max_size=20), st.sampled_from(sorted(EVENTS)))
def test_any_text_is_refused(text: str, event_name: str) -> None:
    assert isinstance(outcome(event_name, text), UsageError)


@given(st.dictionaries(st.sampled_from(sorted(ENVIRON)), st.text(max_size=12), min_size=1))
def test_any_environment_is_read_or_refused(changed: dict[str, str]) -> None:
    event_name = changed.pop("GITHUB_EVENT_NAME", "push")
    found = outcome(event_name, payload("push.new_branch"), **changed)
    if isinstance(found, UsageError):
        assert found.hint
        assert found.message.isprintable()
    else:
        assert found.run_id > 0
