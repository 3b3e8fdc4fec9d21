"""A comparison that is watched goes on while it is told to."""

from __future__ import annotations

from tapeformer.compile.options import CompileOptions
from tapeformer.gallery import gallery_machine
from tapeformer.inference.compare import verify_word
from tapeformer.simulator.outcome import Outcome

MACHINE, OPTIONS = gallery_machine("palindrome"), CompileOptions("paper", levels=1, base=8)


def test_it_goes_on_while_it_is_told_to() -> None:
    told: list[int] = []

    def watch(tokens: int) -> bool:
        told.append(tokens)
        return len(told) < 2

    whole = verify_word(MACHINE, "abba", OPTIONS, watch=lambda _: True)
    stopped = verify_word(MACHINE, "abba", OPTIONS, watch=watch)
    assert (whole.agreed, whole.outcome) == (True, Outcome.ACCEPT)
    assert (stopped.agreed, stopped.outcome) == (True, None)
    assert stopped.tokens == told[-1] < whole.tokens
