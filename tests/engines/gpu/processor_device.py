"""The kernels' own LLVM text on the processor, thread after thread: a device that needs no GPU."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

POOL_WORDS = 1 << 14
NUMBERS = """
@tid = global i32 0
@ctaid = global i32 0
define internal i32 @sreg.tid.x() {
%v = load i32, ptr @tid
ret i32 %v
}
define internal i32 @sreg.ctaid.x() {
%v = load i32, ptr @ctaid
ret i32 %v
}
"""


def processor_text(text: str) -> str:
    """The same instructions for the processor: one memory, and a thread's numbers as variables."""
    text = re.sub(r"target triple = .*\n|declare i32 @llvm.nvvm.*\n", "", text)
    text = re.sub(r"call void asm sideeffect.*\n", "", text)
    text = re.sub(r"attributes #0 = .*\n", "", text).replace(") #0 {", ") {")
    text = re.sub(r" addrspace\([13]\)", "", text).replace("ptx_kernel ", "")
    pool = f"@pool = global [{POOL_WORDS} x i32] zeroinitializer"
    text = text.replace("@pool = external global [0 x i32]", pool)
    return text.replace("@llvm.nvvm.read.ptx.sreg.", "@sreg.") + NUMBERS


class ProcessorDevice:
    """A device with little memory, on which one block after another runs."""

    def __init__(self, text: str, memory: int = 1 << 30, blocks: int = 2) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(opt=0)
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(processor_text(text)), machine)
        self.engine.finalize_object()
        self.numbers = [self._variable("tid"), self._variable("ctaid")]
        self.arrays: dict[int, NDArray[np.uint8]] = {}
        self.memory, self.blocks = memory, blocks

    def _variable(self, name: str) -> ctypes.c_int32:
        return ctypes.c_int32.from_address(self.engine.get_global_value_address(name))

    @property
    def name(self) -> str:
        return "processor"

    def free_memory(self) -> int:
        return self.memory

    def load(self, module: bytes, shared_bytes: int) -> None:
        assert module.startswith(b"//")
        assert shared_bytes <= 4 * POOL_WORDS

    def concurrent_blocks(self, threads: int) -> int:
        assert threads == 32
        return self.blocks

    def allocate(self, size: int) -> int:
        array = np.zeros(size + 8, np.uint8)
        self.arrays[array.ctypes.data] = array
        return array.ctypes.data

    def release(self, address: int) -> None:
        del self.arrays[address]

    def upload(self, address: int, array: NDArray[Any]) -> None:
        array = np.ascontiguousarray(array)
        ctypes.memmove(address, array.ctypes.data, array.nbytes)

    def download(self, address: int, size: int) -> NDArray[np.uint8]:
        array = np.empty(size, np.uint8)
        ctypes.memmove(array.ctypes.data, address, size)
        return array

    def launch(
        self,
        kernel: str,
        blocks: int,
        threads: int,
        pointers: Sequence[int],
        numbers: Sequence[int],
    ) -> None:
        kinds = [ctypes.c_void_p] * len(pointers) + [ctypes.c_uint32] * len(numbers)
        address = self.engine.get_function_address(kernel)
        function = ctypes.CFUNCTYPE(None, *kinds)(address)
        for block in range(blocks):
            for thread in range(threads):
                for variable, value in zip(self.numbers, (thread, block), strict=True):
                    variable.value = value
                function(*pointers, *numbers)

    def close(self) -> None:
        assert not self.arrays
