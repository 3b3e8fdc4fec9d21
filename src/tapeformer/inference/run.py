"""`tf.run`: from a machine and a word to the answer of its Transformer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.arguments import check_called, watched
from tapeformer.bundle.record import Bundle
from tapeformer.inference.answer import Answer
from tapeformer.inference.checkpoint import Checkpoint
from tapeformer.inference.generation import Generation, finished
from tapeformer.inference.limits import Limits
from tapeformer.inference.model import (
    Model,
    Source,
    Word,
    find_model,
    most_tokens,
    symbols_of,
)
from tapeformer.inference.options import RunOptions, run_options
from tapeformer.inference.saved import Saved

Watch = Callable[[int], bool]
See = Callable[[NDArray[np.int32], Generation], None]


def run(
    machine: Source,
    word: Word = "",
    *,
    watch: Callable[[int], bool | None] | None = None,
    see: See | None = None,
    **options: Any,
) -> Answer:
    """Compile a machine if needed, generate the chain of thought of a word, decode the answer.

    `machine` is a gallery name, a file, busy-beaver text, a TuringMachine, a Bundle or a bundle's
    folder. Options are named as the command's: `construction`, `levels`, `base`, `space`, `heads`,
    `layers`, `layer_norm`, `steps_per_token`, `engine`, `dtype`, `attention`, `temperature`,
    `position`, `max_steps`, `max_tokens`, `spaced`, `allow_modified`, `checkpoint`. `watch` is told
    the number of tokens now and then and stops the run by returning False; `see` gets every piece
    of generated tokens.
    """
    check_called(see=see)
    goes_on, asked = watched(watch), run_options(options)
    model = find_model(machine, asked.compile, allow_modified=asked.allow_modified)
    return run_model(model, symbols_of(model, word, asked.spaced), asked, goes_on, see)


def run_model(
    model: Model,
    word: tuple[str, ...],
    options: RunOptions,
    watch: Watch | None = None,
    see: See | None = None,
) -> Answer:
    """Run a model that was found on a word that was read."""
    generation, checkpoint = started(model, word, options)
    limits = limits_for(generation, options)
    if checkpoint is None:
        return finished(generation, limits, watch, see)
    answer = finished(generation, limits, checkpoint.watching(generation, watch), see)
    checkpoint.end(generation)
    return answer


def started(
    model: Model, word: tuple[str, ...], options: RunOptions
) -> tuple[Generation, Checkpoint | None]:
    """Begin a run, or take it up again where its checkpoint left it."""
    checkpoint = None if options.checkpoint is None else Checkpoint(options.checkpoint, word)
    saved = None if checkpoint is None else checkpoint.load()
    bundle = _bundle(model, word, saved)
    generation = Generation(
        bundle, word, options.engine, variant=options.variant, grow=model.grow()
    )
    if checkpoint is not None:
        checkpoint.begin(generation, saved)
    return generation, checkpoint


def _bundle(model: Model, word: tuple[str, ...], saved: Saved | None) -> Bundle:
    """Return the model of the sizes asked for; where a run that grows has grown, that of its levels."""
    bundle = model.for_word(word)
    if saved is None or not saved.grows or model.grow() is None:
        return bundle
    if saved.base != bundle.layout.base or saved.levels <= bundle.layout.levels:
        return bundle
    return model.compiled(replace(model.options, levels=saved.levels, base=saved.base))


def limits_for(generation: Generation, options: RunOptions) -> Limits:
    """Return the limits asked for; edited or learned parameters get one on tokens even where none was."""
    if options.max_tokens is None:
        return Limits(options.max_steps, most_tokens(generation.reader.bundle))
    return options.limits
