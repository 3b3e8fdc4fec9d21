"""`tf.info`: what a model is, as plain data, and what the parts that are named read and write."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tapeformer.bundle.record import Bundle
from tapeformer.compile.options import compile_options
from tapeformer.constructions import construction
from tapeformer.inference.model import Source, find_model
from tapeformer.inference.records import Record, model_record
from tapeformer.weights.explain import Explanation


def info(
    machine: Source,
    *,
    head: int | None = None,
    neuron: int | None = None,
    field: str | None = None,
    **options: Any,
) -> Record:
    """Describe a model: sizes, offsets, parameters; and a head, neuron or residual field of it.

    Options are those of `compile_machine`.
    """
    model = find_model(machine, compile_options(None, options))
    return bundle_info(model.for_every_word(), head, neuron, field)


def bundle_info(
    bundle: Bundle, head: int | None = None, neuron: int | None = None, field: str | None = None
) -> Record:
    """Describe a compiled model, and the parts of it that are named."""
    record = {**model_record(bundle), **tying_record(bundle)}
    explained = bundle.explanations(head, neuron, field)
    if explained:
        record["explanations"] = [_explanation_record(bundle, part) for part in explained]
    return record


def tying_record(bundle: Bundle) -> dict[str, int]:
    """Count the parameters that the matrices are expanded from, where levels repeat one rule."""
    if not construction(bundle.layout.construction).tied_levels:
        return {}
    from tapeformer.weights.tying import distinct_parameters

    return {"distinct_parameters": len(distinct_parameters(bundle.weights, bundle.layout.levels))}


def _explanation_record(bundle: Bundle, explanation: Explanation) -> Record:
    """Return an explanation as plain data, with the text, file and line of each rule."""
    rules = [
        {"number": number, **asdict(bundle.rules[number - 1])}
        for number in explanation.rules
        if number <= len(bundle.rules)
    ]
    return {**asdict(explanation), "rules": rules}
