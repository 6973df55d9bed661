from __future__ import annotations

import base64
import socket
import ssl
import subprocess
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from pydantic import ValidationError
from tests.load.databases import free_port
from tests.load.drivers.places import connected, driver_of, place_in
from tests.load.servers import Answer, HttpServer
from tests.patience import in_time

from benchgate.load.drivers.driver import OperationError, TargetError
from benchgate.load.drivers.http import HttpRequest, HttpStep, HttpTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.load import servers

    from benchgate.load.drivers.driver import Driver, Operation


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


@pytest.fixture
def operation(server: HttpServer, tmp_path: Path) -> Iterator[Callable[..., Operation]]:
    """Make the operation of a step, on a connection of its own."""
    opened = []

    def make(step: dict[str, Any], **target: Any) -> Operation:  # noqa: ANN401 - any keys
        driver = made(tmp_path, step, **{"url": server.url, **target})
        connection = driver.connect(0)
        opened.append(connection)
        return connection.operations()[0]

    yield make
    for connection in opened:
        connection.close()


def made(folder: Path, *steps: dict[str, Any], **target: Any) -> Driver[Any, Any, Any]:  # noqa: ANN401
    place = place_in(folder, TOKEN="to/k%n 1", port="1")  # noqa: S106 - not one
    return driver_of("http", target, steps, place)


def test_a_request_has_what_the_step_says(
    server: HttpServer, operation: Callable[..., Operation]
) -> None:
    send = operation(
        {
            "method": "put",
            "path": "/orders/:id?q=:q&at=12:30&é",
            "headers": {"X-Id": ":id", "accept": "text/plain", "Authorization": "Bearer ${TOKEN}"},
            "json": {"id": ":id", "text": "no. :id", "list": [":q", 1, None, True], "at": "12:30"},
            "params": {"id": 1, "q": "x"},
        },
        url=server.url + "/api/",
        headers={"X-All": "1", "x-id": "overridden"},
    )
    send({"id": 7, "q": "a/b c&é?"})
    send({"id": 12345, "q": ""})
    first, second = server.requests
    assert first.method == "PUT"
    assert first.path == "/api/orders/7?q=a%2Fb%20c%26%C3%A9%3F&at=12:30&%C3%A9"
    assert first.headers["x-id"] == "7"
    assert first.headers["x-all"] == "1"
    assert first.headers["accept"] == "text/plain"
    assert first.headers["authorization"] == "Bearer to/k%n 1"
    assert first.headers["host"] == server.url.removeprefix("http://")
    assert first.headers["content-type"] == "application/json"
    assert first.body.decode() == (
        '{"id":7,"text":"no. 7","list":["a/b c&\\u00e9?",1,null,true],"at":"12:30"}'
    )
    assert second.path == "/api/orders/12345?q=&at=12:30&%C3%A9"
    assert b'"id":12345' in second.body
    assert server.connections == 1


def test_variables_are_replaced_in_every_text(
    server: HttpServer, operation: Callable[..., Operation]
) -> None:
    path = "/a/${TOKEN}?key=${TOKEN}&port={port}&b=$${TOKEN}"
    operation({"path": path, "method": "POST", "body": "key=${TOKEN} $${x}"})({})
    operation({"path": path, "method": "POST", "json": {"a": ["${TOKEN}", 1]}})({})
    first, second = server.requests
    encoded = "to%2Fk%25n%201"
    assert first.path == f"/a/{encoded}?key={encoded}&port=1&b=%24%7BTOKEN%7D"
    assert first.body == b"key=to/k%n 1 ${x}"
    assert second.body == b'{"a":["to/k%n 1",1]}'


def test_no_message_has_what_a_path_got(
    server: HttpServer, operation: Callable[..., Operation]
) -> None:
    def echo(request: servers.Request) -> Answer:
        inside = base64.b64encode(b"bob:to/k%n 1").decode()
        text = f"{'.' * 185} {inside} {unquote(request.path)} {request.path} to/k%n 1"
        return Answer(text.encode(), 404)

    server.answer = echo
    with pytest.raises(OperationError) as caught:
        operation({"path": "/a?key=${TOKEN}"})({})
    assert str(caught.value) == f"status 404 {'.' * 185} [removed] /a?k"


def test_a_body_is_text(server: HttpServer, operation: Callable[..., Operation]) -> None:
    send = operation(
        {
            "method": "POST",
            "body": "id=:id&name=é",
            "headers": {"Content-Type": "x/y"},
            "params": {"id": 1},
        }
    )
    send({"id": True})
    assert server.requests[0].body.decode() == "id=true&name=é"
    assert server.requests[0].headers["content-type"] == "x/y"


def test_a_header_cannot_be_broken_into_two(
    server: HttpServer, operation: Callable[..., Operation]
) -> None:
    send = operation({"headers": {"X-Id": ":id"}, "params": {"id": "x"}})
    with pytest.raises(OperationError, match=r"^a header cannot hold a line break$"):
        send({"id": "1\r\nX-Other: 2"})
    send({"id": "1"})
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("expect", "status", "good"),
    [
        (None, 200, True),
        (None, 204, True),
        (None, 302, True),
        (None, 404, False),
        (None, 500, False),
        (404, 404, True),
        (404, 200, False),
        ([200, 404], 404, True),
        ([200, 404], 201, False),
    ],
)
def test_the_status_is_checked(
    server: HttpServer,
    operation: Callable[..., Operation],
    expect: object,
    status: int,
    *,
    good: bool,
) -> None:
    body = b"" if status == 204 else b"the reason"
    server.answer = lambda _: Answer(body, status, headers={"Location": "/other"})
    send = operation({} if expect is None else {"expect_status": expect})
    if good:
        send({})
    else:
        with pytest.raises(OperationError, match=rf"^status {status} the reason$"):
            send({})
    assert len(server.requests) == 1


def test_the_body_is_checked(server: HttpServer, operation: Callable[..., Operation]) -> None:
    server.answer = lambda _: Answer("größe: 17\n".encode(), chunked=True)
    operation({"expect_body": "größe"})({})
    operation({"expect_body": r"(?m): \d+$"})({})
    with pytest.raises(OperationError, match=r"^the body does not match 'total'$"):
        operation({"expect_body": "total"})({})


def test_cookies_are_sent_back(server: HttpServer, operation: Callable[..., Operation]) -> None:
    cookies = iter(["session=abc; Path=/; HttpOnly", "other=1", "session=; Max-Age=0", "other=2"])
    server.answer = lambda _: Answer(headers={"Set-Cookie": next(cookies)})
    send = operation({})
    for _ in range(4):
        send({})
    assert [request.headers.get("cookie") for request in server.requests] == [
        None,
        "session=abc",
        "session=abc; other=1",
        "other=1",
    ]


def _redirects(request: servers.Request) -> Answer:
    targets = {
        "/303": (303, "/a/here"),
        "/307": (307, "here"),
        "/away": (302, "http://example.invalid/"),
        "/loop": (302, "/loop"),
        "/nowhere": (302, None),
    }
    if request.path not in targets:
        return Answer(headers={"Set-Cookie": "last=1"})
    status, location = targets[request.path]
    more = {"Location": location} if location else {}
    return Answer(b"", status, headers={"Set-Cookie": "first=1", **more})


def test_redirects_are_followed_if_asked(
    server: HttpServer, operation: Callable[..., Operation]
) -> None:
    server.answer = _redirects
    for path in ("/303", "/307"):
        step = {"method": "POST", "path": path, "json": [1], "expect_status": 200}
        operation(step, follow_redirects=True)({})
    seen = [(one.method, one.path, one.body) for one in server.requests]
    assert seen == [
        ("POST", "/303", b"[1]"),
        ("GET", "/a/here", b""),
        ("POST", "/307", b"[1]"),
        ("POST", "/here", b"[1]"),
    ]
    assert "content-type" not in server.requests[1].headers
    assert server.requests[1].headers["cookie"] == "first=1"
    for path, why in (
        ("/away", "a redirect to another server is not followed"),
        ("/loop", "more than 10 redirects"),
    ):
        with pytest.raises(OperationError, match=rf"^{why}$"):
            operation({"path": path}, follow_redirects=True)({})
    operation({"path": "/nowhere", "expect_status": 302}, follow_redirects=True)({})


def test_a_connection_is_used_again_until_the_server_closes_it(
    server: HttpServer, operation: Callable[..., Operation]
) -> None:
    send = operation({})
    for _ in range(5):
        send({})
    assert server.connections == 1
    server.answer = lambda _: Answer(last=True)
    send({})
    send({})
    assert server.connections == 2
    server.answer = lambda _: Answer(hang_up=True)
    with pytest.raises(
        OperationError, match=r"^the server closed the connection without an answer$"
    ):
        send({})
    server.answer = lambda _: Answer()
    send({})


def test_a_head_has_no_body(server: HttpServer, operation: Callable[..., Operation]) -> None:
    server.answer = lambda request: Answer(b"" if request.method == "HEAD" else b"x")
    send = operation({"method": "HEAD"})
    send({})
    send({})


def test_a_server_that_is_too_slow(server: HttpServer, operation: Callable[..., Operation]) -> None:
    late = "the server did not answer in time"

    def run(limit_s: float) -> None:
        send = operation({}, timeout=f"{limit_s}s")
        server.answer = lambda _: Answer(delay_s=300)
        with pytest.raises(OperationError, match=f"^{late}$"):
            send({})
        server.answer = lambda _: Answer()
        send({})

    in_time(run, late)


def test_a_server_that_goes_away_and_comes_back(tmp_path: Path) -> None:
    port = free_port()
    with HttpServer(port=port) as first:
        connection = made(tmp_path, {}, url=first.url).connect(0)
        send = connection.operations()[0]
        send({})
    for _ in range(3):
        with pytest.raises(OperationError, match=r"^the connection was refused$"):
            send({})
    with HttpServer(port=port):
        send({})
        connection.close()


@pytest.mark.parametrize(
    "answer", [b"SSH-2.0-OpenSSH\r\n", b"\x00\x01\x02\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n"]
)
def test_what_is_not_http(tmp_path: Path, answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with (
            connected(made(tmp_path, {}, url=url)) as connection,
            pytest.raises(OperationError, match=r"^\S[^\n]{5,}$"),
        ):
            connection.operations()[0]({})
        thread.join()


@pytest.mark.parametrize(
    "url",
    [
        "http://user:to/k%25n@127.0.0.1:1",
        "http://user:${TOKEN}@127.0.0.1:1",
        "http://user:tok%2Fen@no-such-host.invalid",
        "http://user:to@k%n@127.0.0.1:x",
        "http://user:tok@[::1",
    ],
)
def test_no_message_has_the_password(tmp_path: Path, url: str) -> None:
    with pytest.raises(TargetError, match=r"^\S[^\n]{10,300}$") as caught:
        made(tmp_path, {}, url=url).connect(0)
    shown = "".join(traceback.format_exception(caught.value))
    assert not [part for part in ("k%n", "k%25n", "tok", "to/k", "to%2Fk") if part in shown], shown


def test_the_url_may_have_a_password(
    server: HttpServer, operation: Callable[..., Operation]
) -> None:
    server.answer = lambda request: Answer(request.headers["authorization"].encode(), 401)
    with pytest.raises(OperationError) as caught:
        operation({}, url=server.url.replace("//", "//us%40er:p%2Fw@"))({})
    assert server.requests[0].headers["authorization"] == "Basic dXNAZXI6cC93"
    assert server.requests[0].headers["host"] == server.url.removeprefix("http://")
    assert str(caught.value) == "status 401 Basic [removed]"


def test_certificates_are_checked(tmp_path: Path) -> None:
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    words += ["-days", "2", "-keyout", "key", "-out", "cert"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    with HttpServer(tls=context) as server:
        url = server.url.replace("http:", "https:")
        with pytest.raises(TargetError, match=r"its certificate is not valid: self.signed"):
            made(tmp_path, {}, url=url).connect(0)
        with connected(made(tmp_path, {}, url=url, verify=False)) as connection:
            connection.operations()[0]({})
            connection.operations()[0]({})
    assert server.connections == 2  # the driver itself refused the first one


def test_setup_is_a_list_of_requests(server: HttpServer, tmp_path: Path) -> None:
    server.answer = lambda request: Answer(status=500 if request.path == "/bad" else 201)
    driver = made(tmp_path, url=server.url)
    good = {"method": "POST", "path": "/a", "json": {"x": ":id"}}
    driver.run(driver.SCRIPT.model_validate({"requests": [good]}))
    assert server.requests[0].body == b'{"x":":id"}'
    with pytest.raises(TargetError, match=r"^requests\[2\], GET /bad: status 500 ok$"):
        driver.run(driver.SCRIPT.model_validate({"requests": [good, {"path": "/bad"}]}))


def test_introspection_tells_the_server(server: HttpServer, tmp_path: Path) -> None:
    server.answer = lambda _: Answer(b"", headers={"Server": "nginx/1.25"})
    assert made(tmp_path, url=server.url).introspect() == {"server": "nginx/1.25"}
    assert server.requests[0].method == "HEAD"


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"path": "orders"}, "must begin with /"),
        ({"path": "/#x"}, "has a #"),
        ({"path": "/\r\nX: y"}, "must be one line"),
        ({"method": "GET /"}, "must be a method"),
        ({"headers": {"A b": "x"}}, "cannot be the name of a header"),
        ({"headers": {"Content-Length": "1"}}, "benchgate itself sends Content-Length"),
        ({"headers": {"A": "x\ny"}}, "must be one line"),
        ({"body": "x", "json": 1}, "has both body and json"),
        ({"json": float("nan")}, "cannot be sent as JSON"),
        ({"expect_body": "("}, "is not a regular expression"),
        ({"expect_status": 99}, "greater than or equal to 100"),
        ({"path": "/:ids", "params": {"id": 1}}, "nothing uses the parameter 'id': write :id"),
        ({"query": "SELECT 1"}, "query"),
    ],
)
def test_wrong_steps_are_refused(keys: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        HttpStep.model_validate({"name": "s", **keys})


@pytest.mark.parametrize(
    "url", ["localhost:80", "ftp://x", "http:///x", "http://x/?a=b", "http://x#y"]
)
def test_wrong_urls_are_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        HttpTarget.model_validate({"url": url})


def test_a_scripted_stall_holds_up_the_whole_server(tmp_path: Path) -> None:
    with HttpServer(stalls=[(0.0, 0.5)]) as server:
        began = time.monotonic()
        server.restart_clock()
        with connected(made(tmp_path, {}, url=server.url)) as connection:
            connection.operations()[0]({})
            assert time.monotonic() - began >= 0.5
    assert HttpRequest().method == "GET"
