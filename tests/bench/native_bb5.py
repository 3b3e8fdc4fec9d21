"""BB(5) to its end, every token from the weights: `python -m tests.bench.native_bb5`.

Prints the steps, the ones left on the tape, the seconds and the peak memory.
"""

from __future__ import annotations

import json
import resource
import sys
from time import perf_counter

from tapeformer.compile import compile_machine
from tapeformer.compile_options import CompileOptions
from tapeformer.engines.native import Engine
from tapeformer.gallery import gallery_machine
from tapeformer.generation import Reader

PIECE = 5_000_000


def main() -> None:
    """Runs the machine, with a line of progress for every few million tokens."""
    options = CompileOptions("realtime", levels=12, base=2)
    bundle = compile_machine(gallery_machine("busy_beaver_5"), options)
    reader = Reader(bundle)
    started = perf_counter()
    engine = Engine(bundle.weights, bundle.offsets)
    ready = perf_counter()
    engine.prompt(reader.prompt(()))
    tokens = steps = 0
    while tokens % PIECE == 0:
        stop, count = (reader.verdict, reader.running), (reader.stepped, reader.step_mark)
        made, counted = engine.run(PIECE, stop, count)
        tokens, steps = tokens + made, steps + counted
        print(f"{tokens:,} tokens, {perf_counter() - ready:.1f} s", file=sys.stderr)
    window = engine.window_tokens()
    read = reader.configuration(window)
    record = {
        "outcome": str(reader.outcome(window[-1].tolist())),
        "steps": steps,
        "ones": [tape.content.count("1") for tape in read.tapes],
        "tokens": tokens,
        "code_seconds": round(ready - started, 3),
        "seconds": round(perf_counter() - ready, 3),
        "margin": engine.margin,
        "reason": engine.reason,
        "peak_kilobytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    print(json.dumps(record))


if __name__ == "__main__":
    main()
