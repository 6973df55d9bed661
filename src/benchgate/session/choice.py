"""Which of the existing benchmarks are measured: those that the user asked for, or a shard."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from benchgate.config import matches
from benchgate.errors import UsageError, did_you_mean
from benchgate.model.result import MAX_SHARDS, Shard
from benchgate.model.run import CANARY_IDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.gate.stored import EarlierResult, StoredResults
    from benchgate.model.run import Run
    from benchgate.session.session import Session

_NAMED = 10
_SHARD = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Choice:
    """Globs over ids, and names of tags; a benchmark must match one of each kind that is given.

    Attributes:
        shard: the part of those benchmarks to measure; see `sharding`.
        ids: measure only these; None for all.
    """

    globs: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    shard: Shard | None = None
    ids: frozenset[str] | None = None

    @property
    def is_everything(self) -> bool:
        """Whether every benchmark is chosen."""
        return not self.globs and not self.tags and self.ids is None

    @property
    def is_whole(self) -> bool:
        """Whether every benchmark is chosen, and measured here."""
        return self.is_everything and (self.shard is None or self.shard.count == 1)

    def wants(self, id_: str, tags: Iterable[str]) -> bool:
        """Whether the benchmark is chosen."""
        if self.ids is not None and id_ not in self.ids:
            return False
        by_id = not self.globs or any(matches(glob, id_) for glob in self.globs)
        return by_id and (not self.tags or bool(set(self.tags) & set(tags)))

    def may_want_of(self, failed: str) -> bool:
        """Whether an unreadable file or function may contain a chosen benchmark."""
        if self.ids is not None:
            return any(
                id_ == failed or id_.startswith((f"{failed}/", f"{failed}[")) for id_ in self.ids
            )
        return not self.globs or any(_may_concern(glob, failed) for glob in self.globs)

    def may_want_of_suite(self, group: str | None, tags: Iterable[str]) -> bool:
        """Whether a suite may have a chosen benchmark: only a run tells which ones it has.

        Args:
            group: what its ids begin with; None if that is unknown.
        """
        if self.tags and not set(self.tags) & set(tags):
            return False
        return group is None or self.may_want_of(group)

    def describe(self) -> str:
        """Say what is chosen; some commands take an id without `--filter`."""
        tags = " ".join(f"--tag {tag}" for tag in self.tags)
        return " with ".join(filter(None, (" or ".join(self.globs), tags)))


EVERYTHING: Final = Choice()
"""Every benchmark is chosen."""


def leave_out_unwanted(
    choice: Choice,
    session: Session,
    suites: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> None:
    """Keep only the chosen benchmarks; a benchmark has the tags of both arms.

    Args:
        suites: titles and tags of the suites that there are, for the error: those that cannot have
            a chosen benchmark did not run. Also the scenario files that cannot be read.
    """
    found: dict[str, tuple[str, ...]] = {}
    unrun: set[str] = set()
    for arm in session.arms:
        for one in session.definitions(arm):
            found[one.id] = (*found.get(one.id, ()), *one.tags)
            unrun |= {one.id} if one.is_unrun_suite else set()
    failed = {failure.id: failure.error or "" for failure in session.unread}
    session.leave_out(
        id_
        for id_, tags in found.items()
        if id_ not in CANARY_IDS | unrun
        and not choice.wants(session.new_versions.get(id_, id_), tags)
    )
    # A suite that ran may have a chosen benchmark, and its title is none of their ids; so may a
    # scenario file.
    session.leave_out(id_ for id_ in failed if id_ not in suites and not choice.may_want_of(id_))
    if session.ids or session.failures or choice.is_everything:
        return
    if found or failed or suites:
        benchmarks = {id_: tags for id_, tags in found.items() if id_ not in CANARY_IDS}
        named = {**benchmarks, **suites}
        raise nothing_chosen(choice, named, failed)


def _may_concern(glob: str, failed: str) -> bool:
    """Whether a glob matches an unreadable file or function, or may match a benchmark in it."""
    fixed = re.split(r"[*?]", glob, maxsplit=1)[0]
    if matches(glob, failed) or fixed.startswith((f"{failed}/", f"{failed}[")):
        return True
    return fixed != glob and f"{failed}/".startswith(fixed)


def nothing_chosen(
    choice: Choice,
    found: Mapping[str, Iterable[str]],
    failed: Mapping[str, str] = MappingProxyType({}),
    *,
    listed_by: str = "list",
) -> UsageError:
    """Make the error for a choice that matches no benchmark that was found.

    Args:
        failed: what could not be read, and why: the chosen benchmarks may be in it.
        listed_by: the command that shows all.
    """
    ids = sorted(found)
    tags = sorted({tag for of_one in found.values() for tag in of_one})
    suggestions = [_about_glob(glob, ids) for glob in choice.globs]
    suggestions += [did_you_mean(tag, tags) for tag in choice.tags]
    named = ", ".join(ids[:_NAMED])
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    tagged = f" Tags: {', '.join(tags) or 'none'}." if choice.tags else ""
    return UsageError(
        f"no benchmark matches {choice.describe()}{''.join(suggestions)}",
        hint=f"Available: {named or 'none'}{more}.{tagged} `*` matches any text; "
        f"`benchgate {listed_by}` shows all.",
        details="\n".join(
            f"could not be read: {id_}: {why.partition(chr(10))[0]}" for id_, why in failed.items()
        ),
    )


def _about_glob(glob: str, ids: Sequence[str]) -> str:
    """Why a glob matches nothing: its `[...]` is meant as a choice of letters, or a typo."""
    if "[" in glob and (glob.endswith("*") or any(fnmatchcase(id_, glob) for id_ in ids)):
        return "; `[` stands for itself"
    return did_you_mean(glob.strip("*"), ids)


def chosen_of(
    found: StoredResults, choice: Choice, aliases: Mapping[str, str], head: Run
) -> StoredResults:
    """Leave out of the earlier runs what was not chosen, so that it does not count as removed.

    Their files do not hold tags. If benchmarks were chosen by tag, keep those that the head has.
    """
    if choice.is_everything:
        return found
    measured = {one.id for one in head.benchmarks}

    def is_asked_for(id_: str) -> bool:
        name = aliases.get(id_, id_)
        return bool({id_, name} & measured) or (not choice.tags and choice.wants(name, ()))

    def narrowed(one: EarlierResult) -> EarlierResult:
        run_ = one.result.head
        kept = tuple(x for x in run_.benchmarks if is_asked_for(x.id))
        return replace(one, result=replace(one.result, head=replace(run_, benchmarks=kept)))

    return replace(found, earlier=tuple(map(narrowed, found.earlier)))


def parse_shard(text: str) -> Shard:
    """Parse what people write: "2/8" is the second of eight."""
    hint = (
        "Write it as I/N, such as 2/8: each of N jobs has its own I, from 1 to N. N is at "
        f"most {MAX_SHARDS}."
    )
    match = _SHARD.fullmatch(text)
    if match is None:
        raise UsageError(f"--shard {text!r} is not a shard", hint=hint)
    number, count = int(match[1]), int(match[2])
    if not 1 <= number <= count <= MAX_SHARDS:
        raise UsageError(f"--shard {text}: there is no such shard", hint=hint)
    return Shard(number, count)


def deal(names: Iterable[str], count: int) -> dict[str, int]:
    """Assign each name to a shard; the assignment is the same on every machine.

    Take the names in alphabetical order, in groups as large as the number of shards: each name of a
    group goes to another shard. So shards differ by at most one name, and similar benchmarks are
    spread. Which name of a group goes where is random: with a fixed order, if a benchmark has
    four sizes, every fourth shard would get all of the largest.
    """
    in_order = sorted(set(names))
    dealt: dict[str, int] = {}
    for start in range(0, len(in_order), count):
        neighbors = sorted(in_order[start : start + count], key=_lot)
        dealt |= {name: number for number, name in enumerate(neighbors, start=1)}
    return dealt


def _lot(name: str) -> bytes:
    """A random draw that is the same on every machine and in every version of Python."""
    return hashlib.sha256(name.encode("utf-8", "backslashreplace")).digest()


def keep_share(shard: Shard, session: Session, aliases: Mapping[str, str]) -> None:
    """Exclude the benchmarks that other shards measure, each on its own machine.

    All shards of a suite find the same benchmarks, because they look at the same two commits, so a
    benchmark that is new in the head does not move others between them. `benchgate merge` checks
    that all shards found the same.

    Args:
        aliases: old id to new id; both ids go to the same shard, and so does a new version.
    """
    every = tuple(dict.fromkeys((*session.ids, *(failure.id for failure in session.unread))))
    names = {id_: session.new_versions.get(id_, id_) for id_ in every}
    names = {id_: aliases.get(name, name) for id_, name in names.items()}
    numbers = deal(dict.fromkeys(names.values()), shard.count)
    session.leave_out(id_ for id_ in every if numbers[names[id_]] != shard.number)
    found = tuple(id_ for id_ in every if id_ not in session.new_versions)
    session.shard = replace(shard, dealt=found)
