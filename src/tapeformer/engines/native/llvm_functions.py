"""Words -> LLVM: the operations of a program as text, in pieces that compile fast."""

from __future__ import annotations

from dataclasses import dataclass

from tapeformer.engines.logic.program import ONES, Operation, Program

PIECE = 1200
"""Operations in one function: compile time grows faster than the size of a function."""

BLOCK = 4
"""Words fetched at once where many heads fetch them; a token has a multiple of so many."""


@dataclass(frozen=True)
class Shape:
    """A word is `parts` times 64 bits; a token takes `stride` words in memory."""

    parts: int
    stride: int

    @property
    def word(self) -> str:
        """The type of a word."""
        return "i64" if self.parts == 1 else f"<{self.parts} x i64>"

    @property
    def bits(self) -> int:
        """The size of a word."""
        return 64 * self.parts

    def constant(self, bits: int) -> str:
        """The same 64 bits in every part."""
        signed = bits - (1 << 64) if bits >> 63 else bits
        if self.parts == 1:
            return str(signed)
        return "<" + ", ".join(f"i64 {signed}" for _ in range(self.parts)) + ">"


def shape_for(program: Program, parts: int) -> Shape:
    """Tokens begin at multiples of 64 bytes."""
    line = max(1, 8 // parts)
    return Shape(parts, -(-program.width // line) * line)


def pieces_of(program: Program) -> list[range]:
    """The operations in runs of no more than a function should have."""
    count = len(program.operations)
    return [range(start, min(start + PIECE, count)) for start in range(0, count, PIECE)] or [
        range(0)
    ]


class Results:
    """Which operations are read by a later piece, or at the end, and where they wait."""

    def __init__(self, program: Program, shape: Shape) -> None:
        self.shape = shape
        self.slots: dict[int, int] = {}
        outputs = [program.guard, *program.margin]
        for number in outputs:
            self.slots.setdefault(number, len(self.slots))
        for number, operation in enumerate(program.operations):
            for operand in operands(operation):
                if operand // PIECE != number // PIECE:
                    self.slots.setdefault(operand, len(self.slots))
        self.masks: dict[int, dict[int, int]] = {}
        for kind, *numbers in program.operations:
            if kind == "fetched":
                pairs = zip(numbers[1::2], numbers[2::2], strict=True)
                self.masks.setdefault(numbers[0], {}).update(pairs)
        self.following: dict[int, list[int]] = {}
        for word, number in enumerate(program.following):
            self.following.setdefault(number, []).append(word)


def operands(operation: Operation) -> tuple[int, ...]:
    """The earlier operations that one reads."""
    kind, *numbers = operation
    if kind in ("and", "or", "xor", "less"):
        return tuple(numbers)
    if kind in ("keep", "shift", "spread", "any"):
        return (numbers[0],)
    return (numbers[1],) if kind == "kept" else ()


class Piece:
    """One function: reads the newest token, what was fetched, and results of earlier pieces."""

    def __init__(
        self, index: int, numbers: range, program: Program, shape: Shape, results: Results
    ) -> None:
        self.index, self.numbers, self.program = index, numbers, program
        self.shape, self.results = shape, results
        self.lines: list[str] = []
        self.loaded: set[int] = set()
        self.heads: set[int] = set()
        self.blocks: dict[int, str] = {}
        self.fresh = 0

    def text(self) -> str:
        """The function as LLVM text."""
        for number in self.numbers:
            self._operation(number, self.program.operations[number])
        body = "\n".join(self.lines)
        parameters = "ptr noalias %ring, i64 %now, i64 %mask, ptr noalias %back, ptr noalias %slots"
        return (
            f"define internal void @piece{self.index}({parameters}, ptr noalias %next) noinline {{\n"
            f"{self._address('%token', '%now')}\n{body}\nret void\n}}"
        )

    def _address(self, name: str, position: str) -> str:
        size = 8 * self.shape.parts * self.shape.stride
        return (
            f"{name}.p = and i64 {position}, %mask\n{name}.o = mul i64 {name}.p, {size}\n"
            f"{name} = getelementptr i8, ptr %ring, i64 {name}.o"
        )

    def _operation(self, number: int, operation: Operation) -> None:
        kind, *numbers = operation
        for operand in operands(operation):
            self._load_result(operand)
        if kind == "kept":
            self._store(f"%v{numbers[1]}", "%token", numbers[0])
        else:
            getattr(self, f"_{kind}")(f"%v{number}", *numbers)
        if number in self.results.slots:
            self._store(f"%v{number}", "%slots", self.results.slots[number])
        for word in self.results.following.get(number, ()):
            self._store(f"%v{number}", "%next", word)

    def _load_result(self, number: int) -> None:
        if number not in self.numbers and number not in self.loaded:
            self.loaded.add(number)
            self._load(f"%v{number}", "%slots", self.results.slots[number])

    def _name(self) -> str:
        self.fresh += 1
        return f"%t{self.fresh}"

    def _line(self, name: str, text: str) -> str:
        self.lines.append(f"{name} = {text}")
        return name

    def _place(self, base: str, word: int) -> str:
        return self._line(self._name(), f"getelementptr {self.shape.word}, ptr {base}, i64 {word}")

    def _load(self, name: str, base: str, word: int) -> str:
        return self._line(name, f"load {self.shape.word}, ptr {self._place(base, word)}")

    def _store(self, value: str, base: str, word: int) -> None:
        self.lines.append(f"store {self.shape.word} {value}, ptr {self._place(base, word)}")

    def _token(self, name: str, word: int) -> None:
        self._load(name, "%token", word)

    def _fetched(self, name: str, word: int, *parts: int) -> None:
        if len(parts) == 2:
            value = self._load(self._name(), self._head(parts[0]), word)
            self._line(name, f"and {self.shape.word} {value}, {self.shape.constant(parts[1])}")
        else:
            block = self._block(word // BLOCK)
            self._line(name, f"extractelement <{BLOCK} x i64> {block}, i64 {word % BLOCK}")

    def _block(self, number: int) -> str:
        """Several words that many heads fetch, at once."""
        if number not in self.blocks:
            words = range(BLOCK * number, BLOCK * (number + 1))
            heads = sorted({head for word in words for head in self.results.masks.get(word, {})})
            found = [self._part(head, number) for head in heads]
            while len(found) > 1:
                pair = f"or <{BLOCK} x i64> {found.pop(0)}, {found.pop(0)}"
                found.append(self._line(self._name(), pair))
            self.blocks[number] = found[0]
        return self.blocks[number]

    def _part(self, head: int, block: int) -> str:
        """What one head contributes to a block of words."""
        masks = [self.results.masks.get(BLOCK * block + i, {}).get(head, 0) for i in range(BLOCK)]
        constant = ", ".join(f"i64 {Shape(1, 1).constant(mask)}" for mask in masks)
        place = self._place(self._head(head), BLOCK * block)
        value = self._line(self._name(), f"load <{BLOCK} x i64>, ptr {place}")
        return self._line(self._name(), f"and <{BLOCK} x i64> {value}, <{constant}>")

    def _head(self, head: int) -> str:
        """The address of the token that a head attends to."""
        if head not in self.heads:
            self.heads.add(head)
            distance = self._line(self._name(), f"getelementptr i64, ptr %back, i64 {head}")
            loaded = self._line(self._name(), f"load i64, ptr {distance}")
            place = self._line(self._name(), f"sub i64 %now, {loaded}")
            self.lines.append(self._address(f"%head{head}", place))
        return f"%head{head}"

    def _and(self, name: str, left: int, right: int) -> None:
        self._line(name, f"and {self.shape.word} %v{left}, %v{right}")

    def _or(self, name: str, left: int, right: int) -> None:
        self._line(name, f"or {self.shape.word} %v{left}, %v{right}")

    def _xor(self, name: str, left: int, right: int) -> None:
        self._line(name, f"xor {self.shape.word} %v{left}, %v{right}")

    def _less(self, name: str, left: int, right: int) -> None:
        ones = self.shape.constant(ONES)
        other = self._line(self._name(), f"xor {self.shape.word} %v{right}, {ones}")
        self._line(name, f"and {self.shape.word} %v{left}, {other}")

    def _constant(self, name: str, bits: int) -> None:
        self._line(
            name, f"or {self.shape.word} {self.shape.constant(bits)}, {self.shape.constant(0)}"
        )

    def _keep(self, name: str, word: int, mask: int) -> None:
        self._line(name, f"and {self.shape.word} %v{word}, {self.shape.constant(mask)}")

    def _shift(self, name: str, word: int, places: int) -> None:
        kind = "shl" if places > 0 else "lshr"
        self._line(name, f"{kind} {self.shape.word} %v{word}, {self.shape.constant(abs(places))}")

    def _spread(self, name: str, word: int, lane: int) -> None:
        high = self._line(self._name(), f"shl i64 %v{word}, {63 - lane}")
        self._line(name, f"ashr i64 {high}, 63")

    def _any(self, name: str, word: int, mask: int) -> None:
        kept = self._line(self._name(), f"and i64 %v{word}, {self.shape.constant(mask)}")
        found = self._line(self._name(), f"icmp ne i64 {kept}, 0")
        self._line(name, f"sext i1 {found} to i64")


def room(program: Program) -> int:
    """The words that results need between pieces."""
    return len(Results(program, Shape(1, 1)).slots)
