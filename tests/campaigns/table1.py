"""Every row of Table 1 on gallery machines and random ones, whole traces beside the direct simulation.

nice python -m tests.campaigns.table1 --machines 100 --steps 200 --rows perez,pencil

Random machines have stays, and tapes of either kind by turns. Each row is tried in its reference
arithmetic (rationals, or 62 bits where it has square roots) and, with --precisions, at the least
precision found and at every larger one. Rows whose context grows quickly make fewer steps; the
report says how many.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from tapeformer import TapeformerError, TuringMachine
from tapeformer.laboratory.arithmetic import MOST_BITS, Rounded
from tapeformer.laboratory.measure import least_bits, own_steps
from tapeformer.laboratory.registry import find_rows
from tapeformer.laboratory.row import Row
from tests.laboratory.cases import GALLERY, gallery_case, random_case, small_random_case


@dataclass(frozen=True)
class Tried:
    """One row on one machine: `wrong` is empty where the whole trace was equal."""

    row: str
    machine: str
    steps: int
    tokens: int
    wrong: str = ""
    refused: str = ""
    bits: int | None = None
    seconds: float = 0.0


def tried(row: Row, machine: TuringMachine, word: tuple[str, ...], steps: int, scan: bool) -> Tried:
    """Compare one trace."""
    started = perf_counter()
    try:
        task = row.task(machine, word, steps)
        experiment = row.experiment(task)
        wrong = experiment.first_wrong(Rounded(MOST_BITS))
    except TapeformerError as error:
        return Tried(row.name, machine.name, 0, 0, refused=error.faults[0].what)
    bits = least_bits(experiment)[0] if scan and wrong is None else None
    text = "" if wrong is None else f"step {wrong.step}: {wrong.reason}"
    tokens = experiment.lengths().tokens
    seconds = round(perf_counter() - started, 3)
    return Tried(row.name, machine.name, own_steps(task), tokens, text, bits=bits, seconds=seconds)


def main() -> int:
    """Try all rows and print what happened; the exit status is 1 if a trace differed."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rows", default="")
    parser.add_argument("--precisions", action="store_true", help="scan for the least precision")
    parser.add_argument("--log", type=Path, help="append every trial to this file, as JSON lines")
    options = parser.parse_args()
    failed = False
    for row in find_rows([name for name in options.rows.split(",") if name]):
        cases = [gallery_case(name) for name in GALLERY]
        make = small_random_case if row.longest is not None else random_case
        cases += [make(seed) for seed in range(options.machines)]
        trials = []
        for case in cases:
            trials.append(tried(row, *case, options.steps, options.precisions))
            if options.log is not None:
                with options.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(asdict(trials[-1])) + "\n")
        failed = _report(row.name, trials) or failed
    return int(failed)


def _report(name: str, trials: list[Tried]) -> bool:
    wrong = [trial for trial in trials if trial.wrong]
    refused = [trial for trial in trials if trial.refused]
    ran = [trial for trial in trials if not trial.refused]
    steps, tokens = sum(t.steps for t in ran), sum(t.tokens for t in ran)
    most = max((t.steps for t in ran), default=0)
    print(
        f"{name}: {len(ran)} machines, {steps:,} steps (at most {most}), {tokens:,} tokens, {len(wrong)} wrong, {len(refused)} refused",
        flush=True,
    )
    for trial in [*wrong, *refused][:10]:
        print(f"  {trial.machine}: {trial.wrong or trial.refused}", flush=True)
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
