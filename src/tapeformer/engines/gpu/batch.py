"""Many inputs at once on a GPU: every bit of every thread's words is another input.

A block has up to 1,024 inputs with prompts of one length and works on its own; when all of them
have ended, the block gets the next ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from time import perf_counter

import numpy as np

from tapeformer.engines.batch import Budget, Counted, Ended, Prompts
from tapeformer.engines.gpu import INPUTS
from tapeformer.engines.gpu.blocks import Blocks
from tapeformer.engines.gpu.device import Device
from tapeformer.engines.gpu.kernel import Kernel, kernel_of
from tapeformer.engines.gpu.lanes import lane_rows
from tapeformer.engines.gpu.memory_layout import BLOCK_THREADS
from tapeformer.engines.gpu.prompt_masks import BlockGroup, block_groups
from tapeformer.engines.gpu.ptx import ptx_of
from tapeformer.engines.stream import Value
from tapeformer.faults import Fault, TapeformerError
from tapeformer.weights.record import TransformerWeights

MEMORY_SHARE = 0.8
"""The part of the device's free memory that a batch may take."""
LAUNCH_SECONDS = 0.25
"""How long a launch should take: blocks that have ended wait for it."""
FIRST_TOKENS, MOST_TOKENS = 256, 1 << 30
READ_BLOCKS = 8
"""Blocks whose windows are read together, so that what is read of them fits into the caches."""


class GpuBatch:
    """The kernels of one model on a device, whose memory some processes share.

    The device is asked for when the kernels are made: it may take as long to open.
    """

    name, inputs = "gpu", INPUTS

    def __init__(
        self,
        weights: TransformerWeights,
        offsets: Sequence[int],
        opened: Callable[[], Device],
        processes: int = 1,
    ) -> None:
        self.weights, self.offsets, self._opened = weights, offsets, opened
        self.memory_share = MEMORY_SHARE / processes
        self._asked: tuple[Value, Counted] | None = None

    @cached_property
    def device(self) -> Device:
        """The device, once it is open."""
        return self._opened()

    def run(self, prompts: Prompts, stop: Value, count: Counted, budget: Budget) -> Iterator[Ended]:
        """Run every prompt until its watched value changes, or to a limit; yield those that end.

        Raises NotLogicError where the weights cannot be turned into gates.
        """
        kernel = self.prepared(stop, count)
        groups = block_groups(prompts.lengths)
        fitting = min(self._fitting(kernel), self.device.concurrent_blocks(BLOCK_THREADS))
        blocks = Blocks(kernel, self.device, prompts, budget, min(len(groups), fitting))
        try:
            yield from _scheduled(blocks, groups)
        finally:
            blocks.release()

    def prepared(self, stop: Value, count: Counted) -> Kernel:
        """Return the kernels that watch these values, made and loaded once."""
        if self._asked != (stop, count):
            self._kernel = kernel_of(self.weights, self.offsets, stop, count)
            module = ptx_of(self._kernel.text)
            self.device.load(module, self._kernel.layout.shared_bytes)
            self._asked = stop, count
        return self._kernel

    def _fitting(self, kernel: Kernel) -> int:
        """How many blocks the device's memory holds."""
        size = 4 * BLOCK_THREADS * block_words(kernel)
        fitting = int(self.memory_share * self.device.free_memory()) // size
        if not fitting:
            raise TapeformerError(
                Fault(
                    "the GPU has too little free memory for a window of this model",
                    expected=f"{size / 1e9:.2f} GB",
                    remedy="give fewer --levels, or use --engine native",
                )
            )
        return fitting


def block_words(kernel: Kernel) -> int:
    """Return the words of device memory that a thread takes."""
    layout = kernel.layout
    return layout.memory_words + len(layout.newest_words) + lane_rows(kernel.margin_digits) + 64


def _scheduled(blocks: Blocks, groups: Sequence[BlockGroup]) -> Iterator[Ended]:
    """Feed groups to idle blocks and launch, until every input has ended."""
    waiting, tokens = list(reversed(groups)), FIRST_TOKENS
    while waiting or blocks.busy.any():
        idle = np.flatnonzero(~blocks.busy).tolist()
        fed = {block: waiting.pop() for block in idle[: len(waiting)]}
        if fed:
            blocks.feed(fed)
        started = perf_counter()
        finished = blocks.advance(tokens)
        tokens = _next_tokens(tokens, perf_counter() - started)
        for start in range(0, len(finished), READ_BLOCKS):
            yield from blocks.ended(finished[start : start + READ_BLOCKS])


def _next_tokens(tokens: int, seconds: float) -> int:
    """Return how many tokens to make in the next launch: twice as many while that is soon done."""
    if seconds < LAUNCH_SECONDS / 2:
        return min(2 * tokens, MOST_TOKENS)
    return max(FIRST_TOKENS, int(tokens * min(1.0, LAUNCH_SECONDS / seconds)))
