"""A run makes the tokens that count, and no others: margins are those of the answer."""

from __future__ import annotations

import numpy as np
import pytest

from tapeformer import CompileOptions, TapeformerError, compile_machine, run, stream
from tapeformer.engines.registry import STREAM_ENGINES
from tapeformer.gallery import gallery_machine
from tapeformer.inference.generation import Generation, generate
from tapeformer.inference.limits import Limits
from tapeformer.simulator.outcome import Outcome

BUNDLE = compile_machine(gallery_machine("palindrome"), CompileOptions(levels=4))


@pytest.mark.parametrize("engine", STREAM_ENGINES)
def test_no_token_is_made_after_the_verdict(engine: str) -> None:
    run = Generation(BUNDLE, tuple("abba"), engine)
    shown = np.concatenate(list(run.pieces(Limits(10**9, None))))
    assert run.outcome is Outcome.ACCEPT
    assert len(shown) == run.counts.tokens
    assert run.engine.last_token() == tuple(shown[-1].tolist())


def test_hidden_pieces_last_as_long_as_watching_allows() -> None:
    bundle = compile_machine(gallery_machine("busy_beaver_5"), CompileOptions(levels=8))
    told: list[int] = []

    def watch(tokens: int) -> bool:
        told.append(tokens)
        return tokens < 3_000_000

    answer = generate(bundle, (), engine="native", max_steps=400_000, watch=watch)
    assert answer.steps == 400_000
    assert len(told) > 5
    assert told == sorted(told)


def test_streamed_tokens_say_their_step_and_the_verdict() -> None:
    first, *_, last = stream(BUNDLE, "abba")
    assert repr(first) == "<StreamedToken 1: step 0>"
    assert repr(last) == f"<StreamedToken {last.number}: step {last.steps}, accept>"


def test_one_input_is_no_work_for_a_gpu() -> None:
    with pytest.raises(TapeformerError, match=r"runs batches only.*engine='native'"):
        run(BUNDLE, "abba", engine="gpu")
