"""Exit statuses."""

from __future__ import annotations

from tapeformer.simulator.outcome import Outcome

BAD_INPUT = 2
INTERRUPTED = 130
CLOSED_PIPE = 141
"""What a shell reports of a tool that ends because nobody reads its output any more."""
OF_OUTCOME = {
    Outcome.ACCEPT: 0,
    Outcome.HALT: 0,
    Outcome.REJECT: 1,
    Outcome.LIMIT: 3,
    Outcome.OUT_OF_SPACE: 4,
}
