"""`tapeformer info`: say what a model is, and what each of its parts reads, writes and comes from."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.models import find_model
from tapeformer.cli.options import provides
from tapeformer.cli.output import print_json

if TYPE_CHECKING:
    from tapeformer.bundle.record import Bundle
    from tapeformer.inference.model import Model
    from tapeformer.weights.explain import Explanation

HeadNumber = Annotated[int | None, typer.Option("--head", help="Explain this attention head.")]
Neuron = Annotated[
    int | None,
    typer.Option(
        "--neuron",
        help="Explain this neuron, by its number: what it does, and the rule and line it comes from.",
    ),
]
Field = Annotated[str | None, typer.Option("--field", help="Explain this residual field.")]


@provides(model=find_model)
def info(
    model: Model,
    head: HeadNumber = None,
    neuron: Neuron = None,
    field: Field = None,
    as_json: shared.Json = False,
) -> None:
    """Explain a model: heads, layers, widths, offsets, parameters, bits; or one part of it."""
    from tapeformer.cli.records import model_text
    from tapeformer.compile.model import compile_machine
    from tapeformer.inference.records import model_record

    bundle = model.bundle or compile_machine(model.machine, model.options)
    explanations = _explanations(bundle, head, neuron, field)
    if as_json:
        record = {**model_record(bundle), **_tying(bundle)}
        if explanations:
            record["explanations"] = [_explanation_record(bundle, e) for e in explanations]
        print_json(record)
    elif explanations:
        rules = {number: str(rule) for number, rule in enumerate(bundle.rules, 1)}
        print("\n\n".join(explanation.text(rules) for explanation in explanations))
    else:
        print(model_text(bundle))
        for name, number in _tying(bundle).items():
            print(f"  {number:,} {name.replace('_', ' ')}: the same at every number of levels")
        print(_heads_text(bundle))


def _explanations(
    bundle: Bundle, head: int | None, neuron: int | None, field: str | None
) -> list[Explanation]:
    from tapeformer.weights.explain import explain_field, explain_head, explain_neuron

    explained = []
    if head is not None:
        explained.append(explain_head(bundle.weights, head, bundle.layout.lengths))
    if neuron is not None:
        explained.append(explain_neuron(bundle.weights, neuron))
    if field is not None:
        explained.append(explain_field(bundle.weights, field))
    return explained


def _explanation_record(bundle: Bundle, explanation: Explanation) -> dict[str, object]:
    """Return an explanation as plain data, with the text, file and line of each rule."""
    rules = [
        {"number": number, **asdict(bundle.rules[number - 1])}
        for number in explanation.rules
        if number <= len(bundle.rules)
    ]
    return {**asdict(explanation), "rules": rules}


def _tying(bundle: Bundle) -> dict[str, int]:
    """Count the parameters that the matrices are expanded from, where levels repeat one rule."""
    from tapeformer.constructions import construction

    if not construction(bundle.layout.construction).tied_levels:
        return {}
    from tapeformer.weights.tying import distinct_parameters

    return {"distinct_parameters": len(distinct_parameters(bundle.weights, bundle.layout.levels))}


def _heads_text(bundle: Bundle) -> str:
    """Return a line for each head, and how to ask further."""
    rules = bundle.weights.position_rules
    names = {head.position: head.name for layer in bundle.weights.layers for head in layer.heads}
    lines = [
        f"  head {number:3}  looks back {offset:>6,}  ({names[number]}, length rule {rules[number]})"
        for number, offset in enumerate(bundle.offsets)
    ]
    example = bundle.weights.fields[1] if len(bundle.weights.fields) > 1 else "constant"
    lines.append(f"explain a part: --head 0, --neuron 17, --field '{example}'")
    return "\n".join(lines)
