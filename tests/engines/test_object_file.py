"""An object file is placed in memory as LLVM does, or left to it."""

from __future__ import annotations

import ctypes

import pytest

from tapeformer.engines.native import compiler
from tapeformer.engines.native.compiler import loaded, object_code
from tapeformer.engines.native.object_file import placed

TEXT = """
@numbers = internal constant [4 x i64] [i64 5, i64 7, i64 11, i64 13]
define internal i64 @twice(i64 %a) noinline {
  %b = mul i64 %a, 2
  ret i64 %b
}
define i64 @run(i64 %index) {
  %p = getelementptr i64, ptr @numbers, i64 %index
  %n = load volatile i64, ptr %p
  %t = call i64 @twice(i64 %n)
  ret i64 %t
}
"""
OUTSIDE = (
    "declare i64 @labs(i64)\ndefine i64 @run(i64 %a) {\n%b = call i64 @labs(i64 %a)\nret i64 %b\n}"
)


def test_calls_and_constants() -> None:
    found = placed(object_code(TEXT), "run")
    assert found is not None
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(found.address)
    assert [function(index) for index in range(4)] == [10, 14, 22, 26]


def test_what_only_llvm_can_place() -> None:
    code = object_code(TEXT)
    assert placed(code, "walk") is None
    assert placed(object_code(OUTSIDE), "run") is None
    assert placed(b"", "run") is None
    assert placed(code[:18] + b"\xb7" + code[19:], "run") is None


def test_a_file_that_is_cut_or_changed_is_no_crash_of_the_reader() -> None:
    code = object_code(TEXT)
    for end in range(0, len(code), 7):
        placed(code[:end], "run")
    for place in range(len(code)):
        placed(code[:place] + bytes([code[place] ^ 0xFF]) + code[place + 1 :], "run")


def test_llvm_places_what_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "placed", lambda *_: None)
    assert compiler._placed_by_llvm(object_code(OUTSIDE)).address
    with pytest.raises(ValueError, match="no function to run"):
        loaded(object_code("define void @walk() {\nret void\n}"))
