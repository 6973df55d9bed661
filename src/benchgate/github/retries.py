"""Whether a request is repeated, and after how long.

urllib3's Retry cannot decide this: it sees neither what a 403 says, nor that a body breaks off, nor
how much time is left.
"""

from __future__ import annotations

import math
import re
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from benchgate.github.answers import Answer, NoAnswer, Reply, Request, failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.errors import GitHubError


MOST_FAILURES: Final = 5
"""After so many server errors and lost connections, benchgate gives up a request."""

_FIRST_LIMIT_S = 60.0
_LEAST_LIMIT_S = 2.0
_FIRST_BACKOFF_S = 1.0
_NUMBER = re.compile(r"[0-9]{1,12}")
_LIMIT_WORDS = ("rate limit", "abuse detection")
_STALE_LINK = {403, 404, 410}


class _Kind(Enum):
    RATE_LIMIT = auto()
    STALE_LINK = auto()
    PASSING = auto()
    FINAL = auto()


def decide(
    request: Request, failures: Sequence[Reply], *, left_s: float, draw: float
) -> float | GitHubError:
    """Decide how many seconds to wait before repeating the request, or make the final error.

    Args:
        failures: the replies of this request so far, the newest last.
        left_s: seconds that the request may still take, including waits.
        draw: a random number from 0 to 1.
    """
    last = failures[-1]
    if isinstance(last, Answer) and _kind(last) is _Kind.RATE_LIMIT:
        return _wait_for_limit(request, last, failures, left_s)
    wait_s = _wait_s(request, failures, draw)
    if wait_s is not None and wait_s < left_s:
        return wait_s
    return failure(request, last)


def _wait_for_limit(
    request: Request, last: Answer, failures: Sequence[Reply], left_s: float
) -> float | GitHubError:
    times = sum(_kind(one) is _Kind.RATE_LIMIT for one in failures)
    told_s = _limited_s(last.headers, times)
    wait_s = min(_FIRST_LIMIT_S * 2.0 ** (times - 1), left_s / 2) if told_s is None else told_s
    if wait_s < left_s and (told_s is not None or wait_s >= _LEAST_LIMIT_S):
        return wait_s
    return failure(request, last, limited_s=math.inf if told_s is None else told_s)


def _wait_s(request: Request, failures: Sequence[Reply], draw: float) -> float | None:
    last = failures[-1]
    kind = _kind(last)
    times = sum(_kind(one) is kind for one in failures)
    if kind is _Kind.STALE_LINK:
        return 0.0 if times == 1 else None
    if kind is _Kind.FINAL or times >= MOST_FAILURES:
        return None
    if not request.is_repeatable and not (isinstance(last, NoAnswer) and not last.sent):
        return None
    asked_s = _number(last.headers, "retry-after") if isinstance(last, Answer) else None
    return asked_s or _FIRST_BACKOFF_S * 2 ** (times - 1) * (0.5 + draw)


def _kind(reply: Reply) -> _Kind:
    if isinstance(reply, NoAnswer):
        return _Kind.FINAL if reply.is_final else _Kind.PASSING
    if reply.elsewhere and reply.status in _STALE_LINK:
        return _Kind.STALE_LINK
    if reply.status == 429 or (reply.status == 403 and _speaks_of_a_limit(reply)):
        return _Kind.RATE_LIMIT
    return _Kind.PASSING if reply.status >= 500 else _Kind.FINAL


def _speaks_of_a_limit(answer: Answer) -> bool:
    return (
        "retry-after" in answer.headers
        or answer.headers.get("x-ratelimit-remaining") == "0"
        or any(words in answer.message.lower() for words in _LIMIT_WORDS)
    )


def _limited_s(headers: Mapping[str, str], times: int) -> float | None:
    """Seconds until a rate limit ends, by GitHub's own clock; None if it does not say."""
    asked_s = _number(headers, "retry-after")
    if asked_s is not None:
        return asked_s if times == 1 else max(asked_s, 2.0 ** (times - 1))
    reset_s, now_s = _number(headers, "x-ratelimit-reset"), _date_s(headers)
    if headers.get("x-ratelimit-remaining") == "0" and reset_s is not None and now_s is not None:
        return max(reset_s - now_s + 1.0, 2.0**times)
    return None


def _number(headers: Mapping[str, str], name: str) -> float | None:
    text = headers.get(name, "").strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def _date_s(headers: Mapping[str, str]) -> float | None:
    """When GitHub answered, in seconds since 1970; a runner's own clock may be wrong."""
    try:
        return parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, OverflowError):
        return None
