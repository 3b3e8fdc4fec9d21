"""The table: rows measured one after the other, kept in a file as they come, and shown."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.laboratory.measure import Counter, Interrupted, Measurement, Watch, measure
from tapeformer.laboratory.preparation import Symbols
from tapeformer.laboratory.row import Row
from tapeformer.machine.record import TuringMachine

DEFAULT_STEPS = 100
DEFAULT_MACHINE, DEFAULT_WORD = "unary_to_binary", "||||||||"
KEYS = (
    *("row", "source", "provenance", "machine", "steps", "equal", "first_wrong", "reason"),
    *("precision_bits", "half_wrong", "single_wrong", "double_wrong", "dimension"),
    *("attention_heads", "layers", "window", "tokens", "cot_per_step", "parameter_bits", "seconds"),
)
"""The keys of a row in JSON, in this order."""


@dataclass(frozen=True)
class Asked:
    """What is measured: rows on a machine and a word, up to a number of the machine's own steps."""

    rows: tuple[Row, ...]
    machine: TuringMachine
    word: Symbols
    steps: int = DEFAULT_STEPS
    steps_per_token: int = 1

    def key(self, row: Row) -> str:
        """Return a name for one measurement, by all that it depends on."""
        parts_of = (getattr(self.machine, part.name) for part in fields(self.machine))
        machine = [sorted(p) if isinstance(p, frozenset) else p for p in parts_of]
        parts = (row.name, row.title, machine, self.word, self.steps)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def measured(
    asked: Asked, kept: Path | None = None, watch: Watch | None = None
) -> Iterator[Measurement]:
    """Measure the rows in turn; with a file, those that it has are read and the others added.

    Ctrl-C, told by the watch, ends the table after the rows that are complete.
    """
    done = {} if kept is None else read_kept(kept)
    count = Counter(watch)
    for row in asked.rows:
        key = asked.key(row)
        if key not in done:
            try:
                done[key] = measure(row, asked.machine, asked.word, asked.steps, count)
            except Interrupted:
                return
            if kept is not None:
                _keep(kept, key, done[key])
        yield done[key]


def read_kept(file: Path) -> dict[str, Measurement]:
    """Read measurements that were kept; a last line that was cut short is left out."""
    if not file.exists():
        return {}
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
            key = record.pop("key")
            found[key] = Measurement(**record)
        except (ValueError, TypeError, KeyError):
            continue
    return found


def _keep(file: Path, key: str, result: Measurement) -> None:
    try:
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps({"key": key, **asdict(result)}, ensure_ascii=False) + "\n")
    except OSError as error:
        why = f"cannot be written: {error.strerror or error}"
        raise TapeformerError(Fault(why, SourceLocation(str(file)))) from None


def record(result: Measurement) -> dict[str, Any]:
    """Return a row as JSON has it."""
    values = asdict(result)
    return {key: values[key] for key in KEYS}


def printed(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return the table as the paper prints it."""
    return [
        {
            "row": row.title,
            "precision": row.printed.precision,
            "dimension": row.printed.dimension,
            "window": row.printed.window,
            "chain of thought": row.printed.tokens,
        }
        for row in rows
    ]


def shown(results: Sequence[Measurement]) -> list[dict[str, Any]]:
    """Return the table as measured, with short headings."""
    return [
        {
            "row": result.row,
            "trace": verdict(result),
            "bits": result.precision_bits,
            "fp16": result.half_wrong,
            "fp32": result.single_wrong,
            "fp64": result.double_wrong,
            "d": result.dimension,
            "H / L": _heads(result),
            "window": result.window,
            "peak": result.context,
            "cot/t": result.cot_per_step,
            "param. bits": _short(result.parameter_bits),
            "s/token": result.seconds,
        }
        for result in results
    ]


def _heads(result: Measurement) -> str | None:
    return None if result.layers is None else f"{result.attention_heads} / {result.layers}"


def _short(bits: int | None) -> str | None:
    return None if bits is None else f"{bits:.1e}".replace("e+0", "e")


def verdict(result: Measurement) -> str:
    """Say in a few words whether the whole trace is right, and for how many steps."""
    if result.equal:
        return f"{result.steps} equal"
    if result.first_wrong is None:
        return "not run"
    return f"wrong at {result.first_wrong}"
