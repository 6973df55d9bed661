"""Reads XML of any shape.

A document with a DTD is refused: entities, which can grow without bounds, are declared there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.parsers import expat

from benchgate.formats.parsed import RowError, shown

if TYPE_CHECKING:
    from typing import NoReturn

    from benchgate.formats.parsed import Source

_DEEPEST = 200


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """An element of a document, without its text.

    Attributes:
        place: "line N".
    """

    tag: str
    attributes: dict[str, str]
    place: str
    children: list[Element] = field(default_factory=list)

    def attribute(self, name: str) -> str:
        """The value of an attribute.

        Raises:
            RowError: it is missing.
        """
        if name not in self.attributes:
            raise RowError(f"{self.place}: <{self.tag}> has no {name}")
        return self.attributes[name]

    def number(self, name: str) -> float:
        """The number that an attribute is; it may be NaN or infinite.

        Raises:
            RowError: it is missing, or no number.
        """
        text = self.attribute(name)
        try:
            return float(text)
        except ValueError:
            raise RowError(f"{self.place}: {name}: {shown(text)} is not a number") from None

    def get(self, tag: str) -> Element | None:
        """The first element of this tag in it; None if there is none."""
        return next((each for each in self.children if each.tag == tag), None)

    def __getitem__(self, tag: str) -> Element:
        """The first element of this tag in it.

        Raises:
            RowError: there is none.
        """
        found = self.get(tag)
        if found is None:
            raise RowError(f"{self.place}: <{self.tag}> has no <{tag}>")
        return found


class _RefusedError(Exception):
    """What is read is XML, but not such that a tool wrote it."""


def read_xml(source: Source) -> Element:
    """Read a document.

    Returns:
        Its outermost element.

    Raises:
        FormatError: it is not XML, declares a DTD, or is too deeply nested.
    """
    parser = expat.ParserCreate()
    document = Element("", {}, "")
    open_elements = [document]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > _DEEPEST:
            raise _RefusedError("is nested too deeply")
        found = Element(tag, attributes, f"line {parser.CurrentLineNumber}")
        open_elements[-1].children.append(found)
        open_elements.append(found)

    def end(_tag: str) -> None:
        open_elements.pop()

    def refuse(*_declaration: object) -> NoReturn:
        raise _RefusedError("declares a document type, which no benchmark tool does")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(source.data, True)  # noqa: FBT003 - this is all of it
    except expat.ExpatError as error:
        place = f"line {error.lineno}, column {error.offset + 1}"
        raise source.error(place, f"is not XML: {expat.ErrorString(error.code)}") from None
    except _RefusedError as error:
        raise source.error(f"line {parser.CurrentLineNumber}", str(error)) from None
    except (LookupError, ValueError) as error:  # an encoding that Python cannot read
        raise source.error("", f"is not XML: {error}") from None
    return document.children[0]
