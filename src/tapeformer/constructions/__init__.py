"""Constructions: ways from a Turing machine to a queue machine, all with the same four functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from tapeformer.constructions import paper, post, realtime
from tapeformer.constructions.decoded import Decoded
from tapeformer.constructions.options import refuse
from tapeformer.layout import Layout
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.record import QueueMachine
from tapeformer.queues.run import Token

__all__ = ["CONSTRUCTIONS", "Construction", "Decoded", "check_word", "construction"]


class MakeLayout(Protocol):
    """From levels, base and space, of which what is missing is chosen, to all lengths."""

    def __call__(
        self,
        machine: TuringMachine,
        /,
        levels: int | None = None,
        base: int | None = None,
        space: int | None = None,
    ) -> Layout:
        """The layout; a TapeformerError where the options cannot be met."""


@dataclass(frozen=True)
class Construction:
    """One way to simulate tapes with queues.

    `queue_machine(machine, levels)` does not know the base; `layout` does. `decode` reads a
    window (the last `layout.window` tokens, or all if there are fewer) back as a configuration.
    `sharing_heads` merges length rules that always agree in a layout's base.
    """

    name: str
    layout: MakeLayout
    queue_machine: Callable[[TuringMachine, int], QueueMachine]
    decode: Callable[[Mapping[str, Any], Layout, Sequence[Token]], Decoded]
    longest_word: Callable[[Layout], int]
    sharing_heads: Callable[[QueueMachine, Layout], QueueMachine]


def _as_it_is(machine: QueueMachine, _: Layout) -> QueueMachine:
    """No two of its length rules always give the same length."""
    return machine


CONSTRUCTIONS: Mapping[str, Construction] = {
    part.NAME: Construction(
        part.NAME,
        part.layout,
        part.queue_machine,
        part.decode,
        part.longest_word,
        getattr(part, "with_shared_rules", _as_it_is),
    )
    for part in (paper, post, realtime)
}


def construction(name: str) -> Construction:
    """A construction by its name."""
    if name not in CONSTRUCTIONS:
        known = ", ".join(CONSTRUCTIONS)
        raise refuse(f"there is no construction {name!r}", expected=known, got=name)
    return CONSTRUCTIONS[name]


def check_word(layout: Layout, word: Sequence[str]) -> None:
    """Refuses an input that does not fit in the queue it is loaded from."""
    longest = construction(layout.construction).longest_word(layout)
    if len(word) > longest:
        raise refuse(
            "the input is too long for these queues",
            expected=f"at most {longest} symbols",
            got=str(len(word)),
            remedy=f"give {_more(layout, len(word))} or more, or a larger base",
        )


def _more(layout: Layout, length: int) -> str:
    """The option that makes room for an input: levels, where a further one makes any."""
    longest = construction(layout.construction).longest_word
    if longest(replace(layout, levels=layout.levels + 1)) == longest(layout):
        return f"--space {length}"
    while longest(layout) < length:
        layout = replace(layout, levels=layout.levels + 1)
    return f"--levels {layout.levels}"
