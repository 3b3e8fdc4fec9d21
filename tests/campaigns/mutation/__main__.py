"""`python -m tests.campaigns.mutation --mutants 210`: how many small changes do the tests notice?

A mutant is one changed operator, comparison, number or condition in a package. The sample is drawn
with a fixed seed. The tests of its package run first, stopping at the first failure; where none
fails, the others run. Each mutant has a cache folder of its own, empty at first, so that no result
of another is found in it. The results are lines of JSON; the same command again resumes, and
`--retry` asks survivors again after tests were added. The exit status is 1 if an unexplained mutant
has survived: explanations stand in `explained.json` beside this file.

Own rather than mutmut or cosmic-ray: those keep the cache and cannot choose tests for each package,
and a suite of minutes makes both matter more than the list of operators.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.campaigns.mutation.mutants import Mutant, mutants_of, sampled

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
RESULTS = HERE / "results.jsonl"
EXPLAINED = HERE / "explained.json"
TESTS: dict[str, tuple[str, ...]] = {
    "formats": ("formats", "fuzz"),
    "simulator": ("simulator", "machine/test_misuse.py"),
    "bundle": ("bundle",),
    "weights": ("golden", "weights", "bundle"),
    "lowering": ("golden", "lowering"),
    "engines": ("engines",),
    "constructions/realtime": ("golden", "constructions/realtime"),
}
"""For each package the tests that run first, the quickest before the others."""
COPIED = ("src", "tests", "docs", "examples", "README.md", "pyproject.toml", "Makefile", "LICENSE")
Record = dict[str, Any]


def package_of(mutant: Mutant) -> str:
    """Return the package of a mutant's file."""
    inside = mutant.file.removeprefix("src/tapeformer/")
    return next(name for name in TESTS if inside.startswith(f"{name}/"))


class Tree:
    """A copy of the sources in which one file at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif source.exists():
                shutil.copy(source, folder / name)

    def tried(self, mutant: Mutant, seconds: float, rest: bool) -> Record:
        """Return how a mutant fared: killed, survived, or ended for taking too long."""
        file = self.folder / mutant.file
        original = file.read_text(encoding="utf-8")
        file.write_text(mutant.applied(original), encoding="utf-8")
        begun = time.monotonic()
        try:
            status, by = self._tests(TESTS[package_of(mutant)], seconds)
            if status == "survived" and rest:
                status, by = self._tests((".",), 20 * seconds)
        finally:
            file.write_text(original, encoding="utf-8")
        taken = round(time.monotonic() - begun, 1)
        change = {"before": mutant.before.strip(), "after": mutant.after.strip()}
        where = {"mutant": mutant.name, "file": mutant.file, "line": mutant.line}
        return {**where, **change, "status": status, "by": by, "seconds": taken}

    def _tests(self, parts: tuple[str, ...], seconds: float) -> tuple[str, str]:
        """Run tests, with an empty cache folder, until one fails."""
        paths = [f"tests/{part}" for part in parts]
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", *paths]
            command += ["-p", "no:xdist", "-p", "no:cacheprovider", "-p", "no:randomly"]
            environment = {**os.environ, "XDG_CACHE_HOME": cache, "PYTHONDONTWRITEBYTECODE": "1"}
            environment["PYTHONPATH"] = f"{self.folder / 'src'}:{self.folder}"
            return _ended(command, self.folder, environment, seconds)


def _ended(
    command: list[str], folder: Path, environment: dict[str, str], seconds: float
) -> tuple[str, str]:
    """Run a command; return whether a test failed, and which."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "timeout", f"{seconds:g} s"
    if process.returncode == 0:
        return "survived", ""
    failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "killed", failed[0].partition(" - ")[0] if failed else output.strip()[-120:]


def recorded() -> dict[str, Record]:
    """Return the results so far, by mutant; the last one of a mutant counts."""
    if not RESULTS.exists():
        return {}
    lines = map(json.loads, RESULTS.read_text(encoding="utf-8").splitlines())
    return {line["mutant"]: line for line in lines}


def wanted(results: dict[str, Record], retry: bool, count: int, seed: int) -> list[Mutant]:
    """Return the mutants of the sample without a result or, to retry, those that survived."""
    if not retry:
        drawn = sampled(ROOT, tuple(TESTS), count, seed)
        return [mutant for mutant in drawn if mutant.name not in results]
    left = {name: r["file"] for name, r in results.items() if r["status"] == "survived"}
    found = (mutant for file in sorted(set(left.values())) for mutant in mutants_of(ROOT, file))
    return [mutant for mutant in found if mutant.name in left]


def told(results: dict[str, Record], explained: dict[str, str]) -> int:
    """Print the score and the survivors; return how many have no explanation."""
    survivors = [r for r in results.values() if r["status"] == "survived"]
    equivalent = [r for r in survivors if r["mutant"] in explained]
    counts = Counter(r["status"] for r in results.values())
    print(f"{len(results)} mutants: {dict(counts)}, {len(equivalent)} survivors explained")
    judged = counts["killed"] + len(survivors) - len(equivalent)
    print(f"score {counts['killed'] / max(judged, 1):.1%} of {judged} that ended in time")
    for record in survivors:
        reason = explained.get(record["mutant"], "NOT EXPLAINED")
        change = f"{record['before']!r} -> {record['after']!r}"
        print(f"  {record['file']}:{record['line']}: {change}: {reason}")
    return len(survivors) - len(equivalent)


def main() -> None:
    """Try the mutants that have no result yet, then print all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mutants", type=int, default=210)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e9, help="begin none after so long")
    parser.add_argument("--seconds", type=float, default=240.0, help="for a package's tests")
    parser.add_argument("--package-only", action="store_true", help="leave out the other tests")
    parser.add_argument("--retry", action="store_true", help="ask survivors again")
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    results = recorded()
    with tempfile.TemporaryDirectory() as name:
        tree = Tree(Path(name) / "tree")
        for mutant in wanted(results, asked.retry, asked.mutants, asked.seed):
            if time.monotonic() > end:
                break
            found = tree.tried(mutant, asked.seconds, rest=not asked.package_only)
            results[mutant.name] = found
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found, ensure_ascii=False) + "\n")
            print(f"{found['status']:9} {found['seconds']:6} s  {mutant.name}", flush=True)
    explained = json.loads(EXPLAINED.read_text(encoding="utf-8")) if EXPLAINED.exists() else {}
    sys.exit(1 if told(results, explained) else 0)


if __name__ == "__main__":
    main()
