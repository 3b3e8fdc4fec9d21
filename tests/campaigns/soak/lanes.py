"""A batch against eight single streams: every field of every token, compared as arrays."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tapeformer as tf
from tapeformer.engines import native
from tapeformer.engines.batch import Budget, prompts_of
from tapeformer.engines.native.batch import Batch, _Run
from tapeformer.inference.decode import Reader
from tests.campaigns.soak.trial import Checked, WrongError

WORDS = 8
"""Different words; lane n has word n modulo 8, so that an octet of a word of lanes has one of each."""
EVERY_OCTET = np.uint64(0x0101010101010101)
FAR = 1 << 62
SIZES: tuple[dict[str, Any], ...] = (
    {"levels": 6},
    {"levels": 6, "heads": "queue"},
    {"levels": 4, "base": 4},
    {"construction": "paper", "levels": 2, "base": 8},
    {"construction": "post", "space": 40},
)
MACHINES: tuple[tuple[str, str, int], ...] = (
    *(("binary_counter", "01", 28),) * 6,
    ("busy_beaver_5", "01", 8),
    ("collatz", "01", 10),
    ("gray_code", "01", 12),
    ("palindrome", "ab", 12),
    ("rule_110", "01", 12),
    ("sort_bits", "01", 12),
)
"""Gallery machines with the letters and the length of their words; the first one runs for long."""


class LaneTrial:
    """One model, eight random words of the same length, each in an eighth of the lanes."""

    def __init__(self, seed: int, tokens: int = 20_000, only: str = "") -> None:
        self.chance = random.Random(f"lanes {seed}")
        chosen = [entry for entry in MACHINES if only in entry[0]]
        self.name, letters, length = self.chance.choice(chosen)
        sizes = self.chance.choice(SIZES)
        self.machine, self.tokens = tf.gallery_machine(self.name), tokens
        self.bundle = tf.compile_machine(self.machine, **sizes)
        self.words = [
            tuple(self.chance.choice(letters) for _ in range(length)) for _ in range(WORDS)
        ]
        self.parts: Sequence[object] = ()

    def run(self, parts: Sequence[object]) -> Checked:
        """Make tokens in both, one at a time, until a word ends or enough are compared."""
        del parts
        weights, offsets = self.bundle.weights, self.bundle.offsets
        reader = Reader(self.bundle)
        prompts = [np.asarray(reader.prompt(word), np.int32) for word in self.words]
        singles = [native.Engine(weights, offsets) for _ in prompts]
        for engine, prompt in zip(singles, prompts, strict=True):
            engine.prompt([tuple(row) for row in prompt.tolist()])
        batch = Batch(weights, offsets, watched=reader.watched)
        lanes = prompts_of([prompts[lane % WORDS] for lane in range(batch.inputs)])
        asked = batch._asked(reader.goes_on, ())
        work = _Run(batch, lanes, asked, 1, Budget(FAR, FAR))
        for place in range(len(prompts[0])):
            list(work._feed(place))
        made = 0
        while made < self.tokens and work._live().all():
            list(work._step(1))
            rows = np.concatenate([engine.advance(1) for engine in singles])
            _compare(batch, work.newest, rows, made)
            made += 1
        return Checked(tokens=made * batch.inputs)


def _compare(batch: Batch, place: int, rows: NDArray[np.int32], made: int) -> None:
    """Compare the words of a batch at a place with the tokens of single streams."""
    bits = batch.places.bits(rows)
    wanted = (bits << np.arange(WORDS, dtype=np.uint8)).sum(axis=1).astype(np.uint64) * EVERY_OCTET
    found = batch.memory[batch.places.places(place)]
    if (found != wanted[:, None]).any():
        raise WrongError(f"a lane differs at token {made + 1}")
