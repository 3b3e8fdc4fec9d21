"""Machines with the same states and symbols: what their models share is compiled once.

The step circuit leaves the transition table open, so the models differ in biases alone: each is what
`open_table` compiles for its machine, and any engine runs it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from tapeformer.bundle.record import Bundle
from tapeformer.compile.options import CompileOptions, checked_options
from tapeformer.compile.passes import Compilation, made, sizes_to_layout, weights_to_bundle
from tapeformer.compile.rules import rule_origins
from tapeformer.constructions.open_table import table_constants, table_entries
from tapeformer.formats.registry import OWN_FORMAT, dumps
from tapeformer.lowering.queues_to_weights import chosen_constants, weight_family
from tapeformer.machine.record import Move, Rule, TapeKind, TuringMachine
from tapeformer.queues.record import QueueMachine
from tapeformer.weights.family import WeightFamily

MOST_RULES = 2000
"""Rules that a family may choose from: each is a neuron or more."""

MOVES = (Move.RIGHT, Move.LEFT)


@dataclass(frozen=True)
class MachineFamily:
    """Machines on one tape, infinite both ways, whose heads move in every step.

    `states` go on, the first is the start; `halting` stop. The first of the symbols is the blank.
    """

    states: tuple[str, ...]
    symbols: tuple[str, ...]
    halting: tuple[str, ...]

    @property
    def rules(self) -> int:
        """How many rules its members choose from."""
        entries = len(self.states) * len(self.symbols)
        return entries * len(self.symbols) * len(MOVES) * len(self.states + self.halting)

    def has(self, machine: TuringMachine) -> bool:
        """Say whether a machine is a member, and the family not too large to be compiled."""
        apart = not set(self.states) & set(self.halting)
        starts = (machine.start, machine.blank) == (self.states[0], self.symbols[0])
        plain = machine.tapes == 1 and machine.tape_kind is TapeKind.TWO_WAY
        verdicts = machine.accepting or machine.rejecting or machine.no_rule_rejects
        known = (
            machine.halting <= set(self.halting)
            and set(machine.states) - machine.halting <= set(self.states)
            and set(machine.symbols) <= set(self.symbols)
            and all(rule.moves[0] in MOVES for rule in machine.rules)
        )
        return apart and starts and plain and not verdicts and known and self.rules <= MOST_RULES

    @cached_property
    def example(self) -> TuringMachine:
        """A member that has every state, symbol and move, in order: each state leads to the next."""
        order = (*self.states, *self.halting)
        around = (*self.symbols[1:], self.symbols[0])
        rules = tuple(
            Rule(state, (symbol,), (write,), (MOVES[number % 2],), order[place + 1])
            for place, state in enumerate(self.states)
            for number, (symbol, write) in enumerate(zip(self.symbols, around, strict=True))
        )
        start, blank, halting = self.states[0], self.symbols[0], frozenset(self.halting)
        return TuringMachine("open table", 1, blank, start, rules, halting=halting)


class FamilyModels:
    """The models of a family's members, all of the same sizes."""

    def __init__(self, family: MachineFamily, options: CompileOptions) -> None:
        self.family = family
        work = sizes_to_layout(Compilation(family.example, checked_options(options)))
        self._queues = open_table(family.example, work)
        self._entries = tuple(table_entries(family.example))
        self.weights: WeightFamily = weight_family(self._queues, options.heads, options.layers)
        work = replace(work, queue_machine=self._queues, weights=self.weights.weights)
        self.shared = made(weights_to_bundle(work).bundle)

    def model(self, machine: TuringMachine) -> Bundle:
        """Return the model of a member."""
        constants = table_constants(self._entries, machine)
        chosen = chosen_constants(replace(self._queues, constants=constants))
        return replace(
            self.shared,
            name=machine.name,
            weights=self.weights.member(chosen),
            machine=dumps(machine, OWN_FORMAT),
            rules=rule_origins(machine),
        )


def open_table(machine: TuringMachine, work: Compilation) -> QueueMachine:
    """Return the queue machine of a construction that leaves the table of a machine open."""
    layout, construction = made(work.layout), work.options.made_by
    queues = made(construction.open_table)(machine, layout.levels)
    shares = work.options.heads == "offset"
    return construction.share_heads(queues, layout) if shares else queues
