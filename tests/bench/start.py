"""Start-up time: `python -m tests.bench.start` compares commands with `import numpy`.

All commands take turns in one loop, so that a busy machine slows them alike; the best time of
each counts. A warm run finds everything in the cache of the run before it, a cold one finds an
empty cache. Bytecode is compiled before.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

RUN = ("-m", "tapeformer", "run")


@dataclass(frozen=True)
class Start:
    """A command, whether its cache is emptied first, and the most times `import numpy` it may take."""

    name: str
    arguments: tuple[str, ...]
    cold: bool = False
    most: float | None = None


NUMPY = Start("import numpy", ("-c", "import numpy"))
STARTS = (
    NUMPY,
    Start("palindrome, warm", (*RUN, "palindrome", "abba"), most=5),
    Start("palindrome, cold", (*RUN, "palindrome", "abba"), cold=True, most=15),
    Start(
        "multiplication, cold",
        (*RUN, "binary_multiplication", "11011#10111"),
        cold=True,
        most=30,
    ),
)


def seconds(start: Start, folder: Path) -> float:
    """Run a command once with a cache folder of its own; return how long it took."""
    cache = folder / start.name.replace(" ", "_")
    if start.cold:
        shutil.rmtree(cache, ignore_errors=True)
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *start.arguments], env=environment, capture_output=True, check=False
    )
    taken = time.perf_counter() - begun
    if done.returncode not in (0, 1):
        sys.exit(f"{start.name}: status {done.returncode}\n{done.stderr.decode()}")
    return taken


def best_times(rounds: int) -> dict[str, float]:
    """Return the best time of each command; a first round, not counted, compiles and fills caches."""
    best = {start.name: float("inf") for start in STARTS}
    with tempfile.TemporaryDirectory() as name:
        for number in range(rounds + 1):
            for start in STARTS:
                taken = seconds(start, Path(name))
                if number:
                    best[start.name] = min(best[start.name], taken)
    return best


def main() -> None:
    """Print the table; the status is 1 where a command takes longer than it may."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    best = best_times(parser.parse_args().rounds)
    late = False
    for start in STARTS:
        ratio = best[start.name] / best[NUMPY.name]
        limit = "" if start.most is None else f"  at most {start.most:g}"
        late |= start.most is not None and ratio > start.most
        print(f"{start.name:22}{1000 * best[start.name]:8.0f} ms{ratio:8.2f} times{limit}")
    sys.exit(1 if late else 0)


if __name__ == "__main__":
    main()
