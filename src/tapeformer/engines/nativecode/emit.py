"""Words -> LLVM: the token loop of a program as text, in pieces that compile fast.

The memory of a stream is a ring of tokens, each `Shape.stride` words. The function `run` appends
tokens to it until something that it watches changes, the guard is set, or enough are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tapeformer.engines.nativecode.words import ONES, Operation, Program

PIECE = 1200
"""Operations in one function: compile time grows faster than the size of a function."""

BLOCK = 4
"""Words fetched at once where many heads fetch them; a token has a multiple of so many."""

COUNTER = 48
"""Binary digits of the counters of a batch."""


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


def llvm_text(program: Program, parts: int) -> str:
    """A module with the function `run`."""
    shape = shape_for(program, parts)
    pieces = _pieces(program)
    results = _Results(program, shape)
    texts = [
        _Piece(index, numbers, program, shape, results).text()
        for index, numbers in enumerate(pieces)
    ]
    return "\n".join([*texts, _loop(program, shape, len(pieces), results)])


def _pieces(program: Program) -> list[range]:
    count = len(program.operations)
    return [range(start, min(start + PIECE, count)) for start in range(0, count, PIECE)] or [
        range(0)
    ]


class _Results:
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


class _Piece:
    """One function: reads the newest token, what was fetched, and results of earlier pieces."""

    def __init__(
        self, index: int, numbers: range, program: Program, shape: Shape, results: _Results
    ) -> None:
        self.index, self.numbers, self.program = index, numbers, program
        self.shape, self.results = shape, results
        self.lines: list[str] = []
        self.loaded: set[int] = set()
        self.heads: set[int] = set()
        self.blocks: dict[int, str] = {}
        self.fresh = 0

    def text(self) -> str:
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


def _loop(program: Program, shape: Shape, pieces: int, results: _Results) -> str:
    """The function `run`.

    Its arguments: the ring, the place of the newest token and the mask of places; how many tokens
    to make; each head's distance; room for results; `watch`, words in pairs (expected, mask) for
    the two watched words and the counted one, then the mask of live inputs; `words`, which words
    those are; the counters, and the smallest margin so far. It answers the tokens made, negative
    and less one where the guard stopped it.
    """
    word = shape.word
    return "\n".join(
        [
            "define i64 @run(ptr noalias %ring, i64 %position, i64 %mask, i64 %most,"
            " ptr noalias %back, ptr noalias %slots, ptr noalias %watch, ptr noalias %words,"
            " ptr noalias %counters, ptr noalias %margin) {",
            "entry:",
            *(
                f"%k{i}p = getelementptr i64, ptr %words, i64 {i}\n%k{i} = load i64, ptr %k{i}p"
                for i in range(3)
            ),
            *(
                f"%w{i}p = getelementptr {word}, ptr %watch, i64 {i}\n"
                f"%w{i} = load {word}, ptr %w{i}p"
                for i in range(7)
            ),
            "br label %loop",
            "loop:",
            "%made = phi i64 [ 0, %entry ], [ %more, %again ]",
            "%now = add i64 %position, %made",
            "%after = add i64 %now, 1",
            "%next.p = and i64 %after, %mask",
            f"%next.o = mul i64 %next.p, {8 * shape.parts * shape.stride}",
            "%next = getelementptr i8, ptr %ring, i64 %next.o",
            *(
                f"call void @piece{i}(ptr %ring, i64 %now, i64 %mask, ptr %back, ptr %slots,"
                " ptr %next)"
                for i in range(pieces)
            ),
            *_guard(program, shape, results),
            "counted:",
            *_margins(program, shape, results),
            "%more = add i64 %made, 1",
            *_count(shape),
            "watched:",
            *_watched(shape),
            "again:",
            "%enough = icmp eq i64 %more, %most",
            "br i1 %enough, label %done, label %loop",
            "done:",
            "ret i64 %more",
            "stopped:",
            "%negative = sub i64 -1, %made",
            "ret i64 %negative",
            "}",
        ]
    )


def _is_set(shape: Shape, value: str, name: str) -> str:
    return (
        f"{name}.i = bitcast {shape.word} {value} to i{shape.bits}\n"
        f"{name} = icmp ne i{shape.bits} {name}.i, 0"
    )


def _slot(shape: Shape, base: str, index: int | str, name: str) -> str:
    return (
        f"{name}.p = getelementptr {shape.word}, ptr {base}, i64 {index}\n"
        f"{name} = load {shape.word}, ptr {name}.p"
    )


def _guard(program: Program, shape: Shape, results: _Results) -> Iterator[str]:
    yield _slot(shape, "%slots", results.slots[program.guard], "%guard")
    yield f"%doubt = and {shape.word} %guard, %w6"
    yield _is_set(shape, "%doubt", "%doubted")
    yield "br i1 %doubted, label %stopped, label %counted"


def _margins(program: Program, shape: Shape, results: _Results) -> Iterator[str]:
    """The smallest margin, digit by digit: kept where it is smaller, from the lowest digit up."""
    if not program.margin:
        return
    zero = shape.constant(0)
    yield f"%less = or {shape.word} {zero}, {zero}"
    less = "%less"
    for i, number in enumerate(program.margin):
        yield _slot(shape, "%slots", results.slots[number], f"%new{i}")
        yield _slot(shape, "%margin", i, f"%old{i}")
        yield f"%differ{i} = xor {shape.word} %new{i}, %old{i}"
        yield f"%kept{i} = xor {shape.word} %differ{i}, {shape.constant(ONES)}"
        yield f"%carry{i} = and {shape.word} {less}, %kept{i}"
        yield f"%below{i} = and {shape.word} %differ{i}, %old{i}"
        yield f"%less{i} = or {shape.word} %carry{i}, %below{i}"
        less = f"%less{i}"
    for i in range(len(program.margin)):
        yield f"%change{i} = and {shape.word} %differ{i}, {less}"
        yield f"%least{i} = xor {shape.word} %old{i}, %change{i}"
        yield f"store {shape.word} %least{i}, ptr %old{i}.p"


def _count(shape: Shape) -> Iterator[str]:
    """Adds 1 to the counter of each input that has the counted value: a carry from digit to digit."""
    yield _slot(shape, "%next", "%k2", "%hit")
    yield f"%hit.x = xor {shape.word} %hit, %w4"
    yield f"%first = and {shape.word} %hit.x, %w5"
    yield "br label %digit"
    yield "digit:"
    yield f"%carry = phi {shape.word} [ %first, %counted ], [ %over, %adding ]"
    yield "%place = phi i64 [ 0, %counted ], [ %higher, %adding ]"
    yield _is_set(shape, "%carry", "%carries")
    yield "br i1 %carries, label %adding, label %watched"
    yield "adding:"
    yield _slot(shape, "%counters", "%place", "%digits")
    yield f"%over = and {shape.word} %digits, %carry"
    yield f"%sum = xor {shape.word} %digits, %carry"
    yield f"store {shape.word} %sum, ptr %digits.p"
    yield "%higher = add i64 %place, 1"
    yield "br label %digit"


def _watched(shape: Shape) -> Iterator[str]:
    for i in range(2):
        yield _slot(shape, "%next", f"%k{i}", f"%seen{i}")
        yield f"%seen{i}.x = xor {shape.word} %seen{i}, %w{2 * i}"
        yield f"%seen{i}.m = and {shape.word} %seen{i}.x, %w{2 * i + 1}"
    yield f"%change = or {shape.word} %seen0.m, %seen1.m"
    yield _is_set(shape, "%change", "%changed")
    yield "br i1 %changed, label %done, label %again"


def room(program: Program) -> int:
    """The words that results need between pieces."""
    return len(_Results(program, Shape(1, 1)).slots)


def counted(planes: Sequence[int], place: int) -> int:
    """The counter of one input, from the words of its digits."""
    return sum((plane >> place & 1) << digit for digit, plane in enumerate(planes))
