"""One queue for several tapes: every configuration, at every token, and whole Transformers."""

from __future__ import annotations

from random import Random

import pytest

import tapeformer as tf
from tapeformer.constructions import construction
from tapeformer.machine.record import Move, Rule, TapeKind, TuringMachine
from tapeformer.queues.verify import verify, verify_layout
from tests.constructions.follow import MismatchError, cost, follow
from tests.constructions.machines import random_machine, random_word

POST = construction("post")


def moving(*moves: Move) -> TuringMachine:
    """Writes a on every tape and moves on for ever, each tape its own way."""
    tapes = len(moves)
    rule = Rule("q", ("_",) * tapes, ("a",) * tapes, moves, "q")
    return TuringMachine("moving", tapes, "_", "q", (rule,))


def follow_random(seed: int) -> str:
    rng = Random(seed)
    machine = random_machine(seed, rng.choice((2, 3)), rng.choice(list(TapeKind)))
    layout = POST.layout(machine, base=rng.choice((2, 4, 8, 20)))
    word = random_word(seed, machine, min(12, POST.longest_word(layout)))
    slow = seed % 5 == 0
    return follow("post", machine, word, layout, steps=60, slow=slow, every_token=True).verdict


def test_random_machines_at_every_token() -> None:
    verdicts = {follow_random(seed) for seed in range(30)}
    assert verdicts == {"run", "accept", "reject", "halt", "out_of_space"}


@pytest.mark.slow
def test_500_random_machines() -> None:
    for seed in range(500):
        follow_random(seed)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("palindrome_two_tapes", "abba"),
        ("palindrome_two_tapes", "ab"),
        ("binary_addition", "10#11"),
    ],
)
def test_a_whole_transformer_with_one_head(name: str, word: str) -> None:
    machine = tf.gallery_machine(name)
    bundle = tf.compile_machine(machine, construction="post", space=9)
    assert sum(len(layer.heads) for layer in bundle.weights.layers) == 1
    (report,) = tf.verify(machine, word, construction="post", space=9, claims=True)
    assert report.agreed
    answer, expected = tf.run(bundle, word), tf.simulate(machine, word)
    assert (answer.outcome, answer.steps) == (expected.outcome, expected.steps)
    assert answer.tapes == expected.tapes


@pytest.mark.parametrize("tapes", [2, 3])
def test_the_machine_is_legal_and_its_tracks_are_one_queue(tapes: int) -> None:
    machine = random_machine(tapes, tapes, TapeKind.ONE_WAY)
    built = POST.queue_machine(machine, 1)
    assert {(queue.length_rule, queue.in_column) for queue in built.queues} == {("ring", "ring")}
    assert not verify(built)
    assert not verify_layout(built, POST.layout(machine, base=4))


def test_a_step_is_a_turn_or_a_token() -> None:
    right = moving(Move.RIGHT, Move.RIGHT)
    layout = POST.layout(right, base=60)
    assert cost("post", right, (), layout, 40).per_step == pytest.approx(1, abs=0.05)
    left = moving(Move.LEFT, Move.LEFT)
    assert cost("post", left, (), layout, 20).per_step == pytest.approx(61, abs=4)


def test_out_of_space_takes_back_the_tapes_that_have_moved() -> None:
    """Six cells, two more a step: in the third step one tape has moved when the other cannot."""
    apart = moving(Move.RIGHT, Move.LEFT)
    ended = follow("post", apart, (), POST.layout(apart, base=4), steps=9, every_token=True)
    assert (ended.verdict, ended.steps) == ("out_of_space", 2)


def test_a_tape_that_forgets_that_it_has_acted_goes_wrong() -> None:
    def forgetting(token: dict[str, str]) -> dict[str, str]:
        return {**token, "done.1": "no"}

    apart = moving(Move.RIGHT, Move.LEFT)
    layout = POST.layout(apart, base=20)
    follow("post", apart, (), layout, steps=8)
    with pytest.raises(MismatchError):
        follow("post", apart, (), layout, steps=8, change=forgetting)
