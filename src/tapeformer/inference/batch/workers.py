"""Several workers answer groups of lines; the groups come out in the order in which they went in.

Where one worker is enough it is a thread, otherwise each is a process. A process ends with the one
that started it, however that ends, and leaves Ctrl-C to it.
"""

from __future__ import annotations

import json
import logging
import os
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from threading import Thread
from typing import NamedTuple

from tapeformer.bundle.save import model_digest
from tapeformer.cache.store import Store
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.batch.runner import BatchModel, BatchRunner, Found
from tapeformer.inference.records import Record, model_record, outcome_record
from tapeformer.machine.word import parse_word

TICK = 0.2
LEAD = 64
"""Groups that may be under way or finished while an earlier one is still awaited."""

STARTING, LOADING = -2, -1
"""What a worker is at before it has any group; groups are counted from 0."""

ERROR = "error"


class Line(NamedTuple):
    """One answer: its outcome, or "error", and its JSON."""

    outcome: str
    text: str


encoded = json.JSONEncoder(ensure_ascii=False).encode


class Recorder:
    """Makes lines of JSON of lines of input; what all lines share is encoded once."""

    def __init__(self, model: BatchModel) -> None:
        self.machine, self.spaced = model.machine, model.options.spaced
        self.runner = BatchRunner(model.bundle, model.options)
        start = answer_start(None, model_digest(model.bundle), self.spaced)
        del start["input"]
        self.start = encoded(start)[1:-1]
        self.model = encoded(start | model_record(model.bundle))[1:-1]

    def lines(self, texts: list[str]) -> list[Line]:
        """Return the answers to some inputs, in order."""
        parsed = [self._parsed(text) for text in texts]
        words = [word for word in parsed if not isinstance(word, TapeformerError)]
        answers = iter(self.runner.answers(words))
        found = (word if isinstance(word, TapeformerError) else next(answers) for word in parsed)
        return [self._line(text, answer) for text, answer in zip(texts, found, strict=True)]

    def _parsed(self, text: str) -> tuple[str, ...] | TapeformerError:
        try:
            return parse_word(self.machine, text, self.spaced)
        except TapeformerError as error:
            return error

    def _line(self, text: str, answer: Found) -> Line:
        """Return the record of an answer: its input, what is the same in all, and the rest."""
        if isinstance(answer, TapeformerError):
            outcome, shared, rest = ERROR, self.start, encoded({ERROR: str(answer)})
        else:
            outcome, shared = answer.outcome.value, self.model
            rest = encoded(outcome_record(answer))
        return Line(outcome, f'{{"input": {encoded(text)}, {shared}, {rest[1:]}')


def answer_start(text: str | None, digest: str, spaced: bool) -> Record:
    """Return the keys that every line begins with: what was asked of which model, and how it was read."""
    return {"input": text, "model": digest, "spaced": spaced}


Reply = list[Line] | tuple[Fault, ...]


class Worker:
    """A thread or a process that answers one message at a time: the model first, then groups.

    It is sent nothing before it has said that it waits, so that sending never takes long.
    """

    def __init__(self, in_process: bool) -> None:
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = None
        if in_process:
            self.process = context.Process(target=_process, args=(other,), daemon=True)
            with _without_interrupts():
                self.process.start()
            other.close()
        else:
            Thread(target=_serve, args=(other,), daemon=True).start()

    def reply(self) -> list[Line]:
        """Return what the worker has sent."""
        try:
            found: Reply = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            raise TapeformerError(
                Fault(
                    "a worker of the batch has ended before its work was done",
                    remedy="what is answered is kept: give it more memory and the same command again",
                )
            ) from None
        if isinstance(found, tuple):
            raise TapeformerError(found)
        return found

    def stop(self) -> None:
        """End a process at once; a thread ends when its group is done."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
        self.pipe.close()


class _Crew:
    """Workers, what each of them is at, and the groups that wait for an earlier one."""

    def __init__(self, model: BatchModel, groups: Iterator[list[str]], processes: int) -> None:
        self.model, self.groups, self.begun, self.next = model, groups, 0, 0
        self.found: dict[int, list[Line]] = {}
        self.idle: list[Worker] = []
        Store("code", model.options.cache).check()
        self.workers = [Worker(processes > 1) for _ in range(processes)]
        self.busy: dict[object, tuple[int, Worker]] = {
            worker.pipe: (STARTING, worker) for worker in self.workers
        }

    def finished(self) -> list[list[Line]]:
        """Return the groups that are next in order, after a short wait for any; the idle get new ones."""
        for pipe in connection.wait([worker.pipe for _, worker in self.busy.values()], TICK):
            number, worker = self.busy.pop(pipe)
            lines = worker.reply()
            if number == STARTING:
                self._send(worker, LOADING, self.model)
                continue
            self.idle.append(worker)
            if number != LOADING:
                self.found[number] = lines
        ready = []
        while self.next in self.found:
            ready.append(self.found.pop(self.next))
            self.next += 1
        self._begin()
        return ready

    def _begin(self) -> None:
        while self.idle and self.begun - self.next < LEAD:
            group = next(self.groups, None)
            if group is None:
                return
            self._send(self.idle.pop(), self.begun, group)
            self.begun += 1

    def _send(self, worker: Worker, number: int, message: BatchModel | list[str]) -> None:
        worker.pipe.send(message)
        self.busy[worker.pipe] = (number, worker)

    def stop(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.stop()


def answered(
    model: BatchModel, groups: Iterator[list[str]], processes: int, tick: Callable[[], bool]
) -> Generator[list[Line], None, None]:
    """Return the answers of one group after another; `tick` is asked now and then whether to go on."""
    crew = _Crew(model, groups, processes)
    try:
        while crew.busy and tick():
            yield from crew.finished()
    finally:
        crew.stop()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started in here, even while they start.

    The tracker that Python starts with the first process would let Ctrl-C through again.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _process(pipe: Connection) -> None:
    """Serve as a process; its warnings would repeat those of the parent."""
    logging.getLogger("tapeformer").setLevel(logging.ERROR)
    Thread(target=_end_with_parent, daemon=True).start()
    _serve(pipe)


def _end_with_parent() -> None:
    """End a process whose parent was killed: it has nobody to work for."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _serve(pipe: Connection) -> None:
    """Answer groups until there are no more; an error is sent instead of an answer."""
    try:
        pipe.send([])
        recorder = Recorder(pipe.recv())
        pipe.send([])
        while True:
            pipe.send(recorder.lines(pipe.recv()))
    except TapeformerError as error:
        pipe.send(error.faults)
    except MemoryError:
        pipe.send((Fault("out of memory", remedy="give fewer levels or less space"),))
    except (EOFError, OSError):
        return
    finally:
        pipe.close()
