"""What a token costs: time and memory against the number of tokens, and time against the window."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

from tapeformer.bench.beaver import beaver_model
from tapeformer.bench.report import Row, peak_megabytes
from tapeformer.bench.workloads import WORKLOADS
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.stream import Stream
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.generation import Generation

WINDOWS = tuple(2**n for n in range(8, 17, 2))
TIMED = {"native": (20_000, 25)}
FEW_TIMED = (600, 5)
"""Tokens in a slice of a window's cost, and how many slices: more where tokens are fast."""

TOKEN_COUNTS = (10**4, 10**5, 10**6, 10**7, 10**8)
SLICE, MOST_SLICES = 1_000, 1_000
"""Slices of a run are equally long for all numbers of tokens, and short, so that other work on the
machine falls into few of them; the timed ones are spread over the run."""

LONG = 10**7
"""From so many tokens on, one process is enough."""

Tell = Callable[[str], None]


def excursions(window: int, engine: str) -> Stream:
    """Return an engine at work on the excursions, with one level and a window of about the size asked."""
    machine = WORKLOADS["excursions"].machine
    bundle = compile_machine(machine, CompileOptions("paper", levels=1, base=window // 2))
    return Generation(bundle, ("a",) * 8, engine).engine


MODELS: dict[str, Callable[[str], Stream]] = {
    "excursions": lambda engine: excursions(WINDOWS[0], engine),
    "busy_beaver_5": lambda engine: Generation(beaver_model(), (), engine).engine,
}
"""Models for the cost against the number of tokens, by name, for a process of its own."""


def window_costs(engine: str, tell: Tell, windows: Sequence[int] = WINDOWS) -> list[Row]:
    """Time per token once the window is full; all windows take turns in being timed."""
    streams = {window: _filled(window, engine, tell) for window in windows}
    costs = _taking_turns(streams, 2**8, *TIMED.get(engine, FEW_TIMED))
    return [
        {"engine": engine, "window": streams[window].window, **cost}
        for window, cost in costs.items()
    ]


def later_costs(model: str, engine: str, tell: Tell, counts: Sequence[int]) -> list[Row]:
    """Time per token after so many tokens: runs that have got so far take turns in being timed."""
    streams = {tokens: MODELS[model](engine) for tokens in counts}
    for tokens, stream in streams.items():
        tell(f"{model}, {engine}: on to {tokens:,} tokens")
        stream.run(tokens)
    costs = _taking_turns(streams, 10**5, SLICE, MOST_SLICES)
    return [{"engine": engine, "after tokens": tokens, **cost} for tokens, cost in costs.items()]


def _taking_turns(
    streams: Mapping[int, Stream], reference: int, tokens: int, slices: int
) -> dict[int, dict[str, float]]:
    """Return the spread of each stream's time per token, and its ratio to that of one of them."""
    times: dict[int, list[float]] = {number: [] for number in streams}
    for _ in range(slices):
        for number, stream in streams.items():
            times[number].append(nanoseconds(stream, tokens))
    reference = reference if reference in times else next(iter(times))
    middle = statistics.median(times[reference])
    return {
        number: {**_spread(found), f"over that at {reference:,}": statistics.median(found) / middle}
        for number, found in times.items()
    }


def _filled(window: int, engine: str, tell: Tell) -> Stream:
    tell(f"window {window}, {engine}")
    stream = excursions(window, engine)
    stream.run(stream.window)
    return stream


def nanoseconds(stream: Stream, tokens: int) -> float:
    """Return the time per token of one slice."""
    started = perf_counter()
    stream.run(tokens)
    return (perf_counter() - started) / tokens * 1e9


def _spread(times: Sequence[float]) -> dict[str, float]:
    lower, middle, upper = statistics.quantiles(times, n=4, method="inclusive")
    return {"ns per token": middle, "lower quartile": lower, "upper quartile": upper}


def token_costs(
    model: str, engine: str, tell: Tell, counts: Sequence[int], repeats: int = 3
) -> list[Row]:
    """Time per token and peak memory for so many tokens, each time in a process of its own.

    Machine code is made first, so that no process has to. The counts take turns.
    """
    MODELS[model](engine)
    found: dict[int, list[dict[str, list[float]]]] = {tokens: [] for tokens in counts}
    for repeat in range(repeats):
        for tokens in counts:
            if tokens < LONG or repeat == 0:
                tell(f"{tokens:,} tokens of {model}, {engine}, {repeat + 1} of {repeats}")
                found[tokens].append(_in_a_process(model, engine, tokens))
    rows = [_token_row(engine, tokens, parts) for tokens, parts in found.items()]
    return _beside(rows, 10**5 if 10**5 in counts else counts[0])


def _in_a_process(model: str, engine: str, tokens: int) -> dict[str, list[float]]:
    command = [sys.executable, "-m", "tapeformer.bench.engine_cost", model, engine, str(tokens)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise TapeformerError(Fault(f"{tokens:,} tokens of {model} were not made: {last}"))
    answer: dict[str, list[float]] = json.loads(done.stdout)
    return answer


def _token_row(
    engine: str, tokens: int, parts: Sequence[dict[str, list[float]]]
) -> dict[str, float | str]:
    times = [time for part in parts for time in part["ns"]]
    memory = statistics.median(part["MB"][0] for part in parts)
    return {"engine": engine, "tokens": tokens, **_spread(times), "peak MB": memory}


def _beside(rows: Sequence[Row], reference: int) -> list[Row]:
    """Return the rows with the ratios to the one of a number of tokens."""
    base = next(row for row in rows if row["tokens"] == reference)
    return [
        {
            **row,
            f"time over that at {reference:,}": row["ns per token"] / base["ns per token"],
            f"memory over that at {reference:,}": row["peak MB"] / base["peak MB"],
        }
        for row in rows
    ]


def sliced(stream: Stream, tokens: int) -> list[float]:
    """Make so many tokens; the times per token of slices all over the run."""
    size = min(SLICE, tokens)
    count = min(tokens // size, MOST_SLICES)
    times = []
    for _ in range(count):
        times.append(nanoseconds(stream, size))
        stream.run(tokens // count - size)
    return times


def main() -> None:
    """Time slices of a run, and print them with the peak memory: MODEL ENGINE TOKENS."""
    model, engine, tokens = sys.argv[1], sys.argv[2], int(sys.argv[3])
    times = sliced(MODELS[model](engine), tokens)
    print(json.dumps({"ns": times, "MB": [peak_megabytes()]}))


if __name__ == "__main__":
    main()
