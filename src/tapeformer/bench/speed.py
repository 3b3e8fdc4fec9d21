"""Speed: tokens and steps per second of each engine, beside automata-lib, all in one run."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from tapeformer.bench.contests import Contest
from tapeformer.bench.entrants import (
    Entrant,
    Made,
    make_stream,
    of_batch,
    of_engine,
    of_peer,
    of_simulator,
    prompt_rows,
)
from tapeformer.bench.peers import MISSING, has_peers, peer_name
from tapeformer.bench.report import Row
from tapeformer.compile.model import compile_machine
from tapeformer.engines.batch import UNLIMITED
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.decode import Reader

ENGINES = ("dense", "sparse", "native")
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Patience:
    """How often each entrant is timed: fewer times once it has taken long, but never too few.

    A repeat begins short runs again until it has lasted for `least` seconds.
    """

    repeats: int = 5
    fewest: int = 3
    most_seconds: float = 20.0
    least: float = 0.2


def speed(
    contests: Sequence[Contest], patience: Patience, tell: Tell
) -> tuple[list[Row], list[Row]]:
    """Run every contest: return rows of rates, and rows of seconds to the first token."""
    if not has_peers():
        tell(MISSING)
    rates: list[Row] = []
    first: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for contest in contests:
            tell(f"{contest.machine_name}: making machine code")
            first.append(first_token(contest, Path(folder)))
            rates += contest_rows(contest, patience, Path(folder), tell)
    return rates, first


def contest_rows(contest: Contest, patience: Patience, folder: Path, tell: Tell) -> list[Row]:
    """Return all entrants on one machine, with the ratio of their steps per second to automata-lib's."""
    entrants = entrants_of(contest, folder)
    timed = round_robin(entrants, patience, lambda text: tell(f"{contest.machine_name}: {text}"))
    names = [entrant.name for entrant in entrants]
    _check_steps(contest, dict(zip(names, timed, strict=True)))
    rates = {name: _rates(repeats) for name, repeats in zip(names, timed, strict=True)}
    peer = rates.get(peer_name(contest.machine), {}).get("steps per second")
    return [
        {
            "machine": contest.title,
            "what": name,
            **rate,
            "times automata-lib": _ratio(rate["steps per second"], peer),
        }
        for name, rate in rates.items()
    ]


def _check_steps(contest: Contest, timed: dict[str, list[Made]]) -> None:
    """Those that are compared have all made the same steps."""
    names = [peer_name(contest.machine), "tapeformer simulate", "tapeformer native"]
    steps = {name: timed[name][0].steps // timed[name][0].runs for name in names if name in timed}
    if len(set(steps.values())) > 1:
        raise TapeformerError(Fault(f"the steps of {contest.machine_name} differ", got=str(steps)))


def entrants_of(contest: Contest, folder: Path) -> list[Entrant]:
    """Return all that can run a contest; automata-lib where it is installed."""
    machine, bundle, word, steps = contest.machine, contest.bundle, contest.word, contest.steps
    entrants = [of_peer(machine, word, steps)] if has_peers() else []
    entrants.append(of_simulator(machine, word, steps))
    for engine in ENGINES:
        tokens = contest.tokens.get(engine, UNLIMITED)
        entrants.append(of_engine(engine, bundle, word, folder, steps, tokens))
    if contest.batch:
        entrants.append(of_batch(bundle, contest.batch, folder, steps))
    return entrants


def round_robin(entrants: Sequence[Entrant], patience: Patience, tell: Tell) -> list[list[Made]]:
    """Return what each made in each repeat; they take turns, so that other work disturbs all alike."""
    timed: list[list[Made]] = [[] for _ in entrants]
    for repeat in range(patience.repeats):
        for entrant, made in zip(entrants, timed, strict=True):
            spent = sum(one.seconds for one in made)
            if repeat < patience.fewest or spent < patience.most_seconds:
                tell(f"{entrant.name}, {repeat + 1} of {patience.repeats}")
                made.append(_lasting(entrant, patience.least))
    return timed


def _lasting(entrant: Entrant, least: float) -> Made:
    """Run again and again until it has lasted long enough to be timed."""
    made = entrant.once()
    while made.seconds < least:
        made += entrant.once()
    return made


def _rates(repeats: Sequence[Made]) -> dict[str, float | int | None]:
    """Return medians with the least and the most; nothing where nothing of the kind was made."""
    rates: dict[str, float | int | None] = {"repeats": len(repeats)}
    for unit in ("tokens", "steps"):
        rates[f"{unit} a run"] = getattr(repeats[0], unit) // repeats[0].runs
        made = [getattr(one, unit) / one.seconds for one in repeats]
        some = max(made) > 0
        rates[f"{unit} per second"] = statistics.median(made) if some else None
        rates[f"least {unit}"] = min(made) if some else None
        rates[f"most {unit}"] = max(made) if some else None
    return rates


def _ratio(rate: float | int | None, peer: float | int | None) -> float | None:
    return rate / peer if rate and peer else None


def summary(rows: Sequence[Row]) -> list[Row]:
    """Return the table to show: a column for each machine, medians with least and most in brackets."""
    machines = list(dict.fromkeys(row["machine"] for row in rows))
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        what = "automata-lib" if row["what"].startswith("automata-lib") else row["what"]
        for unit in ("tokens", "steps"):
            cells.setdefault(f"{what}, {unit}", {})[row["machine"]] = _cell(row, unit)
        if what == "tapeformer native" and row["times automata-lib"]:
            times = f"{row['times automata-lib']:.1f}"
            cells.setdefault("native over automata-lib, steps", {})[row["machine"]] = times
    return [
        {"per second": what, **{machine: found.get(machine, "") for machine in machines}}
        for what, found in cells.items()
        if any(found.values())
    ]


def _cell(row: Row, unit: str) -> str:
    keys = (f"{unit} per second", f"least {unit}", f"most {unit}")
    if row[keys[0]] is None:
        return ""
    median, least, most = (f"{float(f'{row[key]:.3g}'):,.0f}" for key in keys)
    return f"{median} ({least} to {most})"


def first_token(contest: Contest, folder: Path) -> Row:
    """Return seconds from a machine to its first token: compiling, then an engine and its prompt.

    The folder has no machine code of the model yet.
    """
    started = perf_counter()
    compile_machine(contest.machine, contest.options)
    row: dict[str, object] = {
        "machine": contest.title,
        "seconds to compile": perf_counter() - started,
    }
    for what in ("native, no code kept", "native, code kept", "sparse", "dense"):
        row[what] = _first_token(what.split(",")[0], contest, folder)
    return row


def _first_token(engine: str, contest: Contest, folder: Path) -> float:
    started = perf_counter()
    stream = make_stream(engine, contest.bundle, folder)
    stream.prompt(prompt_rows(Reader(contest.bundle), contest.word))
    stream.run(1)
    return perf_counter() - started
