"""Every small change that the campaign can make to a module, as a piece of text and what replaces it."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.FloorDiv: "*",
    ast.Mod: "*",
    ast.Pow: "*",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.BitXor: "&",
}


@dataclass(frozen=True)
class Mutant:
    """A change to one file: the characters from `start` to `end` become `after`."""

    file: str
    line: int
    column: int
    source: str
    start: int
    end: int
    before: str
    after: str
    function: str
    """The function it is in, as `file:name`; nothing after the colon at the top of a module."""
    repeated: int = 0
    """How many mutants of the same text are above it in the file."""

    @property
    def name(self) -> str:
        """What tells mutants apart, also after lines were added above."""
        text = f"{self.file}: {self.source} @{self.column} -> {self.after.strip()}"
        return f"{text} #{self.repeated}" if self.repeated else text

    def applied(self, text: str) -> str:
        """Return the changed text of the file."""
        return text[: self.start] + self.after + text[self.end :]


class _Finder(ast.NodeVisitor):
    """Collects the changes of one module.

    Left alone are annotations, texts, messages, and what only guards against a later programmer's
    error: decorators (`frozen=True`), `assert`, and `strict=True`.
    """

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text, self.found = file, text, list[Mutant]()
        self.names, self.seen = list[str](), Counter[tuple[str, int, str]]()
        self.lines = [0]
        for line in text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line.encode()))
        self.octets = text.encode()

    def _at(self, line: int | None, column: int | None) -> int:
        """Return the place of a position in the text; `ast` counts columns in octets."""
        assert line is not None
        assert column is not None
        return len(self.octets[: self.lines[line - 1] + column].decode())

    def _start(self, node: ast.expr) -> int:
        return self._at(node.lineno, node.col_offset)

    def _end(self, node: ast.expr) -> int:
        return self._at(node.end_lineno, node.end_col_offset)

    def _add(self, line: int, start: int, end: int, after: str) -> None:
        begin = self._at(line, 0)
        source = self.text[begin:].partition("\n")[0].strip()
        where = (source, start - begin, after)
        before, function = self.text[start:end], ".".join(self.names)
        function = f"{self.file}:{function if '<locals>' in self.names else ''}"
        self.found.append(
            Mutant(
                self.file,
                line,
                start - begin,
                source,
                start,
                end,
                before,
                after,
                function.removesuffix(".<locals>"),
                self.seen[where],
            )
        )
        self.seen[where] += 1

    @contextmanager
    def _inside(self, *names: str) -> Iterator[None]:
        self.names += names
        yield
        del self.names[-len(names) :]

    def _between(self, left: ast.expr, right: ast.expr, after: str) -> None:
        """Replace what stands between two operands, unless parentheses or comments are there."""
        start, end = self._end(left), self._start(right)
        middle = self.text[start:end]
        if not set(middle) & set("()#\\\n"):
            self._add(left.lineno, start, end, f" {after} ")

    def visit_Raise(self, node: ast.Raise) -> None:
        """Leave messages alone."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave texts alone."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Look at the value, not at the type."""
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Look at the defaults and the body."""
        for default in filter(None, (*node.args.defaults, *node.args.kw_defaults)):
            self.visit(default)
        with self._inside(node.name, "<locals>"):
            for part in node.body:
                self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Look at the body."""
        with self._inside(node.name):
            for part in node.body:
                self.visit(part)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Leave alone."""

    def visit_keyword(self, node: ast.keyword) -> None:
        """Leave `strict` alone."""
        if node.arg != "strict":
            self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        """Negate the condition."""
        if ast.unparse(node.test) != "TYPE_CHECKING":
            start, end = self._start(node.test), self._end(node.test)
            if "\n" not in self.text[start:end]:
                self._add(node.lineno, start, end, f"not ({self.text[start:end]})")
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Exchange a comparison for its neighbour."""
        for left, operator, right in zip(
            (node.left, *node.comparators[:-1]), node.ops, node.comparators, strict=True
        ):
            self._between(left, right, COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Exchange an operator."""
        kind = type(node.op)
        if kind in OPERATORS and not _is_text(node.left) and not _is_text(node.right):
            self._between(node.left, node.right, OPERATORS[kind])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Exchange `and` and `or`."""
        after = "or" if isinstance(node.op, ast.And) else "and"
        self._between(node.values[0], node.values[1], after)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Leave out `not` and the minus sign."""
        if isinstance(node.op, ast.Not | ast.USub):
            self._add(node.lineno, self._start(node), self._start(node.operand), "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Exchange True and False; add one to a whole number."""
        if isinstance(node.value, bool):
            self._add(node.lineno, self._start(node), self._end(node), str(not node.value))
        elif isinstance(node.value, int):
            after = str(node.value + 1)
            self._add(node.lineno, self._start(node), self._end(node), after)


def _is_text(node: ast.expr) -> bool:
    """Tell texts that are joined and types that are united from numbers."""
    if isinstance(node, ast.JoinedStr):
        return True
    return isinstance(node, ast.Constant) and not isinstance(node.value, int | float)


def mutants_of(root: Path, file: str) -> list[Mutant]:
    """Return every change to a module."""
    text = (root / file).read_text(encoding="utf-8")
    finder = _Finder(file, text)
    finder.visit(ast.parse(text))
    return finder.found


def _parses(root: Path, mutant: Mutant) -> bool:
    """Tell whether the changed module still is Python."""
    try:
        ast.parse(mutant.applied((root / mutant.file).read_text(encoding="utf-8")))
    except SyntaxError:
        return False
    return True


def sampled(root: Path, packages: tuple[str, ...], count: int, seed: int) -> Iterator[Mutant]:
    """Draw mutants, as many from each package, in an order in which all packages take turns.

    They are drawn by a hash of the seed and their text, so that a change elsewhere in the sources
    leaves the sample as it is.
    """

    def lot(mutant: Mutant) -> str:
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).hexdigest()

    share, drawn = -(-count // len(packages)), []
    for package in packages:
        files = sorted((root / "src" / "tapeformer" / package).rglob("*.py"))
        names = [file.relative_to(root).as_posix() for file in files]
        pool = [mutant for name in names for mutant in mutants_of(root, name)]
        sound = (mutant for mutant in sorted(pool, key=lot) if _parses(root, mutant))
        drawn.append(list(islice(sound, share)))
    for turn in range(max(map(len, drawn))):
        yield from (part[turn] for part in drawn if turn < len(part))
