"""Runs that a page has asked for: each compiled and recorded in a thread of its own, few at a time."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tapeformer.bundle.record import Bundle
from tapeformer.explorer.breaking import Break, Comparison, broken, limit_of
from tapeformer.explorer.description import (
    fault_records,
    machine_record,
    part_record,
    run_record,
    source_text,
)
from tapeformer.explorer.recording import MOST_TOKENS, Recording
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.generation import Generation
from tapeformer.inference.model import Model
from tapeformer.machine.record import TuringMachine

MOST_RUNS = 8
"""Older runs are stopped and forgotten."""
AT_ONCE = 2
"""Models that are compiled at the same time; others wait."""

Record = dict[str, Any]


@dataclass(eq=False)
class Session:
    """One run: its model, what was recorded of it, and what stopped it if anything did."""

    machine: TuringMachine
    model: Model
    word: tuple[str, ...]
    text: str = ""
    limit: int = MOST_TOKENS
    asked: Break | None = None
    recording: Recording | None = None
    faults: list[Record] = field(default_factory=list)
    comparison: Comparison | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    busy: bool = True

    def record(self) -> None:
        """Compile the model and record its run; bad input is kept as faults."""
        try:
            self.recording = self._recording()
            self.recording.record(self.limit, self.stop)
        except TapeformerError as error:
            self.faults = fault_records(error)
        except MemoryError:
            self.faults = fault_records(TapeformerError(Fault("this run needs too much memory")))
        finally:
            self.busy = False

    def resume(self, more: int) -> None:
        """Record further tokens after a limit."""
        assert self.recording is not None
        self.limit += more
        try:
            self.recording.record(self.limit, self.stop)
        finally:
            self.busy = False

    def _recording(self) -> Recording:
        machine = self.machine
        self.text = self.text or source_text(machine)
        bundle = self.model.for_word(self.word)
        _check_shown(bundle, machine)
        if self.asked is None:
            run = Generation(bundle, self.word, grow=self.model.grow())
            return Recording(machine, self.word, run)
        self.comparison = Comparison(Generation(bundle, self.word))
        run = broken(bundle, self.word, self.asked)
        return Recording(machine, self.word, run, self.comparison.see)

    def describe(self, models: int = 0) -> Record:
        """Describe the run for the page, with the models that it does not know yet."""
        recording = self.recording
        status = "fault" if self.faults else "compiling" if recording is None else "done"
        record: Record = {"status": "running" if self.busy and recording else status}
        record["options"] = {
            name: getattr(self.model.options, name)
            for name in ("construction", "levels", "base", "steps_per_token")
        }
        if self.faults:
            return {**record, "faults": self.faults, "text": self.text}
        if recording is None:
            return {**record, "name": self.machine.name}
        record |= run_record(recording)
        record["model"] = [part_record(part) for part in recording.parts[models:]]
        if models == 0:
            record["machine"] = machine_record(recording.machine, self.text)
        if self.asked is not None:
            record["broken"] = self._broken_record(self.asked)
        return record

    def _broken_record(self, asked: Break) -> Record:
        wrong = None if self.comparison is None else self.comparison.wrong
        return {
            "kind": asked.kind,
            "number": asked.number,
            "input": asked.input,
            "what": str(asked),
            "token": None if wrong is None else wrong.token,
            "fields": [] if wrong is None else [list(entry) for entry in wrong.fields],
            "count": 0 if wrong is None else wrong.count,
        }


class Sessions:
    """The runs of one server, the newest last."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, Session] = OrderedDict()
        self._numbers = itertools.count(1)
        self._turn = threading.Semaphore(AT_ONCE)
        self._lock = threading.Lock()

    def begin(self, session: Session) -> str:
        """Record a run in the background and return its name."""
        with self._lock:
            name = str(next(self._numbers))
            self._runs[name] = session
            while len(self._runs) > MOST_RUNS:
                self._runs.popitem(last=False)[1].stop.set()
        self._work(session, session.record)
        return name

    def get(self, name: str) -> Session | None:
        """Return a run by its name; None where it is not there, or not there any more."""
        with self._lock:
            if name in self._runs:
                self._runs.move_to_end(name)
            return self._runs.get(name)

    def resume(self, session: Session, more: int) -> None:
        """Go on with a run that has come to its limit."""
        if not session.busy and session.recording is not None:
            session.busy = True
            self._work(session, lambda: session.resume(more))

    def close(self) -> None:
        """Stop every run."""
        with self._lock:
            for session in self._runs.values():
                session.stop.set()

    def _work(self, session: Session, task: Callable[[], None]) -> None:
        def in_turn() -> None:
            with self._turn:
                if session.stop.is_set():
                    session.busy = False
                    return
                task()

        threading.Thread(target=in_turn, daemon=True).start()


def broken_session(session: Session, asked: Break) -> Session:
    """Return a run of the same input by a broken model, as large as the sound one has become."""
    recording = session.recording
    if recording is None:
        raise TapeformerError(Fault("the run has not begun", remedy="wait for its first token"))
    if session.asked is not None:
        raise TapeformerError(Fault("this model is broken already", remedy="mend it first"))
    bundle = recording.parts[-1].bundle
    broken(bundle, session.word, asked)
    model = Model(bundle, session.model.options)
    limit = limit_of(asked, recording.progress.tokens)
    return Session(session.machine, model, session.word, session.text, limit, asked)


def _check_shown(bundle: Bundle, machine: TuringMachine) -> None:
    """Refuse a run that the page cannot draw: one queue with several tapes."""
    if bundle.layout.construction == "post" and machine.tapes > 1:
        what = f"the page draws one queue with one tape; {machine.name} has {machine.tapes}"
        remedy = "choose realtime or paper, or use `tapeformer run`"
        raise TapeformerError(Fault(what, expected="1 tape", got=str(machine.tapes), remedy=remedy))
