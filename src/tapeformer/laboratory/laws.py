"""How precision, window and tokens grow: with the time at fixed space, with the space at fixed time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np

from tapeformer.laboratory.measure import least_bits, own_steps
from tapeformer.laboratory.row import Row
from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.fast import simulate

FEWEST_POINTS = 3
"""A line through fewer points says nothing."""
FLAT, CLEAR = 0.5, 1.0
"""Bits per doubling up to which precision counts as constant, and from which on as growing."""


@dataclass(frozen=True)
class Workload:
    """A machine and a word, cut after a number of steps."""

    series: str
    machine: TuringMachine
    word: tuple[str, ...]
    steps: int


def point(row: Row, work: Workload) -> dict[str, Any] | None:
    """Measure a row on a workload; None where 62 bits are not enough for it."""
    task = row.task(work.machine, work.word, work.steps, row.long_context)
    experiment = row.experiment(task)
    bits, _ = least_bits(experiment)
    if bits is None:
        return None
    lengths, t = experiment.lengths(), own_steps(task)
    return {
        "row": row.name,
        "series": work.series,
        "t": t,
        "prefix": task.prefix,
        "s": simulate(work.machine, work.word, max_steps=t).space,
        "bits": bits,
        "window": lengths.window,
        "context": lengths.context,
        "tokens per step": round(lengths.tokens / max(1, t), 3),
    }


def line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """Return slope, start and root mean square error of the least-squares line."""
    slope, start = np.polyfit(x, y, 1)
    error = np.sqrt(np.mean((np.polyval((slope, start), x) - np.asarray(y)) ** 2))
    return round(float(slope), 2) + 0.0, round(float(start), 1), round(float(error), 2)


def fits(points: Sequence[dict[str, Any]], by_time: str, by_space: str) -> list[dict[str, Any]]:
    """Fit each row's bits: to log2 t where the space is fixed, to log2 s and to s where the time is.

    Steps that a row makes before the machine's own count as time.
    """
    out = []
    for row in dict.fromkeys(p["row"] for p in points):
        mine = [p for p in points if p["row"] == row and p["bits"]]
        timed = distinct(mine, by_time, "t")
        spaced = distinct(mine, by_space, "s")
        found = {
            "row": row,
            **_fitted("doubling of t", timed, lambda p: log2(p["t"] + p["prefix"])),
            **_fitted("doubling of s", spaced, lambda p: log2(p["s"])),
            **_fitted("cell", spaced, lambda p: p["s"]),
            "t": _span(timed, "t"),
            "s": _span(spaced, "s"),
        }
        out.append({**found, "law": law(found)})
    return out


def distinct(points: Sequence[dict[str, Any]], series: str, key: str) -> list[dict[str, Any]]:
    """Return the points of a series, one for each size: a context cuts larger ones to the same."""
    return sorted(
        {p[key]: p for p in points if p["series"] == series}.values(), key=lambda p: p[key]
    )


def _fitted(
    unit: str, points: Sequence[dict[str, Any]], x: Callable[[dict[str, Any]], float]
) -> dict[str, Any]:
    slope: float | None = None
    error: float | None = None
    if len(points) >= FEWEST_POINTS:
        slope, _, error = line([x(p) for p in points], [p["bits"] for p in points])
    return {f"bits per {unit}": slope, f"error, {unit}": error}


def _span(points: Sequence[dict[str, Any]], key: str) -> str:
    return f"{points[0][key]} to {points[-1][key]}" if points else ""


def law(fit: dict[str, Any]) -> str:
    """Say what precision follows: time where that alone makes it grow, else space, else nothing."""
    in_time, in_space = fit["bits per doubling of t"], fit["bits per doubling of s"]
    if in_time is not None and in_time >= CLEAR:
        return "log t"
    if in_space is None or in_time is None:
        return "not told"
    if max(in_space, in_time) <= FLAT:
        return "constant"
    return "s" if fit["error, cell"] < fit["error, doubling of s"] else "log s"
