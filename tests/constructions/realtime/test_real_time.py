"""One token a step in base 2, worst case; the boot's length; what is full and what is only late."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2

import pytest

from tapeformer import gallery_machine, gallery_names, simulate
from tapeformer.constructions.realtime.decode import Window
from tapeformer.constructions.realtime.layout import fewest_levels
from tapeformer.constructions.realtime.names import Stack
from tapeformer.layout import Layout
from tapeformer.machine.record import TapeKind, TuringMachine
from tapeformer.queues.run import QueueRun, factor_names
from tests.constructions.follow import follow
from tests.constructions.machines import LEFT_RUNNER, RUNNER, one_tape, random_machine
from tests.constructions.realtime.workloads import (
    REALTIME,
    excursions,
    random_case,
    sweeper,
    zigzag,
)

SHORT = 200


def tokens_and_steps(
    machine: TuringMachine, word: Sequence[str], layout: Layout, most: int
) -> tuple[int, int, int, str]:
    """Tokens before the first step, tokens from it on, steps, and the verdict."""
    run = QueueRun(REALTIME.queue_machine(machine, layout.levels), layout, word)
    names = factor_names(run.machine)
    stepped, verdict = names.index("stepped"), names.index("verdict")
    boot, after, steps = 0, 0, 0
    while steps < most:
        token = run.advance()
        steps += token[stepped] == "1"
        boot, after = (boot, after + 1) if steps else (boot + 1, after)
        if token[verdict] != "run":
            return boot, after, steps, token[verdict]
    return boot, after, steps, "run"


def longest_boot(length: int) -> int:
    return int(2 ** ceil(log2(length + 2))) + length + 4


@pytest.mark.parametrize("name", gallery_names())
def test_one_token_a_step_on_the_gallery(name: str) -> None:
    """Every configuration, the verdict, and the tokens: as many as steps after the boot."""
    machine = gallery_machine(name)
    small = [case.word for case in machine.cases if 0 < (case.steps or 0) <= SHORT][:1]
    for word in [*small, *(case.word for case in machine.cases[: 1 - len(small)])]:
        layout = REALTIME.layout(machine, max(4, fewest_levels(len(word))))
        ended = follow("realtime", machine, word, layout, steps=SHORT)
        result = simulate(machine, word, max_steps=SHORT)
        assert ended.verdict in (result.outcome.value, "run", "out_of_space")
        assert ended.steps == result.steps or ended.verdict == "out_of_space"
        assert ended.tokens - ended.steps <= longest_boot(len(word))


@pytest.mark.parametrize("seed", range(2000, 2020))
def test_one_token_a_step_on_random_machines(seed: int) -> None:
    case = random_case(seed)
    layout = REALTIME.layout(case.machine, max(6, fewest_levels(len(case.word))))
    boot, after, steps, verdict = tokens_and_steps(case.machine, case.word, layout, 250)
    assert after - steps == (verdict == "out_of_space" and steps > 0)
    assert boot <= longest_boot(len(case.word)) + (verdict == "out_of_space")


@pytest.mark.parametrize(
    "machine",
    [sweeper(TapeKind.TWO_WAY), excursions(1), zigzag(3, 1), zigzag(9, 8), zigzag(40, 33)],
    ids=lambda machine: machine.name,
)
def test_one_token_a_step_on_long_runs(machine: TuringMachine) -> None:
    _, after, steps, _ = tokens_and_steps(machine, (), REALTIME.layout(machine, 8), 4000)
    assert after == steps == 4000


def test_the_boot_takes_as_long_as_stated() -> None:
    machine = one_tape("step", "q a a R q", "q _ _ R q")
    for length in (0, 1, 2, 3, 5, 6, 7, 13, 14, 15, 30, 31):
        layout = REALTIME.layout(machine, fewest_levels(length))
        boot, *_ = tokens_and_steps(machine, ("a",) * length, layout, 1)
        assert boot == 2 ** ceil(log2(length + 2)) + length + (length == 0)


@pytest.mark.parametrize(("levels", "base"), [(2, 2), (4, 2), (6, 2), (2, 4), (3, 4), (2, 6)])
@pytest.mark.parametrize("machine", [RUNNER, LEFT_RUNNER], ids=lambda machine: machine.name)
def test_out_of_space_loses_nothing(machine: TuringMachine, levels: int, base: int) -> None:
    layout = REALTIME.layout(machine, levels, base)
    built = REALTIME.queue_machine(machine, levels)
    ended = follow("realtime", machine, (), layout, steps=10**6, built=built)
    assert ended.verdict == "out_of_space"
    assert ended.steps == layout.capacity
    assert layout.capacity == 5 * sum(base**i for i in range(levels + 1)) - 1
    assert layout.capacity >= 4 * base**levels


@pytest.mark.parametrize(("levels", "base"), [(2, 2), (3, 2), (2, 4)])
def test_sweeps_grow_until_the_capacity(levels: int, base: int) -> None:
    """Each stack is filled and drained again and again, to the last cell it can hold."""
    machine = one_tape(
        "end to end",
        *("# _ # R >", "> a b R >", "> b a R >", "> _ a L <", "< a b L <", "< b a L <"),
        "< # # R >",
    )
    layout = REALTIME.layout(machine, levels, base)
    ended = follow("realtime", machine, (), layout, steps=10**6)
    assert ended.verdict == "out_of_space"
    assert len(ended.decoded.tapes[0].content) == layout.capacity + 1
    assert base > 2 or ended.tokens - ended.steps == 4


@pytest.mark.parametrize("seed", range(3000, 3015))
@pytest.mark.parametrize(("levels", "base"), [(2, 2), (2, 4)])
def test_no_push_is_refused_below_capacity(seed: int, levels: int, base: int) -> None:
    machine = random_machine(seed, 1, TapeKind.TWO_WAY)
    layout = REALTIME.layout(machine, levels, base)
    run = QueueRun(REALTIME.queue_machine(machine, levels), layout, ())
    verdict = factor_names(run.machine).index("verdict")
    token = run.advance()
    for _ in range(600):
        if token[verdict] == "run":
            token = run.advance()
    if token[verdict] == "out_of_space":
        window = Window(run.machine.reading, layout, run.window())
        depths = [len(window.stack(Stack(1, side))) - 1 for side in ("left", "right")]
        assert max(depths) == layout.capacity
