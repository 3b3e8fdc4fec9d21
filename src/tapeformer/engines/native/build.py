"""All the way from weights to machine code, for one stream or for a batch."""

from __future__ import annotations

from tapeformer.engines.logic.and_inverter_graph import FALSE
from tapeformer.engines.logic.argmax import logic_of
from tapeformer.engines.logic.bit_slicing import bitwise_program
from tapeformer.engines.logic.mutual_exclusion import NotLogicError
from tapeformer.engines.logic.program import ONES, Program
from tapeformer.engines.logic.symbolic_position import Logic
from tapeformer.engines.native.cache import Cache, Code, key_of
from tapeformer.engines.native.compiler import object_code, target
from tapeformer.engines.native.llvm_loop import llvm_text
from tapeformer.engines.native.memory_layout import Places, plan_for
from tapeformer.engines.native.packed_program import fits, packed_program
from tapeformer.weights.record import TransformerWeights

BATCH_PARTS = 4
"""A batch has 256 inputs: one for each bit of a register."""


def single_code(weights: TransformerWeights, cache: Cache) -> Code:
    """Machine code for one stream."""
    return cache.get(_single_key(weights), lambda: _single(weights))


def is_made(weights: TransformerWeights, cache: Cache) -> bool:
    """Whether machine code for one stream is there already."""
    return isinstance(cache.find(_single_key(weights)), Code)


def _single_key(weights: TransformerWeights) -> str:
    return key_of(weights, "single", target())


def batch_code(weights: TransformerWeights, cache: Cache) -> Code:
    """Machine code for many inputs at once."""
    return cache.get(key_of(weights, "batch", target()), lambda: _batch(weights))


def _single(weights: TransformerWeights) -> Code:
    """Shared words where that makes the program shorter, else a word per bit."""
    logic = logic_of(weights)
    apart = bitwise_program(logic)
    if fits(logic):
        program, places = packed_program(logic)
        if len(program.operations) < len(apart.operations):
            return _code(logic, program, 1, places)
    return _code(logic, apart, 1, _apart(logic))


def _batch(weights: TransformerWeights) -> Code:
    logic = logic_of(weights)
    return _code(logic, bitwise_program(logic), BATCH_PARTS, _apart(logic))


def _code(logic: Logic, program: Program, parts: int, places: Places) -> Code:
    plan = plan_for(logic, program, parts, places)
    if plan.keeps and logic.guard != FALSE:
        raise NotLogicError("what heads fetch is more than tokens, and not all is proven")
    return Code(plan, object_code(llvm_text(program, parts)))


def _apart(logic: Logic) -> Places:
    """Every value has a word of its own."""
    places, word = [], 0
    for factor in logic.token:
        places.append(tuple((word + value, ONES) for value in range(len(factor))))
        word += len(factor)
    return tuple(places)
