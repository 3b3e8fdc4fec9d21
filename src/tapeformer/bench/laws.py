"""The laws of Table 1: every row for growing time at fixed space, and for growing space at fixed time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, TypeAlias

from tapeformer.bench.sweep import swept
from tapeformer.gallery import gallery_machine
from tapeformer.laboratory.laws import Workload, point
from tapeformer.laboratory.registry import find_row, find_rows
from tapeformer.laboratory.row import Row
from tapeformer.machine.word import parse_word

FIXED_SPACE, FIXED_TIME = "fixed space", "fixed time"
MACHINE = "binary_counter"
TIMES = (16, 24, 32, 64, 128, 256, 512)
SPACES = (5, 8, 12, 16, 32, 64)
DIGITS, STEPS = 7, 126
"""Digits of the counter while the time grows; its steps while the digits do. Times begin when it has
gone over its digits and back: before that no cell is read again, and few bits are enough."""
FITS = f"""Bits are fitted by least squares: to log2 t for {MACHINE} on {DIGITS} zeros cut after t steps, whose space stays
at 8 or 9 cells; to log2 s and to s for {MACHINE} on {SPACES[0]} to {SPACES[-1]} zeros, each cut after {STEPS} steps.
Steps that a row makes before the machine's own count in t; contexts that grow quickly are cut, and
the steps with them. Errors are root mean squares, in bits. The law is log t where bits grow with
the time; else s or log s, whichever line is nearer; else constant."""
POINTS = "Least mantissa that is right with every larger one, window, context, tokens per step."

Asked: TypeAlias = tuple[str, str, int]
"""A row, a series, and its steps or digits."""


def workload(series: str, size: int) -> Workload:
    """Return the counter for a time or for a space."""
    digits, steps = (DIGITS, size) if series == FIXED_SPACE else (size, STEPS)
    machine = gallery_machine(MACHINE)
    return Workload(series, machine, parse_word(machine, "0" * digits), steps)


def measured_laws(
    names: Sequence[str],
    largest: int,
    say: Callable[[str], None],
    jobs: int = 1,
    kept: Path | None = None,
    cluster: str | None = None,
) -> list[dict[str, Any]]:
    """Measure the rows on both series, up to a number of steps; points that the file has are read."""
    asked = [one for row in find_rows(names) for one in _points_of(row, largest)]
    done = _read(kept)
    for one, measured in _measured([one for one in asked if one not in done], jobs, cluster):
        done[one] = measured
        say(_line(one, measured))
        _keep(kept, one, measured)
    found = (done[one] for one in asked)
    return [one for one in found if one is not None]


def _points_of(row: Row, largest: int) -> Iterator[Asked]:
    """Return what to measure of a row; times that its context cuts to one it has are left out."""
    most = 0
    for t in (t for t in TIMES if t <= largest):
        work = workload(FIXED_SPACE, t)
        steps = row.task(work.machine, work.word, t, row.long_context).steps
        if steps > most:
            yield row.name, FIXED_SPACE, t
        most = max(most, steps)
    yield from ((row.name, FIXED_TIME, digits) for digits in SPACES)


def _measured(
    asked: Sequence[Asked], jobs: int, cluster: str | None
) -> Iterator[tuple[Asked, dict[str, Any] | None]]:
    """Yield points as they are measured: by local processes, or in order by a cluster's workers."""
    if cluster is not None:
        yield from zip(asked, swept(_point, asked, cluster=cluster), strict=True)
        return
    with ProcessPoolExecutor(jobs) as pool:
        work = {pool.submit(_point, one): one for one in asked}
        for future in as_completed(work):
            yield work[future], future.result()


def _point(asked: Asked) -> dict[str, Any] | None:
    row, series, size = asked
    return point(find_row(row), workload(series, size))


def _line(asked: Asked, found: dict[str, Any] | None) -> str:
    told = "more than 62 bits" if found is None else f"t = {found['t']}, {found['bits']} bits"
    return f"{asked[0]}, {asked[1]}, {asked[2]}: {told}"


def _read(file: Path | None) -> dict[Asked, dict[str, Any] | None]:
    """Read the points that were kept; a last line that was cut short is left out."""
    found: dict[Asked, dict[str, Any] | None] = {}
    if file is None or not file.exists():
        return found
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            asked, kept = json.loads(line)
        except ValueError:
            continue
        found[(asked[0], asked[1], asked[2])] = kept
    return found


def _keep(file: Path | None, asked: Asked, found: dict[str, Any] | None) -> None:
    """Append a point, on a line of its own even after one that was cut short."""
    if file is None:
        return
    with file.open("a+b") as out:
        out.seek(0, os.SEEK_END)
        begun = out.tell() and file.read_bytes()[-1:] != b"\n"
        out.write((b"\n" if begun else b"") + json.dumps([asked, found]).encode() + b"\n")
