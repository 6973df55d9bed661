"""The part of an arm's paths that every session draws, wherever it occurs in a file or name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from benchgate.measure.hidden_text import unpacked

if TYPE_CHECKING:
    from benchgate.measure.engine import Arm


@dataclass(frozen=True, slots=True)
class DrawnPath:
    """The drawn part of the paths of an arm: `benchgate-x1y2z3w4/0123abcd`.

    Attributes:
        session: the name of the session's folder.
        own: the name of the arm's folder in it; that of the environment ends in -env.
    """

    session: str
    own: str

    @classmethod
    def of(cls, arm: Arm) -> Self:
        """Take it from the arm's root."""
        own = arm.root.parent
        return cls(own.parent.name, own.name)

    def is_like(self, other: DrawnPath) -> bool:
        """Whether one can replace the other without changing the length of anything."""
        return (len(self.session), len(self.own)) == (len(other.session), len(other.own))

    def is_in(self, data: bytes) -> bool:
        """Whether data hold any part of it, in plain text."""
        return self.session.encode() in data or self.own.encode() in data

    def replaced(self, data: bytes, new: DrawnPath) -> bytes:
        """Replace it by another one wherever it occurs as a path, or as the name of a folder."""
        if not self.is_in(data):
            return data
        for old_form, new_form in zip(self._forms, new._forms, strict=True):
            data = data.replace(old_form, new_form)
        return data

    def stays_in(self, data: bytes) -> bool:
        """Whether data hold it in a form that `replaced` does not find: changed, or compressed."""
        random = self.session.rpartition("-")[2]
        left = self.replaced(data, DrawnPath("", ""))
        if any(part.encode() in left for part in (random, self.own)):
            return True
        if any(part.encode("utf-16-le") in data for part in (random, self.own)):
            return True
        return any(
            random.encode() in inner or self.own.encode() in inner for inner in unpacked(data)
        )

    @property
    def _forms(self) -> tuple[bytes, ...]:
        forms = (f"{self.session}/{self.own}", f"{self.own}-env", f"/{self.own}/", self.session)
        return tuple(form.encode() for form in forms)
