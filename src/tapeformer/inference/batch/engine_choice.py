"""Where a batch of `auto` goes: its first inputs run as machine code, and say whether a GPU pays.

A GPU takes its time to start and the host reads every answer, so it pays for many inputs of many
tokens each. How many tokens inputs take is only known once some have ended.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from tapeformer.faults import TapeformerError
from tapeformer.inference.batch.files import Summary, run_file
from tapeformer.inference.batch.inputs import Inputs
from tapeformer.inference.batch.runner import BatchModel
from tapeformer.inference.workers import Where

SAMPLE = 256
"""Inputs that say whether a GPU pays."""

LEAST_INPUTS, LEAST_TOKENS = 1 << 12, 2_000
"""Fewer inputs leave most of a GPU idle; below so many tokens each, reading answers takes longer."""

LEAST_IN_ALL = 1 << 27
"""Tokens of all inputs together from which a GPU is faster than two cores: docs/native.md."""

log = logging.getLogger("tapeformer")


def run_chosen(
    model: BatchModel,
    inputs: Inputs,
    answers: Path,
    *,
    where: Where,
    watch: Callable[[int], bool] | None = None,
) -> Summary:
    """Answer every line by machine code, or on a GPU from where the first answers say that it pays.

    Where that fails, machine code goes on with what is not answered, or says again what is wrong.
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
    """Say whether a GPU is faster for so many inputs, each of so many tokens."""
    return tokens >= LEAST_TOKENS and tokens * inputs >= LEAST_IN_ALL


def has_gpu() -> bool:
    """Say whether the NVIDIA driver finds a device."""
    from tapeformer.engines.gpu.driver import has_device

    return has_device()


def mean_tokens(answers: Path) -> float:
    """Return how many tokens the first answers took on average; 0 where no input was answered."""
    with answers.open("rb") as lines:
        tokens = [_tokens(line) for line in islice(lines, SAMPLE)]
    return sum(tokens) / max(1, len(tokens))


def _tokens(line: bytes) -> int:
    """Return what a line says; a line that is no answer is refused when the run resumes from it."""
    try:
        return int(json.loads(line).get("cot_tokens", 0))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return 0


def _answered(answers: Path) -> int:
    """Count the lines of an earlier run."""
    if not answers.is_file():
        return 0
    with answers.open("rb") as lines:
        return sum(1 for _ in islice(lines, SAMPLE))
