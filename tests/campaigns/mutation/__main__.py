"""`python -m tests.campaigns.mutation --mutants 240 --jobs 2`: how many small changes do the tests notice?

A mutant is one changed operator, comparison, number or condition in a package. The sample is drawn
with a fixed seed. First a survey runs the tests of these packages on the sources unchanged: which
pass here, how long each takes, and which functions it enters. For each mutant the tests that enter
its function run, those of its package first, the quickest first, until one fails or `--budget`
seconds of them are through. Each run of tests has a cache folder of its own, empty at first, so that no
result of another is found in it. A run that computes for `PATIENCE` seconds and `TIMES` times what
it does unchanged is ended: its mutant was noticed too.

The results are lines of JSON; the same command again resumes, `--retry` asks survivors again after
tests were added, and `--whole` surveys and runs the tests of all packages. The exit status is 1 if an unexplained
mutant has survived: explanations stand in `explained.json` beside this file.

Own rather than mutmut or cosmic-ray: those keep the cache and cannot choose tests for each mutant,
and a suite of minutes makes both matter more than the list of operators.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from tests.campaigns.mutation.mutants import Mutant, mutants_of, sampled
from tests.campaigns.mutation.results import Record, Results, told
from tests.campaigns.mutation.survey import TESTS, Survey
from tests.campaigns.mutation.tree import ROOT, Tree

HERE = Path(__file__).parent
EXPLAINED = HERE / "explained.json"
PATIENCE, TIMES = 20.0, 6.0
LOOKING = 40.0
"""Seconds of a test file that the survey sees; tests behind them are left to `--whole`."""
FIRST = 8.0
"""Seconds of tests in the first process; where none fails, a second one runs the others."""
T = TypeVar("T")


class Trees:
    """As many copies of the sources as there are jobs; nothing begins after the end."""

    def __init__(self, folder: Path, jobs: int, end: float) -> None:
        self.free: SimpleQueue[Tree] = SimpleQueue()
        self.jobs, self.end = jobs, end
        for number in range(jobs):
            self.free.put(Tree(folder / f"tree-{number}"))

    @contextmanager
    def one(self) -> Iterator[Tree]:
        """Lend a copy."""
        tree = self.free.get()
        try:
            yield tree
        finally:
            self.free.put(tree)

    def each(
        self, parts: Iterable[T], work: Callable[[Tree, T], Record | None]
    ) -> Iterator[Record]:
        """Do the work on all parts at once, each in a copy; give what comes out as it ends."""

        def begun(part: T) -> Record | None:
            with self.one() as tree:
                return work(tree, part) if self.left() > 0 else None

        with ThreadPoolExecutor(self.jobs) as pool:
            for done in as_completed([pool.submit(begun, part) for part in parts]):
                if (record := done.result()) is not None:
                    yield record

    def left(self) -> float:
        """Return how many seconds are left."""
        return self.end - time.monotonic()


@dataclass(frozen=True)
class Campaign:
    """What is asked of each mutant."""

    survey: Survey
    trees: Trees
    budget: float

    def surveyed(self) -> None:
        """Run the test files that the survey does not have yet."""

        def look(tree: Tree, file: str) -> Record:
            begun = time.monotonic()
            self.survey.look(tree, file, min(LOOKING, max(self.trees.left(), 1.0)))
            return {"file": file, "seconds": time.monotonic() - begun}

        for record in self.trees.each(self.survey.missing(), look):
            print(f"unchanged {record['seconds']:6.1f} s  {record['file']}", flush=True)
        self.survey.read()

    def tried(self, tree: Tree, mutant: Mutant) -> Record | None:
        """Return how a mutant fared; None if the time of the campaign was over before."""
        begun, tests = time.monotonic(), self.survey.candidates(mutant)
        status, by, run = "survived", "", 0
        with tree.changed(mutant):
            for part in self._parts(tests):
                usual = sum(map(self.survey.seconds, part))
                most = PATIENCE + TIMES * usual
                status, by = tree.ordered(part, min(most, max(self.trees.left(), 1.0)))
                run += len(part)
                if status != "survived":
                    break
        if status == "timeout" and self.trees.left() <= 0:
            return None
        where = {"mutant": mutant.name, "file": mutant.file, "line": mutant.line}
        change = {"before": mutant.before.strip(), "after": mutant.after.strip()}
        found = {"status": status, "by": by, "tests": run, "of": len(tests)}
        return {**where, **change, **found, "seconds": round(time.monotonic() - begun, 1)}

    def _parts(self, tests: list[str]) -> Iterator[list[str]]:
        """Cut the tests within the budget into the quick ones that come first, and the others."""
        spent, first, others = 0.0, list[str](), list[str]()
        for test in tests:
            spent += self.survey.seconds(test)
            if spent <= FIRST or not first:
                first.append(test)
            elif spent <= self.budget or self.survey.whole:
                others.append(test)
        yield from filter(None, (first, others))


def wanted(results: Results, retry: bool, count: int, seed: int) -> list[Mutant]:
    """Return the mutants of the sample without a result or, to retry, those that survived."""
    if not retry:
        drawn = sampled(ROOT, tuple(TESTS), count, seed)
        return [mutant for mutant in drawn if mutant.name not in results.records]
    explained = _explained()
    left = {r["mutant"]: r["file"] for r in results.survivors() if r["mutant"] not in explained}
    files = sorted({file for file in left.values() if (ROOT / file).exists()})
    return [m for file in files for m in mutants_of(ROOT, file) if m.name in left]


def _explained() -> dict[str, str]:
    found: dict[str, str] = json.loads(EXPLAINED.read_text(encoding="utf-8"))
    return found


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mutants", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e6, help="end after so long")
    parser.add_argument("--budget", type=float, default=150.0, help="seconds of tests for a mutant")
    parser.add_argument("--retry", action="store_true", help="ask survivors again")
    parser.add_argument(
        "--whole", action="store_true", help="the tests of all packages, without a budget"
    )
    parser.add_argument("--survey", type=Path, default=ROOT / "build" / "mutation")
    parser.add_argument("--results", type=Path, default=HERE / "results.jsonl")
    return parser.parse_args()


def main() -> None:
    """Try the mutants that have no result yet, then print all."""
    asked = _asked()
    results = Results(asked.results)
    chosen = wanted(results, asked.retry, asked.mutants, asked.seed)
    with tempfile.TemporaryDirectory() as name:
        trees = Trees(Path(name), asked.jobs, time.monotonic() + 60 * asked.minutes)
        campaign = Campaign(Survey(asked.survey, asked.whole), trees, asked.budget)
        campaign.surveyed()
        for test in campaign.survey.unusable():
            print(f"does not pass here unchanged: {test}", flush=True)
        for record in trees.each(chosen, campaign.tried):
            results.add(record)
            print(f"{record['status']:9} {record['seconds']:6} s  {record['mutant']}", flush=True)
    results.tidy()
    sys.exit(1 if told(results, _explained()) else 0)


if __name__ == "__main__":
    main()
