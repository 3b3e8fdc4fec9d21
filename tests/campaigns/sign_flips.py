"""Flipping the sign of one weight: how often does the trace change?

`python -m tests.campaigns.sign_flips --flips 200`. Drawn among the weights whose neuron is nonzero
at some token, among those that then also read something nonzero, and among all.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapeformer import gallery_machine
from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.registry import make_engine
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.weights.parameters import nonzero_values, parameters, with_sign_flipped
from tapeformer.weights.record import Token, TransformerWeights
from tests.plain_transformer import exercised, forward

Rows = NDArray[np.int32]


@dataclass(frozen=True)
class Workload:
    """A model with words, and the tokens that each of them leads to."""

    bundle: Bundle
    prompts: tuple[tuple[Token, ...], ...]
    traces: tuple[Rows, ...]

    def changed_by(self, weights: TransformerWeights, engine: str) -> bool:
        """Whether other weights give another trace for some word."""
        for prompt, trace in zip(self.prompts, self.traces, strict=True):
            stream = make_engine(engine, weights, self.bundle.offsets)
            stream.prompt(prompt)
            for start in range(0, len(trace), 64):
                wanted = trace[start : start + 64]
                if not np.array_equal(stream.advance(len(wanted)), wanted):
                    return True
        return False


def workload(name: str, words: list[str], options: CompileOptions) -> Workload:
    """Runs the words."""
    bundle = compile_machine(gallery_machine(name), options)
    runs = [Generation(bundle, tuple(word), "sparse") for word in words]
    traces = tuple(np.concatenate(list(run.pieces(Limits(10**6, 20_000)))) for run in runs)
    return Workload(
        bundle,
        tuple(run.reader.prompt(tuple(w)) for run, w in zip(runs, words, strict=True)),
        traces,
    )


def exercised_weights(work: Workload, joined: bool) -> list[tuple[str, int]]:
    """Weights that some word exercises: their neuron is nonzero (`joined`: and what they read)."""
    found: dict[tuple[str, int], None] = {}
    for prompt, trace in zip(work.prompts, work.traces, strict=True):
        tokens = [*prompt, *(tuple(row) for row in trace[:-1].tolist())]
        flow: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        forward(work.bundle.weights, work.bundle.offsets, work.bundle.window, tokens, flow)
        found |= dict.fromkeys(exercised(work.bundle.weights, flow, joined))
    return list(found)


def all_weights(work: Workload) -> list[tuple[str, int]]:
    """Every weight that is not zero."""
    every = parameters(work.bundle.weights)
    return [(p.path, entry) for p in every for entry in range(nonzero_values(p).size)]


def rate(
    work: Workload, among: list[tuple[str, int]], flips: int, seed: int, engine: str
) -> tuple[float, list[tuple[str, int]]]:
    """The share of flips that change the trace, and those that do not."""
    drawn = random.Random(seed).sample(among, min(flips, len(among)))
    silent = [
        flip
        for flip in drawn
        if not work.changed_by(with_sign_flipped(work.bundle.weights, *flip), engine)
    ]
    return 1 - len(silent) / len(drawn), silent


WORDS = ["abba", "ab", "", "babbab", "aabaa", "abbbbabaaababb", "bbaabbaabbaabb", "aaaaaaaaaaaaa"]
OPTIONS = CompileOptions("paper", levels=2, base=4)


def main() -> None:
    """Prints both rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", default="sparse")
    given = parser.parse_args()
    work = workload("palindrome", WORDS, OPTIONS)
    print(f"{sum(map(len, work.traces)):,} tokens of {len(WORDS)} words")
    groups = {
        "neuron nonzero": exercised_weights(work, joined=False),
        "and what it reads": exercised_weights(work, joined=True),
        "all": all_weights(work),
    }
    for name, among in groups.items():
        share, silent = rate(work, among, given.flips, given.seed, given.engine)
        print(f"{name}: {share:.1%} of {given.flips} flips among {len(among):,} change the trace")
        print("  silent:", ", ".join(f"{path}[{entry}]" for path, entry in silent[:12]))


if __name__ == "__main__":
    main()
