"""The direct simulation, one configuration at a time: the definition of what a machine does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tapeformer.machine.record import Move, Rule, TapeKind, TuringMachine
from tapeformer.simulator.result import Configuration, Tape, trimmed, verdict


def configurations(
    machine: TuringMachine, word: Sequence[str] = (), head: int = 0
) -> Iterator[Configuration]:
    """Every configuration from the start on; the last one, if there is one, carries the outcome."""
    cells: list[dict[int, str]] = [{} for _ in range(machine.tapes)]
    cells[0] = dict(enumerate(word))
    heads = [head] + [0] * (machine.tapes - 1)
    state, step = machine.start, 0
    while True:
        tapes = tuple(_tape(tape, at, machine.blank) for tape, at in zip(cells, heads, strict=True))
        rule = _rule(machine, state, cells, heads)
        if rule is None:
            yield Configuration(step, state, tapes, verdict(machine, state))
            return
        yield Configuration(step, state, tapes)
        for index, move in enumerate(rule.moves):
            cells[index][heads[index]] = rule.write[index]
            heads[index] = _moved(heads[index], move, machine.tape_kind)
        state, step = rule.next_state, step + 1


def _rule(
    machine: TuringMachine, state: str, cells: list[dict[int, str]], heads: list[int]
) -> Rule | None:
    """The rule that applies; none if the state stops the machine."""
    if state in machine.stopping:
        return None
    read = tuple(tape.get(at, machine.blank) for tape, at in zip(cells, heads, strict=True))
    return machine.rule_for.get((state, read))


def _moved(at: int, move: Move, kind: TapeKind) -> int:
    bounded = kind is TapeKind.ONE_WAY
    return max(at + move, 0) if bounded else at + move


def _tape(cells: dict[int, str], head: int, blank: str) -> Tape:
    if not cells:
        return Tape((), 0)
    first, last = min(cells), max(cells)
    return trimmed([cells.get(at, blank) for at in range(first, last + 1)], first, head, blank)
