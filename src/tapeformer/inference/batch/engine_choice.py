"""The engine that `auto` picks: the first inputs run as machine code and show if a GPU pays off.

A GPU is slow to start, and the host must read every answer, so it pays off for many inputs of many
tokens each. How many tokens inputs take is only known once some have ended.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from tapeformer.faults import TapeformerError
from tapeformer.inference.batch.answer_writer import earlier
from tapeformer.inference.batch.files import Summary, run_file
from tapeformer.inference.batch.inputs import Inputs
from tapeformer.inference.batch.runner import BatchModel
from tapeformer.workers import Where

SAMPLE = 256
"""How many inputs to run before deciding whether a GPU pays off."""

LEAST_INPUTS, LEAST_TOKENS = 1 << 12, 2_000
"""Fewer inputs leave most of a GPU idle; with fewer tokens each, reading the answers dominates."""

LEAST_IN_ALL = 1 << 27
"""From this many tokens in total, a GPU is faster than two cores: docs/native.md."""

log = logging.getLogger("tapeformer")


def run_chosen(
    model: BatchModel,
    inputs: Inputs,
    answers: Path,
    *,
    where: Where,
    watch: Callable[[int], bool] | None = None,
) -> Summary:
    """Answer every line by machine code, or on a GPU once the first answers show that it pays off.

    If the GPU fails, machine code resumes with the rest, or raises the same error again.
    """
    if where.cluster is not None or len(inputs) < LEAST_INPUTS or not has_gpu():
        return run_file(model, inputs, answers, where=where, watch=watch)
    if _answered(answers) < SAMPLE:
        first = run_file(model, inputs.first(SAMPLE), answers, where=where, watch=watch)
        if first.answered < SAMPLE:
            return Summary(len(inputs), first.outcomes)
    if pays(mean_tokens(answers), len(inputs)):
        on_gpu = replace(model, options=replace(model.options, engine="gpu"))
        try:
            return run_file(on_gpu, inputs, answers, where=where, watch=watch)
        except TapeformerError as error:
            log.info("the GPU is not used: %s", error.faults[0].what)
    return run_file(model, inputs, answers, where=where, watch=watch)


def pays(tokens: float, inputs: int) -> bool:
    """Say whether a GPU is faster for this many inputs of this many tokens each."""
    return tokens >= LEAST_TOKENS and tokens * inputs >= LEAST_IN_ALL


def has_gpu() -> bool:
    """Say whether the NVIDIA driver finds a device."""
    from tapeformer.engines.gpu.driver import has_device

    return has_device()


def mean_tokens(answers: Path) -> float:
    """Return how many tokens the first answers took on average; an error counts as 0."""
    with earlier(answers) as lines:
        tokens = [_tokens(line) for line in islice(lines, SAMPLE)]
    return sum(tokens) / max(1, len(tokens))


def _tokens(line: bytes) -> int:
    """Return the tokens of an answer; 0 for a line that is none, which resuming will refuse."""
    try:
        return int(json.loads(line).get("cot_tokens", 0))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return 0


def _answered(answers: Path) -> int:
    """Count the lines of an earlier run, up to the size of the sample."""
    if not os.path.isfile(answers):
        return 0
    with earlier(answers) as lines:
        return sum(1 for _ in islice(lines, SAMPLE))
