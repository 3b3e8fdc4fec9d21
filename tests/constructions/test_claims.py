"""Claim (a) to (e), Facts 1 and 2, at every token of runs with every kind of stack operation."""

from __future__ import annotations

import pytest

from tapeformer.constructions import construction
from tapeformer.constructions.paper.claims import ClaimChecker
from tapeformer.machine.record import TapeKind, TuringMachine
from tapeformer.queues.record import Token
from tapeformer.queues.run import QueueRun
from tests.constructions.machines import BOUNCER, SHUTTLE, ZIGZAG, random_machine

ALL = {"(a)", "(b)", "(c)", "(d)", "(e)", "Fact 1", "Fact 2"}


def checker_of(
    machine: TuringMachine, length: int, levels: int, base: int
) -> tuple[ClaimChecker, QueueRun]:
    layout = construction("paper").layout(machine, levels, base)
    built = construction("paper").queue_machine(machine, levels)
    word = (machine.input_symbols or ("a",))[:1] * length
    return ClaimChecker(built.reading, layout, word), QueueRun(built, layout, word)


@pytest.mark.parametrize(
    ("machine", "length", "levels", "base"),
    [
        (SHUTTLE, 14, 2, 4),
        (ZIGZAG, 30, 2, 6),
        (BOUNCER, 0, 3, 2),
        (BOUNCER, 3, 3, 2),
        (random_machine(12, 2, TapeKind.TWO_WAY), 2, 2, 4),
    ],
)
def test_the_claims_hold_at_every_token(
    machine: TuringMachine, length: int, levels: int, base: int
) -> None:
    checker, run = checker_of(machine, length, levels, base)
    for _ in range(1500):
        run.advance()
        assert checker.see(run.window()) == ()
    if machine.tapes == 1:
        assert set(checker.checked) == ALL


def test_one_level_has_only_claim_e() -> None:
    checker, run = checker_of(BOUNCER, 1, 1, 4)
    for _ in range(300):
        run.advance()
        assert checker.see(run.window()) == ()
    assert set(checker.checked) == {"(e)"}


def test_a_lost_symbol_breaks_claim_e() -> None:
    checker, run = checker_of(SHUTTLE, 14, 2, 4)
    place = [queue.name for queue in run.machine.queues].index("tape1.left/L1")

    def without(token: Token) -> Token:
        return (*token[:place], token[place].replace("a", "."), *token[place + 1 :])

    for _ in range(400):
        run.advance()
        assert checker.see(run.window()) == ()
    told = {str(f) for f in checker.see([without(token) for token in run.window()])}
    assert any("claim (e) fails at tape1.left" in text for text in told)
