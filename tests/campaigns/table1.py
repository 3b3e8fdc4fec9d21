"""Every row of Table 1 on gallery machines and random ones, whole traces beside the direct simulation.

nice python -m tests.campaigns.table1 --machines 100 --steps 200 --rows perez,pencil --jobs 8 --log FILE

Random machines have stays, and tapes of either kind by turns. Each row is tried with a mantissa of 62
bits, or the one from which on nothing is rounded, and then with every smaller one down to the first
that goes wrong: the least precision and all larger ones. Stacks that need more than 62 bits are run
in rationals. Rows whose context grows quickly
make as many steps as fit in it; the report says how many. Run the same command again to resume.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from tapeformer import TapeformerError, TuringMachine
from tapeformer.laboratory.arithmetic import Exact, Rounded
from tapeformer.laboratory.experiment import Experiment, Wrong
from tapeformer.laboratory.measure import least_bits, own_steps, scanned_from
from tapeformer.laboratory.registry import find_row, find_rows
from tapeformer.laboratory.row import Row
from tests.laboratory.cases import GALLERY, gallery_case, random_case, small_random_case


@dataclass(frozen=True)
class Asked:
    """One trial: a row, a gallery machine or a random one's seed, steps, context; with precisions or without."""

    row: str
    case: str
    steps: int
    context: int | None
    precisions: bool


@dataclass(frozen=True)
class Tried:
    """What came of a trial: `wrong` is empty where the whole trace was equal.

    `bits` is the least mantissa that is right with every larger one, None where more than 62 are
    needed; `mantissas` counts those that were scanned and right.
    """

    asked: Asked
    machine: str
    steps: int = 0
    tokens: int = 0
    context: int = 0
    wrong: str = ""
    refused: str = ""
    bits: int | None = None
    mantissas: int = 0
    seconds: float = 0.0


def case_of(row: Row, name: str) -> tuple[TuringMachine, tuple[str, ...]]:
    """Return a machine and a word: of the gallery, or random by a seed, small where contexts grow quickly."""
    if not name.isdigit():
        return gallery_case(name)
    return (random_case if row.longest is None else small_random_case)(int(name))


def tried(asked: Asked) -> Tried:
    """Compare one trace, at every precision from 62 bits to the first that goes wrong."""
    started, row = perf_counter(), find_row(asked.row)
    machine, word = case_of(row, asked.case)
    try:
        task = row.task(machine, word, asked.steps, asked.context or row.long_context)
        experiment = row.experiment(task)
        bits, wrong = compared(experiment, asked.precisions)
    except TapeformerError as error:
        return Tried(asked, machine.name, refused=str(error.faults[0].what))
    lengths = experiment.lengths()
    return Tried(
        asked,
        machine.name,
        own_steps(task),
        lengths.tokens,
        lengths.context,
        "" if wrong is None else f"step {wrong.step}: {wrong.reason}",
        bits=bits,
        mantissas=0 if bits is None else scanned_from(experiment) - bits + 1,
        seconds=round(perf_counter() - started, 3),
    )


def compared(experiment: Experiment, precisions: bool) -> tuple[int | None, Wrong | None]:
    """Return the least mantissa and the first wrong token; where 62 bits are too few, in rationals."""
    bits = least_bits(experiment)[0] if precisions else None
    if bits is not None:
        return bits, None
    wrong = experiment.first_wrong(Rounded(scanned_from(experiment)))
    if wrong is not None and isinstance(experiment.reference(), Exact):
        wrong = experiment.first_wrong(Exact())
    return None, wrong


def trials(options: Namespace) -> list[Asked]:
    """Return what is asked for, rows by turns, so that work that is cut short has some of each."""
    rows = find_rows([name for name in options.rows.split(",") if name])
    names = [*GALLERY, *map(str, range(options.machines))]
    if options.only:
        names = options.only.split(",")
    return [
        Asked(row.name, name, options.steps, options.context, not options.traces_only)
        for name in names
        for row in rows
    ]


def kept(file: Path | None) -> Iterator[Tried]:
    """Read the trials of a log; a line that was cut short is left out."""
    if file is None or not file.exists():
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
            yield Tried(**{**record, "asked": Asked(**record["asked"])})
        except (ValueError, TypeError, KeyError):
            continue


def main() -> int:
    """Try all rows and print what happened; the exit status is 1 if a trace differed."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=100, help="random machines")
    parser.add_argument("--only", default="", help="gallery machines and seeds, by commas")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--context", type=int, help="tokens, for rows whose context grows quickly")
    parser.add_argument("--rows", default="")
    parser.add_argument("--traces-only", action="store_true", help="62 bits only")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="print what the log has, try nothing")
    parser.add_argument("--log", type=Path, help="keep every trial in this file, as JSON lines")
    options = parser.parse_args()
    wanted = trials(options)
    done = {one.asked: one for one in kept(options.log) if one.asked in set(wanted)}
    with ProcessPoolExecutor(options.jobs) as pool:
        left = [] if options.report else [asked for asked in wanted if asked not in done]
        waiting = [pool.submit(tried, asked) for asked in left]
        for future in as_completed(waiting):
            one = future.result()
            done[one.asked] = one
            if options.log is not None:
                with options.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(asdict(one)) + "\n")
    rows = dict.fromkeys(asked.row for asked in wanted)
    failed = [
        _report(name, [one for one in done.values() if one.asked.row == name]) for name in rows
    ]
    return int(any(failed))


def _report(name: str, trials: list[Tried]) -> bool:
    wrong = [trial for trial in trials if trial.wrong]
    refused = [trial for trial in trials if trial.refused]
    ran = [trial for trial in trials if not trial.refused]
    steps, tokens = sum(t.steps for t in ran), sum(t.tokens for t in ran)
    most, hundreds = max((t.steps for t in ran), default=0), sum(t.steps >= 100 for t in ran)
    print(
        f"{name}: {len(ran)} machines, {steps:,} steps (at most {most}; {hundreds} machines 100 or more),"
        f" {tokens:,} tokens, {len(wrong)} wrong, {len(refused)} refused; {_bits(ran)};"
        f" {sum(t.seconds for t in ran):,.0f} s",
        flush=True,
    )
    for trial in [*wrong, *refused]:
        print(f"  {trial.machine}: {trial.wrong or trial.refused}", flush=True)
    return bool(wrong)


def _bits(ran: list[Tried]) -> str:
    """Say which mantissas were tried."""
    found = [trial.bits for trial in ran if trial.bits is not None]
    more = sum(t.asked.precisions and t.bits is None and not t.wrong for t in ran)
    tried_all = sum(trial.mantissas for trial in ran)
    least = f"least mantissas {min(found)} to {max(found)}" if found else "no mantissa scanned"
    return f"{least}, {tried_all:,} scanned and right" + (
        f", {more} need more than 62" if more else ""
    )


if __name__ == "__main__":
    raise SystemExit(main())
