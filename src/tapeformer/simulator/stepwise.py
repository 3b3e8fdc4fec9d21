"""Simulate a machine one step at a time: the definition of what a machine does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tapeformer.machine.record import Rule, TapeKind, TuringMachine
from tapeformer.machine.verify import checked
from tapeformer.machine.word import checked_word
from tapeformer.simulator.limits import checked_head
from tapeformer.simulator.outcome import Tape
from tapeformer.simulator.result import Configuration, Result, trimmed, verdict


class Stepper:
    """A machine with its tapes, run one step at a time."""

    def __init__(self, machine: TuringMachine, word: Sequence[str] = (), head: int = 0) -> None:
        word = checked_word(checked(machine), word)
        self.machine = machine
        self.cells: list[dict[int, str]] = [{} for _ in range(machine.tapes)]
        self.cells[0] = dict(enumerate(word))
        self.heads = [checked_head(head, word)] + [0] * (machine.tapes - 1)
        self.state, self.steps = machine.start, 0

    @classmethod
    def after(cls, machine: TuringMachine, result: Result) -> Stepper:
        """Return a stepper that continues a run."""
        stepper = cls(machine)
        stepper.state, stepper.steps = result.state, result.steps
        stepper.heads = list(result.positions)
        for index, tape in enumerate(result.tapes):
            first = result.positions[index] - tape.head
            stepper.cells[index] = dict(enumerate(tape.content, first))
        return stepper

    def rule(self) -> Rule | None:
        """Return the rule that applies now; None if the machine stops here."""
        if self.state in self.machine.stopping:
            return None
        pairs = zip(self.cells, self.heads, strict=True)
        read = tuple(tape.get(at, self.machine.blank) for tape, at in pairs)
        return self.machine.rule_for.get((self.state, read))

    def step(self) -> bool:
        """Apply the rule that applies and return True; return False if none does."""
        rule = self.rule()
        if rule is None:
            return False
        self.apply(rule)
        return True

    def apply(self, rule: Rule) -> None:
        """Apply a rule that applies."""
        for index, move in enumerate(rule.moves):
            self.cells[index][self.heads[index]] = rule.write[index]
            self.heads[index] += move
            if self.machine.tape_kind is TapeKind.ONE_WAY:
                self.heads[index] = max(self.heads[index], 0)
        self.state, self.steps = rule.next_state, self.steps + 1

    def configuration(self) -> Configuration:
        """Return the current configuration; it carries the outcome if no rule applies."""
        pairs = zip(self.cells, self.heads, strict=True)
        tapes = tuple(_tape(tape, at, self.machine.blank) for tape, at in pairs)
        outcome = verdict(self.machine, self.state) if self.rule() is None else None
        return Configuration(self.steps, self.state, tapes, outcome)


def configurations(
    machine: TuringMachine, word: Sequence[str] = (), head: int = 0
) -> Iterator[Configuration]:
    """Iterate over every configuration from the start on; the last one carries the outcome."""
    return _configurations(Stepper(machine, word, head))


def _configurations(stepper: Stepper) -> Iterator[Configuration]:
    yield stepper.configuration()
    while stepper.step():
        yield stepper.configuration()


def _tape(cells: dict[int, str], head: int, blank: str) -> Tape:
    if not cells:
        return Tape((), 0)
    first, last = min(cells), max(cells)
    return trimmed([cells.get(at, blank) for at in range(first, last + 1)], first, head, blank)
