"""The one-queue baseline: a Turing machine as a Post machine, leaner if it has one tape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeformer.constructions.decoded import Decoded, checking
from tapeformer.constructions.post.layout import NAME, layout, longest_word
from tapeformer.constructions.record import Claims, Construction, Domains, ManyDecoder
from tapeformer.constructions.sizes import Need, Sizes, sizes_for_space

if TYPE_CHECKING:
    from tapeformer.layout import Layout
    from tapeformer.machine.record import TuringMachine
    from tapeformer.queues.record import QueueMachine, Token
    from tapeformer.queues.tracks import QueueTracks

__all__ = ["POST"]


def _queue_machine(machine: TuringMachine, levels: int) -> QueueMachine:
    if machine.tapes > 1:
        from tapeformer.constructions.post.several import tapes_to_queues as several

        return several.queue_machine(machine, levels)
    from tapeformer.constructions.post.tapes_to_queues import queue_machine

    return queue_machine(machine, levels)


def _decode(reading: Mapping[str, Any], layout: Layout, tokens: Sequence[Token]) -> Decoded:
    if "tapes" in reading:
        from tapeformer.constructions.post.several.decode import decode as decode_several

        return decode_several(reading, layout, tokens)
    from tapeformer.constructions.post.decode import decode

    return decode(reading, layout, tokens)


def _many_decoder(reading: Mapping[str, Any], layout: Layout, domains: Domains) -> ManyDecoder:
    from tapeformer.constructions.post.decode_many import many_decoder

    return many_decoder(reading, layout, domains)


def _claims(reading: Mapping[str, Any], layout: Layout, word: Sequence[str]) -> Claims:
    from tapeformer.constructions.post.claims import OneQueueClaims

    return OneQueueClaims(reading, layout, word)


def _tracks(machine: TuringMachine) -> QueueTracks:
    from tapeformer.constructions.post.tracks import tracks

    return tracks(machine)


def _choose(_machine: TuringMachine, asked: Sizes, need: Need) -> Sizes:
    return sizes_for_space(asked, need, default_levels=1)


POST = Construction(
    name=NAME,
    layout=layout,
    queue_machine=_queue_machine,
    decode=checking(_decode),
    many_decoder=_many_decoder,
    longest_word=longest_word,
    choose=_choose,
    claims=_claims,
    tracks=_tracks,
)
