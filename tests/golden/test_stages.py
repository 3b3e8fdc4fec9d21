"""What each stage of the compiler makes of a tiny machine: as text, as legal, and as executed.

`pytest tests/golden --renew` writes the texts anew; read the difference before committing it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path

import pytest

from tapeformer import load, simulate
from tapeformer.circuit import checked as checked_circuit
from tapeformer.circuit import verify as verify_circuit
from tapeformer.compile.options import CompileOptions
from tapeformer.compile.passes import Compilation, compiled
from tapeformer.compile.stages import STAGES, show_stage
from tapeformer.constructions import construction
from tapeformer.layout import Layout
from tapeformer.queues.record import QueueMachine
from tapeformer.queues.run import generate
from tapeformer.queues.verify import verify, verify_layout
from tapeformer.weights.record import TransformerWeights
from tapeformer.weights.tokens import named, prompt_tokens
from tapeformer.weights.verify import verify as verify_weights
from tests.plain_transformer import generated

HERE = Path(__file__).parent
LIMIT = 60
"""Lines of each list in a golden text; its last line is a digest of all of them."""
OPTIONS = {
    "realtime": CompileOptions("realtime", levels=2, base=4),
    "paper": CompileOptions("paper", levels=1, base=4),
    "post": CompileOptions("post", space=4),
}
WORDS = ("", "aa")
ENOUGH = 100
"""Tokens after which a run has certainly gone wrong."""
Show = Callable[[Compilation, int | None], str]


@cache
def made(name: str) -> Compilation:
    return compiled(load(HERE / "erase.yaml"), OPTIONS[name])


def layout(work: Compilation) -> Layout:
    assert work.layout is not None
    return work.layout


def queues(work: Compilation) -> QueueMachine:
    assert work.queue_machine is not None
    return work.queue_machine


def weights(work: Compilation) -> TransformerWeights:
    assert work.weights is not None
    return work.weights


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", OPTIONS)
def test_the_text_of_a_stage(name: str, stage: str, renew: bool) -> None:
    whole = show_stage(made(name), stage)
    lines = len(whole.splitlines())
    digest = sha256(whole.encode()).hexdigest()[:16]
    text = (
        f"{show_stage(made(name), stage, LIMIT)}\n\nin full: {lines} lines, SHA-256 {digest}...\n"
    )
    file = HERE / f"{name}.{stage}.txt"
    if renew:
        file.write_text(text, encoding="utf-8")
    before = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    changes = difflib.unified_diff(before, text.splitlines(), "golden", "now", n=0, lineterm="")
    told = "\n".join(islice(changes, 40))
    assert not told, f"{file.name} differs; renew with --renew if it should\n{told}"


@pytest.mark.parametrize("name", OPTIONS)
def test_every_stage_is_legal(name: str) -> None:
    work = made(name)
    assert not verify(queues(work))
    assert not verify_layout(queues(work), layout(work))
    assert not verify_circuit(queues(work).step)
    assert not verify_weights(weights(work))


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("word", WORDS)
def test_the_slow_definitions_of_all_stages_agree(name: str, word: str) -> None:
    """The queue machine with every promise of its circuit checked, and the Transformer by formula."""
    work = made(name)
    machine, slow = queues(work), checked_circuit(queues(work).step)
    tokens = list(islice(generate(machine, layout(work), word, slow), ENOUGH))
    assert len(tokens) < ENOUGH
    assert tokens == list(islice(generate(machine, layout(work), word), ENOUGH))
    end = construction(name).decode(machine.reading, layout(work), tokens[-layout(work).window :])
    expected = simulate(work.machine, word)
    assert end.state == expected.state
    assert _by_formula(work, word, len(tokens)) == tokens


def _by_formula(work: Compilation, word: str, count: int) -> list[tuple[str, ...]]:
    """Return the tokens that the Transformer writes by the formulas of the paper, as names."""
    model, bundle = weights(work), work.bundle
    assert bundle is not None
    start = prompt_tokens(bundle.prompt, model.factors, word)
    tokens = generated(model, bundle.offsets, bundle.window, start, count)
    return [tuple(named(model.factors, token).values()) for token in tokens]
