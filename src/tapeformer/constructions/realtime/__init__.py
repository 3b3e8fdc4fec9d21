"""The real-time construction: one token per step in base 2, and levels that grow in flight."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeformer.constructions.decoded import Decoded, checking
from tapeformer.constructions.realtime.decode import decode
from tapeformer.constructions.realtime.layout import NAME, layout, longest_word, with_shared_rules
from tapeformer.constructions.realtime.sizes import choose, more_levels
from tapeformer.constructions.record import Claims, Construction, Domains
from tapeformer.constructions.sizes import Sizes
from tapeformer.layout import Layout
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.record import QueueMachine
from tapeformer.windows import Windows

__all__ = ["REALTIME"]


def _queue_machine(machine: TuringMachine, levels: int) -> QueueMachine:
    from tapeformer.constructions.realtime.tapes_to_queues import queue_machine

    return queue_machine(machine, levels)


def _many_decoder(
    reading: Mapping[str, Any], layout: Layout, domains: Domains
) -> Callable[[Windows], list[Decoded | None]]:
    from tapeformer.constructions.realtime.decode_many import many_decoder

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
    decode=checking(decode),
    many_decoder=_many_decoder,
    longest_word=longest_word,
    choose=choose,
    grows=_grows,
    more_levels=more_levels,
    share_heads=with_shared_rules,
    claims=_claims,
    tied_levels=True,
)
