"""The token loop of a batch in LLVM: inputs end one by one, and the loop continues with the rest.

It records when each input made its first counted token and when it ended. An input whose guard is
set is marked as doubted and ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from tapeformer.engines.logic.machine_words import COUNTER_DIGITS, ONES, WORD_BITS
from tapeformer.engines.logic.program import Program
from tapeformer.engines.logic.token_words import TokenWords
from tapeformer.engines.native.calling_convention import (
    DOUBTED,
    FRESH,
    LANE_ROWS,
    LIVE,
    UNENDED,
)
from tapeformer.engines.native.llvm_batch_functions import (
    NEXT,
    AddressTable,
    batch_functions,
    locate_text,
)
from tapeformer.engines.native.llvm_functions import Liveness
from tapeformer.engines.native.llvm_loop import is_set, margins, ripple_carry, slot
from tapeformer.engines.native.word_shape import WordShape

STOP, COUNTED = 0, 1
"""Indices into `asked`: the word that says that an input goes on, and how many words are counted; a
pair of word and binary digit follows for each of those."""


def llvm_batch_text(
    program: Program, words: TokenWords, liveness: Liveness, shape: WordShape
) -> str:
    """Return a module with the function `run`."""
    table = AddressTable(words, shape)
    texts = batch_functions(program, table, liveness)
    loop = "\n".join(_loop(program, table, len(texts), liveness))
    return "\n".join([*texts, locate_text(table), _note(shape), loop])


def _loop(program: Program, table: AddressTable, pieces: int, liveness: Liveness) -> Iterator[str]:
    """Yield the function `run`.

    Its arguments: memory, the position of the newest token, how many tokens to make; each head's
    offset; the geometry of rings; the spill slots; `lanes`, followed by the positions of each
    input's first counted token and of its end; `asked`; the counters, followed by the smallest
    margin. It returns how many tokens were made.
    """
    shape, word = table.shape, table.shape.type
    yield (
        "define i64 @run(ptr %memory, i64 %position, i64 %most, ptr %back, ptr %geometry,"
        " ptr %slots, ptr %lanes, ptr %asked, ptr %counters) {"
    )
    yield f"entry:\n%table = alloca i8, i64 {table.octets}, align 64"
    for name, index in (("stop", STOP), ("counts", COUNTED)):
        yield f"%{name}.p = getelementptr i64, ptr %asked, i64 {index}"
        yield f"%{name} = load i64, ptr %{name}.p"
    yield f"%pairs = getelementptr i64, ptr %asked, i64 {COUNTED + 1}"
    yield f"%margin = getelementptr {word}, ptr %counters, i64 {COUNTER_DIGITS}"
    yield f"%first.at = getelementptr {word}, ptr %lanes, i64 {LANE_ROWS}"
    yield f"%ended.at = getelementptr i64, ptr %first.at, i64 {shape.bits}"
    for name, row in (
        ("before", LIVE),
        ("fresh", FRESH),
        ("unended", UNENDED),
        ("doubted", DOUBTED),
    ):
        yield f"%{name}.p = getelementptr {word}, ptr %lanes, i64 {row}"
    yield "br label %loop"
    yield from _token(pieces)
    yield slot(shape, "%slots", liveness.slots[program.guard], "%guard")
    yield f"%before = load {word}, ptr %before.p\n%fresh = load {word}, ptr %fresh.p"
    yield f"%doubt = and {word} %guard, %before"
    yield f"%live = xor {word} %before, %doubt"
    yield from margins(program, shape, liveness, "%live")
    yield from _count(shape)
    yield from _events(shape)


def _token(pieces: int) -> Iterator[str]:
    """Yield the code of one token: its addresses, then the pieces."""
    yield "loop:\n%made = phi i64 [ 0, %entry ], [ %more, %again ]"
    yield "%now = add i64 %position, %made\n%after = add i64 %now, 1\n%more = add i64 %made, 1"
    arguments = "ptr %memory, i64 %now, ptr %back, ptr %geometry, ptr %table"
    yield f"call void @locate({arguments})"
    for number in range(pieces):
        yield f"call void @piece{number}(ptr %table, ptr %slots, ptr %unended.p)"
    yield f"%next.e = getelementptr ptr, ptr %table, i64 {NEXT}\n%next = load ptr, ptr %next.e"


def _count(shape: WordShape) -> Iterator[str]:
    """Yield the additions to the counters: for each counted word, a carry from its digit up."""
    word, zero = shape.type, shape.constant(0)
    yield "br label %pair\npair:"
    yield "%number = phi i64 [ 0, %loop ], [ %number.n, %added ]"
    yield f"%hits = phi {word} [ {zero}, %loop ], [ %hits.n, %added ]"
    yield "%all = icmp eq i64 %number, %counts"
    yield "br i1 %all, label %events, label %one\none:"
    yield "%word.p = getelementptr {i64, i64}, ptr %pairs, i64 %number, i32 0"
    yield "%digit.p = getelementptr {i64, i64}, ptr %pairs, i64 %number, i32 1"
    yield "%word = load i64, ptr %word.p\n%digit = load i64, ptr %digit.p"
    yield slot(shape, "%next", "%word", "%hit.all")
    yield f"%hit = and {word} %hit.all, %live"
    yield f"%hits.n = or {word} %hits, %hit"
    yield "%number.n = add i64 %number, 1"
    yield from ripple_carry(shape, "%hit", "%digit", "one", "added")
    yield "added:\nbr label %pair"


def _events(shape: WordShape) -> Iterator[str]:
    """Yield the recording of first counts, ends and doubts, and the loop's exit."""
    word, ones = shape.type, shape.constant(ONES)
    yield "events:"
    yield slot(shape, "%next", "%stop", "%running")
    yield f"%halted = xor {word} %running, {ones}"
    yield f"%halts = and {word} %halted, %live"
    yield f"%ends = or {word} %halts, %doubt"
    yield f"%begins = and {word} %hits, %fresh"
    yield f"%event = or {word} %ends, %begins"
    yield f"%live.n = xor {word} %live, %halts"
    yield is_set(shape, "%event", "%eventful")
    yield "br i1 %eventful, label %noting, label %again\nnoting:"
    yield f"call void @note(ptr %first.at, {word} %begins, i64 %after)"
    yield f"call void @note(ptr %ended.at, {word} %ends, i64 %after)"
    yield f"%unended = load {word}, ptr %unended.p\n%doubted = load {word}, ptr %doubted.p"
    yield f"%goes.on = xor {word} %ends, {ones}"
    yield f"%unended.n = and {word} %unended, %goes.on"
    yield f"%doubted.n = or {word} %doubted, %doubt"
    yield f"%fresh.n = xor {word} %fresh, %begins"
    yield f"store {word} %live.n, ptr %before.p"
    for name in ("fresh", "unended", "doubted"):
        yield f"store {word} %{name}.n, ptr %{name}.p"
    yield "br label %again\nagain:"
    yield from (is_set(shape, "%live.n", "%left"), "%none = xor i1 %left, true")
    yield "%made.all = icmp sge i64 %more, %most\n%enough = or i1 %made.all, %none"
    yield "br i1 %enough, label %end, label %loop\nend:\nret i64 %more\n}"


def _note(shape: WordShape) -> str:
    """Return the function `note`, which stores a number in the entry of each set bit."""
    lines = [
        "declare i64 @llvm.cttz.i64(i64, i1)",
        f"define internal void @note(ptr noalias %times, {shape.type} %bits, i64 %when) noinline {{",
        "entry:",
        f"%e.0 = extractelement {shape.type} %bits, i64 0" if shape.elements > 1 else "",
    ]
    for i in range(shape.elements):
        value = f"%e.{i}" if shape.elements > 1 else "%bits"
        before = "entry" if i == 0 else f"next.{i}"
        lines += [
            f"br label %test.{i}",
            f"test.{i}:",
            f"%left.{i} = phi i64 [ {value}, %{before} ], [ %rest.{i}, %set.{i} ]",
            f"%any.{i} = icmp ne i64 %left.{i}, 0",
            f"br i1 %any.{i}, label %set.{i}, label %next.{i + 1}",
            f"set.{i}:",
            f"%bit.{i} = call i64 @llvm.cttz.i64(i64 %left.{i}, i1 true)",
            f"%index.{i} = add i64 %bit.{i}, {WORD_BITS * i}",
            f"%time.{i} = getelementptr i64, ptr %times, i64 %index.{i}",
            f"store i64 %when, ptr %time.{i}",
            f"%less.{i} = sub i64 %left.{i}, 1",
            f"%rest.{i} = and i64 %left.{i}, %less.{i}",
            f"br label %test.{i}",
            f"next.{i + 1}:",
        ]
        if i + 1 < shape.elements:
            lines.append(f"%e.{i + 1} = extractelement {shape.type} %bits, i64 {i + 1}")
    return "\n".join([*lines, "ret void", "}"])
