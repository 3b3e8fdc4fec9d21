"""Read YAML as a tree of texts: every scalar is the text as written, every node knows its line.

A plain YAML load reads `input: 010` as 8, the key `on:` as true, and cannot hold the key `[0, 1]`.
So the parser's events are composed here: no tags, no types, no recursion, bounded depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tapeformer.faults import Fault, SourceLocation, TapeformerError, quoted

DEEPEST = 12


@dataclass(frozen=True)
class Scalar:
    """A text; `plain` means that it was written without quotes."""

    text: str
    line: int
    plain: bool = True

    @property
    def is_null(self) -> bool:
        """Return whether it is empty, or one of YAML's words for nothing."""
        return self.plain and self.text in ("", "~", "null")


@dataclass(frozen=True)
class Items:
    """A sequence."""

    items: list[Node]
    line: int


@dataclass(frozen=True)
class Mapping:
    """A mapping as pairs in the order written: keys may be of any kind, and may repeat."""

    pairs: list[tuple[Node, Node]] = field(default_factory=list)
    line: int = 1


Node = Scalar | Items | Mapping


def compose(text: str, source: str) -> Node:
    """Return the tree of one YAML document, or raise one clear error."""
    import yaml

    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    try:
        return _Composer(source).compose(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        what = f"not readable as YAML: {error.problem or error.context}"
        raise TapeformerError(
            _tab_fault(text, source, line) or _fault(what, source, line)
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        what = f"not readable as YAML: {str(error).splitlines()[0]}"
        raise TapeformerError(_fault(what, source, None)) from None


class _Composer:
    """Builds the tree from events, with a stack of open nodes instead of recursion."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.open: list[tuple[Items | Mapping, list[Node], str | None]] = []
        self.anchors: dict[str, Node] = {}
        self.root: Node | None = None

    def compose(self, events: Iterator[Any]) -> Node:
        documents = 0
        for event in events:
            kind = type(event).__name__
            documents += kind == "DocumentStartEvent"
            if documents > 1:
                raise TapeformerError(
                    _fault("a second YAML document", self.source, event.start_mark.line + 1)
                )
            self._take(kind, event)
        if self.root is None:
            raise TapeformerError(_fault("the file holds no YAML", self.source, None))
        return self.root

    def _take(self, kind: str, event: Any) -> None:
        line = event.start_mark.line + 1
        if getattr(event, "tag", None) not in (None, "!"):
            raise TapeformerError(
                _fault(f"the tag {quoted(event.tag)} is not allowed here", self.source, line)
            )
        if kind == "ScalarEvent":
            plain = event.style is None or event.style == ""
            self._add(Scalar(event.value, line, plain), event.anchor)
        elif kind in ("SequenceStartEvent", "MappingStartEvent"):
            self._start(Items([], line) if kind[0] == "S" else Mapping([], line), event.anchor)
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            self._end()
        elif kind == "AliasEvent":
            self._add(self._alias(event.anchor, line), None)

    def _start(self, node: Items | Mapping, anchor: str | None) -> None:
        if len(self.open) >= DEEPEST:
            raise TapeformerError(
                _fault(f"nested more than {DEEPEST} deep", self.source, node.line)
            )
        self.open.append((node, [], anchor))

    def _end(self) -> None:
        node, children, anchor = self.open.pop()
        if isinstance(node, Items):
            node.items.extend(children)
        else:
            node.pairs.extend(zip(children[::2], children[1::2], strict=True))
        self._add(node, anchor)

    def _add(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor] = node
        if self.open:
            self.open[-1][1].append(node)
        else:
            self.root = node

    def _alias(self, anchor: str, line: int) -> Node:
        if anchor not in self.anchors:
            raise TapeformerError(
                _fault(f"the alias *{anchor} names nothing before it", self.source, line)
            )
        return replace(self.anchors[anchor], line=line)


def _tab_fault(text: str, source: str, line: int | None) -> Fault | None:
    """Return a fault if a tab indents the line of a syntax error, or the line before it."""
    lines = text.splitlines()
    tabbed = [number for number, content in enumerate(lines, 1) if "\t" in _indentation(content)]
    near = [number for number in tabbed if line is not None and line - 1 <= number <= line]
    if not near:
        return None
    others = ", ".join(str(number) for number in tabbed if number != near[0])
    also = f" (so are lines {others})" if others else ""
    what = f"line {near[0]} is indented with a tab{also}; YAML allows only spaces"
    remedy = "replace each tab at the start of a line by spaces"
    return Fault(what, SourceLocation(source, near[0]), remedy=remedy)


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _fault(what: str, source: str, line: int | None) -> Fault:
    remedy = "see docs/formats.md for a file that works"
    return Fault(what, SourceLocation(source, line), remedy=remedy)


def kind_of(node: Node) -> str:
    """Return what a node is, for a message."""
    if isinstance(node, Scalar):
        return "nothing" if node.is_null else quoted(node.text)
    return "a list" if isinstance(node, Items) else "a mapping"
