"""A file of inputs, one per line, becomes a file of JSON lines.

Answers are appended in order and in whole lines, so that a run that was killed at any moment goes
on where it ended. Only one run at a time may append to a file, and only answers of the same model
to the same inputs are gone on with.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import islice
from math import ceil
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from tapeformer.cache.store import Store
from tapeformer.dataclass import dataclass
from tapeformer.engines import gpu
from tapeformer.engines.native.compiler import vector_bits
from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.inference.batch.answer_lines import Answered, answer_start
from tapeformer.inference.batch.answer_writer import AnswerWriter, alone_with
from tapeformer.inference.batch.columns import ERROR
from tapeformer.inference.batch.inputs import Inputs
from tapeformer.inference.batch.recorder import AnswerLines
from tapeformer.inference.batch.runner import BatchModel
from tapeformer.inference.records import Record
from tapeformer.inference.workers import Task, Where, in_order, pool_at
from tapeformer.simulator.outcome import Outcome

if TYPE_CHECKING:
    from tapeformer.inference.batch.readers import Readers

GROUP_SECONDS = 0.5
FEWEST_LINES, MOST_LINES = 256, 4096
"""Of a group: sorted by length, the inputs of a long one end at similar times."""
DIFFERING = {
    "input": "to other inputs",
    "model": "of another model",
    "spaced": "to inputs that were read otherwise: only one of both with spaced=True",
    "given": "to other machines",
    "options": "with other options",
}
"""What is wrong with an earlier line that has another value under a key."""


@dataclass(frozen=True)
class Summary:
    """How many inputs there are, and how many have come to each outcome or to an error."""

    inputs: int
    outcomes: Mapping[str, int]

    @property
    def answered(self) -> int:
        """Inputs whose line is in the file."""
        return sum(self.outcomes.values())


LOCAL = Where()


@dataclass(frozen=True)
class Work:
    """What lines are turned into: a task for workers, and what answers must be like to be kept.

    `start` returns the keys that the answer to a line begins with; `limits` are those of steps and of
    tokens; `group` is how many lines a worker gets at first.
    """

    task: Task[list[str], Answered]
    start: Callable[[str | None], Record]
    limits: tuple[int, int]
    group: int


def run_file(
    model: BatchModel,
    inputs: Inputs,
    answers: Path,
    *,
    where: Where = LOCAL,
    watch: Callable[[int], bool] | None = None,
) -> Summary:
    """Answer every line, in order, as JSON lines; answers that are there are kept.

    `watch` is told now and then how many inputs are answered, and ends the run by saying False.
    """
    on_gpu = model.options.engine == "gpu"
    group = gpu.INPUTS if on_gpu else first_group(len(inputs), where)
    if on_gpu or (not where.cluster and len(inputs) <= group):
        where = replace(where, processes=1)
    shared = replace(model, options=replace(model.options, processes=where.processes))
    Store("code", model.options.cache).check()
    with _readers(model, len(inputs), where) as readers:
        work = Work(
            AnswerLines(shared, readers),
            lambda text: answer_start(text, model.bundle.digest, model.options.spaced),
            (model.options.max_steps, model.options.max_tokens),
            group,
        )
        return answer_file(work, inputs, answers, where, watch)


def first_group(lines: int, where: Where = LOCAL) -> int:
    """Return the lines of the first groups: as many as a vector register has bits, if all cores get some."""
    workers = 1 if where.cluster else where.processes
    return min(vector_bits(), max(FEWEST_LINES, ceil(lines / workers)))


@contextmanager
def _readers(model: BatchModel, inputs: int, where: Where) -> Iterator[Readers | None]:
    """Return processes that read what a GPU of this computer makes."""
    if model.options.engine != "gpu" or where.cluster:
        yield None
        return
    from tapeformer.inference.batch.readers import Readers, useful_readers

    with Readers(model, useful_readers(inputs)) as readers:
        yield readers


def answer_file(
    work: Work,
    inputs: Inputs,
    answers: Path,
    where: Where,
    watch: Callable[[int], bool] | None,
) -> Summary:
    """Have workers turn every line into a line of JSON, in order; answers that are there are kept."""
    with alone_with(answers) as written:
        outcomes = _resumed(written, answers, work, inputs)
        groups = Groups(islice(inputs, outcomes.total(), None), work.group)

        def tick() -> bool:
            return watch is None or watch(outcomes.total())

        if outcomes.total() < len(inputs):
            with closing(in_order(pool_at(where, work.task), groups, tick)) as found:
                for group in found:
                    written.append(group.content)
                    outcomes.update(group.outcomes)
                    groups.answered(group.outcomes.total())
                written.sync()
    return Summary(len(inputs), dict(sorted(outcomes.items())))


class Groups:
    """Lines in groups, which grow while they are answered quickly; a kill loses groups under way."""

    def __init__(self, lines: Iterator[str], size: int) -> None:
        self._lines, self._size, self._least = lines, size, size
        self._since: float | None = None
        self._lines_since = 0

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        group = list(islice(self._lines, self._size))
        if not group:
            raise StopIteration
        return group

    def answered(self, lines: int) -> None:
        """Learn how fast answers come; a group should take a part of a second.

        A few moments may mislead, so that groups at most double until some time has passed.
        """
        now = monotonic()
        if self._since is None:
            self._since = now
            return
        self._lines_since += lines
        elapsed = now - self._since
        known = elapsed > GROUP_SECONDS / 4
        per_group = self._lines_since / max(elapsed, 1e-6) * GROUP_SECONDS
        most = MOST_LINES if known else min(2 * self._size, MOST_LINES)
        if known or per_group > self._size:
            size = int(max(self._least, min(per_group, most)))
            self._size = size - size % self._least
        if known:
            self._since, self._lines_since = now, 0


def _resumed(written: AnswerWriter, answers: Path, work: Work, inputs: Inputs) -> Counter[str]:
    """Return the outcomes of the inputs that are answered already; half a line at the end is removed."""
    outcomes: Counter[str] = Counter()
    expected, end = iter(inputs), 0
    with answers.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            text = next(expected, None)
            start = work.start(text)
            if not line.endswith(b"\n") and text is not None and _begins(line, start):
                break
            place = SourceLocation(str(answers), number)
            outcomes[_outcome(line, start, work.limits, place)] += 1
            end += len(line)
    written.cut(end)
    return outcomes


def _begins(half: bytes, start: Record) -> bool:
    """Return whether half a line is the beginning of the answer that is due."""
    due = json.dumps(start, ensure_ascii=False).encode()[:-1]
    return half[: len(due)] == due[: len(half)]


def _outcome(line: bytes, start: Record, limits: tuple[int, int], place: SourceLocation) -> str:
    """Return what an earlier line says, if it is what this run would have written."""
    try:
        record = json.loads(line)
        differing = [DIFFERING[key] for key in start if record[key] != start[key]]
        outcome, reached = (ERROR, (0, 0)) if ERROR in record else _reached(record)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _other("is no answer of a batch", place) from None
    if differing:
        raise _other(f"has answers {differing[0]}", place)
    over = any(got >= most for got, most in zip(reached, limits, strict=True))
    past = any(got > most for got, most in zip(reached, limits, strict=True))
    if past or (outcome == Outcome.LIMIT.value and not over):
        raise _other("has answers with other limits of steps or tokens", place)
    return outcome


def _reached(record: Record) -> tuple[str, tuple[int, int]]:
    """Return the outcome of an answer, its steps and its tokens; a ValueError where they are none."""
    steps, tokens = record["steps"], record["cot_tokens"]
    if type(steps) is not int or type(tokens) is not int:
        raise ValueError
    return Outcome(record["outcome"]).value, (steps, tokens)


def _other(what: str, place: SourceLocation) -> TapeformerError:
    return TapeformerError(
        Fault(
            f"the file {what}",
            place,
            expected="the answers of an interrupted run of the same command, or no such file",
            remedy="remove it, or name another file of answers",
        )
    )
