"""The start of every kernel: a thread's numbers, and the addresses of its memory."""

from __future__ import annotations

from collections.abc import Iterator

from tapeformer.engines.gpu.llvm_lines import GLOBAL
from tapeformer.engines.gpu.memory_layout import BLOCK_THREADS, KernelLayout

MAX_REGISTERS = 255

HEADER = "\n".join(
    [
        'target triple = "nvptx64-nvidia-cuda"',
        "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        "declare i32 @llvm.cttz.i32(i32, i1)",
        "@pool = external addrspace(3) global [0 x i32], align 16",
        f'attributes #0 = {{ "nvvm.maxntid"="{BLOCK_THREADS}" "nvvm.maxnreg"="{MAX_REGISTERS}" }}',
    ]
)
"""A module's declarations; `pool` is the shared memory that a launch asks for."""


def thread_start(layout: KernelLayout) -> Iterator[str]:
    """Yield the numbers of a thread and its block, and the addresses of its rings and newest token."""
    yield "%tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()"
    yield "%block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()"
    yield "%thread = zext i32 %tid to i64"
    yield "%block.w = zext i32 %block to i64"
    yield "%total.w = zext i32 %total to i64"
    yield f"%lane.0 = mul i64 %block.w, {BLOCK_THREADS}"
    yield "%lane = add i64 %lane.0, %thread"
    yield "%mine.t = shl i64 %thread, 2"
    yield "%shared = getelementptr i8, ptr addrspace(3) @pool, i64 %mine.t"
    yield from _block_part("%mine", "%memory", layout.memory_words)
    yield from _block_part("%token", "%newest", len(layout.newest_words))
    for number, ring in enumerate(layout.rings):
        place = 4 * BLOCK_THREADS * ring.offset
        yield f"%ring{number} = getelementptr i8, {GLOBAL} %mine, i64 {place}"


def _block_part(name: str, base: str, words: int) -> Iterator[str]:
    """Yield the address of a thread's part of a memory that has `words` words per thread."""
    yield f"{name}.o = mul i64 %block.w, {4 * BLOCK_THREADS * words}"
    yield f"{name}.b = getelementptr i8, {GLOBAL} {base}, i64 {name}.o"
    yield f"{name} = getelementptr i8, {GLOBAL} {name}.b, i64 %mine.t"


def newest_address(index: int) -> str:
    """Return the addresses of a word of the newest token, in device and in shared memory."""
    place = 4 * BLOCK_THREADS * index
    return (
        f"%newest{index}.p = getelementptr i8, {GLOBAL} %token, i64 {place}\n"
        f"%newest{index}.s = getelementptr i8, ptr addrspace(3) %shared, i64 {place}"
    )


def lane_word(name: str, row: int | str) -> Iterator[str]:
    """Yield the address of a thread's word in a row of the lanes."""
    yield f"%{name}.i = mul i64 %total.w, {row}"
    yield f"%{name}.j = add i64 %{name}.i, %lane"
    yield f"%{name}.p = getelementptr i32, {GLOBAL} %lanes, i64 %{name}.j"
