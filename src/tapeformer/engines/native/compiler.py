"""LLVM: from text to machine code, and from machine code to a callable function.

llvmlite is imported on first use, not with the engine.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import takewhile
from typing import Any

from tapeformer.dataclass import dataclass
from tapeformer.engines.native.object_file import Placed, placed

OPTIMISE = 1
"""LLVM's optimisation level: 2 takes longer, and objects of straight-line logic get no smaller."""

RUN = "run"
"""The name of the function that runs a model."""

Run = Callable[..., int]


def target() -> str:
    """Return what machine code depends on besides the program: llvmlite and the processor."""
    import llvmlite  # type: ignore[import-untyped]

    return f"{llvmlite.__version__} {_processor()}"


def vector_bits() -> int:
    """Return the bits of a vector register: 512 with AVX-512, 256 otherwise."""
    return 512 if re.search(r"(?<!-)\bavx512f\b", _processor()) else 256


@cache
def _processor() -> str:
    """Return the processor's model and features, from /proc/cpuinfo or else from LLVM."""
    told = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
        first = takewhile(str.strip, lines)
        found = [line for line in first if line.partition(":")[0].strip() in told]
        if len(found) == len(told):
            return "".join(found)
    import llvmlite.binding as llvm  # type: ignore[import-untyped]

    return f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


def _machine() -> Any:
    """Return LLVM's target machine for this processor."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=OPTIMISE,
    )


def object_code(text: str) -> bytes:
    """Compile a module to machine code."""
    import llvmlite.binding as llvm

    machine = _machine()
    module = llvm.parse_assembly(text)
    code: bytes = machine.emit_object(module)
    return code


@dataclass(frozen=True, eq=False)
class Loaded:
    """A function in memory; keep `owner` alive for as long as it is called."""

    run: Run
    owner: Any


def _placed_by_llvm(code: bytes) -> Placed:
    import llvmlite.binding as llvm

    owner = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    owner.add_object_file(llvm.ObjectFileRef.from_data(code))
    owner.finalize_object()
    address = owner.get_function_address(RUN)
    if not address:
        raise ValueError("the code has no function to run")
    return Placed(address, owner)


def loaded(code: bytes, numbers: int = 3) -> Loaded:
    """Load machine code and return its function `run`.

    It takes an address, as many 64-bit integers as `numbers` says, and six more addresses.
    """
    address, owner = placed(code, RUN) or _placed_by_llvm(code)
    given = [ctypes.c_void_p, *[ctypes.c_int64] * numbers, *[ctypes.c_void_p] * 6]
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *given)(address)
    return Loaded(function, owner)
