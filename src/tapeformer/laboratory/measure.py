"""Measuring one row on one machine: least precision, IEEE types, sizes, and whether all is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tapeformer.faults import TapeformerError
from tapeformer.laboratory.arithmetic import FEWEST_BITS, IEEE_TYPES, MOST_BITS, Ieee, Rounded
from tapeformer.laboratory.experiment import Experiment
from tapeformer.laboratory.preparation import Symbols
from tapeformer.laboratory.row import Row, Task
from tapeformer.machine.record import TuringMachine

Watch = Callable[[int], bool]
"""Told how many runs were made; returns False to end the work."""


class Interrupted(Exception):  # noqa: N818
    """The user ended the work."""


@dataclass(frozen=True)
class Measurement:
    """What was measured of a row on a machine and a word; None where nothing could be.

    `steps` are the machine's own steps that were compared, `first_wrong` and the `_wrong` of the
    IEEE types the first of them that went wrong. `reason` says why, or why a row cannot take the
    machine. `precision_bits` is the least mantissa such that it and every larger one is right.
    `tokens` are all generated ones; `seconds` is the time of one of them.
    """

    row: str
    source: str
    provenance: str
    machine: str
    steps: int | None = None
    equal: bool = False
    first_wrong: int | None = None
    reason: str = ""
    precision_bits: int | None = None
    half_wrong: int | None = None
    single_wrong: int | None = None
    double_wrong: int | None = None
    dimension: int | None = None
    attention_heads: int | None = None
    layers: int | None = None
    window: int | None = None
    tokens: int | None = None
    cot_per_step: float | None = None
    parameter_bits: int | None = None
    seconds: float | None = None
    word: str = ""
    context: int | None = None
    prefix: int = 0


class Counter:
    """Counts runs, tells the watch, and ends the work when it says so."""

    def __init__(self, watch: Watch | None = None) -> None:
        self.watch, self.done = watch, 0

    def __call__(self) -> None:
        """Count one run."""
        self.done += 1
        if self.watch is not None and not self.watch(self.done):
            raise Interrupted


def measure(
    row: Row, machine: TuringMachine, word: Symbols, steps: int, count: Counter | None = None
) -> Measurement:
    """Measure a row; what it cannot take is told in `reason`."""
    head: dict[str, Any] = {"row": row.name, "source": row.source, "provenance": row.provenance}
    head |= {"machine": machine.name, "word": machine.spell(word)}
    try:
        task = row.task(machine, word, steps)
        return _measured(task, row.experiment(task), head, count or Counter())
    except TapeformerError as error:
        return Measurement(**head, reason="; ".join(fault.what for fault in error.faults))


def _measured(
    task: Task, experiment: Experiment, head: dict[str, Any], count: Counter
) -> Measurement:
    count()
    wrong = experiment.first_wrong(experiment.reference())
    shape = experiment.shape()
    sizes: dict[str, Any] = {
        "steps": own_steps(task),
        "dimension": shape.dimension,
        "attention_heads": shape.attention_heads,
        "layers": len(shape.heads),
        "parameter_bits": shape.parameter_bits,
        "prefix": task.prefix,
    }
    if wrong is not None:
        return Measurement(**head, **sizes, first_wrong=wrong.step, reason=wrong.reason)
    lengths = experiment.lengths()
    least, why = least_bits(experiment, count)
    types: dict[str, Any] = {}
    for name in IEEE_TYPES:
        count()
        seen = experiment.first_wrong(Ieee(name))
        types[f"{name}_wrong"] = None if seen is None else seen.step
    return Measurement(
        **head,
        **sizes,
        **types,
        equal=True,
        reason=why,
        precision_bits=least,
        window=lengths.window,
        tokens=lengths.tokens,
        context=lengths.context,
        cot_per_step=round(lengths.tokens / max(1, own_steps(task)), 3),
        seconds=round(experiment.seconds_per_token(), 6),
    )


def own_steps(task: Task) -> int:
    """Return how many of the machine's own steps are compared."""
    return len(task.trace.steps) - task.prefix - task.trace.stopped


def least_bits(experiment: Experiment, count: Counter | None = None) -> tuple[int | None, str]:
    """Return the least mantissa that is right with every larger one, and why the next one fails.

    Scanned from above, never bisected: small mantissas are right by luck. Where the weights say
    that nothing is rounded from some mantissa on, the scan begins there.
    """
    best = None
    for bits in range(scanned_from(experiment), FEWEST_BITS - 1, -1):
        if count is not None:
            count()
        wrong = experiment.first_wrong(Rounded(bits))
        if wrong is not None:
            return best, f"{bits} bits, step {wrong.step}: {wrong.reason}"
        best = bits
    return best, ""


def scanned_from(experiment: Experiment) -> int:
    """Return the widest mantissa that has to be tried: in wider ones nothing is rounded."""
    return min(experiment.exact_from or MOST_BITS, MOST_BITS)
