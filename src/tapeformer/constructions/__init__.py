"""Constructions: ways from a Turing machine to a queue machine, found by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tapeformer.constructions.decoded import Decoded
from tapeformer.constructions.paper import PAPER
from tapeformer.constructions.post import POST
from tapeformer.constructions.realtime import REALTIME
from tapeformer.constructions.record import Construction
from tapeformer.constructions.sizes import refuse
from tapeformer.faults import did_you_mean, quoted
from tapeformer.layout import Layout

__all__ = ["CONSTRUCTIONS", "DEFAULT", "Construction", "Decoded", "check_word", "construction"]

CONSTRUCTIONS: Mapping[str, Construction] = {part.name: part for part in (REALTIME, PAPER, POST)}
DEFAULT = REALTIME.name


def construction(name: str, steps_per_token: int = 1) -> Construction:
    """Return a construction by its name, with one or several steps of the machine in a token."""
    if name not in CONSTRUCTIONS:
        known = ", ".join(CONSTRUCTIONS)
        remedy = did_you_mean(str(name), CONSTRUCTIONS) or "leave it out"
        raise refuse(f"there is no construction {quoted(str(name))}", f"one of {known}", "", remedy)
    found = CONSTRUCTIONS[name]
    if steps_per_token == 1:
        return found
    if found.with_steps is None:
        raise refuse(
            f"the {name} construction makes at most one step in a token",
            expected="1 step per token",
            got=str(steps_per_token),
            remedy=f"leave out steps_per_token, or use construction={DEFAULT!r}",
        )
    return found.with_steps(steps_per_token)


def check_word(layout: Layout, word: Sequence[str]) -> None:
    """Refuse an input that does not fit in the queue it is loaded from."""
    longest = construction(layout.construction).longest_word(layout)
    if len(word) > longest:
        raise refuse(
            "the input is too long for these queues",
            expected=f"at most {longest} symbols",
            got=str(len(word)),
            remedy=f"give {_larger(layout, len(word))} or more, or a larger base",
        )


def _larger(layout: Layout, length: int) -> str:
    """Name the option that makes room for an input: levels, where a further one makes any."""
    longest = construction(layout.construction).longest_word
    if longest(replace(layout, levels=layout.levels + 1)) == longest(layout):
        return f"space={length}"
    while longest(layout) < length:
        layout = replace(layout, levels=layout.levels + 1)
    return f"levels={layout.levels}"
