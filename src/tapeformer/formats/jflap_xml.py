"""Parse XML from a file that nobody vouches for, keeping the line of every element."""

from __future__ import annotations

from typing import Any

from tapeformer.faults import Fault, TapeformerError
from tapeformer.formats.reading import Source

DEEPEST = 16
LEADING = "\ufeff \t\r\n"


def parse(source: Source) -> Any:
    """Return the root; each element has its `line`. Entities are refused, not resolved."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException

    try:
        return _shallow(_tree(source.text), source)
    except ParseError as error:
        line = error.position[0] + _lines_above(source.text) if error.position else None
        fault = Fault(
            f"not readable as XML: {error}",
            source.location(line),
            remedy="save it from JFLAP again",
        )
    except DefusedXmlException:
        fault = Fault(
            "the XML declares entities",
            source.location(1),
            remedy="remove its <!DOCTYPE ...> and <!ENTITY ...>",
        )
    except (ValueError, LookupError) as error:
        fault = Fault(f"not readable as XML: {error}", source.location(1))
    raise TapeformerError(fault) from None


def _tree(text: str) -> Any:
    from xml.etree.ElementTree import Element, TreeBuilder

    from defusedxml.ElementTree import DefusedXMLParser

    class LocatedElement(Element):
        """An element that knows the line it starts on."""

        line: int

    def located(tag: str, attributes: dict[str, str]) -> LocatedElement:
        element = LocatedElement(tag, attributes)
        element.line = parser.parser.CurrentLineNumber + above
        return element

    above = _lines_above(text)
    parser: Any = DefusedXMLParser(target=TreeBuilder(element_factory=located))
    parser.feed(text.lstrip(LEADING).encode("utf-8"))
    return parser.close()


def _lines_above(text: str) -> int:
    """Return how many lines are empty before the XML starts."""
    return text[: len(text) - len(text.lstrip(LEADING))].count("\n")


def _shallow(root: Any, source: Source) -> Any:
    """Return the root, unless elements are nested deeper than in any JFLAP file."""
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise TapeformerError(Fault(f"XML nested more than {DEEPEST} deep", source.location()))
        level = [child for element in level for child in element]
    return root
