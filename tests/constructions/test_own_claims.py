"""The claims of `realtime` and `post`: they hold at every token, and broken windows break them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import pytest

from tapeformer.constructions import construction
from tapeformer.constructions.record import Claims
from tapeformer.gallery import gallery_machine
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.record import Token
from tapeformer.queues.run import QueueRun
from tests.constructions.machines import BOUNCER, SHUTTLE, STAYER, ZIGZAG


def followed(
    name: str, machine: TuringMachine, word: Sequence[str], levels: int | None, base: int
) -> tuple[Claims, QueueRun]:
    kind = construction(name)
    layout = kind.layout(machine, levels, base)
    built = kind.queue_machine(machine, layout.levels)
    assert kind.claims is not None
    return kind.claims(built.reading, layout, word), QueueRun(built, layout, word)


@pytest.mark.parametrize(
    ("name", "machine", "word", "levels", "base"),
    [
        ("realtime", SHUTTLE, ("a",) * 14, 5, 2),
        ("realtime", ZIGZAG, ("a",) * 6, 4, 2),
        ("realtime", BOUNCER, (), 3, 2),
        ("realtime", BOUNCER, ("a",), 3, 4),
        ("realtime", gallery_machine("binary_addition"), tuple("1011#10"), 5, 2),
        ("post", SHUTTLE, ("a",) * 14, None, 40),
        ("post", BOUNCER, (), None, 60),
        ("post", STAYER, (), None, 30),
        ("post", gallery_machine("palindrome_two_tapes"), tuple("abba"), None, 60),
    ],
)
def test_they_hold_at_every_token(
    name: str, machine: TuringMachine, word: Sequence[str], levels: int | None, base: int
) -> None:
    claims, run = followed(name, machine, word, levels, base)
    for _ in range(250):
        run.advance()
        assert claims.see(run.window()) == ()
    assert set(claims.names) == {claim for claim, count in claims.checked.items() if count}


def changed(run: QueueRun, factor: str, old: str, new: str) -> list[Token]:
    names = [*(q.name for q in run.machine.queues), *(r.name for r in run.machine.registers)]
    place = names.index(factor)
    return [
        (*token[:place], token[place].replace(old, new), *token[place + 1 :])
        for token in run.window()
    ]


def faults_of(claims: Claims, window: Sequence[Token]) -> str:
    return "\n".join(map(str, claims.see(window)))


def test_a_token_without_a_step_breaks_real_time() -> None:
    claims, run = followed("realtime", SHUTTLE, ("a",) * 6, 4, 2)
    for _ in range(40):
        run.advance()
        assert claims.see(run.window()) == ()
    run.advance()
    assert "claim real time fails" in faults_of(claims, changed(run, "stepped", "1", "0"))


def test_a_late_first_step_breaks_boot() -> None:
    claims, run = followed("realtime", SHUTTLE, ("a",) * 6, 4, 2)
    run.advance()
    found = ""
    while not found and len(run.window()) < 60:
        run.advance()
        found = faults_of(claims, run.window())
    assert "claim boot fails" in found


def test_exchanged_symbols_break_order() -> None:
    machine = gallery_machine("binary_addition")
    claims, run = followed("realtime", machine, tuple("1011#10"), 5, 2)
    for _ in range(26):
        run.advance()
        assert claims.see(run.window()) == ()
    run.advance()
    tracks = [q.name for q in run.machine.queues if "tape1.left" in q.name and "track" in q.name]
    broken = [name for name in tracks if changed(run, name, "1", "0") != list(run.window())]
    assert broken
    seen = 0
    for name in broken:
        found = faults_of(deepcopy(claims), changed(run, name, "1", "0"))
        seen += "claim order fails at tape1.left" in found
    assert seen


def test_a_second_head_breaks_the_queue() -> None:
    claims, run = followed("post", SHUTTLE, ("a",) * 14, None, 40)
    for _ in range(90):
        run.advance()
        assert claims.see(run.window()) == ()
    run.advance()
    window = list(run.window())
    place = [queue.name for queue in run.machine.queues].index("ring")
    marks = [token[place] for token in window]
    head = str(run.machine.reading["head"])
    other = next(n for n, cell in enumerate(marks) if head not in cell and cell.startswith("a"))
    token = window[other]
    window[other] = (*token[:place], token[place] + head, *token[place + 1 :])
    assert "claim head fails" in faults_of(claims, window)
