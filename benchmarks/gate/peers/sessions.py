"""What peers said: the builds that a session consists of, and how they are stored."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from benchmarks.gate.recordings import RECORDINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.gate.recordings import Recordings

    Slower: TypeAlias = Mapping[str, Sequence[str]]
    ValuesNs: TypeAlias = Mapping[str, Sequence[int]]

SLOWER = "slower"


@dataclass(frozen=True, slots=True)
class PeerRun:
    """One measurement of one arm.

    Attributes:
        slower: by options of the tool the workloads that it calls slower than in the run before.
        values_ns: by workload what the tool compares.
    """

    arm: str
    seconds: float
    slower: Slower
    values_ns: ValuesNs


@dataclass(frozen=True, slots=True)
class PeerBuild:
    """A base and a head, compared.

    Attributes:
        is_clean: whether they are the same; otherwise every workload of the head is slower.
        seconds: how long it took to measure both, including start-up.
        slower: by options of the tool the workloads that it calls slower.
        values_ns: by workload what the tool compared, of base and head.
    """

    is_clean: bool
    seconds: float
    slower: Slower
    values_ns: Mapping[str, tuple[Sequence[int], Sequence[int]]]


@dataclass(frozen=True, slots=True)
class Session:
    """Some builds that were measured one after another, with their tool, machine and time."""

    about: Mapping[str, Any]
    builds: Sequence[PeerBuild]


def build_of(before: PeerRun, after: PeerRun) -> PeerBuild:
    """Make a build from a run and the next one, which was compared with it."""
    values_ns = {name: (values, after.values_ns[name]) for name, values in before.values_ns.items()}
    is_clean = after.arm != SLOWER
    return PeerBuild(is_clean, before.seconds + after.seconds, after.slower, values_ns)


def builds_of(runs: Sequence[PeerRun]) -> list[PeerBuild]:
    """Make a build from each run of an unchanged arm and the run that followed it."""
    return [build_of(before, after) for before, after in pairwise(runs) if before.arm != SLOWER]


def in_ns(values_s: Sequence[float]) -> list[int]:
    """Give times in whole nanoseconds."""
    return [round(value * 1e9) for value in values_s]


def write_session(place: Recordings, name: str, session: Session) -> None:
    """Write a session."""
    place.add(name, asdict(session))


def read_session(name: str, place: Recordings = RECORDINGS) -> Session:
    """Read a session."""
    document = place.document(name)
    return Session(document["about"], [PeerBuild(**build) for build in document["builds"]])
