"""Fuzzing: every mutated file gives a machine or one clean error, soon and in bounded memory.

`python -m tests.fuzz.campaign --files 10000` runs the full campaign with fixed seeds.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tapeformer import TapeformerError, load, simulate
from tests.fuzz.mutate import SEEDS, mutants

MOST_SECONDS = 2
MOST_MEGABYTES = 500


@dataclass
class Tally:
    """What became of the files of one format."""

    machines: int = 0
    errors: int = 0
    slowest: float = 0.0


def attack(format_name: str, count: int, seed: int, folder: Path) -> Tally:
    """Reads mutated files, by content and as the format they came from; raises at the first fault."""
    tally = Tally()
    file = folder / "mutant"
    signal.signal(signal.SIGALRM, _too_slow)
    for number, data in enumerate(mutants(format_name, count, seed)):
        file.write_bytes(data)
        started = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
        try:
            machine = load(file, format_name if number % 2 else None)
            simulate(machine, max_steps=100)
            tally.machines += 1
        except TapeformerError as error:
            if not error.faults or "\n" in str(error.faults[0]):
                raise ValueError(f"not one clean error for {data!r}") from error
            tally.errors += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        tally.slowest = max(tally.slowest, time.perf_counter() - started)
    return tally


def _too_slow(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"a file took longer than {MOST_SECONDS} seconds")


def peak_megabytes() -> float:
    """The most memory this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """The campaign over all formats."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000, help="mutated files per format")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in SEEDS:
            tally = attack(name, given.files, given.seed, Path(folder))
            print(
                f"{name:24} {tally.machines:6} machines {tally.errors:6} errors"
                f"  slowest {tally.slowest:.3f} s  peak {peak_megabytes():.0f} MB",
                flush=True,
            )
    sys.exit(peak_megabytes() > MOST_MEGABYTES)


if __name__ == "__main__":
    main()
