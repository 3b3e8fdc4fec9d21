"""Making the traces of an experiment: training words up to a length, test words of some lengths."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from hashlib import file_digest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tapeformer.bundle.record import Bundle
from tapeformer.compile.options import CompileOptions
from tapeformer.export.dataset.traces import Tracer
from tapeformer.export.dataset.words import Drawn, Word, letters_of
from tapeformer.folders import write_text_at_once
from tapeformer.inference.model import find_model
from tapeformer.learning.config import DataConfig
from tapeformer.learning.far import save_far
from tapeformer.learning.fields import CELL, CLOCK, Factor
from tapeformer.learning.traces import (
    ABOUT,
    OTHERS,
    TRAIN,
    WALKS,
    TraceSet,
    part_name,
    test_name,
)
from tapeformer.learning.walks import wanderer
from tapeformer.learning.words import test_words, training_words

MOST_STEPS = 10**9
PART = 1 << 20
"""Tokens of a long trace that are kept in one file."""
Tell = Callable[[str], None]


def prepare(
    config: DataConfig, folder: Path, watch: Tell | None = None, longest: int | None = None
) -> None:
    """Write training traces, and test traces up to a length; sets that are there are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    told = watch or (lambda _text: None)
    far = {test_name(length) for length in config.test if length >= config.far}
    for name, make in _sets(config, longest).items():
        if not (folder / f"{name}.json").exists():
            write = partial(_write_far, told) if name in far else _write_parts
            told(f"{name}: {write(folder, name, make()):,} tokens to predict")
        about = {"data": config.record(), "sha256": _hashes(folder)}
        write_text_at_once(folder / ABOUT, json.dumps(about, indent=1) + "\n")


def _hashes(folder: Path) -> dict[str, str]:
    """Return the hashes of all sets that are there."""
    listed = [path for path in sorted(folder.glob("*.json")) if path.name != ABOUT]
    found: dict[str, str] = {}
    for path in listed:
        found |= json.loads(path.read_text(encoding="utf-8"))
    return found


def _sets(config: DataConfig, longest: int | None) -> dict[str, Callable[[], Iterable[TraceSet]]]:
    """Return how each set of traces is made, in parts."""
    sets: dict[str, Callable[[], Iterable[TraceSet]]] = {TRAIN: lambda: [_training_traces(config)]}
    if config.walks:
        sets[WALKS] = lambda: [_walks(config)]
    if config.others:
        sets[OTHERS] = partial(_others, config)
    for length in (n for n in config.test if longest is None or n <= longest):
        sets[test_name(length)] = partial(_test_parts, config, length)
    return sets


def _write_parts(folder: Path, name: str, parts: Iterable[TraceSet]) -> int:
    """Write the parts of a set, and once all are there their hashes; return its tokens to predict."""
    hashes, tokens = {}, 0
    for number, part in enumerate(parts):
        path = folder / part_name(name, number)
        part.save(path)
        tokens += part.predicted
        hashes[path.stem] = digest(path)
    write_text_at_once(folder / f"{name}.json", json.dumps(hashes, indent=1) + "\n")
    return tokens


def _write_far(watch: Tell, folder: Path, name: str, parts: Iterable[TraceSet]) -> int:
    """Write the situations of traces that are too long to keep; return their tokens to predict."""
    path = folder / part_name(name, 0)
    tokens = save_far(parts, path, watch)
    hashes = {path.stem: digest(path)}
    write_text_at_once(folder / f"{name}.json", json.dumps(hashes, indent=1) + "\n")
    return tokens


def digest(path: Path) -> str:
    """Return SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _alphabet(config: DataConfig) -> tuple[str, ...]:
    return letters_of(find_model(config.machine).machine)


def _bundle(config: DataConfig, levels: int) -> Bundle:
    return find_model(config.machine, CompileOptions(levels=levels)).for_words(0)


def _training_traces(config: DataConfig) -> TraceSet:
    bundle = _bundle(config, config.levels)
    tracer = Tracer(bundle, config.max_steps or MOST_STEPS)
    made = [tracer.trace(word) for word in training_words(config, _alphabet(config))]
    return TraceSet.of(
        factors_of(bundle),
        bundle.layout.levels,
        [trace.tokens.astype(np.uint8) for trace in made],
        [trace.prompt_length for trace in made],
        [len(trace.word) for trace in made],
    )


def _others(config: DataConfig) -> Iterator[TraceSet]:
    """Yield the traces of other machines, on words that are drawn like those of the machine."""
    for machine in config.others:
        yield _training_traces(replace(config, machine=machine))


def _walks(config: DataConfig) -> TraceSet:
    """Trace random machines with the symbols and tapes of the machine, a word each."""
    machine = find_model(config.machine).machine
    sets = []
    for number in range(config.walks):
        walker = wanderer(machine, config.walk_states, config.seed + number)
        bundle = find_model(walker, CompileOptions(levels=config.levels)).for_words(0)
        tracer = Tracer(bundle, config.walk_steps)
        alphabet = letters_of(walker)
        letters = config.walk_letters or config.train_up_to
        (word,) = Drawn(alphabet, 1, letters, letters, number)
        sets.append((factors_of(bundle), tracer.trace(word)))
    return TraceSet.of(
        sets[0][0],
        config.levels,
        [trace.tokens.astype(np.uint8) for _, trace in sets],
        [trace.prompt_length for _, trace in sets],
        [len(trace.word) for _, trace in sets],
    )


def _test_parts(config: DataConfig, length: int) -> Iterator[TraceSet]:
    """Yield the test traces of a length; a long one in parts, each with the window before it."""
    bundle = _bundle(config, config.levels_for(length))
    tracer = Tracer(bundle, config.test_steps or config.max_steps or MOST_STEPS)
    factors, levels = factors_of(bundle), bundle.layout.levels
    for word in test_words(config, _alphabet(config), length):
        for tokens, prompt in _parts(tracer, word):
            yield TraceSet.of(factors, levels, [tokens], [prompt], [length])


def _parts(tracer: Tracer, word: Word) -> Iterator[tuple[NDArray[np.uint8], int]]:
    """Yield tokens of one trace, and how many of them come before those to predict."""
    before = np.asarray(tracer.reader.prompt(word), np.uint8)
    made: list[NDArray[np.uint8]] = []
    for piece in tracer.pieces(word):
        made.append(piece.astype(np.uint8))
        if sum(map(len, made)) >= PART:
            tokens = np.concatenate([before, *made])
            yield tokens, len(before)
            before, made = tokens[-tracer.bundle.window :], []
    if made:
        yield np.concatenate([before, *made]), len(before)


def factors_of(bundle: Bundle) -> tuple[Factor, ...]:
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
