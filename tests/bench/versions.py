"""Tokens per second of machine code beside those of an earlier version, taking turns.

`python -m tests.bench.versions --before SRC`: SRC is the folder `src` of a checkout of the earlier
version. Each version has a process of its own, and they run the same words in turn. Processor time is
what counts, because it depends less on what else the computer does; words are read in it, machine code
is made before.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import IO, Any

CASES = {
    "BB(5), 12 levels, one stream": ("busy_beaver_5", 12, 0, 1),
    "BB(5), 5 levels, 512 words": ("busy_beaver_5", 5, 0, 512),
    "binary_multiplication, 60 digits, one stream": ("binary_multiplication", 8, 60, 1),
    "fibonacci_word, 15, one stream": ("fibonacci_word", 11, 15, 1),
    "binary_multiplication, 12 digits, 512 words": ("binary_multiplication", 8, 12, 512),
    "binary_multiplication, 60 digits, 512 words": ("binary_multiplication", 8, 60, 512),
    "fibonacci_word, 15, 512 words": ("fibonacci_word", 11, 15, 512),
}
"""For each case a machine, its levels, the size of its words, and how many there are."""

STEPS = {"busy_beaver_5": 100_000}
"""Steps after which a run is cut off; other machines halt."""


def words(machine: str, size: int, count: int) -> list[str]:
    """Random words of one size; a unary number is the same in all."""
    chance = random.Random(1)
    if machine == "binary_multiplication":
        numbers = ["".join(chance.choices("01", k=size)) for _ in range(2 * count)]
        return [f"{left}#{right}" for left, right in zip(numbers[::2], numbers[1::2], strict=True)]
    return ["|" * size] * count


def runner(name: str, folder: Path) -> Callable[[], float]:
    """What runs a case in the version that is imported here, and returns tokens per second."""
    machine, levels, size, count = CASES[name]
    try:
        compiling = import_module("tapeformer.compile.model")
        options = import_module("tapeformer.compile.options")
    except ImportError:
        compiling = import_module("tapeformer.compile")
        options = import_module("tapeformer.compile_options")
    entrants = import_module("tapeformer.bench.entrants")
    vars(entrants)["perf_counter"] = process_time
    gallery = import_module("tapeformer.gallery")
    bundle = compiling.compile_machine(
        gallery.gallery_machine(machine), options.CompileOptions(levels=levels)
    )
    given, steps = words(machine, size, count), STEPS.get(machine, 10**6)
    if count == 1:
        runs = [entrants.of_engine("native", bundle, given[0], folder, steps, 1 << 62).once]
    else:
        most = vars(entrants).get("INPUTS", count)
        parts = (given[start : start + most] for start in range(0, count, most))
        runs = [entrants.of_batch(bundle, part, folder, steps).once for part in parts]
    return lambda: rate([run() for run in runs])


def rate(made: Sequence[Any]) -> float:
    """Tokens per second of runs one after another."""
    return float(sum(one.tokens for one in made) / sum(one.seconds for one in made))


def serve() -> None:
    """Answer names of cases on standard input with tokens per second of processor time."""
    known: dict[str, Callable[[], float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            name = line.rstrip("\n")
            if name not in known:
                known = {name: runner(name, Path(folder))}
                known[name]()
            print(known[name](), flush=True)


class Version:
    """A process that serves one version."""

    def __init__(self, source: Path) -> None:
        command = [sys.executable, "-m", "tests.bench.versions", "--serve"]
        paths = os.pathsep.join([str(source.resolve()), str(Path.cwd())])
        given = {**os.environ, "PYTHONPATH": paths}
        self.process = subprocess.Popen(
            command, env=given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def rate(self, name: str) -> float:
        """Tokens per second of one run of a case."""
        asked, told = _pipe(self.process.stdin), _pipe(self.process.stdout)
        print(name, file=asked, flush=True)
        return float(told.readline())


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def compared(name: str, versions: dict[str, Version], turns: int) -> dict[str, Any]:
    """Medians with least and most of both versions, and the ratio of the medians."""
    rates: dict[str, list[float]] = {version: [] for version in versions}
    for _ in range(turns):
        for version, process in versions.items():
            rates[version].append(process.rate(name))
    medians = {version: statistics.median(found) for version, found in rates.items()}
    row: dict[str, Any] = {"case": name, "ratio": round(medians["now"] / medians["before"], 2)}
    for version, found in rates.items():
        row[version] = [round(x) for x in (medians[version], min(found), max(found))]
    return row


def main() -> None:
    """Prints a line of JSON for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--only", default="", help="a part of a case's name")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--serve", action="store_true")
    given = parser.parse_args()
    if given.serve:
        return serve()
    if given.before is None:
        parser.error("give --before")
    versions = {"before": Version(given.before), "now": Version(Path("src"))}
    for name in CASES:
        if given.only in name:
            print(json.dumps(compared(name, versions, given.turns)), flush=True)
    return None


if __name__ == "__main__":
    main()
