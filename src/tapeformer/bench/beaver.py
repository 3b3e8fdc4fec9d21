"""BB(5) to its end through the Transformer, and its tokens beside another engine's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tapeformer.bench.contests import BEAVER
from tapeformer.bench.report import Row
from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.registry import make_engine
from tapeformer.engines.stream import Stream
from tapeformer.faults import Fault, TapeformerError
from tapeformer.gallery import gallery_machine
from tapeformer.inference.decode import Reader
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.simulator.fast import MOST_STEPS, simulate

LEVELS = 12
TOKENS = 47_176_873
"""As many as BB(5) has steps, and three to boot."""

PIECE = 1_000
Watch = Callable[[int], bool]


def beaver_model(levels: int = LEVELS) -> Bundle:
    """BB(5) in the real-time construction, base 2."""
    return compile_machine(gallery_machine(BEAVER), CompileOptions(levels=levels))


@dataclass
class Pace:
    """Notes when how many tokens were made, and passes the number on."""

    watch: Watch | None = None
    noted: list[tuple[int, float]] = field(default_factory=list)

    def __call__(self, tokens: int) -> bool:
        """Called now and then during a run; False ends it."""
        self.noted.append((tokens, time.perf_counter()))
        return self.watch is None or self.watch(tokens)

    def rows(self, pieces: int = 30) -> list[Row]:
        """Return tokens per second over the run, in about so many pieces."""
        every = max(1, (len(self.noted) - 1) // pieces)
        marks = self.noted[::every]
        return [
            {
                "tokens": tokens,
                "seconds": now - self.noted[0][1],
                "tokens per second": (tokens - before) / (now - then),
            }
            for (before, then), (tokens, now) in pairwise(marks)
        ]


def beaver_to_its_end(pace: Pace, max_steps: int = MOST_STEPS) -> Row:
    """BB(5), every token from the weights, its last tape held against the direct simulation."""
    machine = gallery_machine(BEAVER)
    begun = time.perf_counter()
    run = Generation(beaver_model(), (), "native")
    ready, used = time.perf_counter(), time.process_time()
    run.finish(Limits(max_steps), pace)
    pace(run.counts.tokens)
    seconds, busy = time.perf_counter() - ready, time.process_time() - used
    answer = run.answer(seconds)
    direct = simulate(machine, max_steps=answer.steps)
    return {
        "outcome": answer.outcome.value,
        "steps": answer.steps,
        "tokens": answer.cot_tokens,
        "ones": sum(symbol != machine.blank for symbol in answer.tapes[0].content),
        "equals the direct simulation": (answer.steps, answer.tapes)
        == (direct.steps, direct.tapes),
        "margin": answer.margin,
        "seconds to compile": ready - begun,
        "seconds": seconds,
        "of these computing": busy,
        "tokens per second": answer.cot_tokens / seconds,
    }


def compared(bundle: Bundle, tokens: int, watch: Watch | None, peer: str = "sparse") -> Row:
    """Return the first tokens of the native engine beside another's, a piece at a time."""
    ours, theirs = _prompted("native", bundle), _prompted(peer, bundle)
    done = 0
    while done < tokens and (watch is None or watch(done)):
        piece = min(PIECE, tokens - done)
        _check_equal(ours.advance(piece), theirs.advance(piece), done, peer)
        done += piece
    return {"engines": f"native, {peer}", "tokens compared": done, "identical": True}


def _prompted(engine: str, bundle: Bundle) -> Stream:
    stream = make_engine(engine, bundle.weights, bundle.offsets)
    stream.prompt(Reader(bundle).prompt(()))
    return stream


def _check_equal(ours: NDArray[np.int32], theirs: NDArray[np.int32], done: int, peer: str) -> None:
    differing = np.flatnonzero((ours != theirs).any(axis=1))
    if len(differing):
        which = done + int(differing[0]) + 1
        raise TapeformerError(Fault(f"token {which:,} differs between native and {peer}"))
