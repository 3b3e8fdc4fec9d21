"""Each gap of the paper's Step I: what goes wrong without its repair, and that it is repaired.

`docs/gaps.md` tells the story of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log10, prod
from random import Random

import pytest

from tapeformer.circuit import compiled, size
from tapeformer.circuit.record import Literal
from tapeformer.constructions import construction
from tapeformer.constructions.paper import control as control_module
from tapeformer.faults import TapeformerError
from tapeformer.layout import Layout
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.record import Token
from tapeformer.queues.run import QueueRun, prompt
from tests.constructions.follow import Change, MismatchError, cost, follow
from tests.constructions.machines import BOUNCER, SHUTTLE, ZIGZAG, hoverer, letters
from tests.constructions.printed_stack import PrintedStack, Repairs


def errors(base: int, levels: int, repairs: Repairs, operations: int = 400) -> int:
    """How many pops of a random run on the printed stack give the wrong symbol."""
    rng, wrong = Random(7), 0
    stack = PrintedStack(base, levels, repairs)
    plain: list[str] = []
    for number in range(operations):
        if not plain or (rng.random() < 0.6 and len(plain) < base**levels):
            plain.append(f"s{number}")
            stack.push(plain[-1])
        else:
            wrong += stack.pop() != plain.pop()
    return wrong


def paper_layout(levels: int, base: int) -> Layout:
    return construction("paper").layout(SHUTTLE, levels, base)


def run_shuttle(
    layout: Layout, change: Change | None = None, machine: TuringMachine = SHUTTLE
) -> None:
    length = construction("paper").longest_word(layout) - 1
    word = letters(length) if machine is SHUTTLE else ("a",) * length
    follow("paper", machine, word, layout, steps=3 * len(word), change=change)


@pytest.mark.parametrize(("base", "levels"), [(2, 1), (2, 2), (2, 4), (4, 2), (4, 3), (6, 2)])
def test_the_repaired_algorithms_are_right(base: int, levels: int) -> None:
    assert errors(base, levels, Repairs()) == 0


def test_gap_1_push_must_move_the_left_half() -> None:
    assert errors(4, 2, Repairs(left_half=False)) > 0


def test_gap_2_the_buffer_must_be_one_block_shorter() -> None:
    assert errors(4, 2, Repairs(short_buffer=False)) > 0
    layout = paper_layout(2, 4)
    run_shuttle(layout)
    longer = {**layout.lengths, "buffer2": 2 * 4**2}
    with pytest.raises(MismatchError):
        run_shuttle(replace(layout, lengths=longer))


def test_gap_3_dummies_need_marks_too() -> None:
    def without_marks_on_dummies(token: dict[str, str]) -> dict[str, str]:
        return {name: "." if value == ".^" else value for name, value in token.items()}

    with pytest.raises((MismatchError, TapeformerError)):
        run_shuttle(paper_layout(2, 4), without_marks_on_dummies)


def test_gap_4_emptiness_must_be_known_without_rotating() -> None:
    def per_operation(base: int, repairs: Repairs) -> float:
        stack = PrintedStack(base, 4, repairs)
        for _ in range(20):
            for _ in range(2 * base):
                stack.push("a")
            for _ in range(2 * base):
                stack.pop()
        return stack.time / (80 * base) / base

    known, rotating = Repairs(), Repairs(emptiness_known=False)
    assert per_operation(8, known) < 1.2 * per_operation(4, known)
    assert per_operation(8, rotating) > 2 * per_operation(4, rotating)


@pytest.mark.parametrize("levels", [2, 3])
def test_gap_4_hovering_near_the_bottom_stays_cheap(levels: int) -> None:
    for base in (4, 8):
        machine = hoverer(2 * base)
        layout = construction("paper").layout(machine, levels, base)
        assert cost("paper", machine, (), layout, 20 * base).per_step <= 6 * levels * base


def test_gap_5_marks_appear_once_and_come_back_for_ever() -> None:
    layout = paper_layout(2, 4)
    run = QueueRun(construction("paper").queue_machine(SHUTTLE, 2), layout, "aaa")
    tokens = [*run.window(), *(run.advance() for _ in range(300))]
    names = [queue.name for queue in run.machine.queues]
    for level in (1, 2):
        place, period = names.index(f"tape1.left/L{level}"), layout.lengths[f"half{level}"]
        marked = [at for at, token in enumerate(tokens) if token[place].endswith("^")]
        assert marked == list(range(layout.lengths["half2"], len(tokens), period))


def test_gap_6_without_holes_the_last_block_is_misaligned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    word, layout = letters(6), paper_layout(2, 4)
    follow("paper", SHUTTLE, word, layout, steps=20)
    real = control_module._loading

    def without_holes(*arguments: object) -> tuple[Literal, Literal, Literal, Literal]:
        boot, _, load, loaded = real(*arguments)  # type: ignore[arg-type]
        return boot, arguments[0].false, load, loaded  # type: ignore[attr-defined]

    monkeypatch.setattr(control_module, "_loading", without_holes)
    with pytest.raises(MismatchError):
        follow("paper", SHUTTLE, word, layout, steps=20)


@pytest.mark.parametrize("change", [2, -2, 1, -1])
def test_gap_7_the_marker_queue_has_length_2b_minus_2(change: int) -> None:
    layout = paper_layout(1, 6)
    run_shuttle(layout)
    lengths = {**layout.lengths, "marker": layout.lengths["marker"] + change}
    with pytest.raises(MismatchError):
        run_shuttle(replace(layout, lengths=lengths))


def test_gap_9_the_flat_vocabulary_is_astronomical_and_the_circuit_is_not() -> None:
    machine = construction("paper").queue_machine(BOUNCER, 3)
    alphabets = [queue.alphabet for queue in machine.queues]
    alphabets += [register.alphabet for register in machine.registers]
    assert log10(prod(map(len, alphabets))) > 15
    assert size(machine.step).ands < 1000
    assert size(machine.step).depth <= 10


@pytest.mark.parametrize(("levels", "base"), [(1, 6), (2, 4), (3, 2)])
def test_gap_11_the_window_is_the_longest_queue_and_no_less(levels: int, base: int) -> None:
    layout = paper_layout(levels, base)
    space = base**levels - 2
    assert layout.window > space + 1
    word = letters(space)
    whole, short = (tokens_in_window(layout, word, layout.window - less) for less in (0, 1))
    run = QueueRun(construction("paper").queue_machine(SHUTTLE, levels), layout, word)
    tokens = [run.advance() for _ in range(len(whole))]
    assert whole == tokens
    assert short != tokens


def tokens_in_window(layout: Layout, word: Sequence[str], window: int) -> list[Token]:
    """A run in which only the last `window` tokens can be read; what lies before is blank."""
    machine = construction("paper").queue_machine(SHUTTLE, layout.levels)
    step, tokens = compiled(machine.step), list(prompt(machine, word))
    for _ in range(3000):
        kept = tokens[-window:]
        fronts = [
            kept[-length][index] if length <= len(kept) else queue.blank
            for index, queue in enumerate(machine.queues)
            for length in [layout.lengths[queue.length_rule]]
        ]
        values = step((*fronts, *tokens[-1][len(fronts) : -1]))
        tokens.append((*values, str((len(tokens) + 1) % 2)))
    return tokens[len(word) + 1 :]


def test_gap_12_each_level_adds_its_share_of_the_base() -> None:
    in_bases = []
    for levels, base in ((1, 8), (2, 8), (3, 8)):
        layout = paper_layout(levels, base)
        length = construction("paper").longest_word(layout)
        steps = 4 * length
        in_bases.append(cost("paper", SHUTTLE, ("a",) * length, layout, steps).per_step / base)
    assert in_bases[1] - in_bases[0] > 1
    assert in_bases[2] - in_bases[1] > 1


def test_gap_13_the_control_needs_the_half_bit() -> None:
    def without_half(token: dict[str, str]) -> dict[str, str]:
        return {**token, "half1": "0"}

    with pytest.raises(MismatchError):
        run_shuttle(paper_layout(1, 4), without_half, ZIGZAG)
