"""Options on how a machine is compiled and run, shared by `compile`, `run`, `verify` and `info`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tapeformer.cli.options import MACHINE_HELP, Reading, provides, reading
from tapeformer.sources import find_machine

if TYPE_CHECKING:
    from tapeformer.compile.options import CompileOptions
    from tapeformer.inference.model import Model


class Heads(StrEnum):
    """How attention heads are counted."""

    OFFSET = "offset"
    QUEUE = "queue"


MachineOrBundle = Annotated[
    str,
    typer.Argument(
        metavar="MACHINE_OR_BUNDLE",
        help=MACHINE_HELP + " Or the folder of a compiled bundle.",
        show_default=False,
    ),
]
ConstructionName = Annotated[
    str | None,
    typer.Option(
        "--construction",
        help="realtime (the default), paper, or post (one queue); run and verify also take"
        " the rows of table1: perez, bhattamishra, merrill_sabharwal, ...",
    ),
]
Levels = Annotated[int | None, typer.Option("--levels", help="Levels of queues in a stack (k').")]
Base = Annotated[
    int | None, typer.Option("--base", help="How queue lengths grow from level to level; even.")
]
Space = Annotated[int | None, typer.Option("--space", help="Cells that a single tape may need.")]
HeadsOption = Annotated[
    Heads, typer.Option("--heads", help="One head per length rule, or one per queue.")
]
Layers = Annotated[int, typer.Option("--layers", help="Attention layers; they divide the heads.")]
LayerNorm = Annotated[
    bool, typer.Option("--layer-norm", help="Put layer normalisation in; the tokens are the same.")
]
StepsPerToken = Annotated[
    int,
    typer.Option("--steps-per-token", help="Steps of the Turing machine in each token (realtime)."),
]
Literal = Annotated[
    bool,
    typer.Option(
        "--literal", help="Appendix B to the letter: a flat vocabulary (--construction post)."
    ),
]
AllowModified = Annotated[
    bool,
    typer.Option("--allow-modified", help="Run a bundle whose parameters were edited by hand."),
]
EngineName = Annotated[
    str, typer.Option("--engine", help="auto, native, sparse or dense; for batches gpu.")
]


def compile_options(
    construction: ConstructionName = None,
    levels: Levels = None,
    base: Base = None,
    space: Space = None,
    heads: HeadsOption = Heads.OFFSET,
    layers: Layers = 1,
    layer_norm: LayerNorm = False,
    steps_per_token: StepsPerToken = 1,
    literal: Literal = False,
) -> CompileOptions:
    """Make a record from the options on compiling."""
    from tapeformer.compile.options import CompileOptions, checked_options

    named = {} if construction is None else {"construction": construction}
    return checked_options(
        CompileOptions(
            **named,
            levels=levels,
            base=base,
            space=space,
            heads=heads.value,
            layers=layers,
            layer_norm=layer_norm,
            steps_per_token=steps_per_token,
            literal=literal,
        )
    )


@provides(asked=reading, options=compile_options)
def find_model(
    model: MachineOrBundle,
    asked: Reading,
    options: CompileOptions,
    allow_modified: AllowModified = False,
) -> Model:
    """Find a bundle's folder, or anything that names a machine."""
    from tapeformer.inference.model import find_model, is_folder

    if is_folder(model):
        return find_model(model, options, allow_modified=allow_modified)
    return find_model(find_machine(model, asked.format_name, asked.conventions), options)
