"""Machines of the enumeration of busy beavers, killed and resumed, against the direct simulation.

`python -m tests.campaigns.machines --count 10000 --kill 60` runs `tapeformer run --machines` with a
limit of 1,000 steps, kills it once after some seconds, runs it again to its end, and compares every
answer. It prints machines per second; the status is 1 where an answer differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tapeformer.bench.enumeration import machines
from tapeformer.simulator.fast import simulate
from tapeformer.sources import find_machine

STEPS = 1000


def started(source: Path, answers: Path) -> subprocess.Popen[bytes]:
    command = (sys.executable, "-m", "tapeformer", "run", "--machines", str(source))
    more = ("--answers", str(answers), "--max-steps", str(STEPS))
    return subprocess.Popen([*command, *more], stdout=subprocess.DEVNULL)


def differs(line: str, text: str) -> bool:
    """Whether an answer is not the direct simulation's."""
    record, machine = json.loads(line), find_machine(text)
    result = simulate(machine, (), max_steps=STEPS)
    tapes = [machine.spell(tape.content) for tape in result.tapes]
    expected = (text, result.outcome.value, result.state, result.steps, tapes)
    keys = ("given", "outcome", "state", "steps", "tapes")
    return tuple(record[key] for key in keys) != expected


def main() -> int:
    """Runs the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--kill", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    texts = list(machines(given.count, seed=given.seed))
    with tempfile.TemporaryDirectory() as folder:
        source, answers = Path(folder) / "machines", Path(folder) / "answers"
        source.write_text("".join(f"{text}\n" for text in texts))
        process = started(source, answers)
        time.sleep(given.kill)
        process.kill()
        process.wait()
        kept = answers.read_bytes().count(b"\n") if answers.exists() else 0
        begun = time.monotonic()
        started(source, answers).wait()
        seconds = time.monotonic() - begun
        lines = answers.read_text().splitlines()
    wrong = sum(differs(*pair) for pair in zip(lines, texts, strict=True))
    rate = (len(lines) - kept) / seconds
    print(
        f"{kept:,} answers when killed, {len(lines):,} in the end; {rate:.2f} machines per second"
    )
    print(f"{wrong} differ from the direct simulation")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
