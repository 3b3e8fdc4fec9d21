"""The record of a construction: what the compiler, the engines' callers and the commands ask of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tapeformer.constructions.sizes import Need, Sizes, never_grows
from tapeformer.dataclass import dataclass
from tapeformer.layout import Layout
from tapeformer.windows import Windows

if TYPE_CHECKING:
    from collections import Counter

    from tapeformer.constructions.decoded import Decoded
    from tapeformer.constructions.decoded_many import DecodedMany
    from tapeformer.faults import Fault
    from tapeformer.machine.record import TuringMachine
    from tapeformer.queues.record import QueueMachine, Token
    from tapeformer.queues.tracks import QueueTracks


class MakeLayout(Protocol):
    """Make all lengths from levels, base and space, choosing what is missing."""

    def __call__(
        self,
        machine: TuringMachine,
        /,
        levels: int | None = None,
        base: int | None = None,
        space: int | None = None,
    ) -> Layout:
        """Return the layout, or raise a TapeformerError where the sizes cannot be met."""


class Claims(Protocol):
    """Check statements about a run, token by token; `checked` counts how often each was tested."""

    names: tuple[str, ...]
    checked: Counter[str]

    def see(self, tokens: Sequence[Token]) -> tuple[Fault, ...]:
        """Return the faults of the window that ends with a newly appended token."""


Domains = Sequence[tuple[str, ...]]
"""The values of each factor of a token, in order."""

ManyDecoder = Callable[[Windows], "DecodedMany"]
"""Reads the windows of many inputs at once, but for some that only `decode` can read."""

MakeClaims = Callable[[Mapping[str, Any], Layout, Sequence[str]], Claims]


def keep_rules(machine: QueueMachine, _: Layout) -> QueueMachine:
    """Share no heads: no two length rules of this construction always agree."""
    return machine


@dataclass(frozen=True)
class Construction:
    """One way to simulate tapes with queues.

    `queue_machine(machine, levels)` does not know the base; `layout` does. `choose` completes the
    sizes that a user left open. `decode` reads a window (the last `layout.window` tokens, or all if
    there are fewer) back as a configuration, and `many_decoder` returns what does so for many
    inputs, or None where each must be read by itself. `grows` says whether a model of these sizes is
    exchanged for one with `more_levels` while it runs. `share_heads` merges length rules that agree
    in a layout's base. `claims`, where there are any, checks the construction's own invariants.
    `tied_levels` says that every level repeats one rule, so that weights repeat. `with_steps`, where
    there is one, returns the same construction with several steps of the Turing machine in a token.
    `open_table`, where there is one, returns the queue machine of all machines with the states and
    symbols of one: their rules are constants of its step. `tracks`, of
    constructions that have one queue, says how its symbols are split for the literal Transformer.
    """

    name: str
    layout: MakeLayout
    queue_machine: Callable[[TuringMachine, int], QueueMachine]
    decode: Callable[[Mapping[str, Any], Layout, Sequence[Token]], Decoded]
    many_decoder: Callable[[Mapping[str, Any], Layout, Domains], ManyDecoder | None]
    longest_word: Callable[[Layout], int]
    choose: Callable[[TuringMachine, Sizes, Need], Sizes]
    grows: Callable[[Sizes], bool] = never_grows
    more_levels: Callable[[int, int], int] | None = None
    share_heads: Callable[[QueueMachine, Layout], QueueMachine] = keep_rules
    claims: MakeClaims | None = None
    tied_levels: bool = False
    with_steps: Callable[[int], Construction] | None = None
    open_table: Callable[[TuringMachine, int], QueueMachine] | None = None
    tracks: Callable[[TuringMachine], QueueTracks] | None = None
