"""The real-time construction: with base 2, one token for each step of the Turing machine."""

from tapeformer.constructions.realtime.decode import decode
from tapeformer.constructions.realtime.layout import layout, longest_word, with_shared_rules
from tapeformer.constructions.realtime.machine import NAME, queue_machine

__all__ = ["NAME", "decode", "layout", "longest_word", "queue_machine", "with_shared_rules"]
