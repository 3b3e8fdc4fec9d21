"""From weights to machine code, for one stream or a batch: imported only on a cache miss."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tapeformer.engines.logic.and_inverter_graph import FALSE
from tapeformer.engines.logic.bit_slicing import bit_sliced_program
from tapeformer.engines.logic.coded_program import coded_program
from tapeformer.engines.logic.common_pairs import with_common_pairs
from tapeformer.engines.logic.gate_order import with_short_lifetimes
from tapeformer.engines.logic.machine_words import ONES
from tapeformer.engines.logic.netlist import Netlist
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.engines.logic.program import Program
from tapeformer.engines.logic.synthesis import family_netlist, netlist_of
from tapeformer.engines.native.cache import MachineCode
from tapeformer.engines.native.compiler import object_code
from tapeformer.engines.native.llvm_batch_loop import llvm_batch_text
from tapeformer.engines.native.llvm_functions import Liveness
from tapeformer.engines.native.llvm_loop import llvm_text
from tapeformer.engines.native.memory_layout import BatchLayout, MemoryLayout, ValueMasks
from tapeformer.engines.native.packed_program import is_packable, packed_program
from tapeformer.engines.native.word_shape import word_shape
from tapeformer.weights.family import WeightFamily
from tapeformer.weights.record import TransformerWeights


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Pause the garbage collector: it would scan gates again and again, and they form no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_garbage_kept()
def single_stream(weights: TransformerWeights) -> MachineCode[MemoryLayout]:
    """Return code for one stream, packed if that makes the program shorter."""
    netlist = netlist_of(weights)
    if is_packable(netlist):
        program, masks = packed_program(netlist)
        if _is_shorter(program, netlist):
            return _single(netlist, program, masks)
    return _single(netlist, bit_sliced_program(netlist), _one_word_per_value(netlist))


def _is_shorter(program: Program, netlist: Netlist) -> bool:
    """Check whether a program is shorter than the bit-sliced one.

    That one has more operations than gates, so a count of gates may decide without building it.
    """
    operations = len(program.operations)
    return operations < len(netlist.gates) or operations < len(
        bit_sliced_program(netlist).operations
    )


@_garbage_kept()
def batch(family: WeightFamily, watched: Sequence[int], inputs: int) -> MachineCode[BatchLayout]:
    """Return bit-sliced code for `inputs` inputs, each run by a member of a family.

    `watched` are the factors that ends and counts depend on; a word has one bit per input.
    """
    netlist = family_netlist(family)
    sizes = [len(factor) for factor in netlist.token]
    ordered = with_short_lifetimes(bit_sliced_program(netlist))
    stores_words = ordered.width > len(ordered.next_token)
    program, words = coded_program(ordered, sizes, watched)
    liveness = Liveness(program)
    common = _common(netlist, program, liveness, stores_words)
    kept = (words.sizes, words.resident, words.coded, words.rings)
    layout = BatchLayout(*common, *kept, len(netlist.choices), inputs)
    text = llvm_batch_text(program, words, liveness, layout.shape)
    return MachineCode(layout, object_code(text))


def _single(netlist: Netlist, program: Program, masks: ValueMasks) -> MachineCode[MemoryLayout]:
    program = with_short_lifetimes(with_common_pairs(program))
    liveness = Liveness(program)
    stores_words = program.width > len(program.next_token)
    common = _common(netlist, program, liveness, stores_words)
    layout = MemoryLayout(*common, word_shape(program, 1).stride, masks)
    return MachineCode(layout, object_code(llvm_text(program, liveness)))


def _common(
    netlist: Netlist, program: Program, liveness: Liveness, stores_words: bool
) -> tuple[int, int, int | None, bool]:
    """Return the fields of a `CodeLayout`."""
    if stores_words and netlist.guard != FALSE:
        raise NotLogicError("what heads fetch is more than tokens, and not all is proven")
    return liveness.slot_count, len(program.margin), netlist.proven_margin, stores_words


def _one_word_per_value(netlist: Netlist) -> ValueMasks:
    masks, word = [], 0
    for factor in netlist.token:
        masks.append(tuple((word + value, ONES) for value in range(len(factor))))
        word += len(factor)
    return tuple(masks)
