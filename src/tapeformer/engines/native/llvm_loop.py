"""The token loop in LLVM: calls the pieces for every token, until there is a reason to stop.

The memory of a stream is a ring of tokens, each `WordShape.stride` words. The function `run`
appends tokens to it until a watched value changes, the guard is set, or enough are made.
"""

from __future__ import annotations

from collections.abc import Iterator

from tapeformer.engines.logic.machine_words import ONES
from tapeformer.engines.logic.program import Program
from tapeformer.engines.native.llvm_functions import Liveness, StraightLineFunction, function_ranges
from tapeformer.engines.native.word_shape import WordShape, word_shape


def llvm_text(program: Program, results: Liveness) -> str:
    """Return a module with the function `run`."""
    shape = word_shape(program, 1)
    texts = pieces_text(program, shape, results)
    return "\n".join([*texts, _loop(program, shape, len(texts), results)])


def pieces_text(program: Program, shape: WordShape, liveness: Liveness) -> list[str]:
    """Return the operations of a token as functions to call one after another."""
    return [
        StraightLineFunction(index, numbers, program, shape, liveness).text()
        for index, numbers in enumerate(function_ranges(program))
    ]


def _loop(program: Program, shape: WordShape, pieces: int, results: Liveness) -> str:
    """Return the function `run`.

    Its arguments: the ring, the position of the newest token and the mask of slots; how many tokens
    to make; each head's offset; the spill slots; `watch`, pairs (expected, mask) for the two
    watched words and the counted one, then the mask of live inputs; `words`, the indices of those
    three words; the counters; the smallest margin so far. It returns the number n of tokens made,
    or -1 - n if the guard stopped it.
    """
    lines = [
        *_entry(shape),
        *_token(shape, pieces),
        *_guard(program, shape, results),
        "counted:",
        *margins(program, shape, results),
        *_count(shape),
        *_watched(shape),
        *_exits(),
    ]
    return "\n".join(lines)


def _entry(shape: WordShape) -> Iterator[str]:
    """Yield the head of the function, which loads once what is the same for every token."""
    yield (
        "define i64 @run(ptr noalias %ring, i64 %position, i64 %mask, i64 %most,"
        " ptr noalias %back, ptr noalias %slots, ptr noalias %watch, ptr noalias %words,"
        " ptr noalias %counters, ptr noalias %margin) {"
    )
    yield "entry:"
    for i in range(3):
        yield f"%k{i}p = getelementptr i64, ptr %words, i64 {i}\n%k{i} = load i64, ptr %k{i}p"
    for i in range(7):
        yield f"%w{i}p = getelementptr {shape.type}, ptr %watch, i64 {i}"
        yield f"%w{i} = load {shape.type}, ptr %w{i}p"
    yield "br label %loop"


def _token(shape: WordShape, pieces: int) -> Iterator[str]:
    """Yield the code of one token: its slot in the ring, then the pieces."""
    yield "loop:"
    yield "%made = phi i64 [ 0, %entry ], [ %more, %again ]"
    yield "%now = add i64 %position, %made"
    yield "%after = add i64 %now, 1"
    yield "%next.p = and i64 %after, %mask"
    yield f"%next.o = mul i64 %next.p, {shape.token_bytes}"
    yield "%next = getelementptr i8, ptr %ring, i64 %next.o"
    arguments = "ptr %ring, i64 %now, i64 %mask, ptr %back, ptr %slots, ptr %next"
    for i in range(pieces):
        yield f"call void @piece{i}({arguments})"


def _exits() -> Iterator[str]:
    """Yield the three exits of a token: to the next one, enough made, and stopped by the guard."""
    yield "again:"
    yield "%enough = icmp eq i64 %more, %most"
    yield "br i1 %enough, label %done, label %loop"
    yield "done:"
    yield "ret i64 %more"
    yield "stopped:"
    yield "%negative = sub i64 -1, %made"
    yield "ret i64 %negative"
    yield "}"


def is_set(shape: WordShape, value: str, name: str) -> str:
    """Return the test whether any bit of a word is 1."""
    return (
        f"{name}.i = bitcast {shape.type} {value} to i{shape.bits}\n"
        f"{name} = icmp ne i{shape.bits} {name}.i, 0"
    )


def slot(shape: WordShape, base: str, index: int | str, name: str) -> str:
    """Return the load of one of the words at an address."""
    return (
        f"{name}.p = getelementptr {shape.type}, ptr {base}, i64 {index}\n"
        f"{name} = load {shape.type}, ptr {name}.p"
    )


def ripple_carry(
    shape: WordShape, ones: str, lowest: str, before: str, after: str
) -> Iterator[str]:
    """Yield the addition of 1 to the counters of some inputs: a word of `ones`, from a lowest digit on.

    Blocks `before` and `after` are where this loop is entered and left.
    """
    yield "br label %carrying\ncarrying:"
    yield f"%carry = phi {shape.type} [ {ones}, %{before} ], [ %over, %adding ]"
    yield f"%place = phi i64 [ {lowest}, %{before} ], [ %higher, %adding ]"
    yield is_set(shape, "%carry", "%carries")
    yield f"br i1 %carries, label %adding, label %{after}\nadding:"
    yield slot(shape, "%counters", "%place", "%digits")
    yield f"%over = and {shape.type} %digits, %carry"
    yield f"%sum = xor {shape.type} %digits, %carry"
    yield f"store {shape.type} %sum, ptr %digits.p"
    yield "%higher = add i64 %place, 1"
    yield "br label %carrying"


def _guard(program: Program, shape: WordShape, results: Liveness) -> Iterator[str]:
    """Yield the exit that is taken if a speculation failed."""
    yield slot(shape, "%slots", results.slots[program.guard], "%guard")
    yield f"%doubt = and {shape.type} %guard, %w6"
    yield is_set(shape, "%doubt", "%doubted")
    yield "br i1 %doubted, label %stopped, label %counted"


def margins(
    program: Program, shape: WordShape, results: Liveness, live: str | None = None
) -> Iterator[str]:
    """Yield the update of the smallest margin: old and new compared from the lowest digit up."""
    if not program.margin:
        return
    zero = shape.constant(0)
    yield f"%less = or {shape.type} {zero}, {zero}"
    less = "%less"
    for i, number in enumerate(program.margin):
        yield slot(shape, "%slots", results.slots[number], f"%new{i}")
        yield slot(shape, "%margin", i, f"%old{i}")
        yield f"%differ{i} = xor {shape.type} %new{i}, %old{i}"
        yield f"%kept{i} = xor {shape.type} %differ{i}, {shape.constant(ONES)}"
        yield f"%carry{i} = and {shape.type} {less}, %kept{i}"
        yield f"%below{i} = and {shape.type} %differ{i}, %old{i}"
        yield f"%less{i} = or {shape.type} %carry{i}, %below{i}"
        less = f"%less{i}"
    if live is not None:
        yield f"%less.live = and {shape.type} {less}, {live}"
        less = "%less.live"
    for i in range(len(program.margin)):
        yield f"%change{i} = and {shape.type} %differ{i}, {less}"
        yield f"%least{i} = xor {shape.type} %old{i}, %change{i}"
        yield f"store {shape.type} %least{i}, ptr %old{i}.p"


def _count(shape: WordShape) -> Iterator[str]:
    """Yield the increment of each counter whose input has the counted value."""
    yield "%more = add i64 %made, 1"
    yield slot(shape, "%next", "%k2", "%hit")
    yield f"%hit.x = xor {shape.type} %hit, %w4"
    yield f"%first = and {shape.type} %hit.x, %w5"
    yield from ripple_carry(shape, "%first", "0", "counted", "watched")


def _watched(shape: WordShape) -> Iterator[str]:
    """Yield the exit that is taken if one of the two watched words is not as expected."""
    yield "watched:"
    for i in range(2):
        yield slot(shape, "%next", f"%k{i}", f"%seen{i}")
        yield f"%seen{i}.x = xor {shape.type} %seen{i}, %w{2 * i}"
        yield f"%seen{i}.m = and {shape.type} %seen{i}.x, %w{2 * i + 1}"
    yield f"%change = or {shape.type} %seen0.m, %seen1.m"
    yield is_set(shape, "%change", "%changed")
    yield "br i1 %changed, label %done, label %again"
