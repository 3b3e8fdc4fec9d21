"""Killed at any moment, the next run is right: single runs and batches, with an empty cache.

`python -m tests.campaigns.kills --kills 50`. Each command is first run undisturbed; then it is
killed after a random time, once to three times, and must afterwards give the same answers, byte for
byte, leave no process behind, and have a sound cache. What fails is printed; the status is then 1.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tapeformer.cache.store import Store

PATIENCE = 15.0
TIMES = ("seconds", "tokens_per_second")
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
MODEL = ("palindrome", "--levels", "5")
LINES = 1200
OWN = "tapeformer/"
"""What is in a traceback of the package; before it has control, Python itself may write another."""


@dataclass(frozen=True)
class Place:
    """A folder with inputs, answers and a cache of its own."""

    folder: Path

    @property
    def answers(self) -> Path:
        """Where a batch writes."""
        return self.folder / "answers"

    @property
    def cache(self) -> Path:
        """Where machine code is kept."""
        return self.folder / "cache"

    def started(self, batch: bool) -> subprocess.Popen[str]:
        """Starts the command in a session of its own."""
        what = ("abba", "--engine", "native", "--json")
        if batch:
            what = ("--batch", str(self.folder / "inputs"), "--answers", str(self.answers))
        return subprocess.Popen(
            [sys.executable, "-m", "tapeformer", "run", *MODEL, *what],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "XDG_CACHE_HOME": str(self.cache)},
        )

    def result(self, batch: bool) -> bytes:
        """What an undisturbed run gives, without times."""
        process = self.started(batch)
        out, errors = process.communicate()
        if process.returncode:
            return f"status {process.returncode}: {errors}".encode()
        return self.answers.read_bytes() if batch else timeless(out)


def timeless(text: str) -> bytes:
    """A JSON object without what differs from run to run."""
    record = json.loads(text)
    return json.dumps({key: record[key] for key in record if key not in TIMES}).encode()


def new_place(folder: Path, name: str) -> Place:
    """A folder with the inputs in it."""
    place = Place(folder / name)
    place.folder.mkdir()
    chance = random.Random(1)
    words = ("".join(chance.choices("ab", k=chance.randrange(12))) for _ in range(LINES))
    (place.folder / "inputs").write_text("".join(f"{word}\n" for word in words))
    return place


def left_behind(session: int, patience: float = PATIENCE) -> list[int]:
    """The processes of a session that are still there after a while."""
    end = time.monotonic() + patience
    while found := [number for number, own in _sessions() if own == session]:
        if time.monotonic() > end:
            return found
        time.sleep(0.05)
    return []


def _sessions() -> Iterator[tuple[int, int]]:
    """Every process that is not a zombie, with its session."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                yield int(entry.name), int(fields[3])


def killed(place: Place, batch: bool, chance: random.Random, longest: float) -> list[str]:
    """Starts the command and kills it, alone or with its workers, after a random time."""
    process = place.started(batch)
    kind = chance.choice(SIGNALS)
    time.sleep(chance.uniform(0, longest))
    if process.poll() is None:
        whole_group = kind == signal.SIGINT or chance.random() < 0.3
        (os.killpg if whole_group else os.kill)(process.pid, kind)
    _, errors = process.communicate()
    wrong = [f"{kind.name}: {errors[-500:]}"] if "Traceback" in errors and OWN in errors else []
    orphans = left_behind(process.pid)
    for number in orphans:
        os.kill(number, signal.SIGKILL)
    return wrong + [f"{kind.name}: {len(orphans)} processes left behind"] * bool(orphans)


def cache_faults(cache: Path, kills: int) -> list[str]:
    """Broken machine code, or more stray files than there were kills."""
    files = list((cache / "tapeformer").glob("*"))
    kept = [file for file in files if file.suffix == ".code"]
    store = Store("code", cache / "tapeformer")
    wrong = [f"{file.name} is broken" for file in kept if store.get(file.stem) is None]
    return wrong + [f"{len(files) - len(kept)} stray files"] * (len(files) - len(kept) > 2 * kills)


def disturbed(
    place: Place, batch: bool, expected: bytes, chance: random.Random, longest: float
) -> list[str]:
    """A command that is killed once to three times, then run to its end."""
    wrong = []
    kills = chance.choice([1, 1, 2, 3])
    for _ in range(kills):
        wrong += killed(place, batch, chance, longest)
    if place.result(batch) != expected:
        wrong.append("other answers than undisturbed")
    return wrong + cache_faults(place.cache, kills)


def together(place: Place, batch: bool, expected: bytes) -> list[str]:
    """Two at once on one cache and, in a batch, one file of answers: one of them may be refused."""
    pair = [place.started(batch) for _ in range(2)]
    ends = [(process.communicate(), process.returncode) for process in pair]
    wrong = []
    for (out, errors), status in ends:
        if status and not (batch and "another run is writing these answers" in errors):
            wrong.append(f"two at once: status {status}: {errors[-500:]}")
        if not batch and not status and timeless(out) != expected:
            wrong.append("two at once: other answers than alone")
    if all(status for _, status in ends) or place.result(batch) != expected:
        wrong.append("two at once: other answers than alone")
    return wrong + cache_faults(place.cache, 1)


def main() -> int:
    """Runs the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    results: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for batch in (False, True):
            name = "batch" if batch else "run"
            plain, begun = new_place(Path(folder), f"{name}-plain"), time.monotonic()
            expected = plain.result(batch)
            longest = time.monotonic() - begun
            print(f"{name}: {longest:.1f} s undisturbed, {len(expected):,} bytes", flush=True)
            for number in range(options.kills // 2):
                place = new_place(Path(folder), f"{name}-{number}")
                chance = random.Random(options.seed + number)
                wrong = disturbed(place, batch, expected, chance, longest)
                if number % 8 == 0:
                    pair = new_place(Path(folder), f"{name}-pair-{number}")
                    wrong += together(pair, batch, expected)
                results[f"{name}: {'wrong' if wrong else 'right'}"] += 1
                print(f"{name} {number}: {'; '.join(wrong) or 'right'}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(results.items())))
    return int(any("wrong" in what for what in results))


if __name__ == "__main__":
    sys.exit(main())
