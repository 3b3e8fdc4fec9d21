"""Making the traces of an experiment: training words up to a length, test words of some lengths."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

import numpy as np

from tapeformer.bundle.record import Bundle
from tapeformer.compile.options import CompileOptions
from tapeformer.export.dataset.traces import Tracer
from tapeformer.export.dataset.words import Drawn, Word, letters_of
from tapeformer.inference.model import find_model
from tapeformer.learning.config import DataConfig
from tapeformer.learning.fields import CELL, CLOCK, Factor
from tapeformer.learning.traces import ABOUT, TraceSet

MOST_STEPS = 10**9


def prepare(config: DataConfig, folder: Path, watch: Callable[[str], None] | None = None) -> None:
    """Write training and test traces of a configuration; files that are there are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    told = watch or (lambda _text: None)
    sets = {"train": (config.levels, _training_words(config))}
    for length in config.test:
        sets[f"test-{length}"] = config.levels_for(length), _test_words(config, length)
    for name, (levels, words) in sets.items():
        path = folder / f"{name}.npz"
        if not path.exists():
            traces = _traces(config, levels, words)
            traces.save(path)
            told(f"{path.name}: {traces.predicted:,} tokens to predict")
    about = {"data": config.record(), "sha256": {n: digest(folder / f"{n}.npz") for n in sets}}
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def digest(path: Path) -> str:
    """Return SHA-256 of a file, in hexadecimal."""
    return sha256(path.read_bytes()).hexdigest()


def _training_words(config: DataConfig) -> Iterable[Word]:
    alphabet = letters_of(find_model(config.machine).machine)
    return Drawn(alphabet, config.count, 0, config.train_up_to, config.seed, config.mirrored)


def _test_words(config: DataConfig, length: int) -> Iterable[Word]:
    """Words of one length; those for training are shorter, or drawn with another seed."""
    alphabet = letters_of(find_model(config.machine).machine)
    share = 1.0 if config.mirrored else 0.0
    return Drawn(alphabet, config.test_words, length, length, config.seed + 1, share)


def _traces(config: DataConfig, levels: int, words: Iterable[Word]) -> TraceSet:
    bundle = find_model(config.machine, CompileOptions(levels=levels)).for_words(0)
    tracer = Tracer(bundle, config.max_steps or MOST_STEPS)
    made = [tracer.trace(word) for word in words]
    lengths = [len(trace.tokens) for trace in made]
    return TraceSet(
        factors=_factors(bundle),
        levels=levels,
        tokens=np.concatenate([trace.tokens for trace in made]).astype(np.uint8),
        starts=np.cumsum([0, *lengths[:-1]]),
        prompts=np.array([trace.prompt_length for trace in made]),
        letters=np.array([len(trace.word) for trace in made]),
    )


def _factors(bundle: Bundle) -> tuple[Factor, ...]:
    """Name the factors, and for those in a queue say how far back its front is."""
    lengths = bundle.layout.lengths
    factors = []
    for factor in bundle.weights.factors:
        found = CELL.fullmatch(factor.name) or CLOCK.fullmatch(factor.name)
        kind = found["kind"] if found else None
        rule = f"{kind}{found['level']}" if found and kind in ("main", "delay") else None
        back = None if rule is None else lengths.get(rule, 1) - 1
        factors.append(Factor(factor.name, len(factor.values), back))
    return tuple(factors)
