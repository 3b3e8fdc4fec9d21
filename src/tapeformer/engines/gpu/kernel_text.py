"""The kernels of a model as LLVM text: `run` appends tokens, `feed` writes prompts.

Blocks are independent: a block's part of the schedule says how many tokens to make, the slot of the
newest token in every ring, and how far back every head looks. A thread leaves early when all its
inputs have ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tapeformer.engines.gpu.feed_text import feed_text
from tapeformer.engines.gpu.lanes import (
    BEGUN,
    COUNTER,
    DOUBTED,
    ENDED,
    FRESH,
    LIVE,
    MARGIN,
    Watched,
)
from tapeformer.engines.gpu.llvm_lines import GLOBAL
from tapeformer.engines.gpu.memory_layout import WORD_INPUTS, KernelLayout
from tapeformer.engines.gpu.thread_text import HEADER, lane_word, newest_address, thread_start
from tapeformer.engines.gpu.token_text import TokenText
from tapeformer.engines.logic.program import Program

REGISTER_DIGITS = 5
"""Low digits of the counters, kept in registers; a carry out of them is handled as a rare event."""


def kernel_text(program: Program, layout: KernelLayout, watched: Watched) -> str:
    """Return a module with the kernels of a model."""
    return "\n".join(
        [HEADER, *_Run(program, layout, watched).lines(), feed_text(layout, len(program.margin))]
    )


class _Run:
    """Writes the kernel `run`: entry, loop, events, exit."""

    def __init__(self, program: Program, layout: KernelLayout, watched: Watched) -> None:
        self.program, self.layout, self.watched = program, layout, watched
        self.digits = max(REGISTER_DIGITS, watched.digits + 1)
        self.rows = {"live": LIVE, "fresh": FRESH, "doubted": DOUBTED}
        self.rows |= {f"count{digit}": COUNTER + digit for digit in range(self.digits)}
        self.rows |= {f"margin{digit}": MARGIN + digit for digit in range(len(program.margin))}
        self.token = TokenText(program, layout)
        self.token.emit()

    def lines(self) -> Iterator[str]:
        """Yield the kernel's lines."""
        parameters = ", ".join(
            f"{GLOBAL} noalias %{name}"
            for name in ("memory", "newest", "lanes", "times", "schedule")
        )
        yield f"define ptx_kernel void @run({parameters}, i32 %total) #0 {{"
        yield "entry:"
        yield from thread_start(self.layout)
        yield from self._loaded()
        yield "loop:"
        yield from self._carried()
        yield from self.token.text.lines
        yield from self._noticed()
        yield from self._counted()
        yield from self._events()
        yield from self._left()
        yield "}"

    def _loaded(self) -> Iterator[str]:
        """Yield the loads before the loop: the block's schedule, the lanes, the newest token."""
        width = self.layout.schedule_words
        yield f"%plan.i = mul i64 %block.w, {width}"
        yield f"%plan = getelementptr i32, {GLOBAL} %schedule, i64 %plan.i"
        names = ["most"]
        names += [f"slot{ring}.0" for ring in range(len(self.layout.rings))]
        names += [f"back{head}" for head in range(self.layout.heads)]
        for index, name in enumerate(names):
            yield f"%{name}.p = getelementptr i32, {GLOBAL} %plan, i64 {index}"
            yield f"%{name} = load i32, {GLOBAL} %{name}.p"
        for name, row in self.rows.items():
            yield from lane_word(name, row)
            yield f"%{name}.0 = load i32, {GLOBAL} %{name}.p"
        yield from self._newest_loaded()
        yield "%idle.0 = icmp eq i32 %live.0, 0"
        yield "%idle.1 = icmp eq i32 %most, 0"
        yield "%idle = or i1 %idle.0, %idle.1"
        yield "br i1 %idle, label %rest, label %loop"

    def _newest_loaded(self) -> Iterator[str]:
        for index in range(len(self.layout.newest_words)):
            yield newest_address(index)
            yield f"%newest{index}.0 = load i32, {GLOBAL} %newest{index}.p"
            if not self.layout.in_registers:
                yield f"store i32 %newest{index}.0, ptr addrspace(3) %newest{index}.s"

    def _carried(self) -> Iterator[str]:
        """Yield the loop-carried values, and the next token's slots."""
        yield "%made = phi i32 [ 0, %entry ], [ %more, %again ]"
        slots = [f"slot{ring}" for ring in range(len(self.layout.rings))]
        for name in [*self.rows, *slots]:
            after = f"%next{name[4:]}" if name in slots else f"%{name}.n"
            yield f"%{name} = phi i32 [ %{name}.0, %entry ], [ {after}, %again ]"
        if self.layout.in_registers:
            for index, (factor, digit) in enumerate(self.layout.newest_words):
                word = self.token.next_words[factor][digit]
                yield f"%newest{index} = phi i32 [ %newest{index}.0, %entry ], [ {word}, %again ]"
        for number, ring in enumerate(self.layout.rings):
            yield f"%next{number}.u = add i32 %slot{number}, 1"
            yield f"%next{number}.w = icmp eq i32 %next{number}.u, {ring.length}"
            yield f"%next{number} = select i1 %next{number}.w, i32 0, i32 %next{number}.u"

    def _next(self, word: int) -> str:
        """Return the name of a word of the next token."""
        return self.token.values[self.program.next_token[word]]

    def _noticed(self) -> Iterator[str]:
        """Yield which inputs end with this token, become doubted, or count for the first time."""
        yield f"%doubt = and i32 {self.token.values[self.program.guard]}, %live"
        yield "%sure = xor i32 %doubt, -1"
        yield "%valid = and i32 %live, %sure"
        yield f"%halted = xor i32 {self._next(self.watched.stop)}, -1"
        yield "%halts = and i32 %halted, %valid"
        yield "%ends = or i32 %halts, %doubt"
        yield "%live.n = xor i32 %live, %ends"
        yield "%doubted.n = or i32 %doubted, %doubt"
        for digit in range(self.watched.digits):
            words = [word for word, weight in self.watched.counted if weight >> digit & 1]
            yield from _folded(f"%hit{digit}", [self._next(word) for word in words], "%valid")
        yield from _folded("%begun", [f"%hit{d}" for d in range(self.watched.digits)], "%fresh")
        yield "%fresh.n = xor i32 %fresh, %begun"
        yield from _least_margin([self.token.values[index] for index in self.program.margin])

    def _counted(self) -> Iterator[str]:
        """Yield the addition of a token's count to the low digits; a carry out is an event."""
        carry = "0"
        for digit in range(self.digits):
            hit = f"%hit{digit}" if digit < self.watched.digits else "0"
            old, half = f"%count{digit}", f"%half{digit}"
            yield f"{half} = xor i32 {old}, {hit}"
            yield f"%count{digit}.n = xor i32 {half}, {carry}"
            yield f"%both{digit} = and i32 {old}, {hit}"
            yield f"%pass{digit} = and i32 {half}, {carry}"
            yield f"%out{digit} = or i32 %both{digit}, %pass{digit}"
            carry = f"%out{digit}"
        yield "%more = add i32 %made, 1"
        yield "%event.0 = or i32 %ends, %begun"
        yield f"%event.1 = or i32 %event.0, {carry}"
        yield "%event = icmp ne i32 %event.1, 0"
        yield "br i1 %event, label %digits, label %again"

    def _events(self) -> Iterator[str]:
        """Yield the rare events: carries into memory, and when inputs end or first count."""
        first, carry = COUNTER + self.digits, f"%out{self.digits - 1}"
        yield "digits:"
        yield f"%carry = phi i32 [ {carry}, %loop ], [ %over, %adding ]"
        yield f"%row = phi i64 [ {first}, %loop ], [ %higher, %adding ]"
        yield "%carries = icmp ne i32 %carry, 0"
        yield f"br i1 %carries, label %adding, label %{_label(ENDED)}"
        yield "adding:"
        yield from lane_word("digit", "%row")
        yield f"%digit = load i32, {GLOBAL} %digit.p"
        yield "%over = and i32 %digit, %carry"
        yield "%sum = xor i32 %digit, %carry"
        yield f"store i32 %sum, {GLOBAL} %digit.p"
        yield "%higher = add i64 %row, 1"
        yield "br label %digits"
        yield from _times(ENDED, "%ends", "digits", _label(BEGUN))
        yield from _times(BEGUN, "%begun", _label(ENDED), "again")

    def _left(self) -> Iterator[str]:
        """Yield the end of the loop, and the stores after it."""
        yield "again:"
        yield "%enough = icmp uge i32 %more, %most"
        yield "%dead = icmp eq i32 %live.n, 0"
        yield "%leave = or i1 %enough, %dead"
        yield "br i1 %leave, label %done, label %loop"
        yield "done:"
        for name in self.rows:
            yield f"store i32 %{name}.n, {GLOBAL} %{name}.p"
        for index, (factor, digit) in enumerate(self.layout.newest_words):
            word = self.token.next_words[factor][digit]
            if not self.layout.in_registers:
                word = f"%newest{index}.d"
                yield f"{word} = load i32, ptr addrspace(3) %newest{index}.s"
            yield f"store i32 {word}, {GLOBAL} %newest{index}.p"
        yield "br label %rest"
        yield "rest:"
        yield "ret void"


def _folded(name: str, words: Sequence[str], mask: str) -> Iterator[str]:
    """Yield the OR of words, masked."""
    total = words[0] if words else "0"
    for index, word in enumerate(words[1:]):
        yield f"{name}.{index} = or i32 {total}, {word}"
        total = f"{name}.{index}"
    yield f"{name} = and i32 {total}, {mask}"


def _least_margin(digits: Sequence[str]) -> Iterator[str]:
    """Yield the smallest margin of valid inputs: old and new compared from the lowest digit up."""
    less = "0"
    for i, new in enumerate(digits):
        yield f"%differ{i} = xor i32 {new}, %margin{i}"
        yield f"%same{i} = xor i32 %differ{i}, -1"
        yield f"%lower{i} = and i32 {less}, %same{i}"
        yield f"%below{i} = and i32 %differ{i}, %margin{i}"
        yield f"%less{i} = or i32 %lower{i}, %below{i}"
        less = f"%less{i}"
    yield f"%smaller = and i32 {less}, %valid"
    for i in range(len(digits)):
        yield f"%change{i} = and i32 %differ{i}, %smaller"
        yield f"%margin{i}.n = xor i32 %margin{i}, %change{i}"


def _label(table: int) -> str:
    return f"when{table}"


def _times(table: int, bits: str, before: str, after: str) -> Iterator[str]:
    """Yield a loop that stores the number of this token for every bit that is set."""
    name = _label(table)
    yield f"{name}:"
    yield f"%{name}.v = phi i32 [ {bits}, %{before} ], [ %{name}.r, %{name}.set ]"
    yield f"%{name}.any = icmp ne i32 %{name}.v, 0"
    yield f"br i1 %{name}.any, label %{name}.set, label %{after}"
    yield f"{name}.set:"
    yield f"%{name}.b = call i32 @llvm.cttz.i32(i32 %{name}.v, i1 true)"
    yield f"%{name}.l = sub i32 %{name}.v, 1"
    yield f"%{name}.r = and i32 %{name}.v, %{name}.l"
    yield f"%{name}.w = zext i32 %{name}.b to i64"
    yield f"%{name}.x = add i64 %{name}.w, {WORD_INPUTS * table}"
    yield f"%{name}.i = mul i64 %{name}.x, %total.w"
    yield f"%{name}.j = add i64 %{name}.i, %lane"
    yield f"%{name}.p = getelementptr i32, {GLOBAL} %times, i64 %{name}.j"
    yield f"store i32 %more, {GLOBAL} %{name}.p"
    yield f"br label %{name}"
