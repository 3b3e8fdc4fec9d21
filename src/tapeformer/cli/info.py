"""`tapeformer info`: say what a model is, and what each of its parts reads, writes and comes from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.models import find_model
from tapeformer.cli.options import provides
from tapeformer.cli.output import print_json, write_file

if TYPE_CHECKING:
    from tapeformer.bundle.record import Bundle
    from tapeformer.inference.model import Model

HeadNumber = Annotated[int | None, typer.Option("--head", help="Explain this attention head.")]
Neuron = Annotated[
    int | None,
    typer.Option(
        "--neuron",
        help="Explain this neuron, by its number: what it does, and the rule and line it comes from.",
    ),
]
Field = Annotated[str | None, typer.Option("--field", help="Explain this residual field.")]
Roles = Annotated[
    Path | None,
    typer.Option(
        "--roles",
        metavar="FILE",
        help="Write the role of every head, neuron and field as a table, .csv or .json.",
        show_default=False,
    ),
]


@provides(model=find_model)
def info(
    model: Model,
    head: HeadNumber = None,
    neuron: Neuron = None,
    field: Field = None,
    roles: Roles = None,
    as_json: shared.Json = False,
) -> None:
    """Explain a model, or one of its heads or neurons.

    Tells heads, layers, widths, offsets, parameters and bits.
    """
    from tapeformer.cli.records import model_text
    from tapeformer.inference.info import bundle_info, tying_record

    bundle = model.for_every_word()
    if roles is not None:
        _write_roles(bundle, roles)
    if as_json:
        print_json(bundle_info(bundle, head, neuron, field))
    elif text := bundle.explain(head=head, neuron=neuron, field=field):
        print(text)
    else:
        print(model_text(bundle))
        for name, number in tying_record(bundle).items():
            print(f"  {number:,} {name.replace('_', ' ')}: the same at every number of levels")
        print(_heads_text(bundle))


def _write_roles(bundle: Bundle, file: Path) -> None:
    """Write the role table in the format that the file's name ends with."""
    from tapeformer.export.roles import roles, roles_text

    write_file(file, roles_text(roles(bundle), file.suffix.removeprefix(".")))


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
