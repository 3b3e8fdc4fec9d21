"""Recordings hold every token, and the page reads the same tapes from them as the decoder does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from tapeformer.compile.options import CompileOptions
from tapeformer.explorer.export import exported
from tapeformer.explorer.open import opened_session
from tapeformer.explorer.requests import session_from
from tapeformer.explorer.session import Session
from tapeformer.explorer.truth import EVERY, Truth
from tapeformer.gallery import gallery_machine
from tapeformer.inference.run import run
from tapeformer.simulator.outcome import Outcome
from tapeformer.simulator.stepwise import configurations

CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "two tapes": ("palindrome_two_tapes", "abbabbaabba", {}),
    "growing": ("busy_beaver_4", "", {}),
    "coded alphabet": ("countdown_digits", "9071", {}),
    "three tapes": ("binary_addition", "1011#10", {}),
    "base 4": ("palindrome", "abba", {"base": 4, "levels": 3}),
    "two steps a token": ("palindrome", "abbaabba", {"steps_per_token": 2}),
    "paper": ("palindrome", "abba", {"construction": "paper", "levels": 2}),
    "post": ("palindrome", "abba", {"construction": "post"}),
}


def recorded(name: str, word: str, options: dict[str, Any], most: int | None = None) -> Session:
    session = opened_session(name, word, CompileOptions(**options), max_tokens=most)
    session.record()
    assert session.faults == []
    return session


@pytest.mark.parametrize("case", CASES)
def test_every_token_is_kept_and_agrees(case: str) -> None:
    name, word, options = CASES[case]
    recording = recorded(name, word, options).recording
    assert recording is not None
    pieces: list[Any] = []
    answer = run(name, word, see=lambda rows, _: pieces.extend(rows), **options)
    progress = recording.progress
    assert progress.tokens == progress.prompt + answer.cot_tokens == recording.slices()[-1].stop
    assert (progress.steps, progress.outcome) == (answer.steps, answer.outcome)
    assert progress.difference is None
    first = recording.parts[-1].start or progress.prompt
    kept = recording.rows(first, progress.tokens)
    assert np.array_equal(kept, pieces[first - progress.prompt :])


def test_a_long_run_is_kept_in_slices() -> None:
    recording = recorded("binary_counter", "0" * 9, {}, 9000).recording
    assert recording is not None
    ends = [(part.start, part.stop) for part in recording.slices()]
    assert (
        [start for start, _ in ends] == [0, *(stop for _, stop in ends[:-1])] == recording.starts()
    )
    assert recording.progress.outcome is Outcome.HALT
    wanted = Truth(recording.machine, recording.word).moment(recording.slices()[-1].steps)
    assert recording.slices()[-1].truth == wanted


def test_the_truth_is_the_direct_simulation() -> None:
    machine = gallery_machine("binary_counter")
    word = tuple("0" * 10)
    truth = Truth(machine, word)
    for step, wanted in enumerate(configurations(machine, word)):
        if step in (0, 1, EVERY - 1, EVERY, EVERY + 1, 3000):
            [tape] = truth.moment(step).tapes
            assert (tape.cells, tape.head - tape.first) == (
                wanted.tapes[0].content,
                wanted.tapes[0].head,
            )


def options_of(case: str) -> dict[str, Any]:
    return CASES[case][2]


TAPES_IN_PAGE = """async () => {
  const { state, go } = explorer, found = [];
  for (let t = state.run.prompt; t <= state.run.last; t++) {
    await go(t, true);
    if (!state.reading.settled(t)) { found.push(null); continue; }
    found.push([...Array(state.run.machine.tapes).keys()].map((i) => {
      const { left, head, right } = state.reading.tape(t, i + 1, 100000);
      const text = (cell) => state.run.texts[cell.id];
      return [left.map(text).reverse(), text(head), right.map(text)];
    }));
  }
  return found;
}"""


@pytest.mark.parametrize("case", CASES)
def test_the_page_reads_what_the_decoder_reads(case: str, page: Page, tmp_path: Path) -> None:
    session = recorded(*CASES[case])
    recording = session.recording
    assert recording is not None
    file = tmp_path / "run.html"
    file.write_text(exported(session), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready]", state="attached", timeout=20_000)
    found = page.evaluate(TAPES_IN_PAGE)
    each = options_of(case).get("steps_per_token", 1)
    assert sum(tapes is not None for tapes in found) >= recording.progress.steps // each
    for number, tapes in enumerate(found):
        token = recording.progress.prompt + number
        if tapes is None or not _whole(session, token):
            continue
        decoded = recording.part_at(token).reader.configuration(_window(session, token))
        for (left, head, right), wanted in zip(tapes, decoded.tapes, strict=True):
            cells = [*left, head, *right]
            filled = [at for at, cell in enumerate(cells) if cell != recording.machine.blank]
            content = cells[filled[0] : filled[-1] + 1] if filled else []
            assert tuple(content) == wanted.content, token
            assert not filled or len(left) - filled[0] == wanted.head, token


def _window(session: Session, token: int) -> Any:
    recording = session.recording
    assert recording is not None
    start = max(0, token + 1 - recording.part_at(token).bundle.window)
    return recording.rows(start, token + 1)


def _whole(session: Session, token: int) -> bool:
    """Whether the window of a token lies in one model, so that the decoder can read it as it is."""
    recording = session.recording
    assert recording is not None
    part = recording.part_at(token)
    return part.start == 0 or token + 1 - part.bundle.window >= part.start


def test_one_queue_with_several_tapes_is_not_drawn() -> None:
    asked = {"gallery": "palindrome_two_tapes", "word": "abba", "construction": "post"}
    session = session_from(asked)
    session.record()
    assert "one queue with one tape" in session.faults[0]["what"]
