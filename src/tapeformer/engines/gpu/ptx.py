"""From LLVM text to PTX, which the driver compiles for whatever GPU is present."""

from __future__ import annotations

PROCESSOR, FEATURES = "sm_70", "+ptx70"
"""The oldest GPUs supported; drivers compile their PTX for any newer one."""


def ptx_of(text: str) -> bytes:
    """Translate a module to PTX without optimising it: the driver does that."""
    import llvmlite.binding as llvm  # type: ignore[import-untyped]

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("nvptx64-nvidia-cuda")
    machine = target.create_target_machine(cpu=PROCESSOR, features=FEATURES, opt=0)
    return str(machine.emit_assembly(llvm.parse_assembly(text))).encode()
