"""A file of inputs, one per line, becomes a file of JSON lines.

Answers are appended in order and in whole lines, so that a run killed at any moment can be resumed
where it stopped. Only one run at a time may append to a file, and it only resumes answers of the
same model to the same inputs.
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
from tapeformer.inference.batch.answer_writer import AnswerWriter, alone_with, earlier
from tapeformer.inference.batch.columns import ERROR
from tapeformer.inference.batch.inputs import Inputs
from tapeformer.inference.batch.recorder import AnswerLines
from tapeformer.inference.batch.runner import BatchModel
from tapeformer.inference.records import Record
from tapeformer.simulator.outcome import Outcome
from tapeformer.workers import Task, Where, in_order, pool_at

if TYPE_CHECKING:
    from tapeformer.inference.batch.readers import Readers

GROUP_SECONDS = 0.5
FEWEST_LINES, MOST_LINES = 256, 4096
"""Bounds on a group's lines: sorted by length, inputs of a large group end at similar times."""
MOST_CHARACTERS = 1 << 22
"""Characters from which on a group takes no more lines than the first ones had."""
DIFFERING = {
    "input": "to other inputs",
    "model": "of another model",
    "spaced": "to inputs that were read otherwise: only one of both with spaced=True",
    "given": "to other machines",
    "options": "with other options",
}
"""What is wrong with an earlier line, by the key whose value differs."""


@dataclass(frozen=True)
class Summary:
    """How many inputs there are, and how many came to each outcome or to an error."""

    inputs: int
    outcomes: Mapping[str, int]

    @property
    def answered(self) -> int:
        """How many inputs have their line in the file."""
        return sum(self.outcomes.values())


LOCAL = Where()


@dataclass(frozen=True)
class Work:
    """What to do with lines: a task for workers, and what earlier answers must match to be kept.

    `start` returns the keys that the answer to a line begins with; `limits` are those on steps and
    on tokens; `group` is how many lines a worker gets at first.
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
    """Answer every line with a JSON line, in order; earlier answers are kept.

    `watch` is called now and then with the number of answered inputs; it returns False to stop.
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
    """Return the size of the first groups: a vector register's bits, or less to use all cores."""
    workers = 1 if where.cluster else where.processes
    return min(vector_bits(), max(FEWEST_LINES, ceil(lines / workers)))


@contextmanager
def _readers(model: BatchModel, inputs: int, where: Where) -> Iterator[Readers | None]:
    """Provide processes that read what a GPU of this computer makes, if one is used."""
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
    """Have workers turn every line into a JSON line, in order; earlier answers are kept."""
    if inputs.is_file(answers):
        raise _same_file(answers)
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
    """Lines in groups, which grow while answers come fast; a kill loses the groups in progress."""

    def __init__(self, lines: Iterator[str], size: int) -> None:
        self._lines, self._size, self._least = lines, size, size
        self._since: float | None = None
        self._lines_since = 0

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        group = list(islice(self._lines, self._least))
        room = MOST_CHARACTERS - sum(map(len, group))
        while (
            len(group) < self._size and room > 0 and (line := next(self._lines, None)) is not None
        ):
            group.append(line)
            room -= len(line)
        if not group:
            raise StopIteration
        return group

    def answered(self, lines: int) -> None:
        """Adapt the size of groups to the speed of answers: a group should take part of a second.

        The first moments may mislead, so groups at most double until some time has passed.
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
    """Count the outcomes of earlier answers, and remove a partial line at the end."""
    outcomes: Counter[str] = Counter()
    expected, end = iter(inputs), 0
    with earlier(answers) as lines:
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
    """Return whether a partial line could be the beginning of the answer that is due."""
    due = json.dumps(start, ensure_ascii=False).encode()[:-1]
    return half[: len(due)] == due[: len(half)]


def _outcome(line: bytes, start: Record, limits: tuple[int, int], place: SourceLocation) -> str:
    """Return an earlier line's outcome; raise unless this run could have written the line."""
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
    """Return the outcome of an answer, its steps and its tokens; ValueError if they are invalid."""
    steps, tokens = record["steps"], record["cot_tokens"]
    if type(steps) is not int or type(tokens) is not int:
        raise ValueError
    return Outcome(record["outcome"]).value, (steps, tokens)


def _same_file(answers: Path) -> TapeformerError:
    what, remedy = "the answers would go into the file of inputs", "name another file of answers"
    return TapeformerError(Fault(what, SourceLocation(str(answers)), remedy=remedy))


def _other(what: str, place: SourceLocation) -> TapeformerError:
    return TapeformerError(
        Fault(
            f"the file {what}",
            place,
            expected="the answers of an interrupted run of the same command, or no such file",
            remedy="remove it, or name another file of answers",
        )
    )
