"""Answers as columns are the same bytes as answers one by one."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import pytest

from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.formats.registry import OWN_FORMAT, loads
from tapeformer.gallery import gallery_machine
from tapeformer.inference.batch import recorder
from tapeformer.inference.batch.answer_lines import Lines, joined
from tapeformer.inference.batch.columns import AnswerColumns, ending
from tapeformer.inference.batch.recorder import Recorder
from tapeformer.inference.batch.runner import BatchModel, BatchOptions, BatchRunner
from tapeformer.machine.record import TuringMachine
from tapeformer.weights.parameters import with_sign_flipped

ODD = """
blank: ' '
start state: go
accept: [do"ne]
input symbols: ['"', '\\\\', "é", "ab", "\\t"]
table:
  go:
    ['"', '\\\\', "é", "ab", "\\t"]: R
    ' ': {L: 'do"ne'}
  do"ne: {}
"""

CASES: dict[str, tuple[TuringMachine, CompileOptions]] = {
    "realtime": (gallery_machine("binary_counter"), CompileOptions(levels=4)),
    "three tapes": (gallery_machine("binary_addition"), CompileOptions(levels=4)),
    "paper": (gallery_machine("palindrome"), CompileOptions("paper", levels=2, base=4)),
    "post": (gallery_machine("palindrome"), CompileOptions("post", base=12)),
    "odd names": (loads(ODD, "odd", OWN_FORMAT), CompileOptions(levels=4)),
    "two steps": (gallery_machine("palindrome"), CompileOptions(levels=4, steps_per_token=2)),
}


def words(machine: TuringMachine, count: int) -> list[tuple[str, ...]]:
    chance, symbols = random.Random(count), sorted(machine.word_symbols)
    return [tuple(chance.choices(symbols, k=chance.randrange(6))) for _ in range(count)]


def both(bundle: Bundle, machine: TuringMachine, options: BatchOptions) -> None:
    runner = BatchRunner(bundle, options)
    given = [word for word in words(machine, 40) if runner.encoder.fits(word)]
    expected = [ending(answer) for answer in runner.answers(given)]
    columns = AnswerColumns(runner.reader, runner.engine)
    found = [("", "")] * len(given)
    for block in chain.from_iterable(runner.blocks(runner.encoder.coded(given))):
        for number, line in zip(block.numbers.tolist(), columns.endings(block), strict=True):
            found[number] = line
    assert found == expected


@pytest.mark.parametrize("limits", [(10**6, 10**6), (3, 10**6), (10**6, 40), (0, 10**6)])
@pytest.mark.parametrize("name", CASES)
def test_the_same_bytes(name: str, limits: tuple[int, int]) -> None:
    machine, options = CASES[name]
    steps, tokens = limits
    both(compile_machine(machine, options), machine, BatchOptions("native", steps, tokens))


def test_edited_weights() -> None:
    machine, options = CASES["realtime"]
    bundle = compile_machine(machine, options)
    for entry in (0, 5, 50):
        weights = with_sign_flipped(bundle.weights, "layer.0.feed_forward.1.matrix", entry)
        both(replace(bundle, weights=weights), machine, BatchOptions("native", 60, 200))


def test_texts_and_words_are_read_alike() -> None:
    machine, options = CASES["odd names"]
    bundle = compile_machine(machine, options)
    texts = ["", '"\\é', "é\t", "ab", "aé", "x", "é" * 99, "\ud800", "\U0001f600é", "é ab", " é"]
    for spaced in (False, True):
        maker = Recorder(BatchModel(machine, bundle, BatchOptions(spaced=spaced)))
        alone = [maker.maker.line(text, ending(maker._alone(text))) for text in texts]
        lines = maker.lines(texts)
        assert [line.content.replace(b"native", b"sparse") for line in lines] == [
            line.content for line in alone
        ]
        assert joined(lines[:3]).content.count(b"\n") == 3


def test_equal_lines_are_answered_once_while_they_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "MOST_KEPT", 8)
    machine, options = CASES["realtime"]
    keeping = Recorder(BatchModel(machine, compile_machine(machine, options)))
    texts = [f"{number:b}" for number in range(12)]
    asked, found = list[str](), keeping._found

    def noted(new: Sequence[str]) -> Iterator[tuple[list[int], Lines]]:
        asked.extend(new)
        return found(new)

    monkeypatch.setattr(keeping, "_found", noted)

    def answers(start: int, end: int) -> list[str]:
        """Return which of some texts were answered anew."""
        asked.clear()
        lines = keeping.lines(texts[start:end])
        assert [json.loads(line.content)["input"] for line in lines] == texts[start:end]
        return asked[:]

    assert answers(0, 5) == texts[:5]
    assert answers(1, 8) == texts[5:8]
    assert answers(0, 8) == []
    assert answers(7, 12) == texts[7:12]
    assert answers(7, 12) == []
    assert len(keeping.kept) == 5
