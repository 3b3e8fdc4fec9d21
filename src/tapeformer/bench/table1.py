"""The page of `tapeformer table1`: the table as printed, as measured, and bars of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tapeformer.bench.report import Section, write_report
from tapeformer.laboratory.measure import Measurement
from tapeformer.laboratory.table import Asked, printed, shown

MEASURED = """Bits: the least mantissa such that it and every larger one up to 62 reproduces the whole trace,
every operation rounded, scanned from above. fp16, fp32, fp64: the first of the machine's own
steps that goes wrong in that IEEE type (empty: none). H / L: attention heads over all layers, and layers. Window: how far back
retrieving heads looked; peak: the longest context. Cot/t: generated tokens per step.
Parameter bits: bits of the widest parameter times all entries. Seconds: per token, in double."""


def write_table(folder: Path, asked: Asked, results: Sequence[Measurement]) -> Path:
    """Write the page, its tables as CSV, and the plots where matplotlib is installed."""
    word = asked.machine.spell(asked.word)
    rows = [asdict(result) for result in results]
    sections = [
        Section("As printed", "Bounds of the paper's Table 1.", printed(asked.rows)),
        Section(
            "As measured",
            f"{asked.machine.name} on `{word}`. {MEASURED}",
            shown(results),
            _plots(folder, results),
        ),
        Section("All keys", "The same, with every key of --json.", rows),
    ]
    names = ",".join(row.name for row in asked.rows)
    command = (
        f"tapeformer table1 {asked.machine.name} '{word}' --rows {names} --steps {asked.steps}"
    )
    if asked.steps_per_token > 1:
        command += f" --steps-per-token {asked.steps_per_token}"
    return write_report(folder, "table1", command, sections)


def _plots(folder: Path, results: Sequence[Measurement]) -> list[str]:
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        return []
    from tapeformer.bench.plots import table_bars

    return table_bars(folder, [asdict(result) for result in results])
