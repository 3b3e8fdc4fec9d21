"""The paper's construction (Theorem 2), repaired: two stacks a tape, k' levels of queues a stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeformer.constructions.decoded import Decoded, checking
from tapeformer.constructions.paper.layout import NAME, layout, longest_word
from tapeformer.constructions.record import Claims, Construction, Domains, ManyDecoder
from tapeformer.constructions.sizes import Need, Sizes, sizes_for_space
from tapeformer.layout import Layout
from tapeformer.machine.record import TuringMachine

if TYPE_CHECKING:
    from tapeformer.queues.record import QueueMachine, Token

__all__ = ["PAPER"]

DEFAULT_LEVELS = 2


def _queue_machine(machine: TuringMachine, levels: int) -> QueueMachine:
    from tapeformer.constructions.paper.tapes_to_queues import queue_machine

    return queue_machine(machine, levels)


def _decode(reading: Mapping[str, Any], layout: Layout, tokens: Sequence[Token]) -> Decoded:
    from tapeformer.constructions.paper.decode import decode

    return decode(reading, layout, tokens)


def _many_decoder(reading: Mapping[str, Any], layout: Layout, domains: Domains) -> ManyDecoder:
    from tapeformer.constructions.paper.decode_many import many_decoder

    return many_decoder(reading, layout, domains)


def _claims(reading: Mapping[str, Any], layout: Layout, word: Sequence[str]) -> Claims:
    from tapeformer.constructions.paper.claims import ClaimChecker

    return ClaimChecker(reading, layout, word)


def _choose(_machine: TuringMachine, asked: Sizes, need: Need) -> Sizes:
    return sizes_for_space(asked, need, DEFAULT_LEVELS)


PAPER = Construction(
    name=NAME,
    layout=layout,
    queue_machine=_queue_machine,
    decode=checking(_decode),
    many_decoder=_many_decoder,
    longest_word=longest_word,
    choose=_choose,
    claims=_claims,
)
