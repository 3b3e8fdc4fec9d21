"""The JSON keys that describe a model and an answer: one definition for every command."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from tapeformer.bundle.record import Bundle
from tapeformer.weights.count import count

if TYPE_CHECKING:
    from tapeformer.inference.answer import Answer

Record = dict[str, Any]

OUTCOME_KEYS = (
    *("engine", "outcome", "state", "steps", "tapes", "heads", "prompt_tokens", "boot_tokens"),
    *("cot_tokens", "grown", "margin"),
)
"""What is told of an answer, in this order."""


def model_record(bundle: Bundle) -> Record:
    """Describe a model by sizes that hold for every input."""
    counts = count(bundle.weights)
    return {
        "machine": bundle.name,
        "construction": bundle.layout.construction,
        "levels": bundle.layout.levels,
        "base": bundle.layout.base,
        "capacity": bundle.layout.capacity,
        "steps_per_token": bundle.steps_per_token,
        "window": bundle.window,
        "offsets": sorted(set(bundle.offsets)),
        "attention_heads": counts.attention_heads,
        "layers": counts.layers,
        "ff_depth": counts.ff_depth,
        "d_model": counts.d_model,
        "neurons": counts.neurons,
        "parameters": counts.parameters,
        "nonzero_parameters": counts.nonzero_parameters,
        "precision": counts.precision,
        "parameter_bits": counts.parameter_bits,
    }


def answer_record(text: str, answer: Answer, model: Record) -> Record:
    """Describe what an input, as it was given, came to; `model` is the record of the model."""
    return {"input": text, **model, **outcome_record(answer)}


def outcome_record(answer: Answer) -> Record:
    """Describe what a run came to, without its input and its model."""
    values = (
        answer.engine,
        answer.outcome.value,
        answer.state,
        answer.steps,
        list(answer.output),
        [tape.head for tape in answer.tapes],
        answer.prompt_tokens,
        answer.boot_tokens,
        answer.cot_tokens,
        answer.grown,
        answer.margin if isfinite(answer.margin) else None,
    )
    return dict(zip(OUTCOME_KEYS, values, strict=True))


def speed_record(answer: Answer) -> Record:
    """Say how long it took, which only a run of its own can tell."""
    return {
        "seconds": round(answer.seconds, 6),
        "tokens_per_second": round(answer.tokens_per_second, 1),
    }


def token_line(token: Sequence[str] | Mapping[str, str]) -> str:
    """Return a token as one line of JSON; traces of the same tokens are the same bytes."""
    return json.dumps(token, ensure_ascii=False, separators=(",", ":"))
