"""How long a user waits: seconds from the YAML of each gallery machine to its first token.

`python -m tests.bench.first_tokens` makes machine code for every machine, with the levels that a
prompt of 8 symbols needs, and then takes it from the cache. Imports are left out.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from time import perf_counter

from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.constructions.realtime.layout import fewest_levels
from tapeformer.engines import native
from tapeformer.gallery import gallery_machine, gallery_names
from tapeformer.inference.decode import Reader

SYMBOLS = 8


def seconds_to_first_token(name: str, cache: Path) -> tuple[float, str]:
    """The time from a file to a token, and why there is no machine code, if there is none."""
    started = perf_counter()
    options = CompileOptions(levels=fewest_levels(SYMBOLS, 2), base=2)
    bundle = compile_machine(gallery_machine(name), options)
    engine = native.Engine(bundle.weights, bundle.offsets, cache=cache)
    engine.prompt(Reader(bundle).prompt(()))
    engine.advance(1)
    return perf_counter() - started, engine.reason


def main() -> None:
    """Prints a line for each machine, and the medians."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name in gallery_names():
            cold, reason = seconds_to_first_token(name, Path(folder))
            warm, _ = seconds_to_first_token(name, Path(folder))
            found.append((cold, warm))
            print(f"{name:24} {cold:6.2f} {warm:6.2f}  {reason}", flush=True)
    cold, warm = (statistics.median(times) for times in zip(*found, strict=True))
    below = sum(cold < 2 for cold, _ in found)
    print(f"median {cold:.2f} cold, {warm:.2f} warm; {below} of {len(found)} below 2 seconds cold")


if __name__ == "__main__":
    main()
