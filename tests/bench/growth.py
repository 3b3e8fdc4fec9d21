"""Measures what growing costs: a run that adds levels, beside one that has them from the start.

`python -m tests.bench.growth busy_beaver_5 --steps 100000 1000000` prints a table. Every run is a
process of its own; its seconds are processor time from the machine to the answer, less the imports.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from time import process_time
from typing import Any

from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.constructions.realtime.sizes import more_levels
from tapeformer.engines.registry import make_engine
from tapeformer.gallery import gallery_machine
from tapeformer.inference.decode import Reader
from tapeformer.inference.generation import generate

Record = dict[str, Any]
TITLES = ("engine", "cache", "steps", "levels", "growing", "fixed", "ratio")


def once(given: argparse.Namespace, engine: str, steps: int) -> Record:
    """One run in this process, which first loads what the engine needs."""
    machine = gallery_machine(given.machine)
    _load(engine)
    started = process_time()
    bundle = compile_machine(machine, CompileOptions("realtime", given.levels, 2))

    def larger(bundle: Bundle) -> Bundle:
        levels = more_levels(bundle.layout.levels, 2)
        return compile_machine(machine, CompileOptions("realtime", levels, 2))

    answer = generate(
        bundle, (), engine=engine, max_steps=steps, grow=larger if given.once == "growing" else None
    )
    seconds, levels = process_time() - started, answer.bundle.layout.levels
    return {"seconds": seconds, "levels": levels, "steps": answer.steps, "grown": answer.grown}


def _load(engine: str) -> None:
    """Imports what the engine needs: a small model makes a token."""
    bundle = compile_machine(gallery_machine("busy_beaver_2"), CompileOptions("paper", 2, 4))
    for name in ("native",) if engine == "native" else ("sparse", "native"):
        stream = make_engine(name, bundle.weights, bundle.offsets)
        stream.prompt(Reader(bundle).prompt(()))
        stream.advance(1)


def apart(machine: str, kind: str, engine: str, steps: int, levels: int, cache: str) -> Record:
    """One run in a process of its own, with a cache folder."""
    words = [sys.executable, "-m", "tests.bench.growth", machine, "--once", kind]
    words += ["--engines", engine, "--steps", str(steps), "--levels", str(levels)]
    environment = {**os.environ, "XDG_CACHE_HOME": cache}
    found = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    record: Record = json.loads(found.stdout)
    return record


def compared(given: argparse.Namespace, engine: str, steps: int) -> list[Record]:
    """Growing and fixed, with an empty cache and then with a full one: the best of some runs."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for _ in range(given.runs):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            for state in ("cold", "warm"):
                grown = apart(given.machine, "growing", engine, steps, given.levels, first)
                levels = grown["levels"]
                fixed = apart(given.machine, "fixed", engine, steps, levels, second)
                seconds.setdefault((state, "growing"), []).append(grown["seconds"])
                seconds.setdefault((state, "fixed"), []).append(fixed["seconds"])
    rows = []
    for state in ("cold", "warm"):
        growing, fixed_seconds = (min(seconds[state, kind]) for kind in ("growing", "fixed"))
        values = (engine, state, steps, f"{levels - grown['grown']} to {levels}")
        times = (f"{growing:.2f} s", f"{fixed_seconds:.2f} s", f"{growing / fixed_seconds:.2f}")
        rows.append(dict(zip(TITLES, (*values, *times), strict=True)))
    return rows


def main() -> None:
    """Prints a table, line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machine", nargs="?", default="busy_beaver_5")
    parser.add_argument("--steps", type=int, nargs="+", default=[10**5, 10**6])
    parser.add_argument("--engines", nargs="+", default=["native", "auto"])
    parser.add_argument("--levels", type=int, default=2, help="at the start")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--once", choices=["growing", "fixed"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        print(json.dumps(once(given, given.engines[0], given.steps[0])))
        return
    print("| " + " | ".join(TITLES) + " |\n" + "|---" * len(TITLES) + "|", flush=True)
    for engine in given.engines:
        for steps in given.steps:
            for row in compared(given, engine, steps):
                print("| " + " | ".join(str(row[title]) for title in TITLES) + " |", flush=True)


if __name__ == "__main__":
    main()
