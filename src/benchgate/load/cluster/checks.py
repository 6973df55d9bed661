"""Whether the workers of a cluster can load a target. Pure."""

from __future__ import annotations

import re
from collections import Counter
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchgate.load.drivers.driver import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.load.cluster.member import Facts

_MOST_NAMED = 3
_HOST = re.compile(r"\bhost(?:addr)?\s*=\s*'?([^\s';&]*)")


class ClusterError(TargetError):
    """The cluster cannot load the target. One line, without passwords."""


def spread(places: Iterable[str]) -> list[str]:
    """Order the addresses of workers of a cluster so that the first ones are on many machines."""
    seen: Counter[str] = Counter()
    turns = []
    for place in sorted(places):
        host = place.rpartition(":")[0]
        turns.append((seen[host], place))
        seen[host] += 1
    return [place for _, place in sorted(turns)]


def version_problems(versions: Mapping[str, Any]) -> Iterator[str]:
    """Compare the versions of Python and Dask, as `Client.get_versions` returns them."""
    here = versions["client"]["packages"]
    others = [("the scheduler", versions["scheduler"]), *sorted(versions["workers"].items())]
    for place, there in others:
        for package in ("python", "distributed"):
            one, other = str(here[package]), str(there["packages"][package])
            if package == "python":
                one, other = _minor(one), _minor(other)
            if one != other:
                yield f"{place} has {package} {other}, and this machine has {one}"


def installed_problems(found: Mapping[str, str | Exception], version: str) -> Iterator[str]:
    """Say which workers of the cluster lack benchgate, by the version that each one has."""
    for place, one in sorted(found.items()):
        if isinstance(one, ModuleNotFoundError):
            yield f"{place} does not have benchgate; install benchgate {version} there"
        elif isinstance(one, Exception):
            yield f"{place} did not answer: {why(one)}"
        elif one != version:
            yield f"{place} has benchgate {one}, and this machine has {version}"


def facts_problems(facts: Mapping[str, Facts | Exception]) -> Iterator[str]:
    """Say which workers of the cluster cannot use the driver.

    Args:
        facts: by the address of the worker; an error if it did not answer.
    """
    for place, found in sorted(facts.items()):
        if isinstance(found, OSError):
            yield f"{place} did not answer: {why(found)}"
        elif isinstance(found, Exception):
            yield f"{place} cannot import benchgate: {why(found)}"
        elif found.problem:
            yield f"{place} cannot use the driver: {found.problem}"


def network_problems(address: str, facts: Mapping[str, Facts], network: str) -> Iterator[str]:
    """Say which workers of the cluster cannot reach an address that is only valid here.

    Args:
        address: the target's URL or DSN; "" if it has none.
        network: that of this machine.
    """
    host = _host(address) if address else None
    if host is None or not _is_loopback(host):
        return
    shown = host or "a socket of this machine"
    for place, found in sorted(facts.items()):
        if found.network != network:
            yield (
                f"{place} cannot reach the target at {shown}, because it runs on another machine;"
                " write the name of the target's machine"
            )


def require_none(problems: Iterator[str]) -> None:
    """Raise a ClusterError that names the first problems, if there are any."""
    found = list(problems)
    if found:
        more = len(found) - _MOST_NAMED
        end = f"; and {more} more" if more > 0 else ""
        raise ClusterError("; ".join(found[:_MOST_NAMED]) + end)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _host(address: str) -> str | None:
    """Return the host of a URL or DSN; "" if it has none, None if it is malformed."""
    if "://" in address:
        try:
            return urlsplit(address).hostname or ""
        except ValueError:
            return None
    found = _HOST.search(address)
    return found[1] if found else ""


def _is_loopback(host: str) -> bool:
    if host in {"", "localhost"} or host.startswith("/") or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def why(error: Exception) -> str:
    """Say what an error is; some of Dask have no text, others have their type in it."""
    if type(error) is Exception and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
