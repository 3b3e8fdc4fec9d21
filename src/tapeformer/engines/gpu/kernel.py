"""From weights to a module of kernels, with everything a batch must know about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tapeformer.engines.batch import Counted
from tapeformer.engines.gpu.kernel_text import kernel_text
from tapeformer.engines.gpu.lanes import Watched
from tapeformer.engines.gpu.memory_layout import (
    LARGEST_RING,
    HeadOffsets,
    KernelLayout,
    kernel_layout,
)
from tapeformer.engines.logic.attention_offsets import AttentionOffsets
from tapeformer.engines.logic.bit_slicing import bit_sliced_program
from tapeformer.engines.logic.gate_order import root_by_root
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.engines.logic.synthesis import netlist_of
from tapeformer.engines.stream import Value
from tapeformer.weights.positions import window_for
from tapeformer.weights.record import TransformerWeights


@dataclass(frozen=True, eq=False)
class Kernel:
    """A model's kernels as LLVM text; ring lengths, from the farthest offsets, are compiled in."""

    text: str
    layout: KernelLayout
    offsets: AttentionOffsets
    window: int
    margin_digits: int
    proven_margin: int | None
    weight: int


def kernel_of(
    weights: TransformerWeights, offsets: Sequence[int], stop: Value, counted: Counted
) -> Kernel:
    """Make a model's kernels; NotLogicError if its weights cannot be turned into gates.

    Gates are not list-scheduled: kernels of the real-time construction run 13% faster that way,
    those of the paper's construction 8% slower.
    """
    netlist = netlist_of(weights)
    program = root_by_root(bit_sliced_program(netlist))
    sizes = [len(factor.values) for factor in weights.factors]
    if program.width > sum(sizes):
        raise NotLogicError("heads fetch more than tokens")
    window = window_for(offsets)
    heads = AttentionOffsets(weights, offsets, window)
    looks = HeadOffsets(heads.farthest.tolist(), heads.settled.tolist())
    layout = kernel_layout(program, sizes, looks)
    if any(ring.block_bytes >= LARGEST_RING for ring in layout.rings):
        raise NotLogicError("the window of 1,024 inputs takes 4 GiB or more")
    text = kernel_text(program, layout, _watched(sizes, stop, counted))
    return Kernel(
        text=text,
        layout=layout,
        offsets=heads,
        window=window,
        margin_digits=len(program.margin),
        proven_margin=netlist.proven_margin,
        weight=max(amount for _, amount in counted),
    )


def _watched(sizes: Sequence[int], stop: Value, counted: Counted) -> Watched:
    def word(value: Value) -> int:
        return sum(sizes[: value[0]]) + value[1]

    return Watched(word(stop), tuple((word(value), amount) for value, amount in counted))
