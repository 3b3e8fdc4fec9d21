"""Many inputs at once on a GPU, bit-sliced: each bit of each thread's words is one input.

A block runs up to 1,024 inputs with prompts of equal length, independently of other blocks; once
all of them have ended, it is fed the next group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from time import perf_counter

import numpy as np

from tapeformer.engines.batch import Budget, Counted, Ended, Prompts
from tapeformer.engines.gpu import INPUTS
from tapeformer.engines.gpu.blocks import Blocks
from tapeformer.engines.gpu.cache import module_of
from tapeformer.engines.gpu.device import Device
from tapeformer.engines.gpu.kernel import Kernel
from tapeformer.engines.gpu.lanes import lane_rows
from tapeformer.engines.gpu.memory_layout import BLOCK_THREADS
from tapeformer.engines.gpu.prompt_masks import BlockGroup, block_groups
from tapeformer.engines.stream import Value
from tapeformer.faults import Fault, TapeformerError
from tapeformer.weights.record import TransformerWeights

MEMORY_SHARE = 0.8
"""The share of the device's free memory that a batch may use."""
LAUNCH_SECONDS = 0.25
"""How long a launch should take: finished blocks sit idle until it ends."""
FIRST_TOKENS, MOST_TOKENS = 256, 1 << 30


class GpuBatch:
    """The kernels of one model on a device.

    `opened` is called once the kernels are made, so that the device can open meanwhile.
    """

    name, inputs = "gpu", INPUTS

    def __init__(
        self,
        weights: TransformerWeights,
        offsets: Sequence[int],
        opened: Callable[[], Device],
        cache: Path | None = None,
    ) -> None:
        self.weights, self.offsets, self._opened, self.cache = weights, offsets, opened, cache
        self._asked: tuple[Value, Counted] | None = None

    @cached_property
    def device(self) -> Device:
        """The device; waits until it is open."""
        return self._opened()

    def run(
        self, prompts: Prompts, stop: Value, count: Counted, budget: Budget
    ) -> Iterator[list[Ended]]:
        """Run each prompt until its watched value changes or it hits a limit; yield those that end.

        Raises NotLogicError if the weights cannot be turned into gates.
        """
        kernel = self.prepared(stop, count)
        groups = block_groups(prompts.lengths)
        fitting = min(self._fitting(kernel), self.device.concurrent_blocks(BLOCK_THREADS))
        most = min(len(groups), fitting)
        with Blocks(kernel, self.device, prompts, budget.bounded(), most) as blocks:
            yield from _scheduled(blocks, groups)

    def prepared(self, stop: Value, count: Counted) -> Kernel:
        """Return the kernels that watch these values; make and load them unless they are loaded."""
        if self._asked != (stop, count):
            self._kernel, ptx = module_of(self.weights, self.offsets, stop, count, self.cache)
            self.device.load(ptx, self._kernel.layout.shared_bytes)
            self._asked = stop, count
        return self._kernel

    def _fitting(self, kernel: Kernel) -> int:
        """Return how many blocks fit into the device's memory."""
        size = 4 * BLOCK_THREADS * block_words(kernel)
        fitting = int(MEMORY_SHARE * self.device.free_memory()) // size
        if not fitting:
            raise TapeformerError(
                Fault(
                    "the GPU has too little free memory for a window of this model",
                    expected=f"{size / 1e9:.2f} GB",
                    remedy="give fewer levels, or use engine='native'",
                )
            )
        return fitting


def block_words(kernel: Kernel) -> int:
    """Return how many words of device memory a thread takes."""
    layout = kernel.layout
    return layout.memory_words + len(layout.newest_words) + lane_rows(kernel.margin_digits) + 64


def _scheduled(blocks: Blocks, groups: Sequence[BlockGroup]) -> Iterator[list[Ended]]:
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
        yield list(blocks.ended(finished))


def _next_tokens(tokens: int, seconds: float) -> int:
    """Return the next launch's tokens: doubled after a short launch, cut after a long one."""
    if seconds < LAUNCH_SECONDS / 2:
        return min(2 * tokens, MOST_TOKENS)
    return max(FIRST_TOKENS, int(tokens * min(1.0, LAUNCH_SECONDS / seconds)))
