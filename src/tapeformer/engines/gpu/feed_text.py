"""The kernel `feed` as LLVM text: writes prompts into the rings and starts new inputs.

Prompts consist of few distinct tokens. For each position and token, a mask says which inputs have
it there; a table says which words of memory the token sets.
"""

from __future__ import annotations

from collections.abc import Iterator

from tapeformer.engines.gpu.lanes import COUNTER, DOUBTED, FRESH, LIVE, MARGIN
from tapeformer.engines.gpu.llvm_lines import GLOBAL
from tapeformer.engines.gpu.memory_layout import BLOCK_THREADS, KernelLayout
from tapeformer.engines.gpu.thread_text import lane_word, thread_start
from tapeformer.engines.logic.machine_words import COUNTER_DIGITS

POINTERS = ("memory", "newest", "lanes", "masks", "table", "lengths", "begun")
NUMBERS = ("total", "tokens", "words", "first", "places")
"""Parameters of `feed`: threads, distinct tokens, words per row of the table, which positions."""


def feed_text(layout: KernelLayout, margin_digits: int) -> str:
    """Return the kernel `feed`, and the function it calls for every word."""
    return "\n".join([*_prompt_word(), *_feed(layout, margin_digits)])


def _prompt_word() -> Iterator[str]:
    """Yield the function that makes a word of memory from a position's masks and the table."""
    yield f"define internal i32 @prompt_word({GLOBAL} %masks, {GLOBAL} %table, i64 %word,"
    yield " i64 %tokens, i64 %words, i64 %total) {"
    yield "entry:"
    yield "br label %loop"
    yield "loop:"
    yield "%token = phi i64 [ 0, %entry ], [ %next, %one ]"
    yield "%sum = phi i32 [ 0, %entry ], [ %more, %one ]"
    yield "%all = icmp eq i64 %token, %tokens"
    yield "br i1 %all, label %done, label %one"
    yield "one:"
    yield "%m.i = mul i64 %token, %total"
    yield f"%m.p = getelementptr i32, {GLOBAL} %masks, i64 %m.i"
    yield f"%m = load i32, {GLOBAL} %m.p"
    yield "%t.i = mul i64 %token, %words\n%t.j = add i64 %t.i, %word"
    yield f"%t.p = getelementptr i32, {GLOBAL} %table, i64 %t.j"
    yield f"%t = load i32, {GLOBAL} %t.p"
    yield "%set = and i32 %m, %t"
    yield "%more = or i32 %sum, %set"
    yield "%next = add i64 %token, 1"
    yield "br label %loop"
    yield "done:"
    yield "ret i32 %sum"
    yield "}"


def _feed(layout: KernelLayout, margin_digits: int) -> Iterator[str]:
    parameters = [f"{GLOBAL} %{name}" for name in POINTERS] + [f"i32 %{name}" for name in NUMBERS]
    yield f"define ptx_kernel void @feed({', '.join(parameters)}) #0 {{"
    yield "entry:"
    yield from thread_start(layout)
    yield from _places()
    yield "place:"
    yield "%at = phi i32 [ %first, %entry ], [ %at.n, %written ]"
    yield "%row.0 = sub i32 %at, %first\n%row.1 = mul i32 %row.0, %tokens"
    yield "%row.w = zext i32 %row.1 to i64\n%row.i = mul i64 %row.w, %total.w"
    yield "%row.j = add i64 %row.i, %lane"
    yield f"%here = getelementptr i32, {GLOBAL} %masks, i64 %row.j"
    yield "br label %ring0.loop" if layout.rings else "br label %written"
    yield from _rings(layout)
    yield "written:"
    yield "%at.n = add i32 %at, 1"
    yield "%last = icmp eq i32 %at.n, %end"
    yield "br i1 %last, label %complete, label %place"
    yield "complete:"
    yield "%whole = icmp eq i32 %end, %length"
    yield "br i1 %whole, label %newest.loop, label %rest"
    start = sum(ring.words for ring in layout.rings)
    yield from _words("newest", "%token", start, len(layout.newest_words), "complete", "begin")
    yield "begin:"
    yield from _begun(margin_digits)
    yield "br label %rest"
    yield "rest:"
    yield "ret void"
    yield "}"


def _places() -> Iterator[str]:
    """Yield the range of positions that this call writes: from `first` on, at most `places`."""
    yield f"%length.p = getelementptr i32, {GLOBAL} %lengths, i64 %block.w"
    yield f"%length = load i32, {GLOBAL} %length.p"
    yield "%reach = add i32 %first, %places"
    yield "%short = icmp ult i32 %length, %reach"
    yield "%end = select i1 %short, i32 %length, i32 %reach"
    yield "%some = icmp ult i32 %first, %end"
    yield "%tokens.w = zext i32 %tokens to i64\n%words.w = zext i32 %words to i64"
    yield "br i1 %some, label %place, label %rest"


def _rings(layout: KernelLayout) -> Iterator[str]:
    """Yield the stores of a token's words, ring after ring."""
    word = 0
    for number, ring in enumerate(layout.rings):
        name, last = f"ring{number}", number + 1 == len(layout.rings)
        before = f"ring{number - 1}.done" if number else "place"
        if number:
            yield f"ring{number - 1}.done:"
            yield f"br label %{name}.loop"
        yield from _words(
            name,
            f"%{name}.e",
            word,
            ring.words,
            before,
            "written" if last else f"{name}.done",
            ring.length,
        )
        word += ring.words


def _words(
    name: str, base: str, start: int, count: int, before: str, after: str, length: int = 0
) -> Iterator[str]:
    """Yield a loop that writes `count` words to an address; in a ring, to the position's slot."""
    yield f"{name}.loop:"
    yield f"%{name}.w = phi i64 [ 0, %{before} ], [ %{name}.n, %{name}.one ]"
    yield f"%{name}.all = icmp eq i64 %{name}.w, {count}"
    yield f"br i1 %{name}.all, label %{after}, label %{name}.one"
    yield f"{name}.one:"
    if length:
        yield f"%{name}.s = urem i32 %at, {length}"
        yield f"%{name}.m = mul i32 %{name}.s, {4 * BLOCK_THREADS * count}"
        yield f"%{name}.z = zext i32 %{name}.m to i64"
        yield f"%{name}.e = getelementptr i8, {GLOBAL} %{name}, i64 %{name}.z"
    yield f"%{name}.i = add i64 %{name}.w, {start}"
    yield (
        f"%{name}.v = call i32 @prompt_word({GLOBAL} %here, {GLOBAL} %table, i64 %{name}.i,"
        " i64 %tokens.w, i64 %words.w, i64 %total.w)"
    )
    yield f"%{name}.b = mul i64 %{name}.w, {4 * BLOCK_THREADS}"
    yield f"%{name}.p = getelementptr i8, {GLOBAL} {base}, i64 %{name}.b"
    yield f"store i32 %{name}.v, {GLOBAL} %{name}.p"
    yield f"%{name}.n = add i64 %{name}.w, 1"
    yield f"br label %{name}.loop"


def _begun(margin_digits: int) -> Iterator[str]:
    """Yield the lanes' initial values, stored once a prompt is complete."""
    yield f"%begun.p = getelementptr i32, {GLOBAL} %begun, i64 %lane"
    yield f"%begun.v = load i32, {GLOBAL} %begun.p"
    values = {LIVE: "%begun.v", FRESH: "%begun.v", DOUBTED: "0"}
    values |= {COUNTER + digit: "0" for digit in range(COUNTER_DIGITS)}
    values |= {MARGIN + digit: "-1" for digit in range(margin_digits)}
    for row, value in values.items():
        yield from lane_word(f"lane{row}", row)
        yield f"store i32 {value}, {GLOBAL} %lane{row}.p"
