"""Queue machines written by hand: directly, factored, and to the letter of Appendix B."""

from __future__ import annotations

import pytest

import tapeformer as tf


@pytest.mark.parametrize(
    ("table", "word", "verdict"),
    [("balanced", "abba", "accept"), ("balanced", "aab", "reject"), ("echo", "ab", None)],
)
def test_both_transformers_make_the_tokens_of_the_direct_run(
    table: str, word: str, verdict: str | None
) -> None:
    run = tf.run_queue_table(table, word, engine="sparse", max_tokens=200)
    assert run.transformer_agrees
    assert run.literal_agrees
    assert verdict in (None, run.verdict)
