"""How precision, window and tokens grow: all rows on one machine of fixed space, and one whose space grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np

from tapeformer.laboratory.arithmetic import MOST_BITS, Rounded
from tapeformer.laboratory.measure import least_bits, own_steps
from tapeformer.laboratory.row import Row
from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.fast import simulate

TIMES = (16, 32, 64, 128, 256)


@dataclass(frozen=True)
class Workload:
    """A machine and a word on which a run can be followed for long."""

    name: str
    machine: TuringMachine
    word: tuple[str, ...]


def points(
    rows: Sequence[Row], work: Workload, times: Sequence[int], say: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    """Measure each row on the first t steps of a workload, for growing t."""
    for row in rows:
        before = -1
        for t in times:
            task = row.task(work.machine, work.word, t)
            experiment = row.experiment(task)
            if own_steps(task) == before or experiment.first_wrong(Rounded(MOST_BITS)) is not None:
                break
            before = own_steps(task)
            lengths, (bits, _) = experiment.lengths(), least_bits(experiment)
            space = simulate(work.machine, work.word, max_steps=t).space
            say(f"{row.name}, {work.name}, t = {before}: {bits} bits")
            yield {
                "row": row.name,
                "workload": work.name,
                "t": before,
                "s": space,
                "bits": bits,
                "window": lengths.window,
                "context": lengths.context,
                "tokens per step": round(lengths.tokens / max(1, before), 3),
            }


def fits(measured: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Fit the bits of each row and workload to a + b log2 t, by least squares."""
    out = []
    for row, workload in dict.fromkeys((p["row"], p["workload"]) for p in measured):
        mine = [p for p in measured if (p["row"], p["workload"]) == (row, workload) and p["bits"]]
        if len(mine) < 3:
            continue
        slope, start = np.polyfit([log2(p["t"]) for p in mine], [p["bits"] for p in mine], 1)
        out.append(
            {
                "row": row,
                "workload": workload,
                "bits per doubling of t": round(float(slope), 2),
                "bits at t = 1": round(float(start), 1),
                "s": f"{mine[0]['s']} to {mine[-1]['s']}",
                "t": f"{mine[0]['t']} to {mine[-1]['t']}",
            }
        )
    return out
