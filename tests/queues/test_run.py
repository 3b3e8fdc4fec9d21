from __future__ import annotations

from collections import deque
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tapeformer.queues
from tapeformer.circuit import checked
from tapeformer.faults import TapeformerError
from tapeformer.layout import Layout
from tapeformer.queues.record import QueueMachine, Token
from tapeformer.queues.run import QueueRun, factor_names, generate, prompt
from tapeformer.queues.table import QueueTable, load_table

EXAMPLES = Path(tapeformer.queues.__file__).parent / "examples"
TABLES = {path.stem: load_table(path) for path in sorted(EXAMPLES.glob("*.yaml"))}


def literal_queues(table: QueueTable, word: str, steps: int) -> list[Token]:
    """The model as the paper states it: K deques; every step pops one symbol of each and appends one."""
    machine, step = table.machine, checked(table.machine.step)
    lengths = table.layout.lengths
    queues = [deque([q.blank] * lengths[q.length_rule]) for q in machine.queues]
    tokens = list(prompt(machine, word))
    for token in tokens:
        for queue, symbol in zip(queues, token, strict=False):
            queue.popleft()
            queue.append(symbol)
    registers = tokens[-1][len(queues) : -1]
    for place in range(len(tokens) + 1, len(tokens) + steps + 1):
        values = step((*(queue.popleft() for queue in queues), *registers))
        for queue, symbol in zip(queues, values, strict=False):
            queue.append(symbol)
        registers = values[len(queues) :]
        tokens.append((*values, str(place % 2)))
    return tokens


@pytest.mark.parametrize("name", TABLES)
@given(word=st.text("ab", max_size=5))
def test_the_window_of_tokens_is_the_queues(name: str, word: str) -> None:
    table = TABLES[name]
    word = word if table.machine.prompt_symbols else ""
    run = QueueRun(table.machine, table.layout, word)
    tokens = list(prompt(table.machine, word)) + [run.advance() for _ in range(70)]
    assert tokens == literal_queues(table, word, 70)
    assert list(run.window()) == tokens[-table.layout.window :]


@given(word=st.text("ab", max_size=12))
def test_balanced_words(word: str) -> None:
    table = TABLES["balanced"]
    last = list(generate(table.machine, table.layout, word))[-1]
    verdict = last[factor_names(table.machine).index("verdict")]
    assert verdict == ("accept" if word.count("a") == word.count("b") else "reject")


def test_echo_hears_the_word_again() -> None:
    table = TABLES["echo"]
    *_, last = generate(table.machine, table.layout, "abb")
    heard = dict(zip(factor_names(table.machine), last, strict=True))
    assert (heard["verdict"], heard["short"]) == ("halt", "$")


def test_meeting_takes_the_least_common_multiple() -> None:
    table = TABLES["meeting"]
    assert len(list(generate(table.machine, table.layout, ""))) == 61


def test_after_the_verdict_the_queues_turn_on_unchanged() -> None:
    table = TABLES["balanced"]
    run = QueueRun(table.machine, table.layout, "ab")
    tokens = [run.advance() for _ in range(200)]
    period = table.layout.lengths["ring"]
    assert [t[:1] for t in tokens[-period:]] == [t[:1] for t in tokens[-2 * period : -period]]
    assert {t[1] for t in tokens[-period:]} == {"accept"}


def test_a_symbol_that_cannot_be_prompted_is_refused() -> None:
    with pytest.raises(TapeformerError, match="'c' is not in the alphabet of 'balanced'"):
        prompt(TABLES["balanced"].machine, "abc")


def read_by_parity(machine: QueueMachine, layout: Layout, tokens: list[Token]) -> list[str]:
    """Appendix B's front of each queue: attend s - 1 back, or to yourself; equal parity is blank."""
    last = tokens[-1]
    fronts = []
    for index, queue in enumerate(machine.queues):
        length = layout.lengths[queue.length_rule]
        seen = tokens[-length] if length <= len(tokens) else last
        fronts.append(queue.blank if seen[-1] == last[-1] else seen[index])
    return fronts


def parity_errors(table: QueueTable, layout: Layout) -> int:
    run = QueueRun(table.machine, layout, "ab" if table.machine.prompt_symbols else "")
    tokens = list(run.window())
    errors = 0
    for _ in range(60):
        errors += read_by_parity(table.machine, layout, tokens) != list(run.fronts())
        tokens.append(run.advance())
    return errors


@pytest.mark.parametrize("name", TABLES)
def test_parity_tells_what_was_never_written_for_even_lengths_only(name: str) -> None:
    table = TABLES[name]
    longer = {rule: length + 1 for rule, length in table.layout.lengths.items()}
    odd = Layout("table", 1, 2, longer, capacity=1)
    assert parity_errors(table, table.layout) == 0
    assert parity_errors(table, odd) > 0
