"""Appendix B to the letter, from a Turing machine to its answer: a flat vocabulary, d x d matrices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tapeformer as tf
from tapeformer.constructions import construction
from tapeformer.inference.batch.runner import BatchOptions, BatchRunner
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.queues.run import generate
from tapeformer.queues.tracks import reachable_tokens

SPACE = 12


def tokens(bundle: tf.Bundle, word: tuple[str, ...], engine: str = "sparse") -> list[object]:
    """Every generated token, as text by the factors that it is read by."""
    run = Generation(bundle, word, engine)
    rows = [row for piece in run.pieces(Limits()) for row in piece.tolist()]
    return [run.reader.words(row) for row in rows]


@pytest.mark.parametrize(
    ("name", "layers"), [("busy_beaver_2", 1), ("busy_beaver_2", 3), ("busy_beaver_3", 3)]
)
def test_every_token_is_the_factored_model_s(name: str, layers: int, tmp_path: Path) -> None:
    machine = tf.gallery_machine(name)
    options = tf.CompileOptions(construction="post", space=SPACE)
    factored = tf.compile_machine(machine, options)
    flat = replace(options, literal=True, layers=layers)
    tf.compile_machine(machine, flat).save(tmp_path / "model")
    literal = tf.load_bundle(tmp_path / "model")
    assert len(literal.weights.factors) == 1
    assert len(literal.weights.layers) == layers
    assert all(layer.mix.shape[0] == layer.mix.shape[1] for layer in literal.weights.layers)
    assert len(literal.weights.fields) >= len(literal.vocabulary)
    for word in ((), ("1", "1")):
        assert tokens(literal, word) == tokens(factored, word)
        answer, expected = tf.run(literal, word), tf.simulate(machine, word)
        assert (answer.steps, answer.tapes) == (expected.steps, expected.tapes)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["parity_of_ones", "binary_increment"])
def test_machines_with_an_input(name: str) -> None:
    machine = tf.gallery_machine(name)
    words = [case.word for case in machine.cases[:3]]
    reports = tf.verify(machine, *words, construction="post", literal=True, layers=3)
    assert all(report.agreed for report in reports)


def test_the_vocabulary_has_every_token_of_a_run_and_few_others() -> None:
    machine = tf.gallery_machine("busy_beaver_2")
    post = construction("post")
    made = post.queue_machine(machine, 1)
    assert post.tracks is not None
    known = reachable_tokens(made, post.tracks(machine))
    assert set(generate(made, post.layout(machine, space=SPACE), ())) <= set(known)
    assert len(known) < 6_000


def test_a_batch_of_a_flat_model_is_run_one_by_one() -> None:
    machine = tf.gallery_machine("busy_beaver_2")
    bundle = tf.compile_machine(machine, construction="post", space=SPACE, literal=True)
    answer = BatchRunner(bundle, BatchOptions()).answers([()])[0]
    assert not isinstance(answer, tf.TapeformerError)
    assert answer.tapes == tf.simulate(machine).tapes


def test_other_constructions_are_refused() -> None:
    with pytest.raises(tf.TapeformerError, match="one queue"):
        tf.compile_machine(tf.gallery_machine("busy_beaver_2"), literal=True)
    two_tapes = tf.gallery_machine("palindrome_two_tapes")
    with pytest.raises(tf.TapeformerError, match="one queue holds one"):
        tf.compile_machine(two_tapes, construction="post", space=9, literal=True)


def test_a_vocabulary_that_is_too_large_is_refused() -> None:
    with pytest.raises(tf.TapeformerError, match="too large"):
        tf.compile_machine(
            tf.gallery_machine("left_end"), construction="post", space=9, literal=True
        )
