"""The token loop of a batch in LLVM: inputs end one by one, and the loop goes on for the others.

It notes when each input made its first counted token and when it ended, and comes back when
the window of an ended input is about to be overwritten, so that many are read at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from tapeformer.engines.logic.program import ONES, WORD_BITS, Program
from tapeformer.engines.native.llvm_functions import Liveness
from tapeformer.engines.native.llvm_loop import (
    guard,
    is_set,
    margins,
    pieces_text,
    slot,
    token,
)
from tapeformer.engines.native.word_shape import WordShape, word_shape

LIVE, FRESH = 0, 1
"""Words of `lanes`: inputs under way, and those of them without a counted token so far."""
STOP, SLACK, COUNTED = 0, 1, 2
"""Numbers of `asked`: the word that says that an input goes on, how many tokens may be made after
an input has ended, how many words are counted; then the word and the digit of each of them."""


def llvm_batch_text(program: Program, elements: int) -> str:
    """Return a module with the function `run`."""
    shape = word_shape(program, elements)
    liveness = Liveness(program)
    texts = pieces_text(program, shape, liveness)
    return "\n".join([*texts, _note(shape), *_loop(program, shape, len(texts), liveness)])


def _loop(program: Program, shape: WordShape, pieces: int, liveness: Liveness) -> Iterator[str]:
    """Yield the function `run`.

    Its arguments: the ring, the place of the newest token and the mask of places; how many tokens to
    make; each head's distance; room for results; `lanes`, the inputs under way, then for each input
    the places of its first counted token and of its end; `asked`; the counters, and the smallest
    margin so far. It returns the tokens made, negative and less one where the guard stopped it.
    """
    yield from _entry(shape)
    yield from token(shape, pieces, _carried(shape))
    yield from guard(program, shape, liveness, "%live")
    yield "counted:"
    yield from margins(program, shape, liveness, "%live")
    yield from _count(shape)
    yield from _events(shape)
    yield from _exits(shape)


def _entry(shape: WordShape) -> Iterator[str]:
    word = shape.type
    yield (
        "define i64 @run(ptr noalias %ring, i64 %position, i64 %mask, i64 %most,"
        " ptr noalias %back, ptr noalias %slots, ptr noalias %lanes, ptr noalias %asked,"
        " ptr noalias %counters, ptr noalias %margin) {"
    )
    yield "entry:"
    for name, index in (("stop", STOP), ("slack", SLACK), ("counts", COUNTED)):
        yield f"%{name}.p = getelementptr i64, ptr %asked, i64 {index}"
        yield f"%{name} = load i64, ptr %{name}.p"
    yield f"%pairs = getelementptr i64, ptr %asked, i64 {COUNTED + 1}"
    yield slot(shape, "%lanes", LIVE, "%live.0")
    yield slot(shape, "%lanes", FRESH, "%fresh.0")
    yield f"%first.at = getelementptr {word}, ptr %lanes, i64 {FRESH + 1}"
    yield f"%ended.at = getelementptr i64, ptr %first.at, i64 {shape.bits}"
    yield "br label %loop"


def _carried(shape: WordShape) -> list[str]:
    """Return what goes from token to token: the inputs under way, and when to come back."""
    lanes = [
        f"%{name} = phi {shape.type} [ %{name}.0, %entry ], [ %{name}.n, %again ]"
        for name in ("live", "fresh")
    ]
    return [*lanes, "%until = phi i64 [ %most, %entry ], [ %until.n, %again ]"]


def _count(shape: WordShape) -> Iterator[str]:
    """Add to the counters: for each counted word a carry from its digit on."""
    word, zero = shape.type, shape.constant(0)
    yield "%more = add i64 %made, 1"
    yield "br label %pair"
    yield "pair:"
    yield "%number = phi i64 [ 0, %counted ], [ %number.n, %added ]"
    yield f"%hits = phi {word} [ {zero}, %counted ], [ %hits.n, %added ]"
    yield "%all = icmp eq i64 %number, %counts"
    yield "br i1 %all, label %events, label %one"
    yield "one:"
    yield "%word.p = getelementptr {i64, i64}, ptr %pairs, i64 %number, i32 0"
    yield "%digit.p = getelementptr {i64, i64}, ptr %pairs, i64 %number, i32 1"
    yield "%word = load i64, ptr %word.p\n%digit = load i64, ptr %digit.p"
    yield slot(shape, "%next", "%word", "%hit.all")
    yield f"%hit = and {word} %hit.all, %live"
    yield f"%hits.n = or {word} %hits, %hit"
    yield "%number.n = add i64 %number, 1"
    yield "br label %carrying"
    yield "carrying:"
    yield f"%carry = phi {word} [ %hit, %one ], [ %over, %adding ]"
    yield "%place = phi i64 [ %digit, %one ], [ %higher, %adding ]"
    yield is_set(shape, "%carry", "%carries")
    yield "br i1 %carries, label %adding, label %added"
    yield "adding:"
    yield slot(shape, "%counters", "%place", "%digits")
    yield f"%over = and {word} %digits, %carry"
    yield f"%sum = xor {word} %digits, %carry"
    yield f"store {word} %sum, ptr %digits.p"
    yield "%higher = add i64 %place, 1"
    yield "br label %carrying"
    yield "added:"
    yield "br label %pair"


def _events(shape: WordShape) -> Iterator[str]:
    """Note first counted tokens and ends; leave when no input is left or a window is at risk."""
    word, ones = shape.type, shape.constant(ONES)
    yield "events:"
    yield slot(shape, "%next", "%stop", "%running")
    yield f"%halted = xor {word} %running, {ones}"
    yield f"%ends = and {word} %halted, %live"
    yield f"%begins = and {word} %hits, %fresh"
    yield f"%live.n = xor {word} %live, %ends"
    yield f"%fresh.n = xor {word} %fresh, %begins"
    yield f"%event = or {word} %ends, %begins"
    yield is_set(shape, "%event", "%eventful")
    yield "br i1 %eventful, label %noting, label %again"
    yield "noting:"
    yield f"call void @note(ptr %first.at, {word} %begins, i64 %after)"
    yield f"call void @note(ptr %ended.at, {word} %ends, i64 %after)"
    yield is_set(shape, "%ends", "%some")
    yield "%limit = add i64 %more, %slack"
    yield "%sooner = icmp slt i64 %limit, %until"
    yield "%shorter = and i1 %some, %sooner"
    yield "%until.e = select i1 %shorter, i64 %limit, i64 %until"
    yield is_set(shape, "%live.n", "%left")
    yield "%until.l = select i1 %left, i64 %until.e, i64 %more"
    yield "br label %again"
    yield "again:"
    yield "%until.n = phi i64 [ %until, %events ], [ %until.l, %noting ]"
    yield "%enough = icmp sge i64 %more, %until.n"
    yield "br i1 %enough, label %done, label %loop"


def _exits(shape: WordShape) -> Iterator[str]:
    """Both ways out: enough tokens, and the guard's; the inputs under way are left in `lanes`."""
    ways = (("done", ".n", "ret i64 %more"), ("stopped", "", "%negative = sub i64 -1, %made"))
    for label, suffix, last in ways:
        yield f"{label}:"
        for name, index in (("live", LIVE), ("fresh", FRESH)):
            address = f"%{name}.{label}"
            yield f"{address} = getelementptr {shape.type}, ptr %lanes, i64 {index}"
            yield f"store {shape.type} %{name}{suffix}, ptr {address}"
        yield last
    yield "ret i64 %negative\n}"


def _note(shape: WordShape) -> str:
    """Return the function `note`: a number for each bit that is set, in an array of one per bit."""
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
