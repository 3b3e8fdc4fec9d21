"""Explanations come from the weights: a token computed again is the token, and breaking breaks it."""

from __future__ import annotations

from typing import Any

import pytest

from tapeformer.explorer.breaking import Break
from tapeformer.explorer.explanation import TokenView
from tapeformer.explorer.session import Session, broken_session
from tapeformer.faults import TapeformerError
from tests.explorer.test_recording import recorded


@pytest.fixture(scope="module")
def session() -> Session:
    return recorded("palindrome_two_tapes", "abba", {})


def view(session: Session, token: int) -> TokenView:
    assert session.recording is not None
    return TokenView(session.recording, token)


@pytest.mark.parametrize(
    ("name", "word", "options"),
    [
        ("palindrome_two_tapes", "abba", {}),
        ("busy_beaver_4", "", {"levels": 4}),
        ("palindrome", "ab", {"construction": "paper", "levels": 2, "layers": 2}),
    ],
)
def test_a_token_computed_again_is_the_token(name: str, word: str, options: dict[str, Any]) -> None:
    recording = recorded(name, word, options, 60).recording
    assert recording is not None
    for token in range(recording.progress.prompt, recording.progress.tokens):
        again = TokenView(recording, token).computed.token
        assert again == tuple(recording.rows(token, token + 1)[0].tolist())


def test_a_field_names_its_head_and_the_neurons_that_wrote_it(session: Session) -> None:
    assert session.recording is not None
    last = session.recording.progress.tokens - 1
    state = view(session, last).field("state")
    assert (state["value"], state["head"]) == ("accept", None)
    [neuron] = state["neurons"]
    assert neuron["rules"]["rules"][0]["line"] == 29
    told = view(session, last).neuron(neuron["number"])
    assert told["activation"] == 1
    assert told["bias"] + sum(t["weight"] * t["value"] for t in told["terms"]) == 1
    cell = view(session, last).field("tape1.left/main3.track0")
    assert cell["back"] == 3


def test_scores_are_dense_and_highest_at_the_look_back(session: Session) -> None:
    shown = view(session, 25).attention(1, 6)
    assert [25 - 6 + row - attended for row, attended in enumerate(shown["attended"])] == [3] * 6
    assert max(shown["scores"][-1]) == 2


def test_what_cannot_be_explained_is_refused(session: Session) -> None:
    with pytest.raises(TapeformerError, match="did not make this token"):
        view(session, 0)
    with pytest.raises(TapeformerError, match="no such field"):
        view(session, 20).field("nothing")


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        (Break("head", 0), True),
        (Break("head", 2), True),
        (Break("window", 4), True),
        (Break("window", 8), False),
        (Break("precision", 2), True),
        (Break("precision", 3), False),
    ],
)
def test_breaking_shows_the_first_wrong_token(session: Session, asked: Break, wrong: bool) -> None:
    broken = broken_session(session, asked)
    broken.record()
    told = broken.describe()["broken"]
    assert (told["token"] is not None) is wrong
    assert session.recording is not None
    if wrong:
        assert broken.recording is not None
        at = told["token"]
        rows = [s.recording.rows(at, at + 1) for s in (session, broken) if s.recording]
        assert (rows[0] != rows[1]).any()
        before = [s.recording.rows(0, at) for s in (session, broken) if s.recording]
        assert (before[0] == before[1]).all()


def test_a_flipped_weight_is_seen(session: Session) -> None:
    assert session.recording is not None
    last = session.recording.progress.tokens - 1
    number = view(session, last).field("state")["neurons"][0]["number"]
    broken = broken_session(session, Break("weight", number))
    broken.record()
    told = broken.describe()["broken"]
    assert told["token"] == last
    assert {name for name, _, _ in told["fields"]} & {"state", "verdict"}
