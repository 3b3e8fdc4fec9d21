"""From a program to LLVM text: its operations, in functions small enough to compile fast."""

from __future__ import annotations

from tapeformer.engines.logic.machine_words import ONES
from tapeformer.engines.logic.program import (
    AT_HAND,
    AnyLane,
    Binary,
    BinaryOpcode,
    Broadcast,
    Constant,
    LoadChoice,
    LoadFetched,
    LoadToken,
    Mask,
    Operation,
    Program,
    Shift,
    Store,
)
from tapeformer.engines.native.word_shape import WordShape

FUNCTION_OPERATIONS = 1200
"""Operations per function: compile time grows faster than a function's size."""

BLOCK = 4
"""Words fetched at once if several heads fetch them; a token's words are a multiple of this."""


def function_ranges(program: Program) -> list[range]:
    """Split the operations into ranges, one for each function."""
    count, size = len(program.operations), FUNCTION_OPERATIONS
    return [range(start, min(start + size, count)) for start in range(0, count, size)] or [range(0)]


class Liveness:
    """Which values are live across functions or at the end, and the spill slots that hold them.

    A slot is reused once no later function reads its value. `next_words` has the words of the
    next token that an operation computes, `fetch_masks` the lanes that each head contributes to a
    fetched word.
    """

    def __init__(self, program: Program) -> None:
        self.fetch_masks: dict[int, dict[int, int]] = {}
        for operation in program.operations:
            if isinstance(operation, LoadFetched):
                self.fetch_masks.setdefault(operation.word, {}).update(operation.masks)
        self.next_words: dict[int, list[int]] = {}
        for word, index in enumerate(program.next_token):
            self.next_words.setdefault(index, []).append(word)
        results = dict.fromkeys((program.guard, *program.margin))
        self.slots = {index: slot for slot, index in enumerate(results)}
        self.slot_count = len(self.slots)
        self._assign_slots(_last_readers(program))

    def _assign_slots(self, last: dict[int, int]) -> None:
        """Give a slot to each value that a later function reads, free slots first."""
        free: list[int] = []
        ending: dict[int, list[int]] = {}
        ended = 0
        for index, reader in sorted(last.items()):
            if index in self.slots:
                continue
            while ended < index // FUNCTION_OPERATIONS:
                free += ending.pop(ended, [])
                ended += 1
            slot = free.pop() if free else self.slot_count
            self.slot_count = max(self.slot_count, slot + 1)
            self.slots[index] = slot
            ending.setdefault(reader, []).append(slot)


def _last_readers(program: Program) -> dict[int, int]:
    """Return, for each value read by later functions, the last one that reads it.

    Values that every function has at hand (loads and constants) are left out.
    """
    last: dict[int, int] = {}
    for index, operation in enumerate(program.operations):
        function = index // FUNCTION_OPERATIONS
        for operand in operation.operands:
            at_hand = isinstance(program.operations[operand], AT_HAND)
            if operand // FUNCTION_OPERATIONS != function and not at_hand:
                last[operand] = function
    return last


class StraightLineFunction:
    """One function, which reads the newest token, what heads fetch, and values spilled before."""

    def __init__(
        self, number: int, indices: range, program: Program, shape: WordShape, liveness: Liveness
    ) -> None:
        self.number, self.indices, self.program = number, indices, program
        self.shape, self.liveness = shape, liveness
        self.lines: list[str] = []
        self.reloaded: set[int] = set()
        self.heads: set[int] = set()
        self.blocks: dict[int, str] = {}
        self.temporaries = 0

    def text(self) -> str:
        """Return the function as LLVM text."""
        body = self._body()
        parameters = "ptr noalias %ring, i64 %now, i64 %mask, ptr noalias %back, ptr noalias %slots"
        return (
            f"define internal void @piece{self.number}({parameters}, ptr noalias %next) noinline {{\n"
            f"{self._token_address('%token', '%now')}\n{body}\nret void\n}}"
        )

    def _body(self) -> str:
        for index in self.indices:
            self._operation(index, self.program.operations[index])
        return "\n".join(self.lines)

    def _token_address(self, name: str, position: str) -> str:
        return (
            f"{name}.p = and i64 {position}, %mask\n"
            f"{name}.o = mul i64 {name}.p, {self.shape.token_bytes}\n"
            f"{name} = getelementptr i8, ptr %ring, i64 {name}.o"
        )

    def _operation(self, index: int, operation: Operation) -> None:
        """Append an operation, and the stores of its value."""
        for operand in operation.operands:
            self._reload(operand)
        self._compute(f"%v{index}", operation)
        if index in self.liveness.slots:
            self._store(f"%v{index}", "%slots", self.liveness.slots[index])
        for word in self.liveness.next_words.get(index, ()):
            self._store(f"%v{index}", "%next", word)

    def _compute(self, name: str, operation: Operation) -> None:
        word = self.shape.type
        match operation:
            case Binary(BinaryOpcode.AND_NOT, left, right):
                ones = self.shape.constant(ONES)
                other = self._temporary(f"xor {word} %v{right}, {ones}")
                self._define(name, f"and {word} %v{left}, {other}")
            case Binary(opcode, left, right):
                self._define(name, f"{opcode} {word} %v{left}, %v{right}")
            case Mask(operand, mask):
                self._define(name, f"and {word} %v{operand}, {self.shape.constant(mask)}")
            case Shift(operand, places):
                direction = "shl" if places > 0 else "lshr"
                amount = self.shape.constant(abs(places))
                self._define(name, f"{direction} {word} %v{operand}, {amount}")
            case LoadToken(index):
                self._load_token(name, index)
            case LoadFetched():
                self._load_fetched(name, operation)
            case LoadChoice(column):
                self._load(name, "%slots", self.liveness.slot_count + column)
            case Store():
                self._store_word(operation)
            case Constant(bits):
                zero = self.shape.constant(0)
                self._define(name, f"or {word} {self.shape.constant(bits)}, {zero}")
            case _:
                self._compute_across_lanes(name, operation)

    def _compute_across_lanes(self, name: str, operation: Operation) -> None:
        """Append an operation whose lanes depend on other lanes; only for words of one element."""
        match operation:
            case Broadcast(operand, lane):
                high = self._temporary(f"shl i64 %v{operand}, {63 - lane}")
                self._define(name, f"ashr i64 {high}, 63")
            case AnyLane(operand):
                kept = self._temporary(f"and i64 %v{operand}, {self.shape.constant(ONES)}")
                found = self._temporary(f"icmp ne i64 {kept}, 0")
                self._define(name, f"sext i1 {found} to i64")
            case _:
                raise TypeError(f"no LLVM text for {operation}")

    def _reload(self, index: int) -> None:
        """Load a value that an earlier function spilled, or repeat an operation that is cheap."""
        if index in self.indices or index in self.reloaded:
            return
        self.reloaded.add(index)
        operation = self.program.operations[index]
        if isinstance(operation, AT_HAND):
            self._compute(f"%v{index}", operation)
        else:
            self._load(f"%v{index}", "%slots", self.liveness.slots[index])

    def _load_token(self, name: str, word: int) -> None:
        self._load(name, "%token", word)

    def _store_word(self, operation: Store) -> None:
        """Store a further word of the newest token."""
        self._store(f"%v{operation.operand}", "%token", operation.word)

    def _define(self, name: str, text: str) -> str:
        self.lines.append(f"{name} = {text}")
        return name

    def _name(self) -> str:
        self.temporaries += 1
        return f"%t{self.temporaries}"

    def _temporary(self, text: str) -> str:
        return self._define(self._name(), text)

    def _address(self, base: str, word: int) -> str:
        return self._temporary(f"getelementptr {self.shape.type}, ptr {base}, i64 {word}")

    def _load(self, name: str, base: str, word: int) -> None:
        self._define(name, f"load {self.shape.type}, ptr {self._address(base, word)}")

    def _store(self, value: str, base: str, word: int) -> None:
        self.lines.append(f"store {self.shape.type} {value}, ptr {self._address(base, word)}")

    def _load_fetched(self, name: str, operation: LoadFetched) -> None:
        if len(operation.masks) > 1:
            block = self._block(operation.word // BLOCK)
            index = operation.word % BLOCK
            self._define(name, f"extractelement <{BLOCK} x i64> {block}, i64 {index}")
            return
        ((head, mask),) = operation.masks
        value = self._name()
        self._load(value, self._attended(head), operation.word)
        self._define(name, f"and {self.shape.type} {value}, {self.shape.constant(mask)}")

    def _block(self, number: int) -> str:
        """Return a block of words that several heads fetch, loaded at once."""
        if number not in self.blocks:
            masks, words = self.liveness.fetch_masks, range(BLOCK * number, BLOCK * (number + 1))
            heads = sorted({head for word in words for head in masks.get(word, {})})
            found = [self._head_part(head, number) for head in heads]
            while len(found) > 1:
                pair = f"or <{BLOCK} x i64> {found.pop(0)}, {found.pop(0)}"
                found.append(self._temporary(pair))
            self.blocks[number] = found[0]
        return self.blocks[number]

    def _head_part(self, head: int, block: int) -> str:
        """Return what one head contributes to a block of words."""
        words = range(BLOCK * block, BLOCK * (block + 1))
        masks = [self.liveness.fetch_masks.get(word, {}).get(head, 0) for word in words]
        constant = ", ".join(f"i64 {WordShape(1, 1).constant(mask)}" for mask in masks)
        address = self._address(self._attended(head), BLOCK * block)
        value = self._temporary(f"load <{BLOCK} x i64>, ptr {address}")
        return self._temporary(f"and <{BLOCK} x i64> {value}, <{constant}>")

    def _attended(self, head: int) -> str:
        """Return the address of the token that a head attends to."""
        if head not in self.heads:
            self.heads.add(head)
            address = self._temporary(f"getelementptr i64, ptr %back, i64 {head}")
            offset = self._temporary(f"load i64, ptr {address}")
            position = self._temporary(f"sub i64 %now, {offset}")
            self.lines.append(self._token_address(f"%head{head}", position))
        return f"%head{head}"
