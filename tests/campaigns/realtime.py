"""Random machines on the real-time construction, every configuration beside the direct simulation.

python -m tests.campaigns.realtime --machines 2000 --steps 5000
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from tests.constructions.follow import MismatchError, follow
from tests.constructions.realtime.workloads import random_case


@dataclass(frozen=True)
class Ran:
    """One machine's run: base, verdict, steps, tokens; `wrong` says what disagreed."""

    seed: int
    base: int
    verdict: str
    steps: int
    tokens: int
    wrong: str = ""


def ran(seed: int, steps: int) -> Ran:
    """Follows one random machine."""
    case = random_case(seed, longest=30)
    base = case.layout.base
    try:
        ended = follow("realtime", case.machine, case.word, case.layout, steps=steps)
    except MismatchError as error:
        return Ran(seed, base, "wrong", 0, 0, str(error))
    waited = ended.tokens - ended.steps - longest_boot(len(case.word))
    wrong = f"{waited} tokens too many" if base == 2 and waited > 0 else ""
    return Ran(seed, base, ended.verdict, ended.steps, ended.tokens, wrong)


def longest_boot(length: int) -> int:
    """The most tokens that base 2 may generate before the first step."""
    power = 2
    while power < length + 2:
        power *= 2
    return power + length + 4


def main() -> int:
    """Runs all machines and prints what happened; the exit status is 1 if anything disagreed."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=200)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first machine's seed")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.machines)
    with ProcessPoolExecutor(options.jobs) as pool:
        runs = list(pool.map(partial(ran, steps=options.steps), seeds, chunksize=4))
    for run in runs:
        if run.wrong:
            print(f"seed {run.seed}, base {run.base}: {run.wrong}")
    print(f"{len(runs)} machines, {sum(run.steps for run in runs)} steps")
    print("verdicts:", dict(Counter(run.verdict for run in runs)))
    print("machines per base:", dict(Counter(run.base for run in runs)))
    return int(any(run.wrong for run in runs))


if __name__ == "__main__":
    raise SystemExit(main())
