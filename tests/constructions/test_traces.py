"""Every configuration of every run equals the direct simulation's."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapeformer.constructions import construction
from tapeformer.constructions.paper.decode import Window
from tapeformer.constructions.paper.fields import Stack
from tapeformer.faults import TapeformerError
from tapeformer.machine.record import AcceptOn, Move, Rule, TapeKind, TuringMachine
from tapeformer.queues.run import QueueRun, factor_names
from tapeformer.queues.verify import verify, verify_layout
from tests.constructions.follow import follow
from tests.constructions.machines import (
    BOUNCER,
    LEFT_RUNNER,
    RUNNER,
    SHUTTLE,
    letters,
    one_tape,
    random_machine,
    random_word,
    stopping_machines,
)

SIZES = [(1, 2), (1, 4), (1, 6), (2, 2), (2, 4), (2, 6), (3, 2), (3, 4)]


def follow_random(seed: int, steps: int, *, slow: bool = False, every_token: bool = False) -> str:
    rng = Random(seed)
    kind, (levels, base) = rng.choice(list(TapeKind)), rng.choice(SIZES)
    machine = random_machine(seed, rng.randint(1, 3), kind)
    layout = construction("paper").layout(machine, levels, base)
    word = random_word(seed, machine, min(12, construction("paper").longest_word(layout)))
    ended = follow("paper", machine, word, layout, steps=steps, slow=slow, every_token=every_token)
    return ended.verdict


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6))
def test_random_machines_step_for_step(seed: int) -> None:
    follow_random(seed, 60)


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10**6))
def test_random_machines_at_every_token_with_every_promise_checked(seed: int) -> None:
    follow_random(seed, 15, slow=True, every_token=True)


@pytest.mark.slow
def test_500_random_machines() -> None:
    verdicts = {follow_random(seed, 300, every_token=seed % 5 == 0) for seed in range(500)}
    assert verdicts == {"run", "accept", "reject", "halt", "out_of_space"}


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6))
def test_random_machines_on_one_queue(seed: int) -> None:
    rng = Random(seed)
    machine = random_machine(seed, 1, rng.choice(list(TapeKind)))
    layout = construction("post").layout(machine, base=rng.choice((2, 4, 8, 20)))
    word = random_word(seed, machine, min(12, construction("post").longest_word(layout)))
    follow("post", machine, word, layout, steps=60, slow=seed % 5 == 0, every_token=True)


@pytest.mark.parametrize("machine", [SHUTTLE, BOUNCER], ids=lambda machine: machine.name)
@pytest.mark.parametrize(("levels", "base"), SIZES)
def test_workloads(machine: TuringMachine, levels: int, base: int) -> None:
    layout = construction("paper").layout(machine, levels, base)
    longest = construction("paper").longest_word(layout)
    word = letters(longest) if machine is SHUTTLE else ()
    follow("paper", machine, word, layout, steps=150)


@pytest.mark.parametrize(("levels", "base"), SIZES)
def test_every_length_of_input_is_loaded(levels: int, base: int) -> None:
    machine = one_tape("still", "q x x S q")
    layout = construction("paper").layout(machine, levels, base)
    longest = construction("paper").longest_word(layout)
    built = construction("paper").queue_machine(machine, levels)
    for length in sorted({*range(min(longest, 9) + 1), longest - 1, longest} - {-1}):
        word = ("a", "_", "_", "a", "a")[:length] + ("a",) * (length - 5)
        every = layout.window < 20
        ended = follow("paper", machine, word, layout, steps=1, every_token=every, built=built)
        assert (ended.verdict, ended.steps) == ("halt", 0)


@pytest.mark.parametrize("name", ["paper", "post"])
def test_symbols_that_look_like_the_machine_s_own(name: str) -> None:
    odd = (".", "$", "#", "^", ".^", "none", "a^^", "<", "*", "'", "two words")
    rules = [Rule("q", (s,), (t,), (Move.RIGHT,), "q") for s, t in pairwise(odd)]
    machine = TuringMachine("odd names", 1, " ", "q", tuple(rules), more_symbols=odd)
    layout = construction(name).layout(machine, space=14, levels=1)
    ended = follow(name, machine, odd, layout, steps=20, slow=True, every_token=True)
    assert (ended.verdict, ended.steps) == ("halt", len(odd) - 1)


@pytest.mark.parametrize("name", ["paper", "post"])
@pytest.mark.parametrize("accept_on", AcceptOn)
@pytest.mark.parametrize("no_rule_rejects", [False, True])
def test_every_way_to_stop(name: str, accept_on: AcceptOn, no_rule_rejects: bool) -> None:
    for machine in stopping_machines(accept_on, no_rule_rejects):
        layout = construction(name).layout(machine, space=4, levels=1)
        follow(name, machine, (), layout, steps=3, slow=True, every_token=True)


@pytest.mark.parametrize(("levels", "base"), SIZES)
@pytest.mark.parametrize("machine", [RUNNER, LEFT_RUNNER], ids=lambda machine: machine.name)
def test_out_of_space_loses_nothing(machine: TuringMachine, levels: int, base: int) -> None:
    layout = construction("paper").layout(machine, levels, base)
    ended = follow("paper", machine, (), layout, steps=10**6)
    assert ended.verdict == "out_of_space"
    assert ended.steps >= layout.capacity
    assert ended.steps == 2 * base**levels + sum(base**i for i in range(1, levels)) - 1


@pytest.mark.parametrize("name", ["paper", "post"])
def test_a_stopped_machine_stays_as_it_is(name: str) -> None:
    layout = construction(name).layout(RUNNER, levels=1, base=4)
    run = QueueRun(construction(name).queue_machine(RUNNER, 1), layout, ())
    verdict = factor_names(run.machine).index("verdict")
    while run.advance()[verdict] == "run":
        pass
    stopped = construction(name).decode(run.machine.reading, layout, run.window())
    for _ in range(50):
        token = run.advance()
        assert token[verdict] == "out_of_space"
        later = construction(name).decode(run.machine.reading, layout, run.window())
        assert (later.state, later.tapes) == (stopped.state, stopped.tapes)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6))
def test_no_push_is_refused_below_capacity(seed: int) -> None:
    machine = random_machine(seed, 1, TapeKind.TWO_WAY)
    layout = construction("paper").layout(machine, 2, 2)
    run = QueueRun(construction("paper").queue_machine(machine, 2), layout, ())
    verdict = factor_names(run.machine).index("verdict")
    token = run.advance()
    for _ in range(3000):
        if token[verdict] == "run":
            token = run.advance()
    if token[verdict] == "out_of_space":
        window = Window(run.machine.reading, layout, run.window())
        depths = [len(window.stack(Stack(1, side)).cells) - 1 for side in ("left", "right")]
        assert max(depths) >= layout.capacity


@pytest.mark.parametrize("tapes", [1, 2, 3])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_the_machine_is_legal_and_has_6kk_queues(tapes: int, levels: int) -> None:
    machine = random_machine(tapes, tapes, TapeKind.ONE_WAY)
    built = construction("paper").queue_machine(machine, levels)
    assert len(built.queues) == 6 * tapes * levels
    assert not verify(built)
    assert not verify_layout(built, construction("paper").layout(machine, levels, 4))


@pytest.mark.parametrize("name", ["paper", "post"])
def test_a_window_that_no_run_leaves_behind_is_told(name: str) -> None:
    layout = construction(name).layout(RUNNER, levels=1, base=4)
    run = QueueRun(construction(name).queue_machine(RUNNER, 1), layout, ())
    for _ in range(40):
        run.advance()
    broken = [
        tuple(value.replace("^", "").replace("*", "") for value in token) for token in run.window()
    ]
    with pytest.raises(TapeformerError, match="cannot be read"):
        construction(name).decode(run.machine.reading, layout, broken)
