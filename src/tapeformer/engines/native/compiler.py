"""LLVM: from text to machine code, and from machine code to a function that can be called.

llvmlite is imported when it is used, not when the engine is imported.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

OPTIMISE = 1
"""LLVM's level: 2 takes longer and gave objects of the same size on straight-line logic."""

Run = Callable[..., int]


def target() -> str:
    """Return what machine code depends on, beside the program: LLVM and the processor."""
    import llvmlite  # type: ignore[import-untyped]
    import llvmlite.binding as llvm  # type: ignore[import-untyped]

    features = llvm.get_host_cpu_features().flatten()
    version = ".".join(str(part) for part in llvm.llvm_version_info)
    return f"{llvmlite.__version__} {version} {llvm.get_host_cpu_name()} {features}"


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
    """Return the machine code of a module."""
    import llvmlite.binding as llvm

    machine = _machine()
    module = llvm.parse_assembly(text)
    code: bytes = machine.emit_object(module)
    return code


@dataclass(frozen=True, eq=False)
class Loaded:
    """A function in memory; the engine that owns it must live as long as it is called."""

    run: Run
    owner: Any


def loaded(code: bytes, numbers: int = 3) -> Loaded:
    """Return the function `run` of machine code: an address, so many numbers, six more addresses."""
    import llvmlite.binding as llvm

    machine = _machine()
    owner = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    owner.add_object_file(llvm.ObjectFileRef.from_data(code))
    owner.finalize_object()
    address = owner.get_function_address("run")
    if not address:
        raise ValueError("the code has no function to run")
    given = [ctypes.c_void_p, *[ctypes.c_int64] * numbers, *[ctypes.c_void_p] * 6]
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *given)(address)
    return Loaded(function, owner)
