"""The tables of the driver `http`."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from benchgate.load.drivers.params import check_params
from benchgate.load.drivers.placeholders import names_in
from benchgate.load.drivers.plain_json import PlainJson
from benchgate.load.tables import Pattern, Script, Step, Target
from benchgate.tables import fields
from benchgate.tables.fields import Table

_METHOD = re.compile(r"[A-Za-z]{1,20}")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})


def _method(name: str) -> str:
    if not _METHOD.fullmatch(name):
        raise ValueError("must be a method such as GET or POST")
    return name.upper()


def _path(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError("must begin with /")
    if "#" in path:
        raise ValueError("has a # and what follows it, which is not sent to a server")
    return path


def _header(name: str) -> str:
    if not _HEADER.fullmatch(name):
        raise ValueError(f"{name!r} cannot be the name of a header")
    if name.lower() in _FRAMING:
        raise ValueError(f"benchgate itself sends {name}")
    return name


def _one_line(text: str) -> str:
    if any(char in text for char in "\r\n\0"):
        raise ValueError("must be one line")
    return text


def _one_or_more(value: object) -> object:
    return (value,) if isinstance(value, int) else fields.as_tuple(value)


Status = Annotated[int, Field(ge=100, le=599)]
Statuses = Annotated[tuple[Status, ...], BeforeValidator(_one_or_more)]
Headers = Mapping[
    Annotated[str, AfterValidator(_header)], Annotated[str, AfterValidator(_one_line)]
]


class HttpTarget(Target):
    """An HTTP server."""

    url: fields.Text = Field(
        description="Where the server is, such as `http://127.0.0.1:{port}`. Paths are added to it."
    )
    headers: Headers = Field(default_factory=dict, description="Headers of all requests.")
    timeout_s: fields.Duration = Field(
        default="30s",
        alias="timeout",
        validate_default=True,
        description="If an operation takes longer, with all of its answer, it has failed.",
    )
    follow_redirects: bool = Field(
        default=False, description="Whether a redirect is followed, as a part of the operation."
    )
    verify: bool = Field(
        default=True, description="Whether the certificate of a server is checked."
    )

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        # Its port may be a placeholder, so that nothing else can be checked here.
        if not re.match(r"https?://[^/]", url):
            raise ValueError("must begin with http:// or https:// and a host")
        if "?" in url or "#" in url:
            raise ValueError("ends with a path: write the query in the path of a step")
        return url

    def texts(self) -> tuple[str, ...]:
        """All its texts in which placeholders are replaced."""
        return (self.url, *self.headers.values())


class Request(Table):
    """A request, and which answer is a good one."""

    method: Annotated[str, AfterValidator(_method)] = Field(
        default="GET", description="The method."
    )
    path: Annotated[str, AfterValidator(_one_line), AfterValidator(_path)] = Field(
        default="/",
        description="Path and query; `:name` stands for a parameter, which is percent-encoded.",
    )
    headers: Headers = Field(
        default_factory=dict, description="Headers; `:name` stands for a parameter."
    )
    body: str | None = Field(
        default=None, description="The body as text; `:name` stands for a parameter."
    )
    json_body: PlainJson = Field(
        default=None,
        alias="json",
        description="The body as a value that is sent as JSON. The text `:name` becomes the"
        " parameter with its type; inside a longer text it becomes text.",
    )
    expect_status: Statuses = Field(
        default=(),
        description="Status of a good answer, or a list of them; by default 200 to 399.",
    )
    expect_body: Pattern | None = Field(
        default=None, description="A regular expression that is found in the body of a good answer."
    )

    @model_validator(mode="after")
    def _has_one_body(self) -> Self:
        if self.body is not None and self.json_body is not None:
            raise ValueError("has both body and json")
        return self

    def parameter_texts(self) -> Iterator[str]:
        """Yield the texts in which parameters are replaced."""
        yield self.path
        yield from self.headers.values()
        yield self.body or ""
        yield from _texts_in(self.json_body)

    def texts(self) -> tuple[str, ...]:
        """All its texts in which placeholders are replaced."""
        return tuple(self.parameter_texts())


class HttpStep(Request, Step):
    """A request to the server."""

    @model_validator(mode="after")
    def _uses_all_params(self) -> Self:
        found = {name for text in self.parameter_texts() for name in names_in(text)}
        # A colon has other uses here, such as 12:30; so only what has a value is a parameter.
        check_params(found & self.params.keys(), self.params)
        return self


class HttpScript(Script):
    """Requests around a launch."""

    requests: Annotated[tuple[Request, ...], BeforeValidator(fields.as_tuple)] = Field(
        default=(), description="Requests, one after the other; each must get a good answer."
    )

    def texts(self) -> tuple[str, ...]:
        """All its texts in which placeholders are replaced."""
        return tuple(text for request in self.requests for text in request.texts())


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts_in(item)


def host_and_port(url: str) -> tuple[str, int]:
    """Return the host and the port of a URL.

    Raises:
        ValueError: it has no host, or its port is not a number.
    """
    parts = urlsplit(url)
    if not parts.hostname:
        raise ValueError("it has no host")
    return parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
