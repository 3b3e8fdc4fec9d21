"""A file of machines, one per line, each compiled into a model of its own and run on the empty word.

The models are as small as their runs allow: a direct simulation, up to the limit of steps, finds the
space that each needs, so that nothing has to grow. Their answers come from their tokens alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from tapeformer.compile.sizes import for_steps
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.answer import Answer
from tapeformer.inference.batch.files import LOCAL, Inputs, Summary, Work, answer_file
from tapeformer.inference.batch.recorder import ERROR, Line, encoded
from tapeformer.inference.generation import generate
from tapeformer.inference.model import find_model
from tapeformer.inference.options import RunOptions, check_called, run_options
from tapeformer.inference.records import Record, answer_record, model_record
from tapeformer.inference.workers import Where

MACHINES = 8
"""Machines in a group: each takes a part of a second."""


@dataclass(frozen=True)
class MachineLines:
    """The task of a batch of machines: lines that name machines become lines of JSON."""

    options: RunOptions

    def ready(self) -> Callable[[list[str]], list[Line]]:
        """Return what answers a group: nothing is shared by the machines."""
        return lambda texts: [self._line(text) for text in texts]

    def start(self, text: str | None) -> Record:
        """Return the keys that every line begins with: which machine, and with what options."""
        asked = repr(replace(self.options, max_steps=0, max_tokens=None))
        return {"given": text, "options": sha256(asked.encode()).hexdigest()[:16]}

    def _line(self, text: str) -> Line:
        start = self.start(text)
        try:
            answer = run_machine(text, self.options)
        except TapeformerError as error:
            return Line(ERROR, encoded({**start, ERROR: str(error)}))
        record = answer_record("", answer, model_record(answer.bundle))
        return Line(answer.outcome.value, encoded({**start, **record}))


def run_machine(text: str, options: RunOptions) -> Answer:
    """Compile the machine that a line names, large enough for its limit of steps, and run it."""
    model = find_model(text, options.compile)
    bundle = model.bundle
    if bundle is None:
        sizes = for_steps(model.machine, model.options, (), options.max_steps)
        bundle = model.compiled(sizes)
    return generate(
        bundle,
        (),
        engine=options.engine,
        max_steps=options.max_steps,
        max_tokens=options.max_tokens,
    )


def run_machines(
    machines: str | os.PathLike[str],
    answers: str | os.PathLike[str],
    *,
    watch: Callable[[int], bool] | None = None,
    cluster: str | None = None,
    **options: Any,
) -> Summary:
    """Run every machine that a file names, one per line, and write JSON lines; the same call resumes.

    Options are those of `run`; with `cluster`, the address of a Dask scheduler, its workers do it.
    """
    check_called(watch=watch)
    lines = Inputs(Path(machines).read_bytes())
    return answer_machines(
        lines, Path(answers), run_options(options), watch, Where(cluster=cluster)
    )


def answer_machines(
    lines: Inputs,
    answers: Path,
    options: RunOptions,
    watch: Callable[[int], bool] | None = None,
    where: Where = LOCAL,
) -> Summary:
    """Run machines whose lines were read; `watch` is told now and then how many are answered."""
    if options.checkpoint is not None or options.variant:
        remedy = "leave out checkpoint and the options on the engine's numbers"
        raise TapeformerError(
            Fault("a batch of machines cannot follow these options", remedy=remedy)
        )
    task = MachineLines(options)
    limits = options.max_steps, options.max_tokens or 1 << 62
    return answer_file(Work(task, task.start, limits, MACHINES), lines, answers, where, watch)
