"""`tf.run_batch` and `tf.run_batch_file`: many words through one model, in memory or between files."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tapeformer.arguments import bad_argument, watched
from tapeformer.bundle.record import Bundle
from tapeformer.faults import Fault, TapeformerError, described
from tapeformer.inference.batch.engine_choice import run_chosen
from tapeformer.inference.batch.files import LOCAL, Summary, run_file
from tapeformer.inference.batch.inputs import Inputs, opened
from tapeformer.inference.batch.runner import (
    MOST_TOKENS,
    BatchModel,
    BatchOptions,
    BatchRunner,
    Found,
)
from tapeformer.inference.model import Model, Source, Word, find_model, most_tokens, symbols_of
from tapeformer.inference.options import RunOptions, run_options
from tapeformer.workers import Where, where

LONG = 1 << 15
"""From so many symbols on, a line makes the model large, and all lines slow."""
log = logging.getLogger("tapeformer")

ENGINES = ("auto", "native", "gpu")


def run_batch(machine: Source, words: Iterable[Word], **options: Any) -> list[Found]:
    """Answer many words by one model, hundreds at a time as machine code; options as for `run`.

    An item is an `Answer`, or the `TapeformerError` of a word that does not fit.
    """
    asked, model = _asked(machine, options)
    given = [_symbols(model, word, asked.spaced) for word in _listed(words)]
    lengths = (len(word) for word in given if not isinstance(word, TapeformerError))
    bundle = model.for_words(max(lengths, default=0))
    runner = BatchRunner(bundle, batch_options(bundle, asked))
    answers = iter(runner.answers([w for w in given if not isinstance(w, TapeformerError)]))
    return [word if isinstance(word, TapeformerError) else next(answers) for word in given]


def run_batch_file(
    machine: Source,
    inputs: str | os.PathLike[str],
    answers: str | os.PathLike[str],
    *,
    watch: Callable[[int], bool | None] | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    **options: Any,
) -> Summary:
    """Answer every line of a file as JSON lines, in order; the same call resumes.

    Up to `jobs` processes do it, by default one for each core; with `cluster`, the address of a
    Dask scheduler, its workers. `watch` is told now and then how many lines are answered; False
    from it ends the work.
    """
    goes_on, place = watched(watch), where(jobs, cluster)
    asked, model = _asked(machine, options)
    source, target = path_of("inputs", inputs), path_of("answers", answers)
    with opened(source) as lines:
        return answer_lines(model, lines, target, asked, goes_on, place)


def answer_lines(
    model: Model,
    inputs: Inputs,
    answers: Path,
    options: RunOptions,
    watch: Callable[[int], bool] | None = None,
    place: Where = LOCAL,
) -> Summary:
    """Answer these lines; `watch` is told now and then how many are answered."""
    longest = _longest(model, inputs, options.spaced)
    bundle = model.for_words(longest)
    if longest > LONG:
        levels = bundle.layout.levels
        log.info("the longest line has %s symbols: the model has %s levels", longest, levels)
    batch = BatchModel(model.machine, bundle, batch_options(bundle, options))
    run = run_chosen if options.engine == "auto" else run_file
    return run(batch, inputs, answers, where=place, watch=watch)


def _longest(model: Model, inputs: Inputs, spaced: bool) -> int:
    """Return the length of the longest line that is a word of the machine's alphabet."""
    symbols, longest = frozenset(model.machine.word_symbols), 0
    for line in inputs:
        word = line.split() if spaced else line
        if len(word) > longest and symbols.issuperset(word):
            longest = len(word)
    return longest


def batch_options(bundle: Bundle, options: RunOptions) -> BatchOptions:
    """Return the options of a batch; edited or learned parameters always get a limit of tokens."""
    most = options.max_tokens or most_tokens(bundle) or MOST_TOKENS
    engine = "gpu" if options.engine == "gpu" else "native"
    return BatchOptions(engine, options.max_steps, most, options.spaced)


def check_batch(options: RunOptions) -> None:
    """Refuse options that a batch cannot follow, rather than ignore them silently."""
    if options.checkpoint is not None:
        raise _refused("a batch resumes from its answers", "leave out checkpoint")
    if options.engine not in ENGINES or options.variant:
        raise _refused("a batch runs as machine code", "leave out the options on the engine")


def _asked(machine: Source, options: dict[str, Any]) -> tuple[RunOptions, Model]:
    asked = run_options(options)
    check_batch(asked)
    return asked, find_model(machine, asked.compile, allow_modified=asked.allow_modified)


def _symbols(model: Model, word: Word, spaced: bool) -> tuple[str, ...] | TapeformerError:
    try:
        return symbols_of(model, word, spaced)
    except TapeformerError as error:
        return error


def _listed(words: Iterable[Word]) -> Sequence[Word]:
    if isinstance(words, str | bytes) or not isinstance(words, Iterable):
        got, remedy = described(words), 'give a list such as ["abba", "ab"]'
        raise TapeformerError(Fault("not a list of words", None, "several words", got, remedy))
    return list(words)


def path_of(name: str, given: object) -> Path:
    """Return the path that an argument gives; raise an error with its name if it is none."""
    if not isinstance(given, str | os.PathLike) or "\0" in str(given):
        raise bad_argument(name, "a path", given, "give the path of a file as a str or a Path")
    return Path(given)


def _refused(what: str, remedy: str) -> TapeformerError:
    return TapeformerError(Fault(what, remedy=remedy))
