"""What a token costs: seconds against the window, and memory against the number of tokens."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from tapeformer.bench.report import Row, peak_megabytes
from tapeformer.bench.workloads import WORKLOADS
from tapeformer.compile import compile_machine
from tapeformer.compile_options import CompileOptions
from tapeformer.engines.stream import Stream
from tapeformer.generation import Generation

WINDOWS = (2**8, 2**10, 2**12, 2**14, 2**16)
REPEATS, TIMED = 5, 600
TOKEN_COUNTS = (10**4, 10**5, 10**6)


def engine_for(window: int, engine: str) -> Stream:
    """An engine at work on the excursions, with one level and a window of about the size asked."""
    machine = WORKLOADS["excursions"].machine
    bundle = compile_machine(machine, CompileOptions("paper", levels=1, base=window // 2))
    return Generation(bundle, ("a",) * 8, engine).engine


def window_costs(
    engine: str, tell: Callable[[str], None], windows: Sequence[int] = WINDOWS
) -> list[Row]:
    """Seconds per token once the window is full: the median of repeats, and the spread."""
    rows: list[Row] = []
    for window in windows:
        tell(f"window {window}, {engine}")
        stream = engine_for(window, engine)
        stream.advance(stream.window)
        times = [_seconds(stream) / TIMED * 1e6 for _ in range(REPEATS)]
        rows.append(
            {
                "engine": engine,
                "window": stream.window,
                "microseconds per token": statistics.median(times),
                "least": min(times),
                "most": max(times),
            }
        )
    return rows


def _seconds(stream: Stream) -> float:
    started = time.perf_counter()
    stream.advance(TIMED)
    return time.perf_counter() - started


def memory_costs(
    engine: str, tell: Callable[[str], None], counts: Sequence[int] = TOKEN_COUNTS
) -> list[Row]:
    """Peak memory after so many tokens, each in a process of its own."""
    rows: list[Row] = []
    for tokens in counts:
        tell(f"memory after {tokens:,} tokens, {engine}")
        command = [sys.executable, "-m", "tapeformer.bench.engine_cost", engine, str(tokens)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append({"engine": engine, "tokens": tokens, "peak MB": float(done.stdout)})
    return rows


def main() -> None:
    """Generates tokens and prints the most memory that it took: `engine_cost ENGINE TOKENS`."""
    engine, tokens = sys.argv[1], int(sys.argv[2])
    stream = engine_for(WINDOWS[0], engine)
    for _ in range(tokens // 1000):
        stream.advance(1000)
    print(peak_megabytes())


if __name__ == "__main__":
    main()
