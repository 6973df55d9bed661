"""Access logs in the common log format of web servers."""

import re
from dataclasses import dataclass

_LINE = re.compile(
    r"(?P<host>\S+) \S+ (?P<user>\S+) \[(?P<time>[^\]]+)\] "
    r'"(?P<method>[A-Z]+) (?P<path>\S+) [^"]*" (?P<status>\d{3}) (?P<size>\d+|-)'
)


@dataclass(frozen=True)
class Entry:
    """One request."""

    host: str
    user: str
    time: str
    method: str
    path: str
    status: int
    size_bytes: int


def parse_log(lines: list[str]) -> list[Entry]:
    """The requests of a log, in order; lines of another form raise ValueError."""
    return [_parse_line(line) for line in lines]


def _parse_line(line: str) -> Entry:
    match = _LINE.fullmatch(line.rstrip())
    if match is None:
        raise ValueError(f"not a line of an access log: {line!r}")
    host, user, time, method, path, status, size = match.groups()
    return Entry(host, user, time, method, path, int(status), 0 if size == "-" else int(size))
