"""Options on how a machine is compiled, shared by `compile`, `run`, `verify` and `info`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tapeformer.cli.options import MACHINE_HELP, Reading, provides, reading
from tapeformer.cli.sources import find_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.faults import Fault, TapeformerError
from tapeformer.machine.record import TuringMachine

if TYPE_CHECKING:
    from tapeformer.bundle.record import Bundle

PAPER_LEVELS, BUNDLE_LEVELS = 2, 12
SEARCHED_STEPS = 10**7
MODIFIED_TOKENS = 10**6
"""How far edited parameters may go where no limit was given: they may never come to an end."""


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
    str, typer.Option("--construction", help="realtime, paper, or post (one queue, one tape).")
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
AllowModified = Annotated[
    bool,
    typer.Option("--allow-modified", help="Run a bundle whose parameters were edited by hand."),
]
EngineName = Annotated[str, typer.Option("--engine", help="auto, native, sparse or dense.")]
Dtype = Annotated[
    str | None,
    typer.Option("--dtype", help="float64, float32 or bfloat16; the same tokens in all."),
]
Attention = Annotated[
    str | None,
    typer.Option(
        "--attention",
        help="leftmost, rightmost or (dense) averaging hardmax, or softmax; the same tokens in all.",
    ),
]
Temperature = Annotated[
    float | None, typer.Option("--temperature", help="Of the softmax (dense engine).")
]
Position = Annotated[
    str | None,
    typer.Option("--position", help="Positional term inside the key, or as a bias (dense engine)."),
]


def engine_variant(
    dtype: Dtype = None,
    attention: Attention = None,
    temperature: Temperature = None,
    position: Position = None,
) -> dict[str, str | float]:
    """From the options on how an engine computes; none of them changes a token."""
    asked = {
        "dtype": dtype,
        "attending": attention,
        "temperature": temperature,
        "position": position,
    }
    return {key: value for key, value in asked.items() if value is not None}


def compile_options(
    construction: ConstructionName = "realtime",
    levels: Levels = None,
    base: Base = None,
    space: Space = None,
    heads: HeadsOption = Heads.OFFSET,
    layers: Layers = 1,
    layer_norm: LayerNorm = False,
) -> CompileOptions:
    """From the options on compiling."""
    return CompileOptions(construction, levels, base, space, heads.value, layers, layer_norm)


@dataclass(frozen=True)
class Given:
    """What MACHINE_OR_BUNDLE names: a machine, and the bundle it came in if it did."""

    machine: TuringMachine
    bundle: Bundle | None = None


@provides(asked=reading)
def read_given(
    model: MachineOrBundle, asked: Reading, allow_modified: AllowModified = False
) -> Given:
    """A bundle's folder, or anything that names a machine."""
    if not Path(model).is_dir():
        return Given(find_machine(model, asked.format_name, asked.conventions))
    from tapeformer.bundle.load import load_bundle, modified_warning
    from tapeformer.formats.registry import loads

    bundle = load_bundle(Path(model), allow_modified=allow_modified)
    if bundle.modified:
        print(modified_warning(Path(model)), file=sys.stderr)
    place = f"{model}/machine.yaml"
    return Given(loads(bundle.machine, place, "native", stem=bundle.name), bundle)


def bundle_for(given: Given, options: CompileOptions, word: Sequence[str] | None) -> Bundle:
    """The bundle that was given, or one compiled for the machine and, where known, its input."""
    from tapeformer.compile.passes import compile_machine

    if given.bundle is None:
        return compile_machine(given.machine, sized(given.machine, options, word))
    if options != CompileOptions():
        raise TapeformerError(
            Fault(
                "a bundle is already compiled",
                expected="no options on compiling",
                remedy="leave them out, or name the machine instead of the bundle",
            )
        )
    return given.bundle


def sized(
    machine: TuringMachine, options: CompileOptions, word: Sequence[str] | None
) -> CompileOptions:
    """The options with what they leave open, from the input where there is one."""
    if options.construction == "realtime":
        return _realtime_sizes(machine, options, word)
    if options.construction == "paper" and options.levels is None:
        fixed = options.base is not None and options.space is not None
        options = options if fixed else replace(options, levels=PAPER_LEVELS)
    if word is None or options.base is not None:
        return options
    if options.space is not None:
        return replace(options, space=max(options.space, len(word)))
    return replace(options, space=_simulated_space(machine, word))


def grows(options: CompileOptions) -> bool:
    """Whether levels are added in flight: where neither they nor the space were given."""
    return options.construction == "realtime" and options.levels is None and options.space is None


def _realtime_sizes(
    machine: TuringMachine, options: CompileOptions, word: Sequence[str] | None
) -> CompileOptions:
    """At least the levels that the prompt needs; a bundle that must do for every input has 12."""
    from tapeformer.constructions.options import check_given
    from tapeformer.constructions.realtime.layout import fewest_levels, layout

    check_given(options.levels, options.base, options.space)
    if options.levels is not None:
        return options
    if word is None:
        return replace(options, levels=BUNDLE_LEVELS) if options.space is None else options
    base = options.base or 2
    needed = fewest_levels(len(word), base)
    chosen = layout(machine, base=base, space=options.space) if options.space is not None else None
    return replace(options, base=base, levels=max(needed, chosen.levels if chosen else 0))


def _simulated_space(machine: TuringMachine, word: Sequence[str]) -> int:
    """The cells that a tape needs, from a direct simulation, which is told."""
    from tapeformer.simulator.fast import simulate

    found = simulate(machine, word, max_steps=SEARCHED_STEPS)
    space = max(*found.cells, len(word), 1)
    told = f"--space {space}, from a direct simulation of {found.steps:,} steps"
    print(f"note: no size was given: {told}", file=sys.stderr)
    return space
