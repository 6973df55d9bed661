"""One request as a route's handler gets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.contract.answers import Problem, answer
from tests.contract.paging import page_of
from tests.contract.records import Pull, Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.contract.answers import Json
    from tests.contract.records import Artifact, Token
    from tests.contract.state import R, State
    from tests.contract.views import Views
    from werkzeug.wrappers import Response


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request that is as it should be, and what it is answered from.

    Args:
        path: the values in the path, by the names that the route gives them.
        url: absolute, without the query, as Link headers repeat it.
        sign: makes the address at the other host from which an artifact is downloaded.
    """

    state: State
    views: Views
    token: Token
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, Any]
    url: str
    sign: Callable[[Artifact], str]

    def number(self, name: str) -> int:
        return int(self.path[name])

    def repository(self) -> Repository:
        """The repository in the path.

        Raises:
            Problem: 404.
        """
        found = self.state.repository(f"{self.path['owner']}/{self.path['repo']}")
        return self.existing(found)

    def pull(self, name: str) -> Pull:
        """Look up the pull request of the number in the path.

        Raises:
            Problem: 404.
        """
        return self.existing(self.state.get(Pull, self.repository().key, self.number(name)))

    def existing(self, found: R | None) -> R:
        """Refuse what is not there, or belongs to another repository than the path's.

        Raises:
            Problem: 404.
        """
        if found is None:
            raise Problem(404)
        owner = getattr(found, "repository", None)
        if owner is not None and owner.lower() != self.repository().key:
            raise Problem(404)
        return found

    def page(self, records: Sequence[R], view: Callable[[R], Json], envelope: str = "") -> Response:
        """Answer with a page of the list, under this name beside `total_count` where it has one."""
        shown, headers = page_of(records, self.url, self.query)
        items = [view(record) for record in shown]
        content = {"total_count": len(records), envelope: items} if envelope else items
        return answer(content, headers=headers)
