"""Seconds from a file of inputs to its answers, beside those of an earlier version, taking turns.

`python -m tests.bench.answers --before SRC --lines 262144 --sample 16384`: SRC is the folder `src` of
a checkout of the earlier version, which answers a sample only. Processor time, of all processes, is
what it says besides: it depends less on what else the computer does. The peak of memory is that of
the largest process. Machine code and Python's bytecode are made before.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

WORKLOADS = {
    "binary_counter": ("01", 0, 8),
    "binary_counter, 18 digits": ("01", 18, 18),
    "binary_counter, 28 digits": ("01", 28, 28),
    "palindrome": ("ab", 2, 2),
    "binary_addition": ("01", 6, 6),
}
"""For each machine its letters, and the fewest and most of them in a word."""

OPTIONS = {
    "binary_counter, 18 digits": ("--levels", "6", "--max-steps", "100"),
    "binary_counter, 28 digits": ("--levels", "6", "--max-steps", "100"),
}
"""Options of a run, where they are not five levels only; the words of these all differ."""

ODD = 0x9E3779B1
"""Multiples of an odd number modulo a power of two are all numbers, in a mixed order."""


def words(machine: str, count: int) -> Iterator[str]:
    """Random words; an addition has two numbers. A list of them would count as a child's memory."""
    letters, fewest, most = WORKLOADS[machine]
    chance = random.Random(1)
    for number in range(count):
        if machine in OPTIONS:
            yield f"{number * ODD % (1 << most):0{most}b}"
            continue
        word = "".join(chance.choices(letters, k=chance.randint(fewest, most)))
        yield f"{word}#{word[::-1]}" if machine == "binary_addition" else word


def measured(machine: str, count: int, source: Path | None, folder: Path) -> dict[str, float]:
    """Microseconds per input, of the clock and of processors, and the peak of memory in MB."""
    inputs, answers = folder / "inputs", folder / f"answers-{time.monotonic_ns()}"
    with inputs.open("w") as file:
        file.writelines(f"{word}\n" for word in words(machine, count))
    options = OPTIONS.get(machine, ("--levels", "5"))
    command = [sys.executable, "-m", "tapeformer", "run", machine.split(",")[0], *options]
    command += ["--batch", str(inputs), "--answers", str(answers)]
    given = {**os.environ, **({"PYTHONPATH": str(source)} if source else {})}
    given.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.monotonic()
    process = subprocess.Popen(command, env=given, stdout=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - started
    process.returncode = 0
    return {
        "us per input": seconds / count * 1e6,
        "processor us per input": (usage.ru_utime + usage.ru_stime) / count * 1e6,
        "peak MB": usage.ru_maxrss / 1024,
    }


def main() -> None:
    """Prints a line of JSON for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", choices=WORKLOADS, default="binary_counter")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--lines", type=int, default=262_144)
    parser.add_argument("--sample", type=int, default=16_384)
    parser.add_argument("--turns", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for machine_code in (given.before, None)[given.before is None :]:
            measured(given.machine, 2, machine_code, Path(folder))
        for _ in range(given.turns):
            rows = {"now": measured(given.machine, given.lines, None, Path(folder))}
            if given.before:
                rows["before"] = measured(given.machine, given.sample, given.before, Path(folder))
            for name, row in rows.items():
                print(json.dumps({"version": name, "machine": given.machine, **row}), flush=True)


if __name__ == "__main__":
    main()
