"""The paper's construction (Theorem 2), repaired: two stacks a tape, k' levels of queues a stack."""

from tapeformer.constructions.paper.claims import ClaimChecker
from tapeformer.constructions.paper.decode import decode
from tapeformer.constructions.paper.layout import layout, longest_word
from tapeformer.constructions.paper.machine import NAME, queue_machine

__all__ = ["NAME", "ClaimChecker", "decode", "layout", "longest_word", "queue_machine"]
