"""What Catch2 writes about its benchmarks: XML."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.parsers import expat

from benchgate.formats.contents import RowError, number_in
from benchgate.formats.rows import reads, time_summary

if TYPE_CHECKING:
    from typing import NoReturn

    from benchgate.formats.contents import ForeignFile
    from benchgate.formats.rows import ReadRows


_DEEPEST = 200
_ROOTS = ("Catch", "Catch2TestRun")
_NAMED = ("TestCase", "Section")


@dataclass(frozen=True, slots=True, eq=False)
class _Element:
    """An element of an XML document, without its text."""

    tag: str
    attributes: dict[str, str]
    place: str
    children: list[_Element] = field(default_factory=list)

    def attribute(self, name: str) -> str:
        if name not in self.attributes:
            raise RowError(f"{self.place}: <{self.tag}> has no {name}")
        return self.attributes[name]

    def get(self, tag: str) -> _Element | None:
        """The first element of this tag in it; None if there is none."""
        return next((each for each in self.children if each.tag == tag), None)


def _read_xml(source: ForeignFile) -> _Element:
    """The outermost element of a document.

    One with a DTD is refused: entities, which can grow without bounds, are declared there.
    """
    parser = expat.ParserCreate()
    document = _Element("", {}, "")
    open_elements = [document]

    def start(tag: str, attributes: dict[str, str]) -> None:
        place = f"line {parser.CurrentLineNumber}"
        if len(open_elements) > _DEEPEST:
            raise source.error(place, "is nested too deeply")
        found = _Element(tag, attributes, place)
        open_elements[-1].children.append(found)
        open_elements.append(found)

    def refuse(*_declaration: object) -> NoReturn:
        what = "declares a document type, which no benchmark tool does"
        raise source.error(f"line {parser.CurrentLineNumber}", what)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _tag: open_elements.pop()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(source.data, True)  # noqa: FBT003 - this is all of it
    except expat.ExpatError as error:
        place = f"line {error.lineno}, column {error.offset + 1}"
        raise source.error(place, f"is not XML: {expat.ErrorString(error.code)}") from None
    except (LookupError, ValueError) as error:  # an encoding that Python cannot read
        raise RowError(f"is not XML: {error}") from None
    return document.children[0]


def _is_catch2(source: ForeignFile) -> bool:
    head = source.head[:2000]
    return head.startswith(b"<") and (b"<Catch name=" in head or b"<Catch2TestRun" in head)


@reads("catch2", "./TESTS --reporter xml --out FILE", _is_catch2, has_samples=False)
def catch2(source: ForeignFile, rows: ReadRows) -> None:
    """Catch2: the file of `--reporter xml`, of version 2 or 3.

    It has no samples. Every value is in nanoseconds per iteration. A benchmark is named within its
    test case and its sections.
    """
    root = _read_xml(source)
    if root.tag not in _ROOTS:
        raise source.error(root.place, f"begins with <{root.tag}>, not <{'> or <'.join(_ROOTS)}>")
    rows.version = root.attributes.get("catch2-version", "")
    _read_elements(root, (), rows)


def _read_elements(parent: _Element, names: tuple[str, ...], rows: ReadRows) -> None:
    for element in parent.children:
        if element.tag == "BenchmarkResults":
            with rows.row("/".join(names)) as row:
                row.id = "/".join((*names, element.attribute("name")))
                if failure := element.get("failed"):
                    raise RowError(f"it failed: {failure.attributes.get('message', '')}")
                mean = element.get("mean")
                if mean is None:
                    raise RowError(f"{element.place}: <{element.tag}> has no <mean>")
                mean_ns = number_in(mean.attribute("value"), f"{mean.place}: value")
                row.series.append(time_summary(mean_ns * 1e-9, mean.place))
        else:
            name = element.attributes.get("name") if element.tag in _NAMED else None
            _read_elements(element, (*names, name) if name else names, rows)
