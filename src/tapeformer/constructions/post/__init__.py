"""The one-queue baseline: a one-tape machine as a Post machine."""

from tapeformer.constructions.post.decode import decode
from tapeformer.constructions.post.layout import layout, longest_word
from tapeformer.constructions.post.machine import NAME, queue_machine

__all__ = ["NAME", "decode", "layout", "longest_word", "queue_machine"]
