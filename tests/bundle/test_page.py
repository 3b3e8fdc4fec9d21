"""The loader in `docs/bundle.md` gives the tokens of the engines, from the files alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapeformer.bundle.check import ENTRIES
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.registry import make_engine
from tapeformer.gallery import gallery_machine
from tapeformer.weights.parameters import parameters, with_parameters
from tapeformer.weights.record import Matrix
from tapeformer.weights.tokens import prompt_tokens

PAGE = Path(__file__).parent.parent.parent / "docs" / "bundle.md"
Generate = Callable[[Path, str, int], list[list[int]]]


def page_loader() -> Generate:
    """The function that the page's one block of Python defines."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(block.splitlines()) < 60
    names: dict[str, Any] = {}
    exec(compile(block, str(PAGE), "exec"), names)
    found: Generate = names["generate"]
    return found


MODELS = [
    ("palindrome", "abba", CompileOptions("realtime", levels=4), 40),
    ("palindrome", "ab", CompileOptions("realtime", levels=3, base=4, layers=5), 40),
    ("palindrome", "aba", CompileOptions("paper", levels=2, base=4, heads="queue", layers=3), 60),
    ("palindrome_two_tapes", "abba", CompileOptions("paper", levels=2, base=4), 40),
    ("palindrome", "abba", CompileOptions("post", space=6), 80),
    ("parity_of_ones", "101", CompileOptions("post", space=4, layer_norm=True), 40),
    ("busy_beaver_3", "", CompileOptions("realtime", levels=3), 30),
]


@pytest.mark.parametrize(
    ("name", "word", "options", "count"), MODELS, ids=lambda v: getattr(v, "construction", None)
)
def test_the_page_gives_the_tokens_of_the_engines(
    name: str, word: str, options: CompileOptions, count: int, tmp_path: Path
) -> None:
    bundle = compile_machine(gallery_machine(name), options)
    bundle.save(tmp_path / "bundle")
    found = page_loader()(tmp_path / "bundle", word, count)
    for engine in ("dense", "sparse"):
        stream = make_engine(engine, bundle.weights, bundle.offsets)
        stream.prompt(prompt_tokens(bundle.prompt, bundle.weights.factors, word))
        assert found == stream.advance(count).tolist()
    assert len({tuple(token) for token in found}) > 5


def test_keys_that_are_not_zero_and_biases_are_read_as_the_page_says(tmp_path: Path) -> None:
    bundle = compile_machine(gallery_machine("parity_of_ones"), CompileOptions("post", space=4))
    chance = np.random.default_rng(1)
    edited = with_parameters(
        bundle.weights,
        {
            part.path: _random(part.shape, chance)
            for part in parameters(bundle.weights)
            if part.path.endswith(("key", "query", "bias"))
        },
    )
    replace(bundle, weights=edited).save(tmp_path / "bundle")
    stream = make_engine("dense", edited, bundle.offsets)
    stream.prompt(prompt_tokens(bundle.prompt, edited.factors, "101"))
    assert page_loader()(tmp_path / "bundle", "101", 50) == stream.advance(50).tolist()


def _random(shape: tuple[int, ...], chance: np.random.Generator) -> Any:
    """A parameter of that shape with entries from -1 to 1."""
    full = chance.integers(-1, 2, size=shape).astype(np.int32)
    if len(shape) == 1:
        return full
    rows, columns = (places.astype(np.int32) for places in np.nonzero(full))
    return Matrix((shape[0], shape[1]), rows, columns, full[rows, columns])


def test_the_page_names_every_entry_and_every_tensor() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for entry in ENTRIES:
        assert f"`{entry}`" in text
    options = CompileOptions("realtime", levels=3, layers=2)
    model = compile_machine(gallery_machine("palindrome"), options)
    for parameter in parameters(model.weights):
        name = parameter.path
        for kind, letter in (("embedding", "F"), ("output", "F"), ("layer", "L"), ("head", "H")):
            name = re.sub(rf"{kind}\.\d+", f"{kind}.{letter}", name)
        name = re.sub(r"feed_forward\.\d+", "feed_forward.A", name)
        assert f"`{name}`" in text
