"""A machine with one queue as one with several: each symbol of the queue is a tuple of parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tapeformer.queues.record import Queue, QueueMachine, Token


@dataclass(frozen=True)
class QueueTracks:
    """How a queue's symbols are split: the name and alphabet of each track, and each symbol's parts.

    `possible` says of symbols that are in the queue or `held` in registers at the same time whether
    that can be.
    """

    queue: str
    held: tuple[str, ...]
    names: tuple[str, ...]
    alphabets: tuple[tuple[str, ...], ...]
    parts: Mapping[str, tuple[str, ...]]
    possible: Callable[[Sequence[str]], bool]

    def queues(self, machine: QueueMachine) -> tuple[Queue, ...]:
        """Return the queues that take the place of the one."""
        whole = machine.queues[0]
        blank = self.parts[whole.blank]
        return tuple(
            Queue(name, alphabet, first, whole.length_rule, whole.parity_test)
            for name, alphabet, first in zip(self.names, self.alphabets, blank, strict=True)
        )

    def split(self, token: Token) -> Token:
        """Return a token with its queue's symbol as parts."""
        return (*self.parts[token[0]], *token[1:])


def reachable_tokens(machine: QueueMachine, tracks: QueueTracks) -> tuple[Token, ...]:
    """Return every token that can occur, whatever possible symbol the queue gives next.

    It is an upper bound: the queue's content is not followed.
    """
    from tapeformer.circuit.evaluate import compiled

    step = compiled(machine.step)
    held = [1 + [r.name for r in machine.registers].index(name) for name in tracks.held]
    start = tuple(register.start for register in machine.registers)
    prompt = (machine.prompt_start, *machine.prompt_symbols.values())
    found = dict.fromkeys((symbol, *start) for symbol in prompt)
    waiting = [start]
    seen = {start}
    while waiting:
        registers = waiting.pop()
        kept = [registers[place - 1] for place in held]
        for front in machine.queues[0].alphabet:
            if tracks.possible((front, *kept)):
                token = step((front, *registers))
                found[token] = None
                if token[1:] not in seen:
                    seen.add(token[1:])
                    waiting.append(token[1:])
    return tuple((*token, parity) for token in found for parity in ("0", "1"))
