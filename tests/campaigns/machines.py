"""Machines of the enumeration of busy beavers, killed and resumed, against the direct simulation.

`python -m tests.campaigns.machines --count 10000 --kills 3` runs `tapeformer run --machines` with a
limit of 1,000 steps twice: undisturbed, and killed again and again on the way. Both files of answers
must be the same byte for byte, and every answer that of the direct simulation. It prints machines per
second, and processor time, of the undisturbed run, with nothing cached; the status is 1 where anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tapeformer.bench.enumeration import machines
from tapeformer.simulator.fast import simulate
from tapeformer.sources import find_machine

STEPS = 1000


def started(source: Path, answers: Path) -> subprocess.Popen[bytes]:
    command = (sys.executable, "-m", "tapeformer", "run", "--machines", str(source))
    more = ("--answers", str(answers), "--max-steps", str(STEPS))
    places = {**os.environ, "XDG_CACHE_HOME": str(source.parent)}
    return subprocess.Popen([*command, *more], stdout=subprocess.DEVNULL, env=places)


def processor_seconds() -> float:
    """The time that processes have used which are over and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def answered(answers: Path) -> int:
    return answers.read_bytes().count(b"\n") if answers.exists() else 0


def killed(source: Path, answers: Path, lines: int) -> int:
    """Kill a run as soon as so many lines are answered; how many there are then."""
    process = started(source, answers)
    while answered(answers) < lines and process.poll() is None:
        time.sleep(0.02)
    process.kill()
    process.wait()
    return answered(answers)


def differs(line: str, text: str) -> bool:
    """Whether an answer is not the direct simulation's."""
    record, machine = json.loads(line), find_machine(text)
    result = simulate(machine, (), max_steps=STEPS)
    tapes = [machine.spell(tape.content) for tape in result.tapes]
    heads = [tape.head for tape in result.tapes]
    expected = (text, result.outcome.value, result.state, result.steps, tapes, heads)
    keys = ("given", "outcome", "state", "steps", "tapes", "heads")
    return tuple(record[key] for key in keys) != expected


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    texts = list(machines(given.count, seed=given.seed))
    with tempfile.TemporaryDirectory() as folder:
        source, whole, resumed = (Path(folder) / name for name in ("machines", "whole", "resumed"))
        source.write_text("".join(f"{text}\n" for text in texts))
        begun, used = time.monotonic(), processor_seconds()
        started(source, whole).wait()
        seconds, used = time.monotonic() - begun, processor_seconds() - used
        parts = [n * given.count // (given.kills + 1) for n in range(1, given.kills + 1)]
        kept = [killed(source, resumed, lines) for lines in parts]
        started(source, resumed).wait()
        lines, same = whole.read_text().splitlines(), whole.read_bytes() == resumed.read_bytes()
    rate = f"{len(lines) / seconds:.0f} machines per second"
    print(f"{len(lines):,} machines in {seconds:.1f} s from nothing cached: {rate}")
    print(f"{used:.1f} s of processor time in all processes")
    print(f"outcomes: {dict(Counter(json.loads(line)['outcome'] for line in lines))}")
    print(
        f"killed with {', '.join(map(str, kept))} answers; resumed: {'the' if same else 'NOT the'} same bytes"
    )
    wrong = sum(differs(*pair) for pair in zip(lines, texts, strict=True))
    print(f"{wrong} differ from the direct simulation")
    return bool(wrong) or not same


if __name__ == "__main__":
    sys.exit(main())
