"""The commits of a range, with their authors and subjects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from benchgate.git.repository import Git

SHORT: Final = 7


@dataclass(frozen=True, slots=True)
class RangeCommit:
    """A commit.

    Attributes:
        parents: their hashes.
        date: of the author, ISO 8601, without the time.
    """

    sha: str
    parents: tuple[str, ...]
    author: str
    date: str
    subject: str

    @property
    def short(self) -> str:
        return self.sha[:SHORT]


def commits_between(
    git: Git, before: str, last: str, *, first_parent: bool
) -> tuple[RangeCommit, ...]:
    """Return the commits that the last one has and another one does not, parents first.

    Args:
        first_parent: leave out the commits of merged branches.
    """
    listed = git.run(
        "log",
        *("--topo-order", "--reverse", "--no-show-signature"),
        *(("--first-parent",) if first_parent else ()),
        "--format=%H%x00%P%x00%aN%x00%as%x00%s%x00",
        f"{before}..{last}",
        "--",
    )
    fields = listed.split("\0")
    return tuple(
        RangeCommit(sha.strip(), tuple(parents.split()), author, date, subject)
        for sha, parents, author, date, subject in zip(*[iter(fields)] * 5, strict=False)
    )
