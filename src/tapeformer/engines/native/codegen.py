"""From weights to machine code, for one stream or for a batch: imported only where none is cached."""

from __future__ import annotations

from tapeformer.engines.logic.and_inverter_graph import FALSE
from tapeformer.engines.logic.bit_slicing import bit_sliced_program
from tapeformer.engines.logic.gate_order import with_short_lifetimes
from tapeformer.engines.logic.netlist import Netlist, NotLogicError
from tapeformer.engines.logic.program import ONES, Program
from tapeformer.engines.logic.synthesis import netlist_of
from tapeformer.engines.native.cache import MachineCode
from tapeformer.engines.native.compiler import object_code
from tapeformer.engines.native.llvm_batch_loop import llvm_batch_text
from tapeformer.engines.native.llvm_functions import Liveness
from tapeformer.engines.native.llvm_loop import llvm_text
from tapeformer.engines.native.memory_layout import MemoryLayout, ValueMasks
from tapeformer.engines.native.packed_program import is_packable, packed_program
from tapeformer.engines.native.word_shape import word_shape
from tapeformer.weights.record import TransformerWeights


def single_stream(weights: TransformerWeights) -> MachineCode:
    """Return code for one stream: packed words where that makes a shorter program."""
    netlist = netlist_of(weights)
    sliced = bit_sliced_program(netlist)
    if is_packable(netlist):
        program, masks = packed_program(netlist)
        if len(program.operations) < len(sliced.operations):
            return _compiled(netlist, program, 1, masks, llvm_text(program, 1))
    masks = _one_word_per_value(netlist)
    return _compiled(netlist, sliced, 1, masks, llvm_text(sliced, 1))


def batch(weights: TransformerWeights, elements: int) -> MachineCode:
    """Return bit-sliced code for 64 inputs for each element of a word."""
    netlist = netlist_of(weights)
    program = with_short_lifetimes(bit_sliced_program(netlist))
    masks = _one_word_per_value(netlist)
    return _compiled(netlist, program, elements, masks, llvm_batch_text(program, elements))


def _compiled(
    netlist: Netlist, program: Program, elements: int, masks: ValueMasks, text: str
) -> MachineCode:
    layout = MemoryLayout(
        elements=elements,
        stride=word_shape(program, elements).stride,
        spill_slots=len(Liveness(program).slots),
        margin_digits=len(program.margin),
        proven_margin=netlist.proven_margin,
        stores_words=program.width > len(program.next_token),
        value_masks=masks,
    )
    if layout.stores_words and netlist.guard != FALSE:
        raise NotLogicError("what heads fetch is more than tokens, and not all is proven")
    return MachineCode(layout, object_code(text))


def _one_word_per_value(netlist: Netlist) -> ValueMasks:
    masks, word = [], 0
    for factor in netlist.token:
        masks.append(tuple((word + value, ONES) for value in range(len(factor))))
        word += len(factor)
    return tuple(masks)
