"""What is read of a batch's window are the tokens that were written there, at the end of memory too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.native.batch import Batch
from tapeformer.engines.native.lanes import LaneWindows
from tapeformer.gallery import gallery_machine
from tapeformer.inference.decode import Reader

BUNDLE = compile_machine(gallery_machine("palindrome"), CompileOptions(levels=4))


@pytest.mark.parametrize("inputs", [64, 256, 512])
def test_every_value_of_a_token_is_read_back(inputs: int, tmp_path: Path) -> None:
    watched, chance = Reader(BUNDLE).watched, np.random.default_rng(inputs)
    batch = Batch(BUNDLE.weights, BUNDLE.offsets, tmp_path, watched=watched, inputs=inputs)
    places, factors = batch.places, np.arange(len(BUNDLE.weights.factors))
    last = int(places.masks.max())  # of every ring: nothing follows it in memory
    for place in (last, last + 1):
        row = chance.integers(places.sizes)
        ones = np.where(places.bits(row[None].astype(np.int32)), ~np.uint64(0), np.uint64(0))
        for there, here in places.parts(place):
            batch.memory[there] = ones[here]
        lanes, ends = np.array([0, inputs - 1]), np.full(2, place)
        windows = LaneWindows(places, batch.memory, lanes, ends, batch.window)
        for one in range(2):
            tokens = windows.at(np.array([one]), np.array([0]))
            assert tokens.values(factors).tolist() == row.tolist()
            assert tokens.has(factors, row).all()
            others = (row + 1) % places.sizes
            assert (tokens.has(factors, others) == (others == row)).all()
