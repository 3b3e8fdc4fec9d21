"""The real-time construction: one token per step in base 2, and levels that grow in flight.

With several steps in a token (`with_steps`), a chain of thought is shorter than the computation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tapeformer.constructions.decoded import Decoded, checking
from tapeformer.constructions.realtime.layout import NAME, layout, longest_word, with_shared_rules
from tapeformer.constructions.realtime.sizes import choose, more_levels
from tapeformer.constructions.record import Claims, Construction, Domains, ManyDecoder
from tapeformer.constructions.sizes import Sizes
from tapeformer.layout import Layout
from tapeformer.machine.record import TuringMachine

if TYPE_CHECKING:
    from tapeformer.queues.record import QueueMachine, Token

__all__ = ["REALTIME"]


def _queue_machine(machine: TuringMachine, levels: int, **variant: Any) -> QueueMachine:
    from tapeformer.constructions.realtime.tapes_to_queues import queue_machine

    return queue_machine(machine, levels, **variant)


def _layout(
    machine: TuringMachine,
    /,
    levels: int | None = None,
    base: int | None = None,
    space: int | None = None,
    *,
    steps: int,
) -> Layout:
    """Make the layout of several steps in a token, for which a model can be built.

    It is also checked for the levels that a run grows to first, so that it need not stop there.
    """
    from tapeformer.constructions.realtime.speedup.limits import check_steps

    made = layout(machine, levels, base, space, steps)
    check_steps(machine, max(made.levels, more_levels(1, made.base)), steps)
    return made


def with_steps(steps: int) -> Construction:
    """Return the construction that makes so many steps in a token: blocks of cells in place of symbols."""
    return replace(
        REALTIME,
        layout=partial(_layout, steps=steps),
        queue_machine=partial(_queue_machine, steps=steps),
        choose=partial(choose, steps=steps),
        open_table=None,
    )


def _decode(reading: Mapping[str, Any], layout: Layout, tokens: Sequence[Token]) -> Decoded:
    from tapeformer.constructions.realtime.decode import decode

    return decode(reading, layout, tokens)


def _many_decoder(
    reading: Mapping[str, Any], layout: Layout, domains: Domains
) -> ManyDecoder | None:
    """Return the decoder of many windows; those of blocks are read one by one."""
    from tapeformer.constructions.realtime.decode_many import many_decoder

    if "steps_per_token" in reading:
        return None
    return many_decoder(reading, layout, domains)


def _claims(reading: Mapping[str, Any], layout: Layout, word: Sequence[str]) -> Claims:
    from tapeformer.constructions.realtime.claims import RealTimeClaims

    return RealTimeClaims(reading, layout, word)


def _grows(asked: Sizes) -> bool:
    return asked.open


REALTIME = Construction(
    name=NAME,
    layout=layout,
    queue_machine=_queue_machine,
    decode=checking(_decode),
    many_decoder=_many_decoder,
    longest_word=longest_word,
    choose=choose,
    grows=_grows,
    more_levels=more_levels,
    share_heads=with_shared_rules,
    claims=_claims,
    tied_levels=True,
    with_steps=with_steps,
    open_table=partial(_queue_machine, open_table=True),
)
