"""A batch on a cluster whose scheduler is killed: the same command resumes and loses nothing.

`python -m tests.campaigns.cluster --seconds 60 --lines 12000000`. A scheduler and two workers are
started as processes; the batch's scheduler is killed after some seconds, which the command must tell;
then a new one is started and the same command is run to its end. The answers are compared, byte for
byte, with those of the same batch on this machine's own processes.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODEL = ("binary_counter", "--levels", "6", "--max-steps", "100")
DIGITS = 18
"""Of each word: so many that few words come twice soon, since equal words are answered once."""
COMMAND = (sys.executable, "-m", "tapeformer", "run", *MODEL)
HERE = ("--host", "127.0.0.1")
"""Without it both would listen on every network that this machine is in."""


class Cluster:
    """A scheduler and workers, each a process."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        file = folder / f"scheduler-{time.monotonic_ns()}.json"
        dask = (sys.executable, "-m", "distributed.cli.dask_scheduler")
        options = ("--scheduler-file", str(file), "--no-dashboard", "--port", "0")
        self.scheduler = _quiet(*dask, *HERE, *options)
        while not file.exists():
            time.sleep(0.1)
        self.address = _address(file)
        worker = (sys.executable, "-m", "distributed.cli.dask_worker", self.address)
        self.workers = [
            _quiet(*worker, *HERE, "--nthreads", "1", "--no-nanny", "--no-dashboard")
            for _ in range(workers)
        ]

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def _quiet(*command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _address(file: Path) -> str:
    import json

    while True:
        try:
            return str(json.loads(file.read_text())["address"])
        except ValueError:
            time.sleep(0.1)


def batch(inputs: Path, answers: Path, *more: str) -> subprocess.Popen[str]:
    what = ("--batch", str(inputs), "--answers", str(answers), *more)
    return subprocess.Popen([*COMMAND, *what], stderr=subprocess.PIPE, text=True)


def check(folder: Path, lines: int, seconds: float) -> list[str]:
    """What is wrong after a scheduler was killed and the command run again."""
    inputs, answers, expected = (folder / name for name in ("inputs", "answers", "expected"))
    chance = random.Random(1)
    words = ("".join(chance.choices("01", k=DIGITS)) for _ in range(lines))
    inputs.write_text("".join(f"{word}\n" for word in words))
    cluster = Cluster(folder)
    process = batch(inputs, answers, "--cluster", cluster.address)
    time.sleep(seconds)
    over = process.poll() is not None
    cluster.end()
    _, errors = process.communicate(timeout=120)
    wrong = ["the batch was over before the kill: give more --lines"] if over else []
    told = "scheduler" in errors and "Traceback" not in errors
    if not over and (process.returncode != 2 or not told):
        wrong.append(f"status {process.returncode}: {errors[-500:]}")
    kept = answers.read_bytes().count(b"\n")
    print(f"killed after {seconds:.0f} s with {kept:,} of {lines:,} answers; {errors.strip()}")
    cluster = Cluster(folder)
    resumed = batch(inputs, answers, "--cluster", cluster.address)
    resumed.communicate()
    cluster.end()
    alone = batch(inputs, expected)
    alone.communicate()
    if answers.read_bytes() != expected.read_bytes():
        wrong.append("other answers than on this machine's own processes")
    if resumed.returncode != alone.returncode:
        wrong.append(f"status {resumed.returncode} when resumed, {alone.returncode} alone")
    return wrong


def main() -> int:
    """Runs the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--lines", type=int, default=12_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong = check(Path(folder), given.lines, given.seconds)
    print("; ".join(wrong) or "nothing lost, nothing answered twice")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
