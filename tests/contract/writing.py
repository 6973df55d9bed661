"""What POST, PATCH and DELETE do. Each function is one route's handler."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.contract.answers import answer
from tests.contract.records import CheckRun, Comment
from tests.contract.views import stamp

if TYPE_CHECKING:
    from tests.contract.call import Call
    from werkzeug.wrappers import Response


def create_comment(call: Call) -> Response:
    now = call.state.clock.now()
    comment = Comment(
        id=call.state.new_id(),
        repository=call.repository().full_name,
        number=call.pull("issue_number").number,
        body=call.body["body"],
        author=call.token.author,
        created_at=now,
        updated_at=now,
    )
    call.state.add(comment)
    shown = call.views.comment(comment)
    return answer(shown, 201, {"Location": shown["url"]})


def update_comment(call: Call) -> Response:
    comment = replace(_comment(call), body=call.body["body"], updated_at=call.state.clock.now())
    call.state.put(comment)
    return answer(call.views.comment(comment))


def delete_comment(call: Call) -> Response:
    call.state.remove(_comment(call))
    return answer(None, 204)


def create_check_run(call: Call) -> Response:
    given = _given(call)
    check = CheckRun(id=call.state.new_id(), repository=call.repository().full_name, **given)
    call.state.add(check)
    return answer(call.views.check_run(check), 201)


def update_check_run(call: Call) -> Response:
    before = call.existing(call.state.get(CheckRun, call.number("check_run_id")))
    check = replace(before, **_given(call))
    call.state.put(check)
    return answer(call.views.check_run(check))


def _comment(call: Call) -> Comment:
    return call.existing(call.state.get(Comment, call.number("comment_id")))


def _given(call: Call) -> dict[str, Any]:
    """What a check run is given; a conclusion completes it."""
    given = {name: value for name, value in call.body.items() if name != "actions"}
    if "conclusion" in given:
        given["status"] = "completed"
        given.setdefault("completed_at", stamp(call.state.clock.now()))
    return given
